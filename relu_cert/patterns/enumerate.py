"""D_Z, exactly: the open cells, then the cells on every totally cyclic flat, with what proves that none is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from relu_cert.errors import TooManyPatterns
from relu_cert.exact import Matrix
from relu_cert.patterns.arrangement import Arrangement, Hyperplanes, arrangement, hyperplanes
from relu_cert.patterns.circuits import minimal
from relu_cert.patterns.flats import Basis, dependent_flats, short_basis
from relu_cert.patterns.model import Group, PatternSet
from relu_cert.patterns.predict import Prediction, predict_arrangement
from relu_cert.patterns.walk import LimitReached, walk
from relu_cert.patterns.witness import Integers, signs_of, small, witnesses

Engine = Literal["auto", "python", "compiled"]
Progress = Callable[[int, int], None]


def enumerate_patterns(
    Z: Matrix, *, max_patterns: int = 10**6, progress: Progress | None = None, engine: Engine = "auto"
) -> PatternSet:
    """D_Z with a witness for every pattern and the evidence that none is missing.

    Raises TooManyPatterns when there are more than `max_patterns`. `progress(done, bound)` is called now and then.
    """
    a = arrangement(Z)
    planes = hyperplanes(a.rows)
    expected = predict_arrangement(a, planes)
    return _Enumeration(a, planes, expected, max_patterns, progress, engine).run()


ADVICE = "Use fewer rows or columns, or raise max_patterns."


@dataclass
class _Enumeration:
    a: Arrangement
    planes: Hyperplanes
    expected: Prediction
    max_patterns: int
    progress: Progress | None
    engine: Engine

    def run(self) -> PatternSet:
        self.total = 0
        identity: Basis = tuple(tuple(int(i == l) for i in range(self.a.rank)) for l in range(self.a.rank))
        groups = [self._group(identity, self.planes)]
        lower, covers = self._lower_faces(groups[0])
        return PatternSet(
            self.a.n,
            self.a.d,
            self.a.rank,
            self.a.columns,
            (groups[0], *lower),
            covers,
        )

    def _group(self, basis: Basis, planes: Hyperplanes) -> Group:
        """The cells of the arrangement on the span of `basis`; `planes` are the hyperplanes in these coordinates."""
        half, W, circuits = self._cells(planes)
        bits = pack(half, planes, self.a.n)
        if len(planes):
            W = np.concatenate([W, -W])
        self.total += len(bits)
        return Group(_rows(planes.zero), bits, self._lift(W, basis), circuits)

    def _cells(self, planes: Hyperplanes) -> tuple[NDArray[np.bool_], Integers, tuple[tuple[int, ...], ...]]:
        if not len(planes):
            return np.ones((1, 0), dtype=np.bool_), np.zeros((1, 0), dtype=np.int64), ()
        limit = (self.max_patterns - self.total) // 2
        try:
            found = walk(planes.normals, limit, self._tick)
        except LimitReached:
            raise TooManyPatterns(self.expected.bound, self.max_patterns, ADVICE) from None
        W = witnesses(planes.normals, found)
        signs = signs_of(found.cells, len(planes)) > 0
        if found.orientation < 0:
            signs[:, 0] ^= True
        names = planes.names
        circuits = tuple((names[c], *(names[b] for b in bs)) for c, bs in minimal(found.broken))
        return signs, W, circuits

    def _tick(self, half: int) -> None:
        if self.progress is not None:
            self.progress(min(self.total + 2 * half, self.expected.bound), self.expected.bound)

    def _lift(self, W: Integers, basis: Basis) -> Integers:
        """Witnesses on the columns of Z: u = scale * sum_i w_i basis_i, exactly."""
        r = self.a.rank
        B = np.array([[x * s for x, s in zip(b, self.a.scale, strict=True)] for b in basis], dtype=object)
        if not basis:
            return np.zeros((len(W), r), dtype=np.int64)
        largest = max(abs(int(x)) for x in B.flat) * int(np.abs(W).max(initial=0)) * len(basis)
        if largest < 2**62 and W.dtype != object:
            return np.asarray(W @ B.astype(np.int64))
        return small(W.astype(object) @ B)

    def _lower_faces(self, cells: Group) -> tuple[list[Group], tuple[int, ...]]:
        """The groups of all totally cyclic flats but the first, and the covers of all dependent flats."""
        everything = (1 << self.a.n) - 1
        planes = self.planes
        if (best := _covering(cells, everything, self.a.n)) is not None:
            return [], (best,)
        groups: list[Group] = []
        starts = [0]
        known: dict[int, tuple[int, list[int]]] = {0: (0, [])}  # flat: its group, and covers in it
        cyclic: dict[int, int] = {}  # flat: its largest totally cyclic part
        covers: list[int] = []
        all_groups = [cells]
        place = {name: j for j, name in enumerate(planes.names)}
        circuits = [[place[k] for k in circuit[1:]] for circuit in cells.circuits]
        two_sided = [j for j, mask in enumerate(planes.opposite) if mask]
        whole = (1 << len(planes)) - 1

        def settle(members: int, part: int, basis: Basis) -> int:
            """Find a cover of a flat whose largest known totally cyclic part is `part`, or make it a group."""
            rows = _union(planes, members)
            if part in known and part != members:
                number, used = known[part]
                group = all_groups[number]
                found = _covering(group, rows, self.a.n, used)
                if found is not None:
                    if found not in used:
                        used.append(found)
                        covers.append(starts[number] + found)
                    return part
            short = short_basis(basis)
            restricted = hyperplanes([[sum(map(int.__mul__, z, b)) for b in short] for z in self.a.rows])
            starts.append(starts[-1] + len(all_groups[-1]))
            group = self._group(short, restricted)
            if self.total > self.max_patterns:
                raise TooManyPatterns(self.expected.bound, self.max_patterns, ADVICE)
            all_groups.append(group)
            groups.append(group)
            known[members] = (len(all_groups) - 1, [0])
            covers.append(starts[-1])
            return members

        everything_cyclic = 0
        for flat, below in dependent_flats(planes.normals, circuits, two_sided):
            part = 0
            for lower in below:
                part |= cyclic[lower]
            cyclic[flat.members] = settle(flat.members, part, flat.basis)
            everything_cyclic |= cyclic[flat.members]
        settle(whole, everything_cyclic, ())
        return groups, tuple(sorted(covers))


def pack(half: NDArray[np.bool_], planes: Hyperplanes, n: int) -> NDArray[np.uint8]:
    """Packed patterns of the rows, for half the cells (+ on hyperplanes) and then for their negatives."""
    place = np.full(n, -1)
    flip = np.zeros(n, dtype=np.bool_)
    for j in range(len(planes)):
        place[list(_rows(planes.same[j]))] = j
        opposite = list(_rows(planes.opposite[j]))
        place[opposite] = j
        flip[opposite] = True
    zero = place < 0
    bits = np.ones((len(half), n), dtype=np.bool_)
    bits[:, ~zero] = half[:, place[~zero]] ^ flip[~zero]
    packed = np.packbits(bits, axis=1)
    if not len(planes):
        return packed
    negative = np.packbits(~zero[None, :], axis=1)
    return np.concatenate([packed, packed ^ negative])


def _covering(group: Group, rows: int, n: int, preferred: Sequence[int] = ()) -> int | None:
    """The number, in its group, of a pattern that is 1 on all of `rows`; the one with most ones."""
    mask = np.packbits(np.array([rows >> k & 1 for k in range(n)], dtype=np.uint8))
    for number in preferred:
        if ((group.bits[number] & mask) == mask).all():
            return number
    hits = np.flatnonzero(((group.bits & mask) == mask).all(axis=1))
    if not len(hits):
        return None
    ones = np.unpackbits(group.bits[hits], axis=1).sum(axis=1)
    return int(hits[np.argmax(ones)])


def _rows(mask: int) -> tuple[int, ...]:
    return tuple(k for k in range(mask.bit_length()) if mask >> k & 1)


def _union(planes: Hyperplanes, members: int) -> int:
    """The rows of a flat."""
    rows = planes.zero
    for j in range(len(planes)):
        if members >> j & 1:
            rows |= planes.same[j] | planes.opposite[j]
    return rows
