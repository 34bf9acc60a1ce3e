"""Every activation pattern of a data set, exactly, with what proves that none is missing."""

from relu_cert.callable import make_callable
from relu_cert.patterns.cells import Engine
from relu_cert.patterns.enumerate import enumerate_patterns
from relu_cert.patterns.pattern_set import Group, PatternSet, load_npz, save_npz
from relu_cert.patterns.predict import Prediction, predict

__all__ = [
    "Engine",
    "Group",
    "PatternSet",
    "Prediction",
    "enumerate_patterns",
    "load_npz",
    "predict",
    "save_npz",
]

make_callable(__name__)
