"""licq: at every neuron that an optimal network uses, the tight constraints are linearly independent."""

from __future__ import annotations

from verify.claims.e_equals_a import plain
from verify.claims.p_unique import is_zero
from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node


def licq(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: independent at every neuron that may be active."""
    plain(problem, node)
    if is_zero(problem, facts):
        return "lambda >= lambda_max: no neuron is active"
    found = needed(facts.optimal_set, "optimal_set or exact_set (or lambda_max <= lambda)", node)
    wrong = sum(neuron.active is not False and not neuron.independent for neuron in found.neurons)
    if wrong:
        raise node.reject("independent tight constraints at every neuron that may be active", f"{wrong} without")
    return "the constraints tight at the active neurons are independent"


def not_licq(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: dependent at a neuron that some optimal network uses."""
    found = needed(facts.optimal_set, "optimal_set or exact_set", node)
    wrong = sum(neuron.active is True and not neuron.independent for neuron in found.neurons)
    if not wrong:
        raise node.reject("an active neuron at which the tight constraints are dependent", "none")
    return f"active neurons at which the tight constraints are dependent: {wrong}"
