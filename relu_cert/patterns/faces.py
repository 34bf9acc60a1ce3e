"""Groups of totally cyclic flats: the cells on each L_F, many flats at once where L_F is a line or a plane."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from relu_cert.patterns.arrangement import Hyperplanes
from relu_cert.patterns.flats import small_or_same
from relu_cert.patterns.model import Group
from relu_cert.patterns.packing import pack_masks
from relu_cert.patterns.witness import Integers
from relu_cert.patterns.words import Bytes, Numbers, Words, as_bytes, symmetric_sums


class Rows:
    """The rows of hyperplanes, packed, and the patterns that they make."""

    def __init__(self, planes: Hyperplanes, n: int) -> None:
        self.n = n
        self.toggles = pack_masks([a | b for a, b in zip(planes.same, planes.opposite, strict=True)], n)
        self.zero, self.all = pack_masks([planes.zero, (1 << n) - 1], n)
        self.negative = pack_masks([sum(planes.opposite)], n)[0]  # different rows: the sum is the union

    def of(self, members: Words) -> Bytes:
        """The rows of some flats, the zero rows of the data included."""
        return np.asarray(symmetric_sums(as_bytes(members), self.toggles) | self.zero)

    def groups(self, members: Words, count: Numbers, positive: NDArray[np.bool_], witnesses: Integers) -> list[Group]:
        """The groups of some flats from half the cells of each: `count` of them, with the hyperplanes that are positive
        there and with witnesses."""
        inside = self.of(members)
        half = symmetric_sums(np.packbits(positive, axis=1, bitorder="little"), self.toggles) ^ self.negative
        flats = _ones(inside, self.n)
        inside = np.repeat(inside, count, axis=0)
        ends = np.cumsum(count)
        at = np.arange(len(half)) + np.repeat(ends - count, count)
        bits = np.empty((2 * len(half), half.shape[1]), dtype=np.uint8)
        bits[at] = half | inside
        bits[at + np.repeat(count, count)] = half ^ self.all | inside
        W = np.empty_like(witnesses, shape=(len(bits), witnesses.shape[1]))
        W[at] = witnesses
        W[at + np.repeat(count, count)] = -witnesses
        made = []
        for flat, end, size in zip(flats, (2 * ends).tolist(), (2 * count).tolist(), strict=True):
            own = W[end - size : end]
            made.append(Group(flat, bits[end - size : end], small_or_same(own), ()))
        return made


def _ones(sets: Bytes, n: int) -> Sequence[tuple[int, ...]]:
    """The elements of packed sets, ascending."""
    i, k = np.nonzero(np.unpackbits(sets, axis=1, count=n))
    ends = np.searchsorted(i, np.arange(len(sets) + 1)).tolist()
    elements = k.tolist()
    return [tuple(elements[a:b]) for a, b in pairwise(ends)]
