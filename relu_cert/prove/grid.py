"""Rounding to a grid of fractions k/q: how float proposals become rationals of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from relu_cert.exact import Matrix


def to_grid(x: float | Fraction, q: int) -> int:
    """The integer nearest to q x, exactly."""
    a, b = x.as_integer_ratio()
    return (2 * a * q + b) // (2 * b)


def from_grid(k: int, q: int) -> Fraction:
    """k / q"""
    return Fraction(k, q)


def binary_grid(values: Sequence[float | Fraction], precision: int = 52) -> int:
    """A power of two q on which the largest of the values has at least `precision` bits."""
    exact = [Fraction(x) for x in values if x]
    if not exact:
        return 1
    most = max(_exponent(x) for x in exact)
    exponent = _exponent(max(abs(x) for x in exact if _exponent(x) >= most - 1))
    return 1 << max(0, precision + 1 - exponent)


def on_grid(rows: Sequence[Sequence[float | Fraction]], bits: int) -> Matrix:
    """The rows on one binary grid on which their largest entry has so many bits."""
    q = binary_grid([x for row in rows for x in row], bits)
    return tuple(tuple(from_grid(to_grid(x, q), q) for x in row) for row in rows)


def _exponent(x: Fraction) -> int:
    """2^(this - 1) < |x| < 2^(this + 1)"""
    return x.numerator.bit_length() - x.denominator.bit_length()
