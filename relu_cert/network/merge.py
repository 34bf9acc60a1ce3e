"""Merging neurons: the symmetry that splitting is the other side of.

Neurons i, j of one sign with z_k.w_i and z_k.w_j never of opposite signs are together the neuron w_i + w_j on the data:

    (Z w_i)_+ + (Z w_j)_+ = (Z (w_i + w_j))_+,        |w_i + w_j| <= |w_i| + |w_j|,

so P does not rise, and it falls unless the two are collinear. Where they are collinear, the merged neuron is the same
function everywhere and P is the same (merge and split symmetry, lemma:scaling-unique).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from relu_cert.exact import Matrix, Vector
from relu_cert.network.objective import ConvexNeuron
from relu_cert.rationals import products


@dataclass(frozen=True)
class Merged:
    """The merged neurons, and for each of them the numbers of those it is made of; `gone` are groups that cancel."""

    neurons: tuple[ConvexNeuron, ...]
    groups: tuple[tuple[int, ...], ...]
    gone: tuple[tuple[int, ...], ...] = ()

    @property
    def merges(self) -> tuple[tuple[int, ...], ...]:
        """The groups of more than one, in the order of their first."""
        return tuple(sorted(group for group in (*self.groups, *self.gone) if len(group) > 1))


def merge_collinear(neurons: Sequence[ConvexNeuron]) -> Merged:
    """One neuron for every sign and direction: the same function everywhere, at the same P."""
    groups: dict[tuple[int, Vector], list[int]] = {}
    for i, neuron in enumerate(neurons):
        groups.setdefault((neuron.sign, direction(neuron.w)), []).append(i)
    return _merged(neurons, list(groups.values()))


def merge_on_data(neurons: Sequence[ConvexNeuron], Z: Matrix) -> Merged:
    """Neurons merged, first come first served, wherever one cone of the data holds them: the same fit, P no higher.

    Collinear neurons are merged first, so that a symmetry is never broken by a merge that is only good on the data.
    """
    first = merge_collinear(neurons)
    groups: list[list[int]] = []
    sides: list[tuple[int, list[int]]] = []
    inner = products([neuron.w for neuron in first.neurons], Z)
    for i, neuron in enumerate(first.neurons):
        signs = [_sign(a) for a in inner[i]]
        for group, (xi, side) in zip(groups, sides, strict=True):
            if xi == neuron.sign and all(a * b >= 0 for a, b in zip(side, signs, strict=True)):
                group.append(i)
                side[:] = [a or b for a, b in zip(side, signs, strict=True)]
                break
        else:
            groups.append([i])
            sides.append((neuron.sign, signs))
    joined = _merged(first.neurons, groups)
    named = [[tuple(sorted(k for i in g for k in first.groups[i])) for g in gs] for gs in (joined.groups, joined.gone)]
    return Merged(joined.neurons, tuple(named[0]), tuple(named[1]))


def merge_cells(neurons: Sequence[ConvexNeuron], Z: Matrix) -> Merged:
    """One neuron for every sign and sign vector on the data: the same fit, P no higher, whatever the order is."""
    groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for i, (neuron, heights) in enumerate(zip(neurons, products([n.w for n in neurons], Z), strict=True)):
        groups.setdefault((neuron.sign, tuple(map(_sign, heights))), []).append(i)
    return _merged(neurons, list(groups.values()))


def direction(w: Vector) -> Vector:
    """w divided by the size of its first entry that is not zero: equal for two vectors iff w = c w', c > 0."""
    size = next(abs(x) for x in w if x)
    return tuple(x / size for x in w)


def _merged(neurons: Sequence[ConvexNeuron], groups: Sequence[Sequence[int]]) -> Merged:
    sums = [replace(neurons[group[0]], w=_total([neurons[i].w for i in group])) for group in groups]
    # Two neurons of one cone cancel only if all their rows vanish: then they have no output, and the sum is dropped.
    named = [(neuron, tuple(group)) for neuron, group in zip(sums, groups, strict=True)]
    kept = [(neuron, group) for neuron, group in named if any(neuron.w)]
    gone = tuple(group for neuron, group in named if not any(neuron.w))
    return Merged(tuple(neuron for neuron, _ in kept), tuple(group for _, group in kept), gone)


def _total(vectors: Sequence[Vector]) -> Vector:
    return tuple(sum(entries, Fraction(0)) for entries in zip(*vectors, strict=True))


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)
