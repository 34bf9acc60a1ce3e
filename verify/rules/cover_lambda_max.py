"""lambda_max^2 by a cover for theta = y (logistic: y/2): no larger, and attained in a direction, so no smaller."""

from __future__ import annotations

from verify.cover.check import check_cover
from verify.facts import LAMBDA_MAX, Facts, proved
from verify.problem.problem import Problem
from verify.rule import Rule, unlisted
from verify.rules.lambda_max import check_attained, slope_at_zero
from verify.text import Node


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless `squared` is lambda_max^2 exactly."""
    fields = node.record("squared", "proof", "attained")
    squared = fields["squared"].number()
    fields["squared"].require(squared > 0, "a square > 0")
    check_cover(problem, slope_at_zero(problem), squared, fields["proof"])
    check_attained(problem, facts, squared, fields["attained"])
    return proved(LAMBDA_MAX, squared)


RULE = Rule((LAMBDA_MAX,), check, applies=lambda problem: unlisted(problem) and not problem.free, bags=True)
