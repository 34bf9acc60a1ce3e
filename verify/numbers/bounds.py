"""Exact linear algebra for bounds: conversions, square roots in the safe direction."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import isqrt
from typing import Any

from flint import fmpq, fmpq_mat

from verify.errors import bounded
from verify.text import Vector

ROOT_BITS = 128
MOST_ENTRIES = 2**24


def root_above(x: Fraction) -> Fraction:
    """A rational >= sqrt(x), x >= 0: sqrt(x) itself if it is rational, else at most a relative 2^-128 above it."""
    scaled = x.numerator * x.denominator << 2 * ROOT_BITS
    root = isqrt(scaled)
    return Fraction(root if root * root == scaled else root + 1, x.denominator << ROOT_BITS)


def rational(x: Any) -> fmpq:
    """A Fraction for matrices; a number of a field is left as it is."""
    return fmpq(x.numerator, x.denominator) if isinstance(x, (Fraction, int)) else x


def fraction(x: Any) -> Fraction:
    """An entry of a matrix as a Fraction; a number of a field is left as it is."""
    return Fraction(int(x.p), int(x.q)) if isinstance(x, fmpq) else x


def matrix(rows: Iterable[Iterable[Fraction]], columns: int) -> fmpq_mat:
    """The matrix with these rows; it may have no row."""
    entries = [[rational(x) for x in row] for row in rows]
    return fmpq_mat(len(entries), columns, [x for row in entries for x in row])


def column(u: Iterable[Fraction]) -> fmpq_mat:
    """A vector as a matrix of one column."""
    return matrix(([x] for x in u), 1)


def vector(A: fmpq_mat) -> Vector:
    """The entries of a matrix, row by row."""
    return tuple(map(fraction, A.entries()))


def rows(A: fmpq_mat) -> list[list[Fraction]]:
    """The rows of a matrix; of one of coefficients, a polynomial each."""
    return [[fraction(x) for x in row] for row in A.tolist()]


def identity(n: int) -> fmpq_mat:
    """The unit matrix."""
    bounded(n * n, MOST_ENTRIES, "entries of a matrix", "certificate")
    return fmpq_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])


def dual_basis(A: fmpq_mat) -> fmpq_mat | None:
    """W = (A A')^-1 A: A'W projects on the span of the rows of A. None if these rows are dependent."""
    try:
        return (A * A.transpose()).inv() * A
    except ZeroDivisionError:
        return None
