"""strict-complementarity: every neuron that an optimal network uses loses at first order when it leaves its face."""

from __future__ import annotations

from verify.claims.e_equals_a import plain
from verify.claims.p_unique import is_zero
from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node


def strict_complementarity(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: multipliers strictly inside their bounds at every neuron that may be active."""
    plain(problem, node)
    if is_zero(problem, facts):
        return "lambda >= lambda_max: no neuron is active"
    found = needed(facts.optimal_set, "optimal_set or exact_set (or lambda_max <= lambda)", node)
    open_ = sum(neuron.active is not False and not neuron.strict for neuron in found.neurons)
    if open_:
        raise node.reject("strict multipliers at every neuron that may be active (fact faces)", f"{open_} without")
    return "the multipliers of the active neurons can be chosen strictly inside their bounds"


def not_strict_complementarity(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: an active neuron can leave its face without loss at first order."""
    found = needed(facts.optimal_set, "optimal_set or exact_set", node)
    wrong = sum(neuron.active is True and neuron.strict is False for neuron in found.neurons)
    if not wrong:
        raise node.reject("an active neuron that can leave its face without loss (fact faces)", "none")
    return f"active neurons that can leave their faces without loss at first order: {wrong}"
