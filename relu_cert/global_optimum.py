"""The optimum over some patterns beside the global one: how much the patterns that were left out would bring."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.network.objective import Interval
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Facts


def distance(some: Facts, whole: Facts) -> Interval:
    """p* over some patterns - p* over all patterns, enclosed.

    It is at least 0 where every block is one of the whole problem, or a part of one: always for ReLU without an l2
    penalty, whose blocks are neurons whatever their pattern is; else where all patterns are in D_Z. (With the penalty a
    neuron gains by being split over blocks, and patterns outside D_Z are more of them.)
    """
    a, b = some.value, whole.value
    lower = a.lower - b.upper
    return Interval(max(lower, Fraction(0)) if _is_part(some.problem, whole.problem) else lower, a.upper - b.lower)


def _is_part(some: Problem, whole: Problem) -> bool:
    if some.kind == "relu" and not some.delta:
        return True
    patterns = whole.listed
    if some.patterned is None or patterns is None:
        return False
    return set(some.patterned.patterns) <= set(patterns.texts())
