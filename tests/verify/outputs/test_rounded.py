"""The leaf in 64-bit integers, once more in Python's: each rounding is to the safe side, and nothing overflows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import isqrt

import numpy as np
import pytest

from verify.outputs.forms import Crossing, form, length_above
from verify.outputs.rounded import MOST_LINES, MOST_OUTPUTS, Weights, rounded

Table = list[list[int]]


def bits(x: int, most: int) -> int:
    """By how many a number is shortened."""
    return max(0, abs(x).bit_length() - most)


def up(x: int, by: int) -> int:
    """x / 2^by, rounded up."""
    return -(-x // 2**by)


def read_again(level: int, gram: Table, L: Table, V: Table, W: Table, w: int, shares: list[int], whole: int) -> object:
    """The formulas of the module, line by line; V has a row for each generator."""
    d, C, m = len(gram), len(L[0]), len(W)
    lengths = [(length_above(x) >> w) + 1 if any(x) else 0 for x in W]
    short = [[x // 2**w for x in row] for row in W]
    b = [bits(max(map(abs, row), default=0), 20) for row in V]
    times = [[whole - s if h > 0 else s for s, h in zip(shares, row, strict=True)] for row in V]
    D = [
        [-(-times[i][k] * ((abs(h) >> b[i]) + 1) // whole) if h else 0 for k, h in enumerate(row)]
        for i, row in enumerate(V)
    ]
    l = [bits(max(map(abs, row)) // whole, 26) for row in L]
    low = [[x // (whole * 2**k) for x in row] for row, k in zip(L, l, strict=True)]
    R = [up(sum(map(int.__mul__, lengths, row)) * 2 ** (w + i), j) for row, i, j in zip(D, b, l, strict=True)]
    if max(R) >= 2**36:
        return None
    T = []
    for j in range(d):
        plus = sum(x for x in low[j] if x > 0)
        T.append([])
        for k in range(m):
            product = sum(map(int.__mul__, short[k], low[j])) + plus + sum(x for x in short[k] if x > 0) + C
            T[j].append(max(2 * product + lengths[k] * R[j], 0))
    x = [bits(max(row, default=0), 24) for row in T]
    K = [
        [sum(D[i][k] * up(T[j][k], x[j]) for k in range(m)) * 2 ** (b[i] + w + l[j] + x[j]) for j in range(d)]
        for i in range(d)
    ]
    pairs = [[sum(map(int.__mul__, f, g)) for g in L] for f in L]
    return [
        [2 * whole**2 * (level * gram[i][j]) - 2 * pairs[i][j] - whole**2 * (K[i][j] + K[j][i]) for j in range(d)]
        for i in range(d)
    ]


def exact(level: int, gram: Table, L: Table, V: Table, W: Table, shares: list[int], whole: int) -> Table:
    """The form of the page without the terms of kappa, the norms for any number of lines."""
    d, lengths = len(gram), [length_above(x) for x in W]
    D = [[max(whole * h, 0) - s * h for s, h in zip(shares, row, strict=True)] for row in V]
    sums = [sum(map(int.__mul__, lengths, row)) for row in D]
    T = [
        [max(2 * sum(map(int.__mul__, x, L[j])) + n * sums[j], 0) for x, n in zip(W, lengths, strict=True)]
        for j in range(d)
    ]
    pairs = [[sum(map(int.__mul__, f, g)) for g in L] for f in L]
    K = [[sum(map(int.__mul__, D[i], T[j])) for j in range(d)] for i in range(d)]
    return [
        [2 * whole**2 * level * gram[i][j] - 2 * pairs[i][j] - K[i][j] - K[j][i] for j in range(d)] for i in range(d)
    ]


def worked_out(
    level: int,
    gram: Table,
    L: Table,
    V: Table,
    W: Table,
    shares: list[int],
    whole: int,
    more: Sequence[Sequence[int]] = (),
) -> tuple[Table | None, int]:
    """What the checker says, and the shift of the weights; `more` are weights of lines that do not cross."""
    every = [*more, *W]
    kind: type = np.int64 if max(abs(x) for w in every for x in w) < 2**62 else object
    weights = Weights.of(np.array(every, dtype=kind), [length_above(w) for w in every])
    lines = np.arange(len(more), len(every))
    arrays = np.array(V, dtype=np.int64), weights, lines, np.array(shares, dtype=np.int64)
    return rounded(level, gram, L, *arrays, whole), weights.shift


def near_powers(r: random.Random, most: int) -> int:
    """A number of so many bits at most, often one that a rounding changes as much as it can."""
    k = r.randint(0, most - 1)
    return r.choice([0, 1, 2**k - 1, 2**k, 2**k + 1, r.randint(0, 2**most - 1)]) * r.choice([-1, 1])


@pytest.mark.parametrize("whole", [1, 2, 255])
@pytest.mark.parametrize(
    ("height", "weight", "value"), [(6, 5, 8), (22, 26, 30), (30, 40, 90), (61, 61, 140), (58, 441, 520)]
)
def test_every_number_is_that_of_the_formulas_and_no_entry_is_too_large(
    height: int, weight: int, value: int, whole: int
) -> None:
    """Numbers just below, at and above powers of two; the exact form, and that of the other leaves, is not less."""
    told = 0
    for seed in range(60):
        r = random.Random(seed)
        d, C, m = r.randint(1, 3), r.randint(1, 3), r.choice([1, 3, 25, 30])
        V = [[near_powers(r, height) for _ in range(m)] for _ in range(d)]
        W = [[near_powers(r, weight) for _ in range(C)] for _ in range(m)]
        more = [[near_powers(r, weight) for _ in range(C)] for _ in range(2)]
        shares = [r.choice([0, whole, r.randint(0, whole)]) for _ in range(m)]
        L = [[whole * near_powers(r, value) + r.randint(0, whole - 1) for _ in range(C)] for _ in range(d)]
        gram = [[near_powers(r, height) for _ in range(d)] for _ in range(d)]
        level = near_powers(r, value) ** 2
        found, w = worked_out(level, gram, L, V, W, shares, whole, more)
        assert found == read_again(level, gram, L, V, W, w, shares, whole)
        if found is None:
            continue
        told += 1
        most = exact(level, gram, L, V, W, shares, whole)
        assert all(x <= y for rows in zip(found, most, strict=True) for x, y in zip(*rows, strict=True))
    assert told > 10


def test_the_exact_form_is_that_of_the_other_leaves_where_nothing_is_shared() -> None:
    """Shares 0 and 1, more lines than those whose pairs count: F, and not L, is given to the other."""
    for seed in range(20):
        r = random.Random(seed)
        d, C, m, whole = 2, 2, 26, 255
        V = [[r.choice([-1, 1]) * r.randint(1, 99) for _ in range(m)] for _ in range(d)]
        W = [[r.randint(-99, 99) for _ in range(C)] for _ in range(m)]
        shares = [r.choice([0, whole]) for _ in range(m)]
        F = [[r.randint(-999, 999) for _ in range(C)] for _ in range(d)]
        D = [[max(whole * h, 0) - s * h for s, h in zip(shares, row, strict=True)] for row in V]
        L = [
            [whole * f - sum(D[i][k] * W[k][c] for k in range(m)) for c, f in enumerate(row)] for i, row in enumerate(F)
        ]
        columns = [list(column) for column in zip(*V, strict=True)]
        crossing = Crossing(W, [length_above(w) for w in W], columns, shares, whole)
        assert form(7, [[2, 1], [1, 3]], F, crossing) == exact(7, [[2, 1], [1, 3]], L, V, W, shares, whole)


CUT = {  # one line, one generator, one output: heights, weight, linear part, share of 2
    "height": (2**40 - 1, 3, 2**42 + 5, 0),
    "height above": (-(2**40) + 1, 3, 2**42, 2),
    "share": (5, 3, 7, 1),
    "weight": (3, 2**50 - 1, 2**50, 0),
    "weight below": (3, -(2**50) + 1, -(2**50), 0),
    "linear part": (3, 5, 2**60 - 1, 0),
    "linear part below": (3, -5, -(2**60) + 1, 0),
    "all": (2**45 - 1, 2**70 - 1, 2**110 - 1, 1),
}


@pytest.mark.parametrize("name", CUT)
def test_no_leaf_holds_because_a_rounding_went_the_wrong_way(name: str) -> None:
    """The least level with which the short form holds is no less than that of the exact one, and near it."""
    h, w, f, share = CUT[name]
    of = [[1]], [[2 * f]], [[h]], [[w]], [share], 2
    needed = -exact(0, *of)[0][0]
    least = -(-needed // 8)  # 2 whole^2 level >= needed
    found, _ = worked_out(least - 1, *of)
    assert found is not None and found[0][0] < 0, "the network is larger than this level says"
    zero, _ = worked_out(0, *of)
    assert zero is not None and needed <= -zero[0][0]
    small = 20 * (abs(w) + abs(h)) * (abs(f) + abs(w * h))  # of numbers that are not shortened one is added
    assert -zero[0][0] <= needed + needed // 2**14 + small


def test_the_longest_numbers_of_the_most_lines() -> None:
    """2^17 lines, everything as long as it may be: products and sums are those of Python's integers."""
    m = MOST_LINES
    V, W, L = [[2**20 - 1] * m], [[2**24 - 1]] * m, [[2**52 - 1]]
    weights = Weights.of(np.full((m, 1), 2**24 - 1, dtype=np.int64), [2**24 - 1] * m)
    heights, shares = np.array(V, dtype=np.int64), np.zeros(m, dtype=np.int64)
    found = rounded(1, [[1]], L, heights, weights, np.arange(m), shares, 1)
    assert found == read_again(1, [[1]], L, V, W, 0, [0] * m, 1) and found is not None
    below = rounded(1, [[1]], [[1 - 2**52]], -heights, weights, np.arange(m), shares + 1, 1)
    assert below == read_again(1, [[1]], [[1 - 2**52]], [[-h for h in V[0]]], W, 0, [1] * m, 1) and below is not None


