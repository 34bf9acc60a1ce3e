"""A dual feasible point, by leaders: a relaxation for many features, a test of definiteness for each cell and sign."""

from __future__ import annotations

from verify.facts import DUAL, Facts, proved
from verify.optimal.leaders import check_leaders
from verify.problem.problem import Problem
from verify.rule import Rule, unlisted
from verify.rules.value import Dual
from verify.text import Node


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless the leaders prove theta dual feasible."""
    node.require(facts.get(DUAL) is None, "one proof of the dual point, by `dual`, `cover` or `leaders`", "two")
    return proved(DUAL, Dual(check_leaders(problem, node)))


RULE = Rule((DUAL,), check, applies=unlisted, bags=True)
