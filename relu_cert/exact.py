"""Exact numbers: the vocabulary that every stage shares.

A `Vector` is a tuple of Fractions and a `Matrix` a tuple of rows. They are immutable, hashable and readable;
stages that need speed turn them into scaled integers (`scaled_rows`) or flint matrices for their own use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import gcd, isqrt, lcm

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