def test_one_line_too_many_and_one_output_too_many_are_not_rounded() -> None:
    """At the limits there is a form, beyond them there is none."""
    for m, C, there in (
        (MOST_LINES, 1, True),
        (MOST_LINES + 1, 1, False),
        (1, MOST_OUTPUTS, True),
        (1, MOST_OUTPUTS + 1, False),
    ):
        weights = Weights.of(np.ones((m, C), dtype=np.int64), [isqrt(C - 1) + 1] * m)
        V, shares = np.ones((1, m), dtype=np.int64), np.zeros(m, dtype=np.int64)
        found = rounded(1, [[1]], [[2**60] * C], V, weights, np.arange(m), shares, 1)
        assert (found is not None) == there, (m, C)


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_longest_numbers_of_the_most_outputs(sign: int) -> None:
    """2^8 outputs whose products all have one sign."""
    C = MOST_OUTPUTS
    W, L = [[2**19 - 1] * C, [sign * (2**19 - 1)] * C], [[2**40 - 1] * C, [sign * (2**40 - 1)] * C]
    V = [[2**20 - 1, -1], [1 - 2**20, 2**20 - 1]]
    found, w = worked_out(2**70, [[1, 0], [0, 1]], L, V, W, [0, 1], 1)
    assert w == 0 and found is not None
    assert found == read_again(2**70, [[1, 0], [0, 1]], L, V, W, w, [0, 1], 1)


