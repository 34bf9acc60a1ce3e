"""A dual feasible Theta of a network with several outputs, by a cover: |Theta'P(Zu)_+| <= lambda |u| for all u."""

from __future__ import annotations

from verify.facts import DUAL, FORMS, Facts
from verify.outputs.check import check_outputs
from verify.problem.problem import Problem
from verify.rule import Rule, everywhere
from verify.rules.cover import read_theta
from verify.rules.value import Dual
from verify.text import Node


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless the cover proves Theta dual feasible."""
    fields = node.record("theta", "proof")
    fields["theta"].require(not problem.logistic or isinstance(fields["theta"].value, str), "a vector")
    theta = read_theta(problem, facts, fields["theta"])
    if problem.free:
        from verify.problem.variants import check_orthogonal

        check_orthogonal(problem, theta, fields["theta"])
    if problem.logistic:
        from verify.outputs.softmax import check_chances

        check_chances(problem, theta, fields["theta"])
    return Facts({DUAL: Dual(theta), FORMS: check_outputs(problem, theta, problem.lam**2, fields["proof"])})


RULE = Rule((DUAL, FORMS), check, applies=everywhere)
