"""Between Python's rationals and flint's, and exact linear algebra for a few vectors at a time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb, fmpq, fmpq_mat, fmpz_mat, nmod_mat

from relu_cert.exact import Matrix, Vector, scaled_rows
from relu_cert.identity_cache import recent

PRIME = 2**61 - 1


def to_fmpq(x: Fraction) -> fmpq:
    """A Fraction for flint."""
    return fmpq(x.numerator, x.denominator)


def to_fraction(x: fmpq) -> Fraction:
    """A flint rational as a Fraction."""
    return Fraction(int(x.p), int(x.q))


def matrix_of(rows: Sequence[Sequence[Fraction]]) -> fmpq_mat:
    """The rows as a flint matrix."""
    return fmpq_mat([[to_fmpq(x) for x in row] for row in rows])


rows_of = recent(matrix_of)  # for rows that are asked for again and again, such as Z


def column(a: Sequence[Fraction]) -> fmpq_mat:
    """The vector as an n x 1 flint matrix."""
    return fmpq_mat([[to_fmpq(x)] for x in a])


def to_vector(a: fmpq_mat) -> Vector:
    """All entries, row by row."""
    return tuple(to_fraction(x) for x in a.entries())


def middle(x: arb) -> Fraction:
    """The midpoint of a ball."""
    mantissa, exponent = (int(part) for part in x.mid().man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def columns_of(vectors: Sequence[Sequence[Fraction]]) -> fmpq_mat:
    """The matrix with these columns."""
    return matrix_of(list(zip(*vectors, strict=True)))


def products(A: Sequence[Sequence[Fraction]], B: Sequence[Sequence[Fraction]]) -> Matrix:
    """The matrix of all a.b, a row for every a in A and a column for every b in B."""
    if not A or not B:
        return ((),) * len(A)
    found = columns_of(A).transpose() * columns_of(B)
    return tuple(tuple(to_fraction(found[i, j]) for j in range(len(B))) for i in range(len(A)))


def rank(vectors: Sequence[Sequence[Fraction]]) -> int:
    """The dimension of their span. Modulo a prime it is no larger, so that all there can be is found at once."""
    if not vectors:
        return 0
    rows = scaled_rows(vectors)[0]
    most = min(len(rows), len(rows[0]))
    small = nmod_mat(len(rows), len(rows[0]), [x % PRIME for row in rows for x in row], PRIME)
    return most if small.rank() == most else int(fmpz_mat(rows).transpose().rank())


def first_independent(vectors: Sequence[Sequence[Fraction]]) -> list[int]:
    """The numbers of those that do not depend on others before them: a basis of their span."""
    chosen: list[int] = []
    rows: list[list[fmpq]] = []
    for j, vector in enumerate(vectors):
        more = [*rows, [to_fmpq(x) for x in vector]]
        if fmpq_mat(more).rank() == len(more):
            chosen, rows = [*chosen, j], more
    return chosen


def express(basis: Sequence[Sequence[Fraction]], vector: Sequence[Fraction]) -> Vector | None:
    """The only gamma with sum_i gamma_i basis_i = vector, for independent basis vectors; None where there is none."""
    if not basis:
        return None if any(vector) else ()
    reduced, found = columns_of([*basis, vector]).rref()
    if found > len(basis):
        return None
    return tuple(to_fraction(reduced[i, len(basis)]) for i in range(len(basis)))


def nearest_solution(A: fmpq_mat, b: Sequence[Fraction], aim: Sequence[Fraction]) -> Vector | None:
    """The x with A x = b that is nearest to the aim: aim + A'mu; None where there is none."""
    rows = [[*row, x] for row, x in zip(A.tolist(), column(b).entries(), strict=True)]
    reduced, rank = fmpq_mat(len(rows), len(aim) + 1, [x for row in rows for x in row]).rref()
    kept = reduced.tolist()[:rank]
    if any(not any(row[:-1]) for row in kept):
        return None
    R = fmpq_mat(rank, len(aim), [x for row in kept for x in row[:-1]])
    missing = fmpq_mat(rank, 1, [row[-1] for row in kept]) - R * column(aim)
    return to_vector(column(aim) + R.transpose() * (R * R.transpose()).solve(missing)) if rank else tuple(aim)
