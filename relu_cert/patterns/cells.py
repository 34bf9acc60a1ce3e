"""The cells of a central arrangement with an integer point in each, by either engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from relu_cert.patterns.arrangement import IntVector
from relu_cert.patterns.circuits import cover_bound
from relu_cert.patterns.walk import LimitReached, Walk, pivot_coordinate, walk
from relu_cert.patterns.witness import REACH, Integers, exact_point, float_rows, small, witnesses

Engine = Literal["auto", "python", "compiled"]
Tick = Callable[[int], None]

FIRST_ROOM = 1 << 20  # cells
THOROUGH_UP_TO = 50_000  # cells, by Cover's bound: up to there smaller witnesses are worth a little more time


@dataclass(frozen=True)
class Cells:
    """One cell of each antipodal pair.

    `bits`    one row each: bit j (little-endian in the bytes) says that the cell is on the positive side of normal j.
    `points`  an integer point in each.
    `broken`  broken circuits (bit masks) and the smaller hyperplane that each spans: enough to prove the count.
    """

    bits: NDArray[np.uint8]
    points: Integers
    broken: dict[int, int]

    def __len__(self) -> int:
        return len(self.bits)


def cells(normals: Sequence[IntVector], *, compiled: bool, limit: int | None = None, tick: Tick | None = None) -> Cells:
    """All cells of pairwise non-parallel integer normals of full rank, up to sign.

    Raises LimitReached when there are more than `limit` of them. `tick(number so far)` is called now and then.
    """
    if compiled and len(normals[0]) > 1:
        from relu_cert.patterns.compiled import OutOfReach

        try:
            return _compiled(normals, limit, tick)
        except OutOfReach:
            pass
    return _python(normals, limit, tick)


def _python(normals: Sequence[IntVector], limit: int | None, tick: Tick | None) -> Cells:
    found = walk(normals, limit, tick)
    width = (len(normals) + 7) // 8
    packed = np.frombuffer(b"".join(cell.to_bytes(width, "little") for cell in found.cells), dtype=np.uint8)
    bits = packed.reshape(-1, width).copy()
    if found.orientation < 0:
        bits[:, 0] ^= 1
    return Cells(bits, witnesses(normals, found), found.broken)


def _compiled(normals: Sequence[IntVector], limit: int | None, tick: Tick | None) -> Cells:
    """Chunk by chunk: the walk, then witnesses for what it found while that is in the cache."""
    from relu_cert.patterns.compiled import Finish, compiled_walk

    base, orientation = pivot_coordinate(normals[0])
    oriented = (tuple(orientation * x for x in normals[0]), *normals[1:])
    most = cover_bound(len(normals), len(normals[0]))
    try:
        rows = np.array(oriented, dtype=np.int64).astype(np.float64)
    except OverflowError:
        rows = float_rows(oriented)
    finish = Finish(rows, REACH, most <= THOROUGH_UP_TO)
    width = (len(normals) + 7) // 8
    bits = np.empty((min(most // 2, FIRST_ROOM), width), dtype=np.uint8)
    points = np.empty((len(bits), len(normals[0])), dtype=np.int64)
    exact: dict[int, IntVector] = {}  # points of the cells where floats did not do
    broken: dict[int, int] = {}
    total = 0
    for chunk in compiled_walk(oriented, base):
        end = total + len(chunk.cells)
        if end > len(bits):
            bits, points = _twice(bits, end), _twice(points, end)
        bits[total:end] = chunk.cells.view(np.uint8)[:, :width]
        good = finish(chunk, points[total:end])
        if not good.all():
            for i in np.flatnonzero(~good).tolist():
                cell = int.from_bytes(chunk.cells[i].tobytes(), "little")
                exact[total + i] = exact_point(oriented, Walk(1, [cell], [chunk.node(i, base)]), 0)
        broken.update(chunk.broken)
        total = end
        if limit is not None and total > limit:
            raise LimitReached
        if tick is not None:
            tick(total)
    bits, points = bits[:total], points[:total]
    if orientation < 0:
        bits[:, 0] ^= 1
    return Cells(bits, _replaced(points, exact) if exact else points, broken)


def _twice(array: NDArray[Any], least: int) -> NDArray[Any]:
    """The same rows with room for as many more, `least` in all."""
    larger = np.empty((max(2 * len(array), least), array.shape[1]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def _replaced(points: NDArray[np.int64], exact: dict[int, IntVector]) -> Integers:
    """The points with some of them replaced."""
    everything: NDArray[np.object_] = points.astype(object)
    for i, point in exact.items():
        everything[i] = point
    return small(everything)
