"""optimal-set: E, S and the polytope of optimal weights, with all its vertices and edges."""

from __future__ import annotations

from verify.claims.p_unique import is_zero
from verify.facts import Facts, needed
from verify.polytope import Polytope
from verify.problem import Problem
from verify.text import Node


def optimal_set(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: the polytope is listed completely, or lambda >= lambda_max and it is the point zero."""
    found = all_networks(problem, facts, node)
    if found is None:
        return "lambda >= lambda_max: the optimal set is the point zero"
    kind = "nondegenerate" if found.nondegenerate else "degenerate"
    return (
        f"{found.tied} neurons are tied at lambda (E), {len(found.used)} of them can be active (S); their weights form "
        f"a {kind} polytope of dimension {found.dimension} with {len(found.vertices)} vertices and "
        f"{len(found.edges)} edges"
    )


def all_networks(problem: Problem, facts: Facts, node: Node) -> Polytope | None:
    """The polytope of the fact; None if lambda >= lambda_max, where zero is the only solution."""
    if is_zero(problem, facts):
        return None
    return needed(facts.polytope, "polytope (or lambda_max <= lambda)", node)
