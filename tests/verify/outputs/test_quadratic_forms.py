"""The quadratic lemma as the checker computes it, against true values of |F(u)| and against its own definition."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from verify.outputs.forms import (
    PAIRS,
    Crossing,
    coarse,
    definite,
    eliminated,
    form,
    length_above,
    nonnegative,
    semidefinite,
)

Rows = list[list[int]]


def drawn(seed: int, n: int, d: int, C: int, thin: bool = False) -> tuple[Rows, Rows, Rows, Rows, int]:
    """Lines, weights, M0, generators of a cone (perhaps a thin one), and a whole."""
    r = random.Random(seed)
    P = [[r.randint(-9, 9) for _ in range(d)] for _ in range(n)]
    W = [[r.randint(-99, 99) for _ in range(C)] for _ in range(n)]
    M0 = [[r.randint(-99, 99) for _ in range(C)] for _ in range(d)]
    G = [[r.randint(-20, 20) for _ in range(d)] for _ in range(d)]
    if thin:
        G[0][0] = r.choice([-7, 5])
        for p in P[:3]:  # some lines go through its middle
            p[:] = [-G[0][1], G[0][0], *[0] * (d - 2)]
        G = [[1000 * x + r.randint(-1, 1) for x in G[0]] for _ in range(d)]
    return P, W, M0, G, r.choice([1, 2, 255, 65535, 3 * 2**40])


def dot(a: list[int], b: list[int]) -> int:
    """a.b"""
    return sum(x * y for x, y in zip(a, b, strict=True))


def value(P: Rows, W: Rows, M0: Rows, u: list[int]) -> list[int]:
    """F(u), line by line."""
    f = [dot([row[c] for row in M0], u) for c in range(len(M0[0]))]
    for p, w in zip(P, W, strict=True):
        h = max(dot(p, u), 0)
        f = [x + h * y for x, y in zip(f, w, strict=True)]
    return f


def leaf(seed: int, n: int, d: int, C: int, thin: bool = False) -> tuple[Rows, Rows, Rows, Rows, Crossing]:
    """A cone with random shares of its crossing lines."""
    P, W, M0, G, whole = drawn(seed, n, d, C, thin)
    crossing = [k for k, p in enumerate(P) if min(dot(p, g) for g in G) < 0 < max(dot(p, g) for g in G)]
    r = random.Random(-seed)
    shares = [r.choice([0, whole, r.randint(0, whole)]) for _ in crossing]
    weights = [W[k] for k in crossing]
    heights = [[dot(P[k], g) for g in G] for k in crossing]
    return P, W, M0, G, Crossing(weights, [length_above(w) for w in weights], heights, shares, whole)


@pytest.mark.parametrize(("n", "d", "C"), [(6, 2, 1), (8, 3, 2), (30, 3, 2), (60, 4, 3), (5, 5, 4)])
@pytest.mark.parametrize("thin", [False, True])
def test_the_form_is_an_upper_bound_of_the_true_value(n: int, d: int, C: int, thin: bool) -> None:
    """2 S^2 |F(u)|^2 <= 2 S^2 level |u|^2 - c'Qc at random points of random cones, whatever the shares are."""
    seen = 0
    for seed in range(40):
        P, W, M0, G, crossing = leaf(seed, n, d, C, thin)
        gram = [[dot(a, b) for b in G] for a in G]
        level = 10**6
        Q = form(level, gram, [value(P, W, M0, g) for g in G], crossing)
        seen += bool(crossing.weights)
        r = random.Random(seed)
        for _ in range(20):
            c = [r.choice([0, r.randint(0, 9)]) for _ in range(d)]
            u = [sum(x * g[l] for x, g in zip(c, G, strict=True)) for l in range(d)]
            F = value(P, W, M0, u)
            bound = 2 * crossing.whole**2 * level * dot(u, u) - sum(
                c[i] * c[j] * Q[i][j] for i in range(d) for j in range(d)
            )
            assert 2 * crossing.whole**2 * dot(F, F) <= bound
    assert seen


