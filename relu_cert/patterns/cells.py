"""The cells of a central arrangement with an integer point in each, by either engine; and circuits that bound their
number.

Integer witnesses: floats propose a point of each cell, its signs are then proved.

The proof is a filter: for integers w and z with |float(z) - z| <= 2^-53 |z|, a float product z.w is away from the true
one by less than (r + 3) 2^-52 |z|.|w|, in any order of summation. A sign is believed only where the float product is
larger than that; a point whose signs are not all believed is replaced by an exact rational point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, lcm
from typing import Literal

import flint
import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import primitive
from relu_cert.patterns.arrangement import IntVector
from relu_cert.patterns.walk import LimitReached, Node, Walk, bits_of, pivot_coordinate, walk

Floats = NDArray[np.float64]
Integers = NDArray[np.int64] | NDArray[np.object_]

CHUNK = 1 << 21  # entries of the largest temporary array
CENTERINGS = 3
REACH = 2.0**52  # largest integer that is rounded from a float


def witnesses(normals: Sequence[Sequence[int]], found: Walk) -> Integers:
    """An integer point w inside each cell of a walk: z_j.w > 0 exactly where bit j of the cell is one."""
    Z = float_rows(normals)
    m, r = Z.shape
    signs = signs_of(found.cells, m)
    signs[:, 0] *= found.orientation
    by_depth: dict[int, list[int]] = {}
    for i, node in enumerate(found.nodes):
        by_depth.setdefault(len(node.members), []).append(i)
    W = np.zeros((len(signs), r), dtype=np.int64)
    good = np.zeros(len(signs), dtype=np.bool_)
    size = max(1, CHUNK // (m * r))
    for numbers in by_depth.values():
        for start in range(0, len(numbers), size):
            part = np.array(numbers[start : start + size])
            nodes = [found.nodes[i] for i in part]
            U = propose(Z, nodes, found.orientation)
            W[part], good[part] = integer_points(Z, signs[part], center(Z, signs[part], U))
    if good.all():
        return W
    exact: NDArray[np.object_] = W.astype(object)
    for number in np.flatnonzero(~good).tolist():
        exact[number] = exact_point(normals, found, number)
    return small(exact)


def float_rows(rows: Sequence[Sequence[int]]) -> Floats:
    """Rows as floats, each divided by a power of two near its largest entry; entries correctly rounded."""
    if max(max(map(abs, row)) for row in rows) < 2**53:
        Z = np.array(rows, dtype=np.float64)
        _, exponents = np.frexp(np.abs(Z).max(axis=1))
        return np.asarray(np.ldexp(Z, -np.maximum(exponents, 1)[:, None]))
    scaled = [(row, 1 << max(max(map(abs, row)).bit_length(), 1)) for row in rows]
    return np.array([[x / s for x in row] for row, s in scaled], dtype=np.float64)


def signs_of(cells: Sequence[int], m: int) -> Floats:
    """Bit masks as rows of +1 and -1."""
    width = (m + 7) // 8
    packed = np.frombuffer(b"".join(cell.to_bytes(width, "little") for cell in cells), dtype=np.uint8)
    bits = np.unpackbits(packed.reshape(-1, width), axis=1, count=m, bitorder="little")
    return bits.astype(np.float64) * 2 - 1


def propose(Z: Floats, nodes: Sequence[Node], orientation: int) -> Floats:
    """A float point in the cell of each node (all of one depth): lexicographic sizes, smallest first.

    z_j takes the sign of its first non-zero coefficient in the order y_first, ..., y_last, z_0, z_{e_k}, ..., z_{e_1};
    so give each of these variables a size that overrules the later ones where it must.
    """
    N, k = len(nodes), len(nodes[0].members)
    m, r = Z.shape
    members = np.array([node.members for node in nodes], dtype=np.intp).reshape(N, k)
    free = np.array([node.free for node in nodes], dtype=np.intp).reshape(N, r - 1 - k)
    basis = np.empty((N, r, r))
    basis[:, 0] = orientation * Z[0]
    basis[:, 1 : k + 1] = Z[members]
    basis[:, k + 1 :] = np.eye(r)[free]
    try:
        inverse = np.linalg.inv(basis)
    except np.linalg.LinAlgError:
        return np.full((N, r), np.nan)
    G = Z @ inverse  # z_j = sum over columns of G_j,column times the variable
    G *= np.abs(G) > 1e-10 * np.abs(G).max(axis=(1, 2), keepdims=True)
    # signs of the variables, by column of the inverse: z_0, e_1 ... e_k, y ...
    direction = np.ones((N, r))
    direction[:, 1 : k + 1] = np.array([node.signs for node in nodes]).reshape(N, k)
    order = [*range(1, k + 1), 0, *range(r - 1, k, -1)]
    pending = np.ones((N, m), dtype=np.bool_)
    decides = {}
    for column in reversed(order):
        decides[column] = pending & (G[:, :, column] != 0)
        pending &= ~decides[column]
    value = np.zeros((N, m))
    U = np.zeros((N, r))
    with np.errstate(divide="ignore", invalid="ignore"):
        for column in order:
            g = G[:, :, column] * direction[:, column, None]
            clash = decides[column] & (value * g < 0)
            need = np.where(clash, np.abs(value) / np.abs(g), 0).max(axis=1)
            usual = np.abs(value).sum(axis=1) / np.abs(g).sum(axis=1)
            size = np.maximum(2 * need, np.where(usual > 0, usual, 1))
            value += size[:, None] * g
            U += (size * direction[:, column])[:, None] * inverse[:, :, column]
    return U


def center(Z: Floats, signs: Floats, U: Floats) -> Floats:
    """Move each point towards the middle of its cell: to the middle of the chord along grad sum_j log |z_j.u|."""
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        for _ in range(CENTERINGS):
            U = U / np.abs(U).max(axis=1, keepdims=True)
            a = signs * (U @ unit.T)
            v = (signs / a) @ unit
            v -= (v * U).sum(axis=1, keepdims=True) / (U * U).sum(axis=1, keepdims=True) * U
            b = signs * (v @ unit.T)
            ratio = -a / b
            up = np.where(b < 0, ratio, np.inf).min(axis=1)
            down = np.where(b > 0, ratio, -np.inf).max(axis=1)
            up = np.where(np.isinf(up), -3 * down, up)
            down = np.where(np.isinf(down), -up / 3, down)
            step = (up + down) / 2
            moved = U + np.where(np.isfinite(step), step, 0)[:, None] * v
            U = np.where(np.isfinite(moved).all(axis=1, keepdims=True), moved, U)
    return U


def integer_points(Z: Floats, signs: Floats, U: Floats) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Round each point to the coarsest grid that was tried and proves its signs; says where that succeeded."""
    W = np.zeros(U.shape, dtype=np.int64)
    good = np.zeros(len(U), dtype=np.bool_)
    with np.errstate(all="ignore"):
        U = U / np.abs(U).max(axis=1, keepdims=True)
        # rounding to a grid of width 1/s moves z.u by at most |z|_1 / (2 s)
        enough = 0.5 / (signs * (U @ Z.T) / np.abs(Z).sum(axis=1)).min(axis=1)
    todo = np.flatnonzero(np.isfinite(enough) & (enough > 0) & (enough < REACH))
    for factor in (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2):
        if not len(todo):
            break
        candidate = np.rint(U[todo] * np.maximum(factor * enough[todo], 1)[:, None])
        proved = prove_signs(Z, signs[todo], candidate)
        W[todo[proved]] = candidate[proved].astype(np.int64)
        good[todo[proved]] = True
        todo = todo[~proved]
    W[good] //= np.gcd.reduce(W[good], axis=1)[:, None]
    return W, good


