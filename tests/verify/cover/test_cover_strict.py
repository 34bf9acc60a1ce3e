"""Strict leaves: halves are Python's integers, what is accepted holds in its whole cone, forgers find nothing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, isqrt
from random import Random

import numpy as np
import pytest

from tests.verify.cover.plant import value_at
from verify import Declined, Rejected
from verify.cover import strict
from verify.cover.lines import Coarse, Row, Weights, coarse, lines_of, root_above, weights_of
from verify.cover.strict import WEIGHT, check_strict, directions, dominates, shifted, unit, values, zonotope
from verify.cover.tree import Leaves
from verify.problem.problem import Problem
from verify.text import Node

EXTREMES = (0, 1, -1, 2**25, 2**26 - 1, -(2**26) + 1, 2**31 - 1, 2**31)
NODE = Node({}, None, "cover")


def draw(random: Random, bits: int) -> int:
    """An integer of at most so many bits, often an extreme one."""
    if random.random() < 0.3:
        x = random.choice(EXTREMES)
        return x if abs(x).bit_length() <= bits else (1 << bits) - 1
    return random.getrandbits(random.randint(1, bits)) * random.choice((1, -1))


def rows_of(random: Random, count: int, d: int, share: int) -> list[list[int]]:
    """Rows whose entries add up to less than 2^share."""
    found = [[draw(random, 53) for _ in range(d)] for _ in range(count)]
    total = sum(abs(x) for row in found for x in row)
    shift = max((total >> share).bit_length(), 0)
    return [[x >> shift if x >= 0 else -(-x >> shift) for x in row] for row in found]


def short_cones(random: Random, leaves: int, k: int, d: int, bits: int = 26) -> Leaves:
    """Cones with k generators of d entries, turns and atoms at random."""
    found = Leaves()
    found.vertices = [tuple(draw(random, bits) or 1 for _ in range(d)) for _ in range(4 * k)]
    for leaf in range(leaves):
        found.cones.append(tuple(random.sample(range(4 * k), k)))
        found.turns.append(random.randbytes(k))
        parts = random.choice(((256,), (1, 255), (100, 56, 100)))
        for weight in parts:
            found.atom_leaf.append(leaf)
            found.atom_weight.append(weight)
            found.atom_point.append(random.choice((random.randbytes(k), bytes(k), b"\xff" * k)))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_halves_are_integers(seed: int) -> None:
    """f1, c and a.g >= f1 in 64-bit halves are what Python's integers say, up to the largest entries allowed."""
    random = Random(seed)
    d, k = random.randint(1, 16), random.randint(1, 12)
    P, N = rows_of(random, random.randint(1, 30), d, 52), rows_of(random, random.randint(1, 30), d, 51)
    c0 = rows_of(random, 1, d, 49)[0]
    rows = Coarse(np.array(P, dtype=np.int64), np.array(N, dtype=np.int64), c0, 44, (1 << 44) - 100)
    leaves = short_cones(random, 20, k, d)
    G = np.array(leaves.vertices, dtype=np.int64)
    exact = [dot(c0, g) + sum(max(dot(p, g), 0) for p in P) for g in leaves.vertices]
    assert values(rows, G).tolist() == exact
    U = np.array([unit(g) for g in leaves.vertices], dtype=np.int64)
    cones = np.array(leaves.cones, dtype=np.int64)
    c, W = directions(leaves, U, cones, rows.bound, False).tolist(), zonotope(leaves, U, cones, rows.N).tolist()
    for leaf in range(len(cones)):
        assert sum(x * x for x in c[leaf]) <= rows.bound**2
        assert W[leaf] == in_python(leaves, leaf, U.tolist(), N)
    a = np.array(
        [[WEIGHT * x + y for x, y in zip(*both, strict=True)] for both in zip(c, W, strict=True)], dtype=np.int64
    )
    for shift in (0, 1, -1):
        right = np.array(exact, dtype=object)[cones] if not shift else nearly(a, cones, leaves.vertices, shift)
        said = dominates(a, G[cones], right).tolist()
        assert said == [
            all(dot(a[i].tolist(), leaves.vertices[g]) >= WEIGHT * f for g, f in zip(cone, right[i], strict=True))
            for i, cone in enumerate(leaves.cones)
        ]


