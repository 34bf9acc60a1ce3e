"""Exact linear algebra for bounds: conversions, square roots in the safe direction, smallest singular values."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, isqrt

from flint import fmpq, fmpq_mat, fmpz_mat

from verify.errors import bounded
from verify.text import Vector

ROOT_BITS = 128
LONG_BITS = 512
MOST_ENTRIES = 2**24
MOST_ROOTS = 512


def root_above(x: Fraction) -> Fraction:
    """A rational >= sqrt(x), x >= 0: sqrt(x) itself if it is rational, else at most a relative 2^-128 above it."""
    scaled = x.numerator * x.denominator << 2 * ROOT_BITS
    root = isqrt(scaled)
    return Fraction(root if root * root == scaled else root + 1, x.denominator << ROOT_BITS)


def rational(x: Fraction) -> fmpq:
    """A Fraction for matrices."""
    return fmpq(x.numerator, x.denominator)


def fraction(x: fmpq) -> Fraction:
    """An entry of a matrix as a Fraction."""
    return Fraction(int(x.p), int(x.q))


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


def stretches(A: fmpq_mat, sigma: Fraction) -> bool:
    """Whether |A x| >= sigma |x| for all x: whether A'A - sigma^2 I has no negative eigenvalue.

    Long entries are first rounded down to multiples of a small unit. That moves no eigenvalue by more than `size`
    units, which are subtracted. So True is always true; False may be wrong if sigma^2 is within a relative 2^-128.
    """
    size = A.ncols()
    bounded(size, MOST_ROOTS, "eigenvalues of a matrix", "certificate")
    M, denominator = (A.transpose() * A - identity(size) * rational(sigma**2)).numer_denom()
    if sigma > 0 and denominator.bit_length() > LONG_BITS:
        shift = ROOT_BITS + (2 * size * ceil(1 / sigma**2)).bit_length()
        units = [size if i == j else 0 for i in range(size) for j in range(size)]
        M = fmpz_mat(size, size, [(x << shift) // denominator for x in M.entries()]) - fmpz_mat(size, size, units)
    return no_negative_eigenvalue(M)


def no_negative_eigenvalue(M: fmpz_mat) -> bool:
    """For symmetric M all roots of det(x I - M) are real, and none is negative iff its coefficients alternate."""
    coefficients = M.charpoly().coeffs()
    return all(c * (-1) ** k >= 0 for k, c in enumerate(reversed(coefficients)))
