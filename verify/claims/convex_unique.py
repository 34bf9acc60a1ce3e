"""convex-unique: the solution of the convex program, with a block for every pattern and sign, is unique."""

from __future__ import annotations

from verify.claims.p_unique import is_zero, not_p_unique, p_unique
from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node


def convex_unique(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: p-unique, and for ReLU no neuron that can be active is zero on a row (it would lie in two blocks).

    With delta > 0 the program is strongly convex, and nothing else is needed.
    """
    if problem.delta:
        return "delta > 0: the convex program is strongly convex, and its solution is unique"
    said = p_unique(problem, facts, node)
    if problem.model == "relu" and not is_zero(problem, facts):
        kinked = needed(facts.optimal_set, "optimal_set or exact_set", node).kinked
        if kinked:
            raise node.reject("classes without kinks", f"{kinked} with kinks")
    return f"{said}, and the solution of the convex program is unique"


def not_convex_unique(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: not p-unique, or an active ReLU neuron v is zero on a row z_k: the patterns of v and v - eps z_k differ,
    and v lies in the cones of both."""
    found = needed(facts.optimal_set, "optimal_set or exact_set", node)
    if problem.model == "relu" and found.bends:
        return f"active neurons that are zero on a data point: {found.bends}; each lies in two blocks of the program"
    said = not_p_unique(problem, facts, node)
    return f"{said}, and so do the solutions of the convex program"
