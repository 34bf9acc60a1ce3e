"""A dual feasible point, by multipliers: one bound of |Proj_{C_b}(X_b' theta)| for every block or piece."""

from __future__ import annotations

from verify.facts import DUAL, MULTIPLIERS, PATTERNS, Facts
from verify.optimal.multipliers import check_multipliers
from verify.problem.problem import Problem
from verify.rule import Rule, everywhere
from verify.rules.value import Dual
from verify.text import Node


def check_dual(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless theta is dual feasible: |Proj_{C_b}(X_b' theta)| <= lambda for all blocks."""
    fields = node.record("theta", "multipliers")
    theta = fields["theta"].vector(problem.n)
    if problem.free:
        from verify.problem.variants import check_orthogonal

        check_orthogonal(problem, theta, fields["theta"])
    check_multipliers(problem, facts.get(PATTERNS), theta, problem.lam**2, fields["multipliers"])
    return Facts({DUAL: Dual(theta), MULTIPLIERS: fields["multipliers"]})


RULE = Rule((DUAL, MULTIPLIERS), check_dual, listed=True, applies=everywhere, bags=True)
