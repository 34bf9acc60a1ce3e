"""p-unique: the optimal network is unique up to permutation and splitting of its neurons."""

from __future__ import annotations

from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node

WHAT = {"relu": "network", "gated": "gated network", "cgl": "solution"}


def p_unique(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: the optimal set is a point, or lambda >= lambda_max and zero is the only solution."""
    if is_zero(problem, facts):
        return f"lambda >= lambda_max: zero is the only {WHAT[problem.model]} that is optimal"
    found = needed(facts.optimal_set, "optimal_set or exact_set (or lambda_max <= lambda)", node)
    if found.dimension:
        raise node.reject("an optimal set of dimension 0", f"dimension {found.dimension}")
    return f"the optimal {WHAT[problem.model]} is unique (neurons that can be active: {found.classes})"


def not_p_unique(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: the optimal set is a polytope of positive dimension."""
    found = needed(facts.optimal_set, "optimal_set or exact_set", node)
    if not found.dimension:
        raise node.reject("an optimal set of positive dimension", "dimension 0")
    size = "at least 1" if found.exact else str(found.dimension)
    what = WHAT[problem.model]
    return f"the {what}s that are optimal form a polytope of dimension {size} in the weights of {found.classes} neurons"


def is_zero(problem: Problem, facts: Facts) -> bool:
    """Whether lambda >= lambda_max is proved: then the fit is 0 and so is every solution."""
    squared = facts.lambda_max_squared
    return squared is not None and problem.lam**2 >= squared
