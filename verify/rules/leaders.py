"""A dual feasible point, by leaders: a relaxation for many features, a test of definiteness for each cell and sign."""

from __future__ import annotations

from verify.facts import COVER, DUAL, MULTIPLIERS, Facts, proved
from verify.leaders import check_leaders
from verify.problem import Problem
from verify.rules import Rule
from verify.rules.value import Dual
from verify.text import Node


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless the leaders prove theta dual feasible."""
    if facts.get(MULTIPLIERS) is not None or facts.get(COVER) is not None:
        raise node.reject("one proof of the dual point, by `dual`, `cover` or `leaders`", "two")
    return proved(DUAL, Dual(check_leaders(problem, node)))


def applies(problem: Problem) -> bool:
    """ReLU networks over all patterns, with delta = 0."""
    return problem.model == "relu" and problem.patterns is None and not problem.delta


RULE = Rule((DUAL,), check, applies=applies)
