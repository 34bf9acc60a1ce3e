"""The claims about a given network: in words what its fact proves, or a rejection. One function for each verdict."""

from __future__ import annotations

from fractions import Fraction

from verify.claims import PROVED, REFUTED, Row
from verify.facts import NETWORK, VALUE, Facts, needed
from verify.network.check import Network
from verify.network.own import Own
from verify.network.weights import balanced as balanced_objective
from verify.network.weights import free_constant, is_constant
from verify.numbers.bounds import root_above
from verify.problem.problem import Problem, square
from verify.rules.value import Value
from verify.text import Node, show


def objective(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: J exactly, and how far it is above the global optimum at most."""
    network, value = facts[NETWORK], facts[VALUE]
    J, sign = network.weights.objective, "<=" if problem.logistic else "="
    return (
        f"J {sign} {show(J)}, at most {show(J - value.lower)} above the global optimum for lambda = {show(problem.lam)}"
    )


def optimal(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: J - p* <= J - lower <= gap J."""
    return f"the network is globally optimal {reached(facts[NETWORK], facts[VALUE], node)}"


def not_optimal(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: J - p* >= J - upper > gap J."""
    return f"over all patterns the network {missed(facts[NETWORK], facts[VALUE], node)}"


def own_optimal(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: the same against the optimum over its own patterns."""
    own = needed(facts[NETWORK].own, "network.own", node)
    return f"over its own patterns ({own.patterns}) it is optimal {reached(facts[NETWORK], own, node)}"


def not_own_optimal(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: a better point over its own patterns."""
    own = needed(facts[NETWORK].own, "network.own", node)
    return f"over its own patterns ({own.patterns}) the network {missed(facts[NETWORK], own, node)}"


def reached(network: Network, value: Value | Own, node: Node) -> str:
    """J - lower <= gap J, in words, or a rejection."""
    J, above = network.weights.below, network.weights.objective - value.lower
    node.require(above <= network.gap * J, f"J - lower <= gap * J = {show(network.gap * J)}", show(above))
    return f"up to the relative gap {show(network.gap)}: J is at most {show(above)} above the optimum"


def missed(network: Network, value: Value | Own, node: Node) -> str:
    """J - upper > gap J, in words, or a rejection."""
    J, above = network.weights.objective, network.weights.below - value.upper
    node.require(above > network.gap * J, f"J - upper > gap * J = {show(network.gap * J)}", show(above))
    return f"is at least {show(above)} above the optimum, more than the relative gap {show(network.gap)}"


def stationary(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: 0 is in the Clarke subdifferential of J."""
    at = needed(facts[NETWORK].stationary, "network.stationary", node)
    node.require(not at.upper, "a Clarke subgradient 0", f"one of squared length {show(at.upper)}")
    return f"the network is a Clarke stationary point of J{of_what(problem, facts[NETWORK])} (kinks: {at.kinks})"


def not_stationary(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: 0 is not; the distance is enclosed."""
    at = needed(facts[NETWORK].stationary, "network.stationary", node)
    node.require(at.lower, "a positive lower bound of the distance", "0")
    low, high = at.lower / root_above(at.lower), root_above(at.upper)
    what = of_what(problem, facts[NETWORK])
    return f"the shortest Clarke subgradient of J{what}{',' * bool(what)} has a norm from {show(low)} to {show(high)}"


def of_what(problem: Problem, network: Network) -> str:
    """What is meant where the output bias is in the penalty: b2 != 0 is a neuron, which can turn, and 0 is none; by
    itself it would move from 0 where |sum r| > lambda."""
    weights = network.weights
    if problem.targets > 1 or free_constant(problem) or not is_constant(problem):
        return ""
    held = abs(sum(weights.residual, Fraction(0))) > problem.lam
    return ", b2 counted as a neuron" if weights.b2 else ", b2 held at 0" if held else ""


def balanced(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: |W1_i|^2 = |w2_i|^2 for all neurons."""
    if wrong := unbalanced(problem, facts[NETWORK]):
        raise node.reject("|W1_i| = |w2_i| for every neuron", f"another norm at {wrong[0]}")
    return f"|W1_i| = |w2_i| for every neuron (neurons: {len(facts[NETWORK].weights.W1)})"


def not_balanced(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: some are different; balancing them gains J - P."""
    network = facts[NETWORK]
    wrong = unbalanced(problem, network)
    node.require(wrong, "a neuron with |W1_i| != |w2_i|", "none")
    low, high = network.weights.below, network.weights.objective
    below, above = balanced_objective(problem, network.weights)
    gain = f"from {show(max(low - above, Fraction(0)))} to {show(high - below)}"
    return f"neurons of the wrong scale: {len(wrong)} of {len(network.weights.W1)}; balancing them gains {gain}"


def unbalanced(problem: Problem, network: Network) -> list[int]:
    """The neurons with |W1_i|^2 != |w2_i|^2."""
    rows = enumerate(zip(network.weights.W1, network.weights.V, strict=True))
    return [i for i, (w, v) in rows if problem.length_squared(w) != square(v)]


def merged(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: no two neurons of one sign lie in one cone of the data, and nothing is free that could make up for one
    that is left out: beside a skip connection (t)_+ + (-t)_+ = 2 (t)_+ - t."""
    node.require(not problem.free, "no free terms, which could make up for a neuron", ", ".join(problem.free))
    if (pair := facts[NETWORK].pair) is not None:
        raise node.reject("no two neurons of one sign in one cone of the data", f"{pair[0]} and {pair[1]}")
    apart = "no two neurons of one sign lie in one cone of the rows, where their sum could take their place"
    return f"{apart} (neurons: {len(facts[NETWORK].weights.neurons)})"


def not_merged(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: two neurons that are one."""
    if (pair := facts[NETWORK].pair) is None:
        raise node.reject("two neurons of one sign in one cone of the data", "none")
    return f"the neurons {pair[0]} and {pair[1]} are one on the data, at no higher objective"


def independent(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: the outputs of the neurons that are not zero are linearly independent."""
    network, m = facts[NETWORK], len(facts[NETWORK].weights.neurons)
    node.require(network.rank >= m, f"rank {m}", str(network.rank))
    return f"the outputs of the neurons ({m}) are linearly independent"


def dependent(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: they are dependent."""
    network, m = facts[NETWORK], len(facts[NETWORK].weights.neurons)
    node.require(network.rank != m, f"a rank below {m}", str(network.rank))
    return f"the outputs of the neurons ({m}) have rank {network.rank}"


def prune(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: a network with independent outputs, the same fit, and an objective that is no higher."""
    network = facts[NETWORK]
    left = needed(network.pruned, "network.pruned", node)
    less = "a lower" if left.better else "the same"
    return f"neurons with independent outputs ({left.neurons}) have the same fit, at {less} objective when balanced"


def directions(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: every neuron has a direction that some optimal network has, exactly."""
    at = needed(facts[NETWORK].directions, "network.directions", node)
    node.require(not any(at.upper), f"distance 0 for {len(at.upper)} neurons", f"for {at.upper.count(Fraction(0))}")
    return f"all neurons ({len(at.upper)}) have directions of optimal networks, exactly"


def not_directions(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: some neuron has a direction that no optimal network has."""
    at = needed(facts[NETWORK].directions, "network.directions", node)
    if not (wrong := sum(x > 0 for x in at.lower)):
        raise node.reject("a neuron at a positive distance from all optimal directions", "none")
    far = f"the distances are at most {show(max(at.upper))}, the largest at least {show(max(at.lower))}"
    return f"neurons with a direction that no optimal network has: {wrong} of {len(at.lower)}; {far}"


def nearest(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: the distance from the nearest optimal network with merged neurons is enclosed."""
    at = needed(facts[NETWORK].nearest, "network.nearest", node)
    near = f"an optimal network is within {show(at.upper)} of the merged network"
    merged_ones = "no optimal network with merged neurons (one for each sign and direction)"
    return f"{near}, and {merged_ones} is nearer than {show(at.lower)}"


TABLE = (
    Row("network-objective", PROVED, (NETWORK, VALUE), objective),
    Row("network-optimal", PROVED, (NETWORK, VALUE), optimal),
    Row("network-optimal", REFUTED, (NETWORK, VALUE), not_optimal),
    Row("network-own-optimal", PROVED, (NETWORK,), own_optimal),
    Row("network-own-optimal", REFUTED, (NETWORK,), not_own_optimal),
    Row("network-stationary", PROVED, (NETWORK,), stationary),
    Row("network-stationary", REFUTED, (NETWORK,), not_stationary),
    Row("network-balanced", PROVED, (NETWORK,), balanced),
    Row("network-balanced", REFUTED, (NETWORK,), not_balanced),
    Row("network-merged", PROVED, (NETWORK,), merged),
    Row("network-merged", REFUTED, (NETWORK,), not_merged),
    Row("network-independent", PROVED, (NETWORK,), independent),
    Row("network-independent", REFUTED, (NETWORK,), dependent),
    Row("network-prune", PROVED, (NETWORK,), prune),
    Row("network-directions", PROVED, (NETWORK,), directions),
    Row("network-directions", REFUTED, (NETWORK,), not_directions),
    Row("network-nearest", PROVED, (NETWORK,), nearest),
)
