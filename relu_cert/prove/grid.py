"""Rounding to a dyadic grid: how float proposals become rationals of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor


def to_grid(x: float | Fraction, bits: int) -> int:
    """The integer nearest to x * 2^bits, exactly."""
    return floor(Fraction(x) * (1 << bits) + Fraction(1, 2)) if bits >= 0 else round(Fraction(x) / (1 << -bits))


def from_grid(k: int, bits: int) -> Fraction:
    """k / 2^bits"""
    return Fraction(k, 1 << bits) if bits >= 0 else Fraction(k << -bits)


def bits_for(values: Sequence[float | Fraction], precision: int = 52) -> int:
    """The grid on which the largest of the values has `precision` bits."""
    largest = max((abs(Fraction(x)) for x in values), default=Fraction(0))
    if largest == 0:
        return precision
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length()  # 2^(e-1) < largest < 2^(e+1)
    return precision - exponent - 1
