"""Exact linear algebra for a few vectors at a time (flint)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat, fmpz_mat, nmod_mat

from relu_cert.exact import Matrix, Vector, scaled_rows

PRIME = 2**61 - 1


def columns(vectors: Sequence[Sequence[Fraction]]) -> fmpq_mat:
    """The matrix with these columns."""
    return fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in zip(*vectors, strict=True)])


def fraction(x: fmpq) -> Fraction:
    """A flint rational as a Fraction."""
    return Fraction(int(x.p), int(x.q))


def products(A: Sequence[Sequence[Fraction]], B: Sequence[Sequence[Fraction]]) -> Matrix:
    """The matrix of all a.b, a row for every a in A and a column for every b in B."""
    if not A or not B:
        return ((),) * len(A)
    found = columns(A).transpose() * columns(B)
    return tuple(tuple(fraction(found[i, j]) for j in range(len(B))) for i in range(len(A)))


def rank(vectors: Sequence[Sequence[Fraction]]) -> int:
    """The dimension of their span. Modulo a prime it is no larger, so that all there can be is found at once."""
    if not vectors:
        return 0
    rows = scaled_rows(vectors)[0]
    most = min(len(rows), len(rows[0]))
    small = nmod_mat(len(rows), len(rows[0]), [x % PRIME for row in rows for x in row], PRIME)
    return most if small.rank() == most else int(fmpz_mat(rows).transpose().rank())


def express(basis: Sequence[Sequence[Fraction]], vector: Sequence[Fraction]) -> Vector | None:
    """The only gamma with sum_i gamma_i basis_i = vector, for independent basis vectors; None where there is none."""
    if not basis:
        return None if any(vector) else ()
    reduced, found = columns([*basis, vector]).rref()
    if found > len(basis):
        return None
    return tuple(fraction(reduced[i, len(basis)]) for i in range(len(basis)))


def solve(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> Vector:
    """The solution of a square, nonsingular system."""
    left = columns(list(zip(*rows, strict=True)))
    found = left.solve(columns([right]))
    return tuple(fraction(found[i, 0]) for i in range(len(right)))