def nearly(a: strict.Integers, cones: strict.Integers, vertices: Sequence[Row], shift: int) -> np.ndarray:
    """Right sides that are just met (-1: or just missed at one generator)."""
    found = [[dot(x.tolist(), vertices[g]) // WEIGHT for g in cone] for x, cone in zip(a, cones.tolist(), strict=True)]
    for i, row in enumerate(found):
        row[i % len(row)] += shift == -1
    return np.array(found, dtype=object)


def in_python(leaves: Leaves, leaf: int, U: list[list[int]], N: list[list[int]]) -> list[int]:
    """The point of the zonotope: with the lines that are on at the shifted atoms."""
    light = [shift_down(row, strict.LIGHT_BITS) for row in N]
    found = [0] * len(N[0])
    for at, weight, q in zip(leaves.atom_leaf, leaves.atom_weight, leaves.atom_point, strict=True):
        if at == leaf:
            corners = [U[g] for g in leaves.cones[leaf]]
            p = [sum((16 * t + 1) * u[l] for t, u in zip(q, corners, strict=True)) for l in range(len(found))]
            p = shift_down(p, strict.POINT_BITS)
            for row, short in zip(N, light, strict=True):
                if dot(short, p) > 0:
                    found = [x + weight * y for x, y in zip(found, row, strict=True)]
    return found


def shift_down(v: Sequence[int], bits: int) -> list[int]:
    """v shifted until its entries are below 2^bits."""
    shift = max(max(map(abs, v)).bit_length() - bits, 0)
    return [x >> shift for x in v]


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """a.b"""
    return sum(x * y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("bits", [28, 29])
def test_shifts_leave_short_entries(bits: int) -> None:
    """Rows of every length up to 2^62, of both signs, end below 2^bits, and no shift is larger than it needs to be."""
    A = np.array([[(1 << e) - 1, -(1 << e), 1] for e in range(63)], dtype=np.int64)
    found = shifted(A, bits)
    assert int(np.abs(found).max()) <= 1 << bits
    assert all(x.tolist() == y.tolist() for x, y in zip(found[: bits - 1], A[: bits - 1], strict=True))
    assert int(np.abs(found[bits:]).max(axis=1).min()) >= 1 << (bits - 1)


def instance(random: Random, entry_bits: int) -> tuple[Weights, Fraction]:
    """Lines and weights at random, and a lambda about as large as the largest value."""
    d, n = random.randint(1, 4), random.randint(1, 8)
    Z = tuple(tuple(Fraction(draw(random, entry_bits)) for _ in range(d)) for _ in range(n))
    theta = tuple(Fraction(random.randint(-9, 9)) for _ in Z)
    weights = weights_of(lines_of(Problem("relu", Fraction(1), Z, theta)), theta, random.choice((1, -1)))
    size = sum((abs(t) * sum(map(abs, z)) for t, z in zip(theta, Z, strict=True)), Fraction(1))
    return weights, size * Fraction(random.randint(1, 12), 10)


def accepts(leaves: Leaves, rows: Coarse) -> bool:
    """Whether the checker accepts these strict leaves."""
    try:
        check_strict(leaves, rows, NODE, False)
    except Rejected:
        return False
    return True


@pytest.mark.parametrize("seed", range(60))
def test_an_accepted_leaf_holds_in_its_cone(seed: int) -> None:
    """Where a leaf is accepted, xi theta.(Zu)_+ < lambda |u| at all points of its cone that are tried, exactly: short
    and long generators, entries of up to 100 bits, lines that are split."""
    random = Random(seed)
    accepted = 0
    for _ in range(40):
        weights, lam = instance(random, random.choice((3, 10, 100)))
        if not any(weights.w):
            continue
        d = weights.lines.d
        rows = coarse(weights, lam, random.choice((0, 1, 1000)), root_above(d), NODE)
        leaves = short_cones(random, 1, random.randint(1, d), d, random.choice((3, 26, 27, 90)))
        if weights.convex and random.random() < 0.5:
            leaves.signs[0] = ((random.randrange(len(weights.convex)), random.randint(0, 1)),)
        if accepts(leaves, rows):
            accepted += 1
            for _ in range(50):
                assert below(weights, lam, leaves, random)
    assert accepted


def below(weights: Weights, lam: Fraction, leaves: Leaves, random: Random) -> bool:
    """Whether the value at a random point of the cone, on the right side of the line that is split, is below lambda."""
    cone = [leaves.vertices[g] for g in leaves.cones[0]]
    share = [random.choice((0, 1, random.randint(0, 1000))) for _ in cone]
    u = tuple(dot(share, column) for column in zip(*cone, strict=True))
    for k, side in leaves.signs.get(0, ()):
        h = dot(weights.lines.rows[weights.convex[k]], u)
        if (h < 0) if side else (h > 0):
            return True
    top = value_at(weights, u)
    return not any(u) or top <= 0 or top**2 < lam**2 * dot(u, u)


def forged(weights: Weights, lam: Fraction, depth: int) -> int | None:
    """The number of strict leaves of a tree over all directions of the plane, by bisection and the best c; None if it
    is not finished at this depth."""
    rows = coarse(weights, lam, 0, 2, NODE)
    stack = [((s, 0), (0, t), 0) for s in (1, -1) for t in (1, -1)]
    found = 0
    while stack:
        a, b, level = stack.pop()
        leaves = Leaves(vertices=[a, b], cones=[(0, 1)], atom_leaf=[0], atom_weight=[WEIGHT], atom_point=[b"\1\1"])
        if any(accepts_turned(leaves, rows, turn) for turn in TURNS):
            found += 1
            continue
        if level == depth:
            return None
        middle = (a[0] + b[0], a[1] + b[1])
        divisor = gcd(*middle)
        p = (middle[0] // divisor, middle[1] // divisor)
        stack += [(a, p, level + 1), (p, b, level + 1)]
    return found


TURNS = (b"\1\1", b"\1\0", b"\0\1", b"\2\1", b"\1\2", b"\4\1", b"\1\4")


def accepts_turned(leaves: Leaves, rows: Coarse, turn: bytes) -> bool:
    """The same leaf with another c."""
    leaves.turns = [turn]
    return accepts(leaves, rows)


@pytest.mark.parametrize("seed", range(12))
def test_forgers_find_no_tree_for_what_is_false(seed: int) -> None:
    """In the plane, with lambda a thousandth above the largest value a tree is found, with lambda a billionth below it
    none is, however deep the forger digs."""
    random = Random(seed)
    Z = tuple((Fraction(random.randint(-9, 9)), Fraction(random.randint(-9, 9))) for _ in range(5))
    theta = tuple(Fraction(random.randint(-9, 9)) for _ in Z)
    weights = weights_of(lines_of(Problem("relu", Fraction(1), Z, theta)), theta, 1)
    squared = largest_squared(weights)
    if not squared:
        pytest.skip("nothing is above 0")
    root = Fraction(isqrt(squared.numerator * squared.denominator << 200), squared.denominator << 100)
    assert forged(weights, root * Fraction(1001, 1000), 16) is not None
    assert forged(weights, root * (1 - Fraction(1, 10**9)), 24) is None


def largest_squared(weights: Weights) -> Fraction:
    """max over u of (xi theta.(Zu)_+)_+^2 / |u|^2 in the plane: at a line, or at the gradient of a cell."""
    rows = weights.lines.rows
    ends = sorted({(s * -p[1], s * p[0]) for p in rows for s in (1, -1)}, key=lambda u: np.arctan2(u[1], u[0]))
    best = max((value_squared(weights, u) for u in ends), default=Fraction(0))
    for a, b in zip(ends, [*ends[1:], *ends[:1]], strict=True):
        inside = (a[0] + b[0], a[1] + b[1]) if (a[0] + b[0], a[1] + b[1]) != (0, 0) else (-a[1], a[0])
        g = list(weights.c0)
        for w, p in zip(weights.w, rows, strict=True):
            if dot(p, inside) > 0:
                g = [x + w * y for x, y in zip(g, p, strict=True)]
        if any(g):
            best = max(best, value_squared(weights, (g[0], g[1])))
    return best


def value_squared(weights: Weights, u: Row) -> Fraction:
    """(xi theta.(Zu)_+)_+^2 / |u|^2"""
    return max(value_at(weights, u), Fraction(0)) ** 2 / dot(u, u)


def test_too_many_columns_are_declined() -> None:
    """Seventeen columns, for which 64 bits would be too short, are declined, with leaves or without."""
    rows = Coarse(np.zeros((0, 17), dtype=np.int64), np.zeros((0, 17), dtype=np.int64), [0] * 17, 44, 1)
    with pytest.raises(Declined, match="at most 16 columns"):
        check_strict(Leaves(), rows, NODE, False)
    lines = np.zeros((strict.MOST_LINES + 1, 1), dtype=np.int64)
    with pytest.raises(Declined, match="2097152 lines"):
        check_strict(Leaves(), Coarse(lines, lines[:0], [0], 44, 1), NODE, False)


def test_rows_of_zeros_alone() -> None:
    """Without a direction there is one cone, {0}, and nothing to prove about it."""
    empty = np.zeros((0, 2), dtype=np.int64)
    leaves = Leaves(cones=[()], turns=[b""], atom_leaf=[0], atom_weight=[WEIGHT], atom_point=[b""])
    check_strict(leaves, Coarse(empty, empty, [0, 0], 44, 1), NODE, False)
