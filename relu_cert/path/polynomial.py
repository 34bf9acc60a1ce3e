"""Polynomials in tau on [-1, 1], by their coefficients: exact bounds without roots."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import comb

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_poly
from numpy.typing import NDArray


def least(c: Sequence[fmpq]) -> fmpq:
    """A lower bound of sum c_k tau^k on [-1, 1]: by its coefficients, or by those of Bernstein's basis."""
    if len(c) <= 2:
        return _by_powers(c)
    return max(_by_powers(c), min((bernstein(len(c) - 1) * fmpq_mat([[x] for x in c])).entries()))


def negative(c: Sequence[fmpq]) -> bool:
    """Whether these bounds do not show that it is >= 0."""
    return bool(_by_powers(c) < 0 and least(c) < 0)


def lowest(c: NDArray[np.float64]) -> float:
    """The same bound in floats."""
    plain = c[0] - np.abs(c[1::2]).sum() + np.minimum(c[2::2], 0.0).sum()
    return float(max(plain, (_float_bernstein(len(c) - 1) @ c).min()))


@cache
def bernstein(m: int) -> fmpq_mat:
    """Row i, column k: the coefficient of tau^k for C(m, i) ((1 + tau)/2)^i ((1 - tau)/2)^(m - i), whose sum is 1: that
    of z^k in (1 + z)^i (1 - z)^(m - i), divided by C(m, k)."""
    rows = []
    for i in range(m + 1):
        product_i = fmpz_poly([1, 1]) ** i * fmpz_poly([1, -1]) ** (m - i)
        rows.append([fmpq(int(product_i[k]), comb(m, k)) for k in range(m + 1)])
    return fmpq_mat(rows)


@cache
def _float_bernstein(m: int) -> NDArray[np.float64]:
    return np.array([[int(x.p) / int(x.q) for x in row] for row in bernstein(m).tolist()])


def _by_powers(c: Sequence[fmpq]) -> fmpq:
    """A lower bound: odd powers lie in [-1, 1], even ones in [0, 1]."""
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


def room(A: fmpq_mat) -> list[fmpq]:
    """The coefficients of 1 - |sum_j a_j tau^j|^2."""
    first, *rest = (-x for x in square(A))
    return [1 + first, *rest]


def shifted(alpha: Sequence[fmpq], columns: int) -> fmpq_mat:
    """The matrix T with (A T)_m = sum_{i + j = m} alpha_i a_j: multiplication by the polynomial alpha."""
    rows = [[fmpq(0)] * (columns + len(alpha) - 1) for _ in range(columns)]
    for j in range(columns):
        for i, x in enumerate(alpha):
            rows[j][j + i] = x
    return fmpq_mat(rows)