def test_the_form_is_what_the_page_says() -> None:
    """Entry by entry the Q of FORMAT.md, from fractions and without its short cuts."""
    for seed in range(60):
        n, d, C = random.Random(seed).choice([(8, 2, 2), (12, 3, 1), (40, 3, 2)])
        P, W, M0, G, given = leaf(seed, n, d, C)
        S, level = given.whole, 12345
        lines = range(len(given.weights))
        D = [[S * max(x, 0) - s * x for x in row] for row, s in zip(given.heights, given.shares, strict=True)]
        on = [k for k, p in enumerate(P) if min(dot(p, g) for g in G) >= 0]
        L = []
        for i, g in enumerate(G):
            x = [Fraction(S * dot([row[c] for row in M0], g)) for c in range(C)]
            for k in on:
                x = [a + S * dot(P[k], g) * w for a, w in zip(x, W[k], strict=True)]
            for k in lines:
                x = [a + given.shares[k] * given.heights[k][i] * w for a, w in zip(x, given.weights[k], strict=True)]
            L.append(x)
        T = []
        for k in lines:
            row = []
            for i in range(d):
                t = 2 * sum(a * b for a, b in zip(given.weights[k], L[i], strict=True))
                for l in lines:
                    pair = dot(given.weights[k], given.weights[l])
                    factor = max(pair, 0) if len(given.weights) <= PAIRS else given.lengths[k] * given.lengths[l]
                    t += factor * D[l][i]
                row.append(t)
            T.append(row)
        Q = [
            [
                2 * S * S * level * dot(G[i], G[j]) - 2 * sum(a * b for a, b in zip(L[i], L[j], strict=True))
                for j in range(d)
            ]
            for i in range(d)
        ]
        for k in lines:
            if max(T[k]) > 0:
                for i in range(d):
                    for j in range(d):
                        Q[i][j] -= D[k][i] * max(T[k][j], 0) + D[k][j] * max(T[k][i], 0)
                continue
            free = min(given.shares[k], S - given.shares[k])
            kappa = min(int(free * -t) // abs(x) for t, x in zip(T[k], given.heights[k], strict=True) if x)
            for i in range(d):
                for j in range(d):
                    Q[i][j] += 2 * kappa * given.heights[k][i] * given.heights[k][j]
        gram = [[dot(a, b) for b in G] for a in G]
        assert form(level, gram, [value(P, W, M0, g) for g in G], given) == Q


def test_lengths_are_rounded_up() -> None:
    """An integer at least |w|, and the least one."""
    for w in ([3, 4], [1, 1], [0, 0], [7], [10**20, 1]):
        n, square = length_above(w), dot(w, w)
        assert n * n >= square and (n == 0 or (n - 1) ** 2 < square)


@pytest.mark.parametrize(
    ("Q", "holds"),
    [
        ([[2, 1], [1, 1]], True),
        ([[1, 1], [1, 1]], False),
        ([[1, 2], [2, 1]], False),
        ([[0]], False),
        ([[-1, 0], [0, 1]], False),
        ([[2, -1, 0], [-1, 2, -1], [0, -1, 2]], True),
        ([[2, -2, 1], [-2, 3, -2], [1, -2, 1]], False),
        ([], True),
    ],
)
def test_definiteness_is_decided_by_leading_minors(Q: Rows, holds: bool) -> None:
    """Semidefinite is not enough; every minor counts."""
    assert definite(Q) is holds


def test_definiteness_agrees_with_minors_of_fractions() -> None:
    """Random matrices, by elimination with fractions."""
    for seed in range(300):
        r = random.Random(seed)
        n = r.randint(1, 5)
        A = [[r.randint(-3, 3) for _ in range(n)] for _ in range(n)]
        Q = [
            [sum(A[i][k] * A[j][k] for k in range(n)) + r.choice([0, 0, 1]) * (i == j) for j in range(n)]
            for i in range(n)
        ]
        if r.random() < 0.5:
            i, j = r.randrange(n), r.randrange(n)
            Q[i][j] = Q[j][i] = Q[i][j] + r.randint(-4, 4)
        S, positive = [[Fraction(x) for x in row] for row in Q], True
        for k in range(n):
            if S[k][k] <= 0:
                positive = False
                break
            for i in range(k + 1, n):
                factor = S[i][k] / S[k][k]
                S[i] = [a - factor * b for a, b in zip(S[i], S[k], strict=True)]
        assert definite(Q) is positive


def test_one_negative_entry_is_negative() -> None:
    """Zeros are not."""
    assert nonnegative([[0, 1], [1, 0]])
    assert not nonnegative([[1, 0], [0, -1]])


def test_semidefinite_is_what_eigenvalues_say() -> None:
    """Gram matrices of few vectors are semidefinite, singular or not; less a little they are not, with any zeros."""
    r = random.Random(0)
    for _ in range(400):
        d, rank = r.randint(1, 5), r.randint(0, 4)
        A = [[r.choice([0, 0, 1, -1, 2, 3]) for _ in range(d)] for _ in range(rank)]
        Q = [[sum(a[i] * a[j] for a in A) for j in range(d)] for i in range(d)]
        assert semidefinite(Q)
        x = [r.randint(-2, 2) for _ in range(d)]
        value = sum(x[i] * Q[i][j] * x[j] for i in range(d) for j in range(d))
        size = dot(x, x)
        if size:  # x'(s^2 Q - (value + 1) xx')x = s^2 value - (value + 1) s^2 < 0
            lowered = [
                [size * size * q - (value + 1) * x[i] * x[j] for j, q in enumerate(row)] for i, row in enumerate(Q)
            ]
            assert not semidefinite(lowered)
            assert not definite(lowered)
    assert not semidefinite([[0, 1], [1, 5]]) and not semidefinite([[0, 1], [1, 0]]) and semidefinite([[0, 0], [0, 5]])


@pytest.mark.parametrize("bits", [40, 62, 64, 65, 66, 70, 200, 900])
def test_long_forms_are_semidefinite_exactly_where_they_are(bits: int) -> None:
    """Forms of rank d, of rank d - 1, and these less 1: 64 bits do not decide what only all of them show."""
    for seed in range(40):
        r = random.Random(seed)
        d = r.randint(1, 5)
        half = bits // 2
        A = [[r.randint(-(2**half), 2**half) for _ in range(d)] for _ in range(d - seed % 2)]
        A += [[(i == j) << half for j in range(d)] for i in range(d * (seed % 4 == 0))]
        Q = [[sum(row[i] * row[j] for row in A) for j in range(d)] for i in range(d)]
        short = coarse(Q)
        assert semidefinite(Q) and eliminated(Q)
        assert (short is None) == (min(Q[i][i] for i in range(d)) < 2**64)
        if short is not None:
            k = min(Q[i][i] for i in range(d)).bit_length() - 64
            left = [[x - (y << k) for x, y in zip(*rows, strict=True)] for rows in zip(Q, short, strict=True)]
            assert eliminated(left), "no more than Q"
            assert all(
                (d * (i == j)) << k <= x < (1 + d * (i == j)) << k
                for i, row in enumerate(left)
                for j, x in enumerate(row)
            )
            assert eliminated(short) if seed % 4 == 0 else seed % 2 == 0 or not eliminated(short)
        if seed % 2:
            i = r.randrange(d)
            Q[i][i] -= 1
            assert not semidefinite(Q), "a form of less than full rank, less 1"


def test_short_and_empty_forms_and_negative_diagonals() -> None:
    """Numbers of 64 bits are left as they are; an empty form is semidefinite, one with a negative entry on its diagonal
    is not, however long."""
    assert coarse([]) is None and semidefinite([])
    assert coarse([[2**64 - 1, 5], [5, 2**90]]) is None
    assert coarse([[2**64 + 3, 5], [5, 2**90]]) == [[2**63 + 1 - 2, 2], [2, 2**89 - 2]]
    for k in (1, 2**63, 2**64, 2**100):
        assert not semidefinite([[-k]]) and not semidefinite([[2**200, 0], [0, -k]])
        assert not semidefinite([[k, k + 1], [k + 1, k]]) and semidefinite([[k, -k], [-k, k]])


def test_brackets_of_0_and_of_1() -> None:
    """One line of share 1/2: a bracket of 1 at a generator counts as positive; one of 0, where the line is 0, does not,
    and kappa is 1."""
    one = form(0, [[0, 0], [0, 0]], [[1], [0]], Crossing([[1]], [1], [[3, -5]], [1], 2))
    assert one == [[-8, -15], [-15, -50]]
    nothing = form(0, [[0] * 3] * 3, [[0]] * 3, Crossing([[1]], [1], [[0, 5, -5]], [1], 2))
    assert nothing == [[0, 0, 0], [0, 0, -100], [0, -100, 0]]
