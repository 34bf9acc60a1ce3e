"""Exact numbers: the vocabulary that every stage shares.

A `Vector` is a tuple of Fractions and a `Matrix` a tuple of rows. They are immutable, hashable and readable;
stages that need speed turn them into scaled integers (`scaled_rows`) or flint matrices for their own use.

What was found for the last few data sets, known by identity: hashing rationals takes longer than most questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import gcd, isqrt, lcm
from typing import TypeVar

from flint import arb, fmpq, fmpq_mat, fmpz_mat, nmod_mat

A = TypeVar("A")
B = TypeVar("B")
KEPT = 8


def recent(function: Callable[[A], B]) -> Callable[[A], B]:
    """The function of one argument that is never changed, with its last answers kept; do not change these either."""
    known: list[tuple[A, B]] = []

    def answer(of: A) -> B:
        for one, found in known:
            if one is of:
                return found
        found = function(of)
        known.insert(0, (of, found))
        del known[KEPT:]
        return found

    answer.__doc__ = function.__doc__
    return answer


Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]
_STR_BITS = 14_000  # `str` refuses integers of more than 4,300 digits


def vector(entries: Iterable[Fraction | int | str]) -> Vector:
    """The entries as exact rationals (no float is accepted: a float is not what its user wrote)."""
    return tuple(Fraction(e) for e in entries)


def matrix(rows: Iterable[Iterable[Fraction | int | str]]) -> Matrix:
    """The rows as exact rationals."""
    return tuple(vector(row) for row in rows)


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """a.b, reduced to lowest terms once, at the end."""
    p, q = 0, 1
    for x, y in zip(a, b, strict=True):
        top = x.numerator * y.numerator
        if not top:
            continue
        bottom = x.denominator * y.denominator
        if bottom == q:
            p += top
            continue
        common = gcd(q, bottom)
        p = p * (bottom // common) + top * (q // common)
        q = q // common * bottom
    return Fraction(p, q)


def norm_squared(a: Sequence[Fraction]) -> Fraction:
    """|a|^2"""
    return dot(a, a)


def scaled_rows(rows: Sequence[Sequence[Fraction]]) -> tuple[list[list[int]], int]:
    """Integers N and one common denominator q > 0 with rows = N / q."""
    q = lcm(*(x.denominator for row in rows for x in row)) if rows else 1
    return [[x.numerator * (q // x.denominator) for x in row] for row in rows], q


@dataclass(frozen=True)
class Scaled:
    """A vector as integers over one denominator, for many products."""

    entries: list[int]
    denominator: int

    @classmethod
    def of(cls, a: Sequence[Fraction]) -> Scaled:
        """The vector a."""
        (entries,), denominator = scaled_rows([a])
        return cls(entries, denominator)


def primitive(row: Sequence[int]) -> tuple[int, ...]:
    """The row divided by the gcd of its entries (the direction is kept; a zero row stays zero)."""
    g = gcd(*row)
    return tuple(x // g for x in row) if g > 1 else tuple(row)


def sqrt_upper(x: Fraction, bits: int = 128) -> Fraction:
    """A rational s >= sqrt(x), above it by at most a relative 2^-bits; exact where x is a rational square."""
    if x < 0:
        raise ValueError("square root of a negative number")
    p, q = x.numerator, x.denominator
    root_p, root_q = isqrt(p), isqrt(q)
    if root_p * root_p == p and root_q * root_q == q:
        return Fraction(root_p, root_q)
    shift = max(0, bits + 1 - (p.bit_length() - q.bit_length()) // 2)
    # sqrt(p/q) = sqrt(p q 4^shift) / (q 2^shift)
    scaled = p * q << (2 * shift)
    return Fraction(isqrt(scaled) + 1, q << shift)


def sqrt_lower(x: Fraction, bits: int = 128) -> Fraction:
    """A rational 0 <= s <= sqrt(x), below it by at most a relative 2^-bits; exact where x is a rational square."""
    if x == 0:
        return Fraction(0)
    return x / sqrt_upper(x, bits)


def rational(x: Fraction | int) -> str:
    """The text p or p/q, in lowest terms, of any length."""
    if max(x.numerator.bit_length(), x.denominator.bit_length()) < _STR_BITS:
        return str(x)
    p = f"{Decimal(x.numerator):f}"
    return p if x.denominator == 1 else f"{p}/{Decimal(x.denominator):f}"


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
