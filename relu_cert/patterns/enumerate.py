"""D_Z, exactly: the open cells, then the cells on every totally cyclic flat, with what proves that none is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from relu_cert.errors import TooManyPatterns
from relu_cert.exact import Matrix
from relu_cert.patterns.arrangement import Arrangement, Hyperplanes, arrangement, hyperplanes
from relu_cert.patterns.cells import Engine, cells
from relu_cert.patterns.circuits import cover_bound, minimal
from relu_cert.patterns.flats import Basis
from relu_cert.patterns.lower import LowerFaces
from relu_cert.patterns.model import Group, PatternSet
from relu_cert.patterns.packing import Packed, both_halves, both_halves_of_masks, pack_masks, rows_of
from relu_cert.patterns.planar import line_cells, plane_cells
from relu_cert.patterns.predict import Prediction, predict_arrangement, surely_more
from relu_cert.patterns.walk import LimitReached
from relu_cert.patterns.witness import Integers, small

Progress = Callable[[int, int], None]

COMPILE_FROM = {"auto": 60_000, "compiled": 64}  # cells, by Cover's bound: fewer are walked in plain Python
ADVICE = "Use fewer rows or fewer columns, or raise the limit (max_patterns)."
FOUND = f"The enumeration was stopped when it had found that many. {ADVICE}"


def enumerate_patterns(
    Z: Matrix, *, max_patterns: int = 10**6, progress: Progress | None = None, engine: Engine = "auto"
) -> PatternSet:
    """D_Z with a witness for every pattern and the evidence that none is missing.

    Raises TooManyPatterns when there are more than `max_patterns`: at once where a sample shows that there must be
    more, otherwise as soon as that many have been found (an upper bound is no reason to refuse).
    `progress(done, bound)` is called now and then. The engine "python" needs no compilation, "compiled" is faster
    by a factor of ten to twenty; "auto" takes the one that is done first.
    """
    a = arrangement(Z)
    planes = hyperplanes(a.rows)
    expected = predict_arrangement(a, planes)
    if expected.cells > max_patterns and surely_more(planes.normals, max_patterns):
        raise TooManyPatterns(expected.general, max_patterns, ADVICE)
    return _Enumeration(a, planes, expected, max_patterns, progress, engine).run()


@dataclass
class _Enumeration:
    a: Arrangement
    planes: Hyperplanes
    expected: Prediction
    max_patterns: int
    progress: Progress | None
    engine: Engine
    total: int = field(default=0)

    def run(self) -> PatternSet:
        a = self.a
        identity: Basis = tuple(tuple(int(i == l) for i in range(a.rank)) for l in range(a.rank))
        first = self._group(identity, self.planes)
        lower = LowerFaces(a.n, self.planes, first, self._group)
        covers = lower.search()
        return PatternSet(a.n, a.d, a.rank, a.columns, (first, *lower.groups), covers)

    def _group(self, basis: Basis, planes: Hyperplanes) -> Group:
        """The cells of the arrangement on the span of `basis`; `planes` are the hyperplanes in its coordinates."""
        bits, W, circuits = self._cells(planes)
        self.total += len(bits)
        if self.total > self.max_patterns:
            raise TooManyPatterns(self.expected.bound, self.max_patterns, FOUND)
        both = self._lift(W, basis)
        if len(planes):
            both = _with_negatives(both)
        return Group(rows_of(planes.zero), bits, both, circuits)

    def _cells(self, planes: Hyperplanes) -> tuple[Packed, Integers, tuple[tuple[int, ...], ...]]:
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
        compiled = self.engine != "python" and cover_bound(m, r) > COMPILE_FROM[self.engine]
        limit = (self.max_patterns - self.total) // 2
        try:
            found = cells(planes.normals, compiled=compiled, limit=limit, tick=self._tick if self.progress else None)
        except LimitReached:
            raise TooManyPatterns(self.expected.general, self.max_patterns, FOUND) from None
        names = planes.names
        circuits = tuple((names[c], *(names[b] for b in bs)) for c, bs in minimal(found.broken, compiled=compiled))
        return both_halves(found.bits, planes, n, compiled=compiled), found.points, circuits

    def _tick(self, half: int) -> None:
        if self.progress is not None:
            self.progress(min(self.total + 2 * half, self.expected.bound), self.expected.bound)

    def _lift(self, W: Integers, basis: Basis) -> Integers:
        """Witnesses on the columns of Z: u = scale * sum_i w_i basis_i, exactly."""
        if not basis:
            return np.zeros((len(W), self.a.rank), dtype=np.int64)
        B = [[x * s for x, s in zip(b, self.a.scale, strict=True)] for b in basis]
        if len(B) == self.a.rank and all(x == (i == l) for i, b in enumerate(B) for l, x in enumerate(b)):
            return W
        if W.dtype != object:
            largest = max(max(map(abs, b)) for b in B) * max(int(W.max()), -int(W.min())) * len(B)
            if largest < 2**62:
                return np.asarray(W @ np.array(B, dtype=np.int64))
        return small(W.astype(object) @ np.array(B, dtype=object))


def _with_negatives(W: Integers) -> Integers:
    """W, then -W."""
    both = np.empty_like(W, shape=(2 * len(W), W.shape[1]))
    both[: len(W)] = W
    np.negative(W, out=both[len(W) :])
    return both
