"""Exact linear algebra on small rational matrices (python-flint does the elimination).

A vector is a tuple of Fractions, a matrix a tuple of rows. A matrix without rows cannot tell its width, so the
functions that need it take vectors (columns) instead.

>>> rank(mat([[1, 2], [2, 4]]))
1
>>> null_space(mat([[1, 2]]))
((Fraction(-2, 1), Fraction(1, 1)),)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpq_mat

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]
Number = Fraction | int | str


def vec(entries: Iterable[Number]) -> Vector:
    """The entries as Fractions."""
    return tuple(Fraction(e) for e in entries)


def mat(rows: Iterable[Iterable[Number]]) -> Matrix:
    """The rows as Fractions."""
    return tuple(vec(row) for row in rows)


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """a.b (one fraction is made at the end: integers are added, over a common denominator)"""
    n, d = 0, 1
    for x, y in zip(a, b, strict=True):
        p = x.numerator * y.numerator
        if p:
            q = x.denominator * y.denominator
            if q == d:
                n += p
            else:
                n, d = n * q + p * d, d * q
    return Fraction(n, d)


def norm2(a: Sequence[Fraction]) -> Fraction:
    """|a|^2"""
    return dot(a, a)


def add(a: Vector, b: Vector) -> Vector:
    """a + b"""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def sub(a: Vector, b: Vector) -> Vector:
    """a - b"""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def scale(s: Fraction | int, a: Vector) -> Vector:
    """s a"""
    return tuple(s * x for x in a)


def total(vectors: Iterable[Vector], n: int) -> Vector:
    """The sum of vectors of length n (zero if there are none)."""
    out = (Fraction(0),) * n
    for v in vectors:
        out = add(out, v)
    return out


def zeros(n: int) -> Vector:
    """The zero vector of length n."""
    return (Fraction(0),) * n


def unit(n: int, k: int) -> Vector:
    """e_k in Q^n."""
    return tuple(Fraction(int(i == k)) for i in range(n))


def eye(n: int) -> Matrix:
    """The identity."""
    return tuple(unit(n, k) for k in range(n))


def is_zero(a: Vector) -> bool:
    """a = 0"""
    return not any(a)


def transpose(A: Sequence[Vector]) -> Matrix:
    """A' (A has at least one row)."""
    return tuple(zip(*A, strict=True))


def matvec(A: Sequence[Vector], x: Vector) -> Vector:
    """A x"""
    return tuple(dot(row, x) for row in A)


def matmul(A: Matrix, B: Matrix) -> Matrix:
    """A B"""
    Bt = transpose(B)
    return tuple(tuple(dot(row, col) for col in Bt) for row in A)


def combine(coefficients: Sequence[Fraction], vectors: Sequence[Vector], n: int) -> Vector:
    """The linear combination of vectors of length n."""
    used = [(a, v) for a, v in zip(coefficients, vectors, strict=True) if a]
    if not used:
        return zeros(n)
    return tuple(dot([a for a, _ in used], entries) for entries in zip(*(v for _, v in used), strict=True))


def _to_flint(rows: Sequence[Vector]) -> Any:
    entries = [fmpq(x.numerator, x.denominator) for row in rows for x in row]
    return fmpq_mat(len(rows), len(rows[0]), entries)


def _fraction(q: Any) -> Fraction:
    return Fraction(int(q.p), int(q.q))


def rref(rows: Sequence[Vector]) -> tuple[Matrix, tuple[int, ...]]:
    """The reduced row echelon form and the columns of its pivots."""
    if not rows or not rows[0]:
        return (), ()
    reduced, r = _to_flint(rows).rref()
    out = tuple(tuple(_fraction(reduced[i, j]) for j in range(reduced.ncols())) for i in range(r))
    pivots = tuple(next(j for j, x in enumerate(row) if x) for row in out)
    return out, pivots


def rank(rows: Sequence[Vector]) -> int:
    """The dimension of the span of the rows."""
    if not rows or not rows[0]:
        return 0
    return int(_to_flint(rows).rank())


