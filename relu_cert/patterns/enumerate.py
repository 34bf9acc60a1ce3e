"""D_Z, exactly: the open cells, then the cells on every totally cyclic flat, with what proves that none is missing.

Patterns of lower faces: the totally cyclic flats, found rank by rank with a bit test.

A flat X has one largest totally cyclic part T(X), and some cell on L_T(X) is 1 on all of X. So, going up in rank: let F
be the union of the totally cyclic parts of the flats that X covers. If X is not totally cyclic then F = T(X) is one of
the flats found before, and one of its cells covers X. If there is none, X is totally cyclic and its own cells are new
patterns.

The groups of patterns: the cells on L_F for a totally cyclic flat F, many flats at once on lines and planes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import flint
import numpy as np
from numpy.typing import NDArray

from relu_cert.errors import TooManyPatterns
from relu_cert.exact import Matrix
from relu_cert.patterns.arrangement import (
    ONES,
    Arrangement,
    Bytes,
    Hyperplanes,
    Numbers,
    Packed,
    Words,
    arrangement,
    as_bytes,
    as_words,
    both_halves,
    both_halves_of_masks,
    covered_by,
    distinct,
    hyperplanes,
    pack,
    pack_masks,
    restrict_planes,
    rows_of,
    symmetric_sums,
)
from relu_cert.patterns.cells import Engine, Integers, cells, cover_bound, minimal, small
from relu_cert.patterns.flats import (
    Flats,
    climb,
    fitting,
    half_lines,
    half_planes,
    line_cells,
    plane_cells,
    seeds,
    shorten,
    small_or_same,
)
from relu_cert.patterns.pattern_set import Group, PatternSet
from relu_cert.patterns.predict import Prediction, predict_arrangement, surely_more
from relu_cert.patterns.walk import LimitReached

Progress = Callable[[int, int], None]

COMPILE_FROM = {"auto": 60_000, "compiled": 64}  # cells, by Cover's bound: fewer are walked in plain Python
CHUNK = 1 << 21  # entries of the largest temporary array
ADVICE = (
    "`check` needs no list: it proves a bound for data of any size. "
    "Fewer columns have fewer patterns; --max-patterns (in Python max_patterns) raises the limit."
)
FOUND = f"The enumeration was stopped when it had found that many. {ADVICE}"


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
            made.append(Group(flat, bits[end - size : end], (), small_or_same(own)))
        return made


def _ones(sets: Bytes, n: int) -> Sequence[tuple[int, ...]]:
    """The elements of packed sets, ascending."""
    i, k = np.nonzero(np.unpackbits(sets, axis=1, count=n))
    ends = np.searchsorted(i, np.arange(len(sets) + 1)).tolist()
    elements = k.tolist()
    return [tuple(elements[a:b]) for a, b in pairwise(ends)]


@dataclass
class Groups:
    """Makes groups of an arrangement, and counts their patterns: TooManyPatterns is raised above a limit."""

    a: Arrangement
    planes: Hyperplanes
    expected: Prediction
    max_patterns: int
    progress: Progress | None
    engine: Engine
    total: int = field(default=0)

    def open_cells(self) -> Group:
        """The open cells of the whole space."""
        return self._group(self.whole_space, self.planes, self._compiled([self.planes]))

    def on_flats(self, members: Words, bases: Integers) -> list[Group]:
        """The cells on some flats of one rank, whose hyperplanes and whose bases of L_F are given."""
        if bases.shape[1] == 0:
            return [self._origin() for _ in members]
        if bases.shape[1] > 2:
            return self._one_by_one(members, bases)
        made: list[Group] = []
        size = CHUNK // len(self.planes) ** 2 + 1
        for start in range(0, len(members), size):
            part = slice(start, start + size)
            made += self._planar(members[part], bases[part]) or self._one_by_one(members[part], bases[part])
        return made

    def _origin(self) -> Group:
        """The one cell on {0}: every row is zero there."""
        everything = (1 << self.a.n) - 1
        self._count(1)
        witness = np.zeros((1, self.a.rank), dtype=np.int64)
        return Group(rows_of(everything), pack_masks([everything], self.a.n), (), witness)

    def _planar(self, members: Words, bases: Integers) -> list[Group]:
        """The groups on lines, or on planes; none if numbers are too long for that."""
        bases = shorten(bases)
        halves = half_lines(self.normals, bases) if bases.shape[1] == 1 else half_planes(self.normals, bases)
        if halves is None:
            return []
        count, positive, W = halves
        self._count(2 * len(W))
        W, bases = fitting(bases.shape[1], W, self._scaled(bases))
        U = sum(W[:, i, None] * np.repeat(bases[:, i], count, axis=0) for i in range(W.shape[1]))
        return self.rows.groups(members, count, positive, np.asarray(U))

    def _one_by_one(self, members: Words, bases: Integers) -> list[Group]:
        """The groups on other subspaces."""
        masks = [int.from_bytes(as_bytes(flat[None]).tobytes(), "little") for flat in members]
        short = [short_basis(basis) for basis in bases]
        on_flats = [
            restrict_planes(self.planes, mask, basis.tolist()) for mask, basis in zip(masks, short, strict=True)
        ]
        compiled = self._compiled(on_flats)
        return [self._group(basis, planes, compiled) for basis, planes in zip(short, on_flats, strict=True)]

    def _group(self, basis: Integers, planes: Hyperplanes, compiled: bool) -> Group:
        """The cells of the arrangement on the span of `basis`; `planes` are the hyperplanes in its coordinates."""
        bits, W, circuits = self._cells(planes, compiled)
        self._count(len(bits))
        both = self._lift(W, basis)
        if len(planes):
            both = _with_negatives(both)
        return Group(rows_of(planes.zero), bits, circuits, both)

    def _cells(self, planes: Hyperplanes, compiled: bool) -> tuple[Packed, Integers, tuple[tuple[int, ...], ...]]:
        """Patterns of all cells, integer points of the first half of them, and the circuits that prove their number."""
        n, m = self.a.n, len(planes)
        if m == 0:
            return pack_masks([planes.zero], n), np.zeros((1, 0), dtype=np.int64), ()
        r = len(planes.normals[0])
        if r <= 2:
            masks, points = (line_cells if r == 1 else plane_cells)(planes.normals)
            W = small(np.array(points, dtype=object))
            if m <= 64:
                return both_halves_of_masks(masks, planes, n), W, ()
            width = (m + 7) // 8
            raw = np.frombuffer(b"".join(mask.to_bytes(width, "little") for mask in masks), dtype=np.uint8)
            return both_halves(raw.reshape(len(masks), width), planes, n), W, ()
        limit = (self.max_patterns - self.total) // 2
        try:
            found = cells(planes.normals, compiled=compiled, limit=limit, tick=self._tick if self.progress else None)
        except LimitReached:
            raise TooManyPatterns(self.expected.general, self.max_patterns, FOUND) from None
        names = planes.names
        circuits = tuple((names[c], *(names[b] for b in bs)) for c, bs in minimal(found.broken, compiled=compiled))
        return both_halves(found.bits, planes, n, compiled=compiled), found.points, circuits

    def _compiled(self, several: Iterable[Hyperplanes]) -> bool:
        """Whether the cells of these are enough to load (or to make) compiled code."""
        if self.engine == "python":
            return False
        most = sum(cover_bound(len(planes), len(planes.normals[0])) for planes in several if len(planes))
        return most > COMPILE_FROM[self.engine]

    def _count(self, patterns: int) -> None:
        """So many more."""
        self.total += patterns
        if self.total > self.max_patterns:
            raise TooManyPatterns(self.expected.bound, self.max_patterns, FOUND)
        self._tick(0)

    def _tick(self, half: int) -> None:
        if self.progress is not None:
            done = self.total + 2 * half
            self.progress(done, self.expected.general if done <= self.expected.general else self.expected.bound)

    def _lift(self, W: Integers, basis: Integers) -> Integers:
        """Witnesses on the columns of Z: u = scale * sum_i w_i basis_i, exactly."""
        if basis is self.whole_space and all(factor == 1 for factor in self.a.scale):
            return W
        B = self._scaled(basis)
        W, B = fitting(max(1, len(B)), W, B)
        U = np.asarray(W @ B)
        return small(U) if U.dtype == object else U

    def _scaled(self, bases: Integers) -> Integers:
        """Bases in the coordinates of Z."""
        B, scale = fitting(1, bases, self.scale)
        return np.asarray(B * scale)

    @cached_property
    def whole_space(self) -> Integers:
        """The unit vectors."""
        return np.eye(self.a.rank, dtype=np.int64)

    @cached_property
    def scale(self) -> Integers:
        """The factor of each column."""
        return small(np.array(self.a.scale, dtype=object))

    @cached_property
    def normals(self) -> Integers:
        """The hyperplanes of the whole space."""
        return small(np.array(self.planes.normals, dtype=object))

    @cached_property
    def rows(self) -> Rows:
        """What makes patterns of sides of hyperplanes."""
        return Rows(self.planes, self.a.n)


def short_basis(basis: Integers) -> Integers:
    """The same lattice's basis with short vectors (LLL): witnesses stay small."""
    if len(basis) < 2:
        return basis
    rows = flint.fmpz_mat(basis.tolist()).lll().tolist()
    return small(np.array([[int(x) for x in row] for row in rows], dtype=object))


def _with_negatives(W: Integers) -> Integers:
    """W, then -W."""
    both = np.empty_like(W, shape=(2 * len(W), W.shape[1]))
    both[: len(W)] = W
    np.negative(W, out=both[len(W) :])
    return both


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