def prove_signs(Z: Floats, signs: Floats, W: Floats) -> NDArray[np.bool_]:
    """True only where sign(z_j.w) is the wanted sign for every j; W holds integers of at most 53 bits."""
    r = Z.shape[1]
    product = signs * (W @ Z.T)
    slack = (np.abs(W) @ np.abs(Z).T) * ((r + 3) * 2.0**-52) + 2.0**-960  # the last for entries that underflow
    return np.asarray((product > slack).all(axis=1) & (np.abs(W) < REACH).all(axis=1))


def exact_point(normals: Sequence[Sequence[int]], found: Walk, number: int) -> tuple[int, ...]:
    """The point of `propose` in exact rationals, as integers."""
    node, cell = found.nodes[number], found.cells[number]
    m, r, k = len(normals), len(normals[0]), len(node.members)
    unit = [[int(i == l) for i in range(r)] for l in node.free]
    rows = [[found.orientation * x for x in normals[0]], *(normals[e] for e in node.members), *unit]
    inverse = flint.fmpq_mat(flint.fmpz_mat([list(row) for row in rows])).inv()
    G = flint.fmpq_mat(flint.fmpz_mat([list(row) for row in normals])) * inverse
    direction = [1, *node.signs, *(1 for _ in node.free)]
    order = [*range(1, k + 1), 0, *range(r - 1, k, -1)]
    deciding = [next((c for c in reversed(order) if G[j, c] != 0), 0) for j in range(m)]
    value = [flint.fmpq(0)] * m
    u = [flint.fmpq(0)] * r
    for column in order:
        clashes = [
            abs(value[j] / G[j, column])
            for j in range(m)
            if deciding[j] == column and value[j] * G[j, column] * direction[column] < 0
        ]
        size = 2 * max(clashes, default=flint.fmpq(0)) or flint.fmpq(1)
        step = size * direction[column]
        value = [x + step * G[j, column] for j, x in enumerate(value)]
        u = [x + step * inverse[l, column] for l, x in enumerate(u)]
    for j in range(m):
        sign = found.orientation if j == 0 else 1
        if (value[j] * sign > 0) != bool(cell >> j & 1) or value[j] == 0:
            raise ArithmeticError(f"no witness: hyperplane {j} of cell {number}")
    q = lcm(*(int(x.q) for x in u))
    return primitive([int(x.p) * (q // int(x.q)) for x in u])


def small(W: NDArray[np.object_]) -> Integers:
    """As int64 where every entry fits."""
    if all(abs(int(x)) < 2**62 for x in W.flat):
        return W.astype(np.int64)
    return W


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
    from relu_cert.patterns.finish import minimal_masks

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
