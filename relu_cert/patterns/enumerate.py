"""D_Z, exactly: the open cells, then the cells on every totally cyclic flat, with what proves that none is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relu_cert.errors import TooManyPatterns
from relu_cert.exact import Matrix
from relu_cert.patterns.arrangement import Arrangement, Hyperplanes, arrangement, hyperplanes
from relu_cert.patterns.cells import Engine, cells
from relu_cert.patterns.circuits import cover_bound, minimal
from relu_cert.patterns.flats import Basis, dependent_flats, short_basis
from relu_cert.patterns.model import Group, PatternSet
from relu_cert.patterns.predict import Prediction, predict_arrangement
from relu_cert.patterns.walk import LimitReached
from relu_cert.patterns.witness import Integers, small

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


COMPILE_FROM = 60_000  # cells: below that, compiling takes longer than the plain walk
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
        if not len(planes):
            self.total += 1
            ones = pack(np.zeros((1, 0), dtype=np.uint8), planes, self.a.n)
            return Group(_rows(planes.zero), ones, np.zeros((1, self.a.rank), dtype=np.int64), ())
        compiled = self.engine == "compiled" or (
            self.engine == "auto" and cover_bound(len(planes), len(basis)) > COMPILE_FROM
        )
        try:
            found = cells(
                planes.normals,
                compiled=compiled,
                limit=(self.max_patterns - self.total) // 2,
                tick=self._tick if self.progress is not None else None,
            )
        except LimitReached:
            raise TooManyPatterns(self.expected.bound, self.max_patterns, ADVICE) from None
        names = planes.names
        circuits = tuple((names[c], *(names[b] for b in bs)) for c, bs in minimal(found.broken))
        bits = pack(found.bits, planes, self.a.n)
        self.total += len(bits)
        W = self._lift(found.points, basis)
        return Group(_rows(planes.zero), bits, np.concatenate([W, -W]), circuits)

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

    def _lower_faces(self, first: Group) -> tuple[list[Group], tuple[int, ...]]:
        """The groups of all totally cyclic flats but the first, and the covers of all dependent flats."""
        everything = (1 << self.a.n) - 1
        planes = self.planes
        if (best := _covering(first, everything, self.a.n)) is not None:
            return [], (best,)
        groups: list[Group] = []
        starts = [0]
        known: dict[int, tuple[int, list[int]]] = {0: (0, [])}  # flat: its group, and covers in it
        cyclic: dict[int, int] = {}  # flat: its largest totally cyclic part
        covers: list[int] = []
        all_groups = [first]
        place = {name: j for j, name in enumerate(planes.names)}
        circuits = [[place[k] for k in circuit[1:]] for circuit in first.circuits]
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


def pack(half: NDArray[np.uint8], planes: Hyperplanes, n: int) -> NDArray[np.uint8]:
    """Packed patterns of all rows from the bits of half the cells: these, then their negatives.

    Each hyperplane on whose positive side a cell lies toggles its rows in the pattern of the cell that is on no positive side; eight
    hyperplanes at a time, by table.
    """
    toggles = [_packed(planes.same[j] | planes.opposite[j], n) for j in range(len(planes))]
    start = planes.zero
    for mask in planes.opposite:
        start |= mask
    out = np.repeat(_packed(start, n)[None, :], len(half), axis=0)
    for byte in range(half.shape[1]):
        table = np.zeros((256, out.shape[1]), dtype=np.uint8)
        for i, toggle in enumerate(toggles[8 * byte : 8 * byte + 8]):
            table[1 << i : 2 << i] = table[: 1 << i] ^ toggle
        out ^= table[half[:, byte]]
    if not len(planes):
        return out
    negative = _packed(((1 << n) - 1) & ~planes.zero, n)
    return np.concatenate([out, out ^ negative])


def _packed(rows: int, n: int) -> NDArray[np.uint8]:
    """A mask of rows as `numpy.packbits` has it: row 0 is the highest bit of byte 0."""
    return np.packbits(np.array([rows >> k & 1 for k in range(n)], dtype=np.uint8))


def _covering(group: Group, rows: int, n: int, preferred: Sequence[int] = ()) -> int | None:
    """The number, in its group, of a pattern that is 1 on all of `rows`; the one with most ones."""
    mask = _packed(rows, n)
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
