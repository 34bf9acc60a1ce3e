"""High precision: from a float solution to any number of digits."""

from relu_cert.refine.model import Refined, RefinedNeuron
from relu_cert.refine.refinement import refine

__all__ = ["Refined", "RefinedNeuron", "refine"]
