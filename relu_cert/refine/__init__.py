"""High precision: from a float solution to any number of digits."""

from relu_cert.refine.refinement import Refined, RefinedNeuron, refine

__all__ = ["Refined", "RefinedNeuron", "refine"]
