"""Strict leaves: |c| <= bound and a = c + (a point of the zonotope of f2) with a.g_i >= f1(g_i) at every generator.

All in 64-bit integers, in halves whose sums are bounded; cones with long generators in those of Python. The c and the
atoms of a leaf are derived: any choice of them is sound, so that shifts and roundings on the way are harmless. Where a
convex line was split, it counts on its side as a linear term, or not at all.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from verify.cover.lines import Coarse, Integers, Row, dot
from verify.cover.tree import WEIGHT, Leaves
from verify.errors import bounded
from verify.text import Node

SHORT = 26  # bits of generators that go through 64-bit integers
HALF = 31
LIGHT_BITS, POINT_BITS, UNIT_BITS = 29, 28, 30
MOST_COLUMNS, MOST_LINES = 16, 2**21
BATCH, ENTRIES = 2048, 2**22  # leaves, and products with lines, that are worked on at a time


def check_strict(leaves: Leaves, rows: Coarse, node: Node, biases: bool) -> None:
    """Reject unless every strict leaf holds; with free `biases` c has none."""
    d = len(rows.c0)
    bounded(d, MOST_COLUMNS, "columns", node.place)
    bounded(len(rows.P) + len(rows.N), MOST_LINES, "lines", node.place)
    if not leaves.cones or not leaves.vertices:  # no rows but zeros: the only cone is {0}
        return
    cones = np.array(leaves.cones, dtype=np.int64)
    short = np.array([max(map(abs, g)).bit_length() <= SHORT for g in leaves.vertices], dtype=bool)
    G = np.array([g if s else (0,) * d for g, s in zip(leaves.vertices, short, strict=True)], dtype=np.int64)
    U = np.array([unit(g) for g in leaves.vertices], dtype=np.int64)
    a = WEIGHT * directions(leaves, U, cones, rows.bound, biases) + zonotope(leaves, U, cones, rows.N)
    f1 = values(rows, G)
    for v in np.flatnonzero(~short).tolist():
        u = leaves.vertices[v]
        f1[v] = dot(rows.c0, u) + sum(max(dot(w, u), 0) for w in rows.P.tolist())
    right = f1[cones]
    for leaf, signs in leaves.signs.items():
        for i, g in enumerate(leaves.cones[leaf]):
            for k, side in signs:
                h = dot(rows.P[k].tolist(), leaves.vertices[g])
                right[leaf, i] += min(h, 0) if side else -max(h, 0)
    good = np.zeros(len(cones), dtype=bool)
    for part in batches(len(cones)):
        good[part] = dominates(a[part], G[cones[part]], right[part])
    for leaf in np.flatnonzero(~short[cones].all(axis=1)).tolist():
        at_g = [dot(a[leaf].tolist(), leaves.vertices[g]) for g in leaves.cones[leaf]]
        good[leaf] = all(x >= WEIGHT * y for x, y in zip(at_g, right[leaf], strict=True))
    bad = f"less at leaf {good.argmin()} of {len(good)}"
    node.require(good.all(), "a.g >= f1(g) at the generators of every strict leaf", bad)


def batches(count: int, lines: int = 1) -> list[slice]:
    """What is worked on at a time: parts of so many entries, each of which is multiplied with so many lines."""
    size = max(1, min(BATCH, ENTRIES // max(lines, 1)))
    return [slice(at, at + size) for at in range(0, count, size)]


def unit(g: Row) -> list[int]:
    """A vector of length about 2^30 along g (a proposal: nothing rests on its length or direction)."""
    e = UNIT_BITS - 1 - max(map(abs, g)).bit_length()
    u = [x << e if e >= 0 else x >> -e for x in g]
    size = isqrt(sum(x * x for x in u))
    return [(x << UNIT_BITS) // size for x in u]


def shifted(A: Integers, bits: int) -> Integers:
    """Each row shifted down until its entries are below 2^bits."""
    longest = np.abs(A).max(axis=1, initial=0)
    shift = np.array([max(0, x.bit_length() - bits) for x in longest.tolist()], dtype=np.int64)
    return A >> shift[:, None]


def zonotope(leaves: Leaves, U: Integers, cones: Integers, N: Integers) -> Integers:
    """WEIGHT times a point of the zonotope of f2: weighted sums of the rows that are on at the atoms' points."""
    W = np.zeros((len(cones), U.shape[1]), dtype=np.int64)
    light = shifted(N, LIGHT_BITS).T
    leaf = np.array(leaves.atom_leaf, dtype=np.int64)
    weight = np.array(leaves.atom_weight, dtype=np.int64)
    point = np.frombuffer(b"".join(leaves.atom_point), dtype=np.uint8).reshape(len(leaf), -1).astype(np.int64)
    for part in batches(len(leaf), len(N)):
        p = shifted(((16 * point[part] + 1)[:, :, None] * U[cones[leaf[part]]]).sum(axis=1), POINT_BITS)
        on = (p @ light > 0).astype(np.int64)
        np.add.at(W, leaf[part], (on @ N) * weight[part, None])
    return W


def directions(leaves: Leaves, U: Integers, cones: Integers, bound: int, biases: bool) -> Integers:
    """c, at most `bound` long: bound times the direction that the turn names, rounded towards 0; its last entry is 0
    with free biases."""
    turn = np.frombuffer(b"".join(leaves.turns), dtype=np.uint8).reshape(len(cones), -1).astype(np.int64)
    v = np.zeros((len(cones), U.shape[1]), dtype=np.int64)
    for part in batches(len(cones)):
        v[part] = shifted((turn[part, :, None] * U[cones[part]]).sum(axis=1), LIGHT_BITS)
    if biases:
        v[:, -1] = 0
    square = (v * v).sum(axis=1)
    size = np.array([isqrt(s) + 1 for s in square.tolist()], dtype=np.int64)  # > |v|
    high, size = bound >> 13, size[:, None]
    whole, rest = np.divmod(np.abs(v) * high, size)
    c: Integers = ((whole << 13) + (rest << 13) // size) * np.sign(v)
    return c


def halves(A: Integers) -> tuple[Integers, Integers]:
    """A = high 2^31 + low, 0 <= low < 2^31."""
    return A >> HALF, A & ((1 << HALF) - 1)


def values(rows: Coarse, G: Integers) -> NDArray[np.object_]:
    """f1(g) of every vertex. The entries of all rows add up to less than 2^53, and |g| < 2^26 each."""
    found: list[int] = []
    P, c0 = halves(rows.P), np.array(rows.c0, dtype=object)
    for part in batches(len(G), len(rows.P)):
        T = G[part].T
        high, low = (half @ T for half in P)
        carry, low = halves(low)
        on = high + carry >= 0
        high, low = (np.where(on, half, 0).sum(axis=0).astype(object) for half in (high + carry, low))
        found += ((high << HALF) + low + c0 @ T.astype(object)).tolist()
    return np.array(found, dtype=object)


def dominates(a: Integers, g: Integers, f1: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Whether a.g_i >= WEIGHT f1_i for all i: |a| < 2^62, |g| < 2^26, at most 16 columns."""
    high, low = ((half[:, None, :] * g).sum(axis=2).astype(object) for half in halves(a))
    return np.asarray(((high << HALF) + low >= WEIGHT * f1).all(axis=1), dtype=bool)
