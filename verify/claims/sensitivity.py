"""sensitivity: every neuron that ties is active and keeps its face nearby, so the network is differentiable."""

from __future__ import annotations

from verify.claims.p_unique import WHAT, not_p_unique
from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node


def sensitivity(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: one solution, all classes have positive weight, and each keeps its face over a ball around r*.

    With `exact_set` faces are known where there are none: gated networks, neurons that are zero on no row, free blocks.
    """
    what = WHAT[problem.model]
    if facts.lambda_max_squared is not None and problem.lam**2 > facts.lambda_max_squared:
        return f"lambda > lambda_max: the {what} is zero nearby"
    found = needed(facts.optimal_set, "optimal_set or exact_set (or lambda_max < lambda)", node)
    if found.dimension or found.positive < found.classes:
        raise node.reject(f"one solution with {found.classes} positive weights", f"{found.positive} proved positive")
    cones = problem.model == "cgl" and any(K is not None for K in problem.K)
    if found.exact and (found.kinked or cones):
        raise node.reject("neurons without kinks and blocks without cones, or optimal_set")
    return f"all {found.classes} neurons that can tie are active and keep their faces: the {what} is differentiable"


def not_sensitivity(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: more than one solution, or one in which a tied neuron has weight 0, exactly."""
    found = needed(facts.optimal_set, "exact_set", node)
    if not found.exact:
        raise node.reject("the fact exact_set, which this rests on", "none")
    if found.dimension:
        return not_p_unique(problem, facts, node)
    if found.positive == found.classes:
        raise node.reject("a tied neuron with weight 0", "none")
    return f"of {found.classes} tied neurons only {found.positive} are active"
