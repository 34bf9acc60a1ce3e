"""Neurons that can be merged: collinear ones everywhere, those of one cone on the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from verify.network.weights import Neuron, Weights, neuron_of
from verify.problem import Problem
from verify.text import Node, Vector

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Merged:
    """Groups of more than one neuron, by their numbers in W1, and the neurons that are left after merging on the data:
    the same fit, at no higher P. `apart`: no two neurons can be merged on the data."""

    collinear: Groups
    on_data: Groups
    neurons: tuple[Neuron, ...]
    apart: bool


def check_merged(problem: Problem, weights: Weights, node: Node) -> Merged:
    """Reject unless `collinear` are all groups of collinear neurons, and each group of `on_data` lies in one cone."""
    fields = node.record("collinear", "on_data")
    numbers = len(weights.W1)
    lines: dict[tuple[int, Vector], list[int]] = {}
    for neuron in weights.neurons:
        lines.setdefault((neuron.sign, direction(neuron.w)), []).append(neuron.number)
    collinear = tuple(tuple(group) for group in lines.values() if len(group) > 1)
    if tuple(entry.ascending(numbers) for entry in fields["collinear"].array()) != collinear:
        raise fields["collinear"].reject("all groups of collinear neurons of one sign, in the order of their first")
    on_data: list[tuple[int, ...]] = []
    sums: dict[int, Neuron | None] = {neuron.number: neuron for neuron in weights.neurons}
    for entry in fields["on_data"].array():
        group = entry.ascending(numbers)
        members = [sums.get(number) for number in group]
        found = [neuron for neuron in members if neuron is not None]
        if len(group) < 2 or len(found) < len(group) or any(set(group) & set(other) for other in on_data):
            raise entry.reject("two or more neurons that are not zero and in no other group")
        if not all(mergeable(a, b) for i, a in enumerate(found) for b in found[:i]):
            raise entry.reject("neurons of one sign in one cone of the data")
        total = tuple(sum(column, Fraction(0)) for column in zip(*(neuron.w for neuron in found), strict=True))
        sums |= dict.fromkeys(group)
        if any(total):
            sums[group[0]] = neuron_of(problem, group[0], found[0].sign, total)
        on_data.append(group)
    left = tuple(neuron for neuron in sums.values() if neuron is not None)
    apart = not any(mergeable(a, b) for i, a in enumerate(weights.neurons) for b in weights.neurons[:i])
    return Merged(collinear, tuple(on_data), left, apart)


def mergeable(a: Neuron, b: Neuron) -> bool:
    """One sign, and no row on which the two are of opposite signs: then (Zw)_+ + (Zw')_+ = (Z(w + w'))_+."""
    return a.sign == b.sign and not a.above & b.below and not a.below & b.above


def direction(w: Sequence[Fraction]) -> Vector:
    """w over the size of its first entry other than zero: the same for w and w' iff w = c w', c > 0."""
    size = next(abs(x) for x in w if x)
    return tuple(x / size for x in w)