def independent(vectors: Sequence[Vector]) -> bool:
    """The vectors are linearly independent."""
    return rank(vectors) == len(vectors)


def null_space(rows: Sequence[Vector]) -> Matrix:
    """A basis of {x : row.x = 0 for all rows} (at least one row)."""
    n = len(rows[0])
    reduced, pivots = rref(rows)
    basis = []
    for free in (j for j in range(n) if j not in pivots):
        x = [Fraction(0)] * n
        x[free] = Fraction(1)
        for row, p in zip(reduced, pivots, strict=True):
            x[p] = -row[free]
        basis.append(tuple(x))
    return tuple(basis)


def dependencies(vectors: Sequence[Vector]) -> Matrix:
    """A basis of the coefficient vectors beta with sum_i beta_i vectors_i = 0."""
    if not vectors:
        return ()
    return null_space(transpose(vectors)) if vectors[0] else eye(len(vectors))


def solve(rows: Sequence[Vector], b: Vector) -> Vector | None:
    """One x with rows x = b (free unknowns zero), or None if there is none."""
    n = len(rows[0])
    reduced, pivots = rref([(*row, bi) for row, bi in zip(rows, b, strict=True)])
    if n in pivots:
        return None
    x = [Fraction(0)] * n
    for row, p in zip(reduced, pivots, strict=True):
        x[p] = row[n]
    return tuple(x)


def solve_columns(columns: Sequence[Vector], b: Vector) -> Vector | None:
    """One x with sum_i x_i columns_i = b, or None if there is none."""
    if not columns:
        return () if is_zero(b) else None
    return solve(transpose(columns), b)


def solve_square(columns: Sequence[Vector], b: Vector) -> Vector | None:
    """The x with sum_i x_i columns_i = b for as many columns as entries, or None if the columns are dependent."""
    if not columns:
        return ()
    try:
        x = _to_flint(columns).transpose().solve(_to_flint([(e,) for e in b]))
    except ZeroDivisionError:
        return None
    return tuple(_fraction(x[i, 0]) for i in range(len(b)))


def inverse(A: Matrix) -> Matrix | None:
    """A^-1, or None if A is singular."""
    if not A:
        return ()
    try:
        found = _to_flint(A).inv()
    except ZeroDivisionError:
        return None
    return tuple(tuple(_fraction(x) for x in row) for row in found.tolist())


def regular_inverse(A: Matrix) -> Matrix:
    """A^-1 of a matrix that ought to be regular."""
    found = inverse(A)
    if found is None:
        raise ArithmeticError("the matrix is singular")
    return found


def in_span(b: Vector, vectors: Sequence[Vector]) -> bool:
    """b is a linear combination of the vectors."""
    return solve_columns(vectors, b) is not None


def least_squares(columns: Sequence[Vector], b: Vector) -> Vector:
    """The x of least norm that minimises |sum_i x_i columns_i - b|^2."""
    if not columns:
        return ()
    gram = tuple(tuple(dot(a, c) for c in columns) for a in columns)
    x = solve(gram, tuple(dot(a, b) for a in columns))
    if x is None:
        raise ArithmeticError("the normal equations are always consistent")
    return project_out(x, dependencies(columns))


def project_out(x: Vector, basis: Sequence[Vector]) -> Vector:
    """x minus its orthogonal projection onto the span of an independent basis."""
    if not basis:
        return x
    gram = tuple(tuple(dot(a, c) for c in basis) for a in basis)
    t = solve(gram, tuple(dot(a, x) for a in basis))
    if t is None:
        raise ArithmeticError("the Gram matrix of a basis is regular")
    return sub(x, combine(t, basis, len(x)))


def positive_definite(A: Matrix) -> bool:
    """The symmetric matrix A is positive definite (Sylvester: all leading minors are positive)."""
    return all(_to_flint([row[:k] for row in A[:k]]).det() > 0 for k in range(1, len(A) + 1))
