"""Polynomials in tau on [-1, 1], by their coefficients, lowest first: bounds in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import zip_longest
from math import comb

from flint import fmpq, fmpq_mat, fmpz_poly

from verify.numbers.bounds import fraction, rational

Polynomial = Sequence[Fraction | fmpq]


def at_least(c: Polynomial) -> Fraction:
    """A lower bound on [-1, 1]: by its coefficients, or by those of Bernstein's basis, whichever is larger."""
    return fraction(lower([*map(rational, c)]))


def lower(c: list[fmpq]) -> fmpq:
    """The bound of `at_least`."""
    if len(c) <= 2:
        return by_powers(c)
    return max(by_powers(c), min((bernstein(len(c) - 1) * fmpq_mat(len(c), 1, c)).entries()))


def by_powers(c: list[fmpq]) -> fmpq:
    """A lower bound on [-1, 1]: an odd power lies in [-1, 1], an even one in [0, 1]."""
    total = c[0]
    for k, x in enumerate(c[1:], 1):
        if k % 2 or x < 0:
            total -= abs(x)
    return total


@cache
def bernstein(m: int) -> fmpq_mat:
    """Row i, column k: the coefficient of tau^k for C(m, i) ((1 + tau)/2)^i ((1 - tau)/2)^(m - i), whose sum is 1.

    tau^k is the mean of the products of k of m numbers that are all tau; where i of them are 1 and m - i are -1 that
    mean is the coefficient of z^k in (1 + z)^i (1 - z)^(m - i), divided by C(m, k).
    """
    rows = (fmpz_poly([1, 1]) ** i * fmpz_poly([1, -1]) ** (m - i) for i in range(m + 1))
    return fmpq_mat([[fmpq(row[k], comb(m, k)) for k in range(m + 1)] for row in rows])


def never_negative(c: Polynomial) -> bool:
    """Whether these bounds show that it is >= 0 on [-1, 1]."""
    known = [*map(rational, c)]
    return bool(by_powers(known) >= 0 or lower(known) >= 0)


def at_most(c: Polynomial) -> Fraction:
    """An upper bound on [-1, 1]."""
    return -at_least([-x for x in c])


def off_identity(row: Sequence[Polynomial], i: int) -> Fraction:
    """A bound on [-1, 1] of the sum of |entry - (i = its place)| over a row: if they and errors stay below 1 in all
    rows, I + Delta is regular, and its inverse has row sums of at most 1 / (1 - their maximum)."""
    entries = ([c[0] - (i == j), *c[1:]] for j, c in enumerate(row))
    return sum((max(at_most(c), -at_least(c)) for c in entries), Fraction(0))


def add(a: Polynomial, b: Polynomial) -> list[fmpq]:
    """a + b, of perhaps different degrees."""
    return [x + z for x, z in zip_longest(map(rational, a), map(rational, b), fillvalue=fmpq(0))]


def multiply(a: Polynomial, b: Polynomial) -> list[fmpq]:
    """a b"""
    return list(times_columns(a, fmpq_mat(1, len(b), [*map(rational, b)]), len(a) + len(b) - 1).entries())


def length_squared(A: fmpq_mat) -> list[fmpq]:
    """|sum_j a_j tau^j|^2, a_j the columns of A."""
    sums = [fmpq(0)] * (2 * A.ncols() - 1)
    for i, row in enumerate((A.transpose() * A).tolist()):
        for j, x in enumerate(row):
            sums[i + j] += x
    return sums


def times_columns(alpha: Polynomial, A: fmpq_mat, size: int) -> fmpq_mat:
    """The columns 0 to size - 1 of alpha(tau) sum_j a_j tau^j."""
    shifted = fmpq_mat(A.ncols(), size)
    for j in range(A.ncols()):
        for k, a_k in enumerate(map(rational, alpha)):
            shifted[j, j + k] = a_k
    return A * shifted
