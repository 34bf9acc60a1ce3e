"""Neurons that can be merged on the data, and the network in which those of one cell are."""

from __future__ import annotations

from fractions import Fraction

from verify.network.weights import Neuron, Weights, neuron_of
from verify.problem import Problem


def merged(problem: Problem, weights: Weights) -> tuple[Neuron, ...]:
    """The merged network: the neurons of one sign with the same signs on every row are one, their sum, in the place of
    the first; a sum 0 is left out. The same fit, at no higher P, in whatever order the neurons are given."""
    cells: dict[tuple[int, int, int], list[Neuron]] = {}
    for neuron in weights.neurons:
        cells.setdefault((neuron.sign, neuron.above, neuron.below), []).append(neuron)
    sums = []
    for (sign, _, _), group in cells.items():
        total = tuple(sum(column, Fraction(0)) for column in zip(*(neuron.w for neuron in group), strict=True))
        if any(total):
            sums.append(neuron_of(problem, group[0].number, sign, total))
    return tuple(sums)


def mergeable(weights: Weights) -> tuple[int, int] | None:
    """Two neurons of one sign without a row on which they are of opposite signs: (Zw)_+ + (Zw')_+ = (Z(w + w'))_+."""
    for i, a in enumerate(weights.neurons):
        for b in weights.neurons[:i]:
            if a.sign == b.sign and not a.above & b.below and not a.below & b.above:
                return b.number, a.number
    return None
