"""sensitivity: the optimal network is differentiable in lambda and y (prop:local-sol-fn, corrected)."""

from __future__ import annotations

from verify.claims.e_equals_a import at_lambda_max, e_equals_a, not_e_equals_a, plain
from verify.claims.p_unique import WHAT
from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node, show


def sensitivity(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: E = A, and every face is stable near r*; so the implicit function theorem applies."""
    what = WHAT[problem.model]
    plain(problem, node)
    if facts.lambda_max_squared is not None and problem.lam**2 > facts.lambda_max_squared:
        return f"lambda > lambda_max: the {what} is zero nearby"
    said = e_equals_a(problem, facts, node)
    found = needed(facts.optimal_set, "optimal_set or exact_set", node)
    loose = sum(neuron.B is None for neuron in found.neurons)
    if loose:
        raise node.reject("stable faces (fact faces), or optimal_set", f"{loose} faces that are not known to be stable")
    known = ""
    if facts.derivatives is not None:
        freedom = facts.derivatives.freedom
        known = f"; derivatives within {show(facts.derivatives.radius)} of those listed"
        if freedom is not None:
            known += f", degrees of freedom {show(freedom[0])} within {show(freedom[1])}"
    return f"{said} and keep their faces: the {what} is differentiable in lambda and y{known}"


def not_sensitivity(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: E is not A, and for targets y + t q a tied neuron of output q without weight gets weight t for t > 0,
    but none for t < 0; or E = A, and a neuron leaves its face along residuals on which all stay tied."""
    if at_lambda_max(problem, facts) or not needed(facts.optimal_set, "optimal_set or exact_set", node).all_active:
        return not_e_equals_a(problem, facts, node)
    found = needed(facts.optimal_set, "optimal_set or exact_set", node)
    if not any(neuron.breaks for neuron in found.neurons):
        raise node.reject("a neuron that leaves its face (fact faces)", "none")
    return f"an active neuron has no derivative: it leaves its face to one side only, and so the {WHAT[problem.model]}"
