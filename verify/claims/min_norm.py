"""min-norm: the optimal weights of least norm."""

from __future__ import annotations

from verify.claims.p_unique import is_zero
from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node, show


def min_norm(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: the shortest point of the polytope is known, or lambda >= lambda_max and it is zero."""
    if is_zero(problem, facts):
        return "lambda >= lambda_max: all weights are zero"
    found = needed(facts.min_norm, "min_norm, or a polytope with its min_norm", node)
    active = sum(map(bool, found.weights))
    return f"the shortest weights are known within {show(found.radius)}; {active} of them are positive"
