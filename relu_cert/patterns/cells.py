"""The cells of a central arrangement with an integer point in each, by either engine; and circuits that bound their
number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from relu_cert.patterns.arrangement import IntVector
from relu_cert.patterns.walk import LimitReached, Walk, bits_of, pivot_coordinate, walk
from relu_cert.patterns.witness import REACH, Integers, exact_point, small, witnesses

Circuits = list[tuple[int, tuple[int, ...]]]

LARGEST = 12  # members of a circuit whose parts are all looked up


def minimal(broken: Mapping[int, int], *, compiled: bool = False) -> Circuits:
    """The inclusion-minimal broken circuits b_1 < b_2 < ... with the hyperplane c < b_1 that each spans, sorted.

    The walk has logged each when it met its smallest member; the others contain no broken circuit. So a smaller broken
    circuit in it has that member, and, if it is minimal, was logged too.
    """
    if compiled and broken and max(broken) < 1 << 64 and (size := max(map(int.bit_count, broken))) <= LARGEST:
        return _compiled_circuits(broken, size)
    kept: list[int] = []
    for mask in sorted(broken, key=int.bit_count):
        low = mask & -mask
        rest = mask ^ low
        if rest.bit_count() <= 10 and 1 << rest.bit_count() < 2 * len(kept):
            part = (rest - 1) & rest
            while part and part | low not in broken:
                part = (part - 1) & rest
            if part:
                continue
        elif any(other & mask == other for other in kept):
            continue
        kept.append(mask)
    return sorted((broken[mask], tuple(bits_of(mask))) for mask in kept)


def _compiled_circuits(broken: Mapping[int, int], size: int) -> Circuits:
    """The same for masks of one word and at most `size` members."""
    from relu_cert.patterns.assemble import minimal_masks

    masks = np.fromiter(broken, dtype=np.uint64, count=len(broken))
    members = np.empty((len(masks), size), dtype=np.int64)
    kept = np.empty(len(masks), dtype=np.bool_)
    key = np.empty_like(masks)
    minimal_masks(masks, np.zeros(2 << len(masks).bit_length(), dtype=np.uint64), members, key, kept)
    spanned = np.fromiter(broken.values(), dtype=np.int64, count=len(broken))
    order = np.lexsort((key, spanned))
    order = order[kept[order]]
    rows = zip(spanned[order].tolist(), members[order].tolist(), strict=True)
    return [(c, tuple(row if row[-1] >= 0 else row[: row.index(-1)])) for c, row in rows]


@cache
def cover_bound(m: int, r: int) -> int:
    """Cover's number of cells of m hyperplanes through 0 in general position: 2 sum_{k < r} C(m-1, k)."""
    return 2 * sum(comb(m - 1, k) for k in range(r)) if m else 1


Engine = Literal["auto", "python", "compiled"]
Tick = Callable[[int], None]

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
            return _compiled_kernels(normals, limit, tick)
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


def _compiled_kernels(normals: Sequence[IntVector], limit: int | None, tick: Tick | None) -> Cells:
    from relu_cert.patterns.compiled import Search

    base, orientation = pivot_coordinate(normals[0])
    oriented = normals if orientation > 0 else (tuple(-x for x in normals[0]), *normals[1:])
    thorough = cover_bound(len(normals), len(normals[0])) <= THOROUGH_UP_TO
    search = Search(oriented, base, flip=orientation < 0, thorough=thorough, reach=REACH)
    total = 0
    for total in search:
        if limit is not None and total > limit:
            raise LimitReached
        if tick is not None:
            tick(total)
    bits, points = search.bits[:total], search.points[:total]
    if not search.failed:
        return Cells(bits, points, search.broken)
    exact = {}
    for i, node in search.failed.items():
        cell = int.from_bytes(bits[i].tobytes(), "little") ^ (orientation < 0)
        exact[i] = exact_point(oriented, Walk(1, [cell], [node]), 0)
    return Cells(bits, _replace_points(points, exact), search.broken)


def _replace_points(points: NDArray[np.int64], exact: dict[int, IntVector]) -> Integers:
    """The points with some of them replaced."""
    everything: NDArray[np.object_] = points.astype(object)
    for i, point in exact.items():
        everything[i] = point
    return small(everything)
