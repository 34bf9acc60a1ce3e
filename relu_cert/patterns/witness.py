"""Integer witnesses: floats propose a point of each cell, its signs are then proved.

The proof is a filter: for integers w and z with |float(z) - z| <= 2^-53 |z|, a float product z.w is away from the true
one by less than (r + 3) 2^-52 |z|.|w|, in any order of summation. A sign is believed only where the float product is
larger than that; a point whose signs are not all believed is replaced by an exact rational point.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

import flint
import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import primitive
from relu_cert.patterns.walk import Node, Walk

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