def test_sums_of_36_bits_are_the_longest() -> None:
    """2 (W' + 1) 2^11 is 2^36 with the one weight and just below it with the other."""
    of = [[1]], [[0]], [[1]]
    assert worked_out(1, *of, [[2**35 - 1]], [0], 1) == (None, 11)
    found, w = worked_out(1, *of, [[2**35 - 2**11 - 1]], [0], 1)
    assert w == 11 and found == read_again(1, *of, [[2**35 - 2**11 - 1]], w, [0], 1) and found is not None
    assert worked_out(1, [[1]], [[2**60]], [[1]], [[2**35 - 1]], [0], 1)[0] is not None, "long linear parts make room"


def test_a_generator_that_no_line_is_above() -> None:
    """Heights 0, and shares for which nothing is left, add nothing; no lines at all, too."""
    W = [[2**30], [-(2**30)]]
    found, _ = worked_out(2**70, [[1, 0], [0, 1]], [[3], [4]], [[0, 0], [7, -7]], W, [1, 0], 1)
    assert found == [[2**71 - 18, -24], [-24, 2**71 - 32]]
    nothing = Weights.of(np.zeros((0, 1), dtype=np.int64), [])
    empty = np.zeros(0, dtype=np.int64)
    assert nothing.shift == 0
    assert rounded(5, [[1]], [[3]], np.zeros((1, 0), dtype=np.int64), nothing, empty, empty, 1) == [[2 * 5 - 2 * 9]]
