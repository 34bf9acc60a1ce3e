"""Patterns of lower faces: the totally cyclic flats, found rank by rank with a bit test.

A flat X has one largest totally cyclic part T(X), and some cell on L_T(X) is 1 on all of X. So, going up in rank: let F
be the union of the totally cyclic parts of the flats that X covers. If X is not totally cyclic then F = T(X) is one of
the flats found before, and one of its cells covers X. If there is none, X is totally cyclic and its own cells are new
patterns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from relu_cert.patterns.arrangement import Hyperplanes, restrict_planes
from relu_cert.patterns.flats import Basis, dependent_flats, short_basis
from relu_cert.patterns.model import Group
from relu_cert.patterns.packing import Packed, pack_masks

MakeGroup = Callable[[Basis, Hyperplanes], Group]


@dataclass
class _Known:
    """A totally cyclic flat: the number of its group's first pattern, the group, and its patterns that are covers."""

    start: int
    group: Group
    covers: list[int] = field(default_factory=list)


@dataclass
class LowerFaces:
    """The search for all totally cyclic flats of an arrangement whose open cells are `first`."""

    n: int
    planes: Hyperplanes
    first: Group
    make_group: MakeGroup
    groups: list[Group] = field(default_factory=list)

    def search(self) -> tuple[int, ...]:
        """Fill `groups` with the groups of all totally cyclic flats but the first; returns the covers."""
        everything = (1 << self.n) - 1
        if (number := covering(self.first, everything, self.n)) is not None:
            return (number,)
        planes = self.planes
        self.known = {0: _Known(0, self.first)}
        self.end = len(self.first)
        position = {name: j for j, name in enumerate(planes.names)}
        broken = [[position[k] for k in circuit[1:]] for circuit in self.first.circuits]
        two_sided = [j for j, mask in enumerate(planes.opposite) if mask]
        part: dict[int, int] = {}  # flat: its largest totally cyclic part
        union = 0
        for flat, below in dependent_flats(planes.normals, broken, two_sided):
            lower = 0
            for members in below:
                lower |= part[members]
            part[flat.members] = self._settle(flat.members, lower, flat.basis)
            union |= part[flat.members]
        self._settle((1 << len(planes)) - 1, union or -1, ())  # no cell of the whole space is 1 everywhere
        return tuple(sorted(known.start + i for known in self.known.values() for i in known.covers))

    def _settle(self, members: int, lower: int, basis: Basis) -> int:
        """Cover a flat by a cell of its largest known totally cyclic part, or make it a group. Returns that part."""
        known = self.known.get(lower)
        if known is not None and lower != members:
            number = covering(known.group, self._rows(members), self.n, known.covers)
            if number is not None:
                if number not in known.covers:
                    known.covers.append(number)
                return lower
        short = short_basis(basis)
        group = self.make_group(short, restrict_planes(self.planes, members, short))
        self.known[members] = _Known(self.end, group, [0])
        self.end += len(group)
        self.groups.append(group)
        return members

    def _rows(self, members: int) -> int:
        """The rows of a flat."""
        planes = self.planes
        rows = planes.zero
        for j in range(len(planes)):
            if members >> j & 1:
                rows |= planes.same[j] | planes.opposite[j]
        return rows


def covering(group: Group, rows: int, n: int, preferred: list[int] | None = None) -> int | None:
    """The number, in its group, of a pattern that is 1 on all of `rows`: a preferred one, or the one with most ones."""
    mask = pack_masks([rows], n)[0]
    if preferred:
        hits = np.flatnonzero(((group.bits[preferred] & mask) == mask).all(axis=1))
        if len(hits):
            return preferred[int(hits[0])]
    candidates = group.bits
    numbers = np.arange(len(candidates)) if len(candidates) < 64 else _filtered(candidates, mask)
    hits = numbers[((candidates[numbers] & mask) == mask).all(axis=1)]
    if not len(hits):
        return None
    ones = np.unpackbits(candidates[hits], axis=1).sum(axis=1)
    return int(hits[np.argmax(ones)])


def _filtered(bits: Packed, mask: Packed) -> NDArray[np.intp]:
    """Patterns that agree with the mask in the byte of it that has most ones (a cheap first test)."""
    byte = int(np.argmax(np.unpackbits(mask[:, None], axis=1).sum(axis=1)))
    return np.flatnonzero((bits[:, byte] & mask[byte]) == mask[byte])
