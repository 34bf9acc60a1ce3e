"""e-equals-a: every optimal network uses every neuron that ties at lambda."""

from __future__ import annotations

from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node


def e_equals_a(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: one solution, and all neurons that may tie are in it; or lambda > lambda_max, where none ties."""
    plain(problem, node)
    if facts.lambda_max_squared is not None and problem.lam**2 > facts.lambda_max_squared:
        return "lambda > lambda_max: no neuron ties, and none is active"
    found = needed(facts.optimal_set, "optimal_set or exact_set (or lambda_max < lambda)", node)
    if not found.all_active:
        proved = sum(neuron.active is True for neuron in found.neurons)
        raise node.reject(f"one solution with {len(found.neurons)} positive weights", f"{proved} proved positive")
    return f"all {found.classes} neurons that can tie are active"


def not_e_equals_a(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: some optimal network leaves a tied neuron out: a vertex, the only network, or zero at lambda_max."""
    plain(problem, node)
    if at_lambda_max(problem, facts):
        return "lambda = lambda_max: a neuron ties, and the only optimal network is zero"
    found = needed(facts.optimal_set, "optimal_set or exact_set (or lambda_max = lambda)", node)
    if not found.some_idle:
        raise node.reject("a tied neuron that some solution leaves out", "none")
    if found.dimension:
        return "the optimal networks form a polytope, and its vertices leave tied neurons out"
    idle = sum(neuron.active is False for neuron in found.neurons)
    return f"of {len(found.neurons)} tied neurons {idle} have weight 0"


def at_lambda_max(problem: Problem, facts: Facts) -> bool:
    """Whether lambda = lambda_max is proved."""
    return facts.lambda_max_squared is not None and problem.lam**2 == facts.lambda_max_squared


def plain(problem: Problem, node: Node) -> None:
    """These claims are about the squared loss without an l2 penalty."""
    if problem.delta or problem.logistic:
        raise node.reject("a problem with the squared loss and delta = 0")
