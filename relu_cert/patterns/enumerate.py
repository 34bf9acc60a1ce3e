"""D_Z, exactly: the open cells, then the cells on every totally cyclic flat, with what proves that none is missing.

Patterns of lower faces: the totally cyclic flats, found rank by rank with a bit test.

A flat X has one largest totally cyclic part T(X), and some cell on L_T(X) is 1 on all of X. So, going up in rank: let F
be the union of the totally cyclic parts of the flats that X covers. If X is not totally cyclic then F = T(X) is one of
the flats found before, and one of its cells covers X. If there is none, X is totally cyclic and its own cells are new
patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from relu_cert.errors import TooManyPatterns
from relu_cert.exact import Matrix
from relu_cert.patterns.arrangement import (
    ONES,
    Bytes,
    Hyperplanes,
    Numbers,
    Words,
    arrangement,
    as_bytes,
    as_words,
    covered_by,
    distinct,
    hyperplanes,
    pack,
    pack_masks,
    symmetric_sums,
)
from relu_cert.patterns.cells import Engine
from relu_cert.patterns.flats import Flats, climb, seeds
from relu_cert.patterns.groups import ADVICE, Groups, Progress
from relu_cert.patterns.pattern_set import Group, PatternSet
from relu_cert.patterns.predict import predict_arrangement, surely_more
from relu_cert.patterns.witness import Integers, small

MakeGroups = Callable[[Words, Integers], Sequence[Group]]

BLOCK = 1 << 17  # pairs of a cell and a flat that are compared at once
MANY = 4096  # cells: from there on most are ruled out by one byte first


def search(
    planes: Hyperplanes, n: int, first: Group, make_groups: MakeGroups
) -> tuple[tuple[Group, ...], tuple[int, ...]]:
    """The groups of all totally cyclic flats but the first, whose cells are those of the whole space, and the covers.

    `make_groups(members, bases)` makes the groups of some flats.
    """
    everything = pack_masks([(1 << n) - 1], n)
    one_sided = (first.bits == everything).all(axis=1)
    if one_sided.any():
        return (), (int(one_sided.argmax()),)
    found = LowerFaces(planes, n, first, make_groups)
    found.climb()
    return tuple(found.groups), found.covers()


@dataclass
class KnownFlat:
    """A totally cyclic flat: the number of its group's first pattern, the group, and its patterns that are covers."""

    start: int
    group: Group
    covers: list[int] = field(default_factory=list)

    def cover(self, rows: Words) -> NDArray[np.bool_]:
        """Which sets of rows some pattern of the group is 1 on. What was found becomes a cover: few serve many sets."""
        found = np.zeros(len(rows), dtype=np.bool_)
        size = max(1, BLOCK // len(self.group))
        left = np.arange(len(rows))
        while True:
            served = covered_by(rows[left], self.words[self.covers]).any(axis=1)
            found[left[served]] = True
            left = left[~served]
            if not len(left):
                return found
            part, left = left[:size], left[size:]
            candidates = self._candidates(rows[part])
            found[part] = self._take(candidates, covered_by(rows[part], self.words[candidates]))

    def _take(self, candidates: Numbers, table: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Make covers of some candidates until each set that one of them is 1 on has one. Which sets are these?"""
        covered = np.asarray(table.any(axis=1))
        left = covered.copy()
        while left.any():
            best = int(table[left].sum(axis=0).argmax())
            self.covers.append(int(candidates[best]))
            left &= ~table[:, best]
        return covered

    def _candidates(self, rows: Words) -> Numbers:
        """The patterns that may be 1 on one of some sets of rows; of many, those that are 1 on what all these share."""
        if len(self.group) < MANY:
            return np.arange(len(self.group))
        common = as_bytes(np.bitwise_and.reduce(rows, axis=0)[None])[0]
        byte = int(ONES[common].argmax())
        return np.flatnonzero((self.columns[byte] & common[byte]) == common[byte])

    @cached_property
    def words(self) -> Words:
        return as_words(self.group.bits)

    @cached_property
    def columns(self) -> Bytes:
        return np.ascontiguousarray(as_bytes(self.words).T)


@dataclass
class LowerFaces:
    """The search for all totally cyclic flats of an arrangement whose open cells are `first`, none of them all ones."""

    planes: Hyperplanes
    n: int
    first: Group
    make_groups: MakeGroups
    groups: list[Group] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.end = len(self.first)
        self.known: dict[bytes, KnownFlat] = {}

    @cached_property
    def normals(self) -> Integers:
        return small(np.array(self.planes.normals, dtype=object))

    @cached_property
    def rows(self) -> Bytes:
        """The rows of each hyperplane, packed."""
        return pack_masks([a | b for a, b in zip(self.planes.same, self.planes.opposite, strict=True)], self.n)

    def climb(self) -> None:
        """Settle all dependent flats, rank by rank, and then the whole space."""
        m, r = len(self.planes.normals), len(self.planes.normals[0])
        everything = pack(np.ones((1, m), dtype=np.bool_))
        bases = np.zeros((1, 0, r), dtype=np.int64)
        dependent = self._dependent()
        if not dependent:
            self._add(everything, bases)
            return
        lowest = seeds(self.normals, dependent)
        nothing = np.zeros_like(lowest[0].members, shape=(1, lowest[0].members.shape[1]))
        self.known[nothing.tobytes()] = KnownFlat(0, self.first)
        union = nothing
        flats = lowest[0]
        parts = flats.members
        for more in lowest[1:]:
            flats = climb(self.normals, flats, parts, more)
            parts = self._cover_or_add(flats)
            union = union | np.bitwise_or.reduce(parts, axis=0, initial=np.uint64(0))
        if union.any():
            self._cover_or_add(Flats(everything, bases, union))
        else:  # no cell of the whole space is 1 everywhere
            self._add(everything, bases)

    def _dependent(self) -> list[tuple[int, ...]]:
        """What the lowest dependent flats hold: broken circuits, and hyperplanes with rows on both sides."""
        if not self.first.circuits and not any(self.planes.opposite):
            return []
        position = {name: j for j, name in enumerate(self.planes.names)}
        broken = [tuple(position[k] for k in circuit[1:]) for circuit in self.first.circuits]
        return [*broken, *((j,) for j, mask in enumerate(self.planes.opposite) if mask)]

    def covers(self) -> tuple[int, ...]:
        """The numbers of the patterns that cover all flats."""
        return tuple(sorted(known.start + i for known in self.known.values() for i in known.covers))

    def _cover_or_add(self, flats: Flats) -> Words:
        """Cover each flat by a cell of its largest known totally cyclic part, or make it a group. Returns that part."""
        parts = flats.below.copy()
        cyclic = np.zeros(len(flats), dtype=np.bool_)
        rows = as_words(symmetric_sums(as_bytes(flats.members), self.rows))
        number, first = distinct(flats.below)
        order = np.argsort(number, kind="stable")
        for same in np.split(order, np.searchsorted(number[order], np.arange(1, len(first)))):
            known = self.known.get(flats.below[same[:1]].tobytes()) if len(same) else None
            cyclic[same] = True if known is None else ~known.cover(rows[same])
        parts[cyclic] = flats.members[cyclic]
        self._add(flats.members[cyclic], flats.bases[cyclic])
        return parts

    def _add(self, members: Words, bases: Integers) -> None:
        """Make groups of some flats; the first pattern of each covers it."""
        for flat, group in zip(members, self.make_groups(members, bases), strict=True):
            self.known[flat.tobytes()] = KnownFlat(self.end, group, [0])
            self.end += len(group)
            self.groups.append(group)


def enumerate_patterns(
    Z: Matrix, *, max_patterns: int = 10**6, progress: Progress | None = None, engine: Engine = "auto"
) -> PatternSet:
    """D_Z with a witness for every pattern and the evidence that none is missing.

    Raises TooManyPatterns when there are more than `max_patterns`: at once where the rank (r independent rows have all
    2^r signs) or a sample shows that there must be more, otherwise as soon as that many have been found (an upper bound
    is no reason to refuse).
    `progress(done, bound)` is called now and then. The engine "python" needs no compilation, "compiled" is faster
    by a factor of ten to twenty; "auto" takes the one that is done first.
    """
    a = arrangement(Z)
    planes = hyperplanes(a.rows)
    expected = predict_arrangement(a, planes)
    if expected.cells > max_patterns and (2**a.rank > max_patterns or surely_more(planes.normals, max_patterns)):
        raise TooManyPatterns(expected.general, max_patterns, ADVICE)
    groups = Groups(a, planes, expected, max_patterns, progress, engine)
    first = groups.open_cells()
    others, covers = search(planes, a.n, first, groups.on_flats)
    return PatternSet(a.n, a.d, a.rank, a.columns, (first, *others), covers)
