"""Polynomials in tau on [-1, 1], by their coefficients: exact bounds without roots."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq, fmpq_mat


def least(c: Sequence[fmpq]) -> fmpq:
    """A lower bound of sum c_k tau^k on [-1, 1]: odd powers lie in [-1, 1], even ones in [0, 1]."""
    total = c[0]
    for k, x in enumerate(c[1:], 1):
        if k % 2 or x < 0:
            total -= abs(x)
    return total


def most(c: Sequence[fmpq]) -> fmpq:
    """An upper bound."""
    return -least([-x for x in c])


def size(c: Sequence[fmpq]) -> fmpq:
    """A bound of |sum c_k tau^k|."""
    return max(most(c), -least(c))


def product(a: Sequence[fmpq], b: Sequence[fmpq]) -> list[fmpq]:
    """The coefficients of the product."""
    c = [fmpq(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, z in enumerate(b):
            c[i + j] += x * z
    return c


def square(A: fmpq_mat) -> list[fmpq]:
    """The coefficients of |sum_j a_j tau^j|^2, a_j the columns of A."""
    gram = (A.transpose() * A).tolist()
    m = len(gram)
    c = [fmpq(0)] * (2 * m - 1)
    for i in range(m):
        for j in range(m):
            c[i + j] += gram[i][j]
    return c


def shifted(alpha: Sequence[fmpq], columns: int) -> fmpq_mat:
    """The matrix T with (A T)_m = sum_{i + j = m} alpha_i a_j: multiplication by the polynomial alpha."""
    rows = [[fmpq(0)] * (columns + len(alpha) - 1) for _ in range(columns)]
    for j in range(columns):
        for i, x in enumerate(alpha):
            rows[j][j + i] = x
    return fmpq_mat(rows)
