"""Logarithms and exponentials of rationals between rationals (mpmath's intervals, rounded outwards).

>>> low, high = entropy(Fraction(1, 2))
>>> low < high < low + Fraction(1, 10**50), abs(low - Fraction("0.693147180559945309")) < Fraction(1, 10**17)
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import isqrt
from typing import Any

from mpmath import iv

Interval = tuple[Fraction, Fraction]
DIGITS = 80


def _ball(x: Fraction) -> Any:
    return iv.mpf(x.numerator) / iv.mpf(x.denominator)


def _ends(x: Any) -> Interval:
    """The ends of an interval of mpmath: sign, mantissa and exponent are exact."""
    low, high = (Fraction((-1) ** sign * man) * Fraction(2) ** exp for sign, man, exp, _ in x._mpi_)
    return low, high


def entropy(a: Fraction) -> Interval:
    """H(a) = -a log a - (1-a) log(1-a), 0 <= a <= 1"""
    iv.dps = DIGITS
    out = iv.mpf(0)
    for x in (a, 1 - a):
        if x:
            out -= _ball(x) * iv.log(_ball(x))
    return _ends(out)


def softplus(s: Fraction) -> Interval:
    """log(1 + exp(s))"""
    iv.dps = DIGITS
    if s > 0:
        return _ends(_ball(s) + iv.log(1 + iv.exp(-_ball(s))))
    return _ends(iv.log(1 + iv.exp(_ball(s))))


def sigmoid(s: Fraction) -> Interval:
    """1 / (1 + exp(-s))"""
    iv.dps = DIGITS
    return _ends(1 / (1 + iv.exp(-_ball(s))))


def total(intervals: Iterable[Interval]) -> Interval:
    """The sum."""
    low = high = Fraction(0)
    for a, b in intervals:
        low, high = low + a, high + b
    return low, high


def square(x: Interval) -> Interval:
    """x^2"""
    a, b = sorted((x[0] ** 2, x[1] ** 2))
    return (Fraction(0) if x[0] <= 0 <= x[1] else a), b


def root(x: Fraction, bits: int = 200) -> Interval:
    """sqrt(x), x >= 0"""
    scaled = (x.numerator << 2 * bits) // x.denominator
    floor = isqrt(scaled)
    exact = floor * floor * x.denominator == x.numerator << 2 * bits
    return Fraction(floor, 1 << bits), Fraction(floor + (not exact), 1 << bits)
