"""Polynomials in tau on [-1, 1], by their coefficients, lowest first: bounds in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq_mat

from verify.bounds import fraction, rational

Polynomial = Sequence[Fraction]


def at_least(c: Polynomial) -> Fraction:
    """A lower bound on [-1, 1]: an odd power lies in [-1, 1], an even one in [0, 1]."""
    rest = enumerate(c[1:], 1)
    return c[0] - sum((abs(x) if k % 2 else max(-x, Fraction(0)) for k, x in rest), Fraction(0))


def at_most(c: Polynomial) -> Fraction:
    """An upper bound on [-1, 1]."""
    return -at_least([-x for x in c])


def add(a: Polynomial, b: Polynomial) -> list[Fraction]:
    """a + b, of perhaps different degrees."""
    size = max(len(a), len(b))
    padded = [[*c, *[Fraction(0)] * (size - len(c))] for c in (a, b)]
    return [x + z for x, z in zip(*padded, strict=True)]


def multiply(a: Polynomial, b: Polynomial) -> list[Fraction]:
    """a b"""
    c = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, z in enumerate(b):
            c[i + j] += x * z
    return c


def length_squared(A: fmpq_mat) -> list[Fraction]:
    """|sum_j a_j tau^j|^2, a_j the columns of A."""
    size = A.ncols()
    gram = (A.transpose() * A).tolist()
    c = [Fraction(0)] * (2 * size - 1)
    for i in range(size):
        for j in range(size):
            c[i + j] += fraction(gram[i][j])
    return c


def times_columns(alpha: Polynomial, A: fmpq_mat, size: int) -> fmpq_mat:
    """The columns 0 to size - 1 of alpha(tau) sum_j a_j tau^j."""
    entries = [[Fraction(0)] * size for _ in range(A.nrows())]
    for i, row in enumerate(A.tolist()):
        for j, x in enumerate(map(fraction, row)):
            for k, a_k in enumerate(alpha):
                entries[i][j + k] += a_k * x
    return fmpq_mat([[rational(x) for x in row] for row in entries])


def rows(A: fmpq_mat) -> list[list[Fraction]]:
    """The rows of a matrix of coefficients: one polynomial each."""
    return [[fraction(x) for x in row] for row in A.tolist()]
