"""The rank of the neurons' outputs, and the network that is left when what depends on others is pruned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

from verify.network.weights import Neuron, Weights, neuron_of, norms, residual
from verify.numbers.bounds import matrix
from verify.numbers.roots import sign_of_sum
from verify.problem.problem import SIGNS, Problem
from verify.text import Node, show


@dataclass(frozen=True)
class Pruned:
    """The pruned network: the same fit, independent outputs, and P no higher (`better`: lower)."""

    neurons: int
    better: bool


def check_pruned(problem: Problem, weights: Weights, node: Node) -> Pruned:
    """Reject unless the pruned neurons have the fit of the network, independent outputs, and sum |w| is no larger."""
    neurons = []
    for number, entry in enumerate(node.array()):
        fields = entry.record("sign", "w")
        w = fields["w"].vector(problem.d)
        fields["w"].require(any(w), "a vector other than zero")
        neurons.append(neuron_of(problem, number, SIGNS[fields["sign"].text("+", "-")], w))
    for k, (a, b) in enumerate(zip(residual(weights.left, neurons), weights.residual, strict=True)):
        node.require(a == b, f"the fit of the network at row {k}", f"a fit off by {show(b - a)}")
    if (found := rank(problem, neurons)) < len(neurons):
        raise node.reject("neurons with independent outputs", f"{len(neurons)} of rank {found}")
    change = compared(neurons, weights.neurons)
    node.require(change <= 0, "a sum of norms that is no larger than that of the network", "a larger one")
    return Pruned(len(neurons), change < 0)


def rank(problem: Problem, neurons: Sequence[Neuron]) -> int:
    """The dimension of the span of the outputs. (Of a wide matrix flint finds the rank far more slowly.)"""
    return int(matrix((neuron.q for neuron in neurons), problem.n).transpose().rank())


def compared(a: Sequence[Neuron], b: Sequence[Neuron]) -> int:
    """The sign of sum |w| over a minus sum |w| over b: by enclosures, else exactly by square classes."""
    (a_below, a_above), (b_below, b_above) = norms(one.squared for one in a), norms(one.squared for one in b)
    if a_above < b_below:
        return -1
    if a_below > b_above:
        return 1
    squares = [neuron.squared for neuron in (*a, *b)]
    scale = lcm(*(x.denominator for x in squares))
    return sign_of_sum([1] * len(a) + [-1] * len(b), [int(x * scale * scale) for x in squares])
