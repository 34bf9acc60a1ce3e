"""The optimum over some patterns beside the global one: how much the patterns that were left out would bring."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from relu_cert.claims import Result
from relu_cert.data.dataset import Dataset
from relu_cert.network.objective import Interval
from relu_cert.patterns.predict import predict
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Facts, Value


@dataclass(frozen=True)
class GlobalOptimum:
    """The same problem over all patterns of the data, proved at the same lambda; or the reason why it was not done."""

    facts: Facts | None = None
    results: tuple[Result, ...] = ()
    certificate_path: Path | None = None
    reason: str = ""


def distance(some: Facts, whole: Facts) -> Interval:
    """p* over some patterns - p* over all patterns, enclosed.

    It is at least 0 where every block is one of the whole problem, or a part of one: always for ReLU without an l2
    penalty, whose blocks are neurons whatever their pattern is; else where all patterns are in D_Z. (With the penalty a
    neuron gains by being split over blocks, and patterns outside D_Z are more of them.)
    """
    a: Value = some.value
    b: Value = whole.value
    lower = a.lower - b.upper
    return Interval(max(lower, Fraction(0)) if _is_part(some.problem, whole.problem) else lower, a.upper - b.lower)


def too_many(data: Dataset, limit: int) -> str:
    """Why D_Z is not enumerated for the comparison; empty if it is."""
    expected = predict(data.Z)
    if expected.bound <= limit:
        return ""
    return f"D_Z may have up to {expected.bound} patterns, over the limit of {limit} (--max-patterns)"


def _is_part(some: Problem, whole: Problem) -> bool:
    if some.kind == "relu" and not some.delta:
        return True
    patterns = whole.listed
    if some.patterned is None or patterns is None:
        return False
    return set(some.patterned.patterns) <= set(patterns.texts())
