"""An output bias c that is decayed, rho/2 c^2, as a free one: every rho > 0 is a sum of four squares of rationals,

    1/2 |f + c 1 - y|^2 + rho/2 c^2 = 1/2 |(f, 0) + c (1, a) - (y, 0)|^2,      |a|^2 = rho,

so that the column (1, a) is free on as many more rows of zeros, with targets 0, as a has entries. Neurons have no
output there. All that is proved of free terms holds.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isqrt
from random import Random

from relu_cert.bags import EACH
from relu_cert.data.dataset import Dataset
from relu_cert.exact import Vector

SMALL = 10**6  # below, squares are tried one after the other
BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def roots(rho: Fraction) -> Vector:
    """At most four positive rationals whose squares add up to rho > 0."""
    p, q = rho.numerator, rho.denominator
    return tuple(Fraction(x, q) for x in four_squares(p * q) if x)


def four_squares(n: int) -> tuple[int, ...]:
    """Integers whose squares add up to n >= 0: two of them are drawn, until what is left is a prime 4 k + 1, which is a
    sum of two (Rabin and Shallit); not where 4 divides n, so that its fours are taken out."""
    if n and n % 4 == 0:
        return tuple(2 * x for x in four_squares(n // 4))
    draw = Random(0)
    if n < SMALL:
        pairs = ((a, b) for a in range(isqrt(n), -1, -1) for b in range(isqrt(n - a * a) + 1))
    else:
        pairs = ((a, draw.randint(0, isqrt(n - a * a))) for a in iter(lambda: draw.randint(0, isqrt(n)), -1))
    for a, b in pairs:
        if (rest := _two_squares(n - a * a - b * b)) is not None:
            return tuple(sorted((a, b, *rest), reverse=True))
    raise ValueError("every natural number is a sum of four squares")


def _two_squares(n: int) -> tuple[int, int] | None:
    """Integers whose squares add up to n, where that is easy: n is small, or a prime p = 4 k + 1."""
    if n < SMALL:
        return next(((c, d) for c in range(isqrt(n) + 1) if (d := isqrt(n - c * c)) ** 2 == n - c * c), None)
    if n % 4 != 1 or any(pow(a, n - 1, n) != 1 for a in BASES):
        return None
    for a in BASES:
        i = pow(a, (n - 1) // 4, n)
        if i * i % n == n - 1:  # a square root of -1: Euclid stops at the two squares
            c, d = n, i
            while d * d > n:
                c, d = d, c % d
            return (d, c % d) if d * d + (c % d) ** 2 == n else None
    return None


def with_zero_rows(data: Dataset, a: Vector) -> Dataset:
    """The data with a row of zeros, or an empty bag, and targets 0, for every entry."""
    Z, bags = data.Z, data.bags.and_empty(len(a))
    if bags is EACH:
        Z = (*Z, *((Fraction(0),) * data.d,) * len(a))
    return replace(data, Z=Z, bags=bags, y=(*data.y, *(Fraction(0),) * (len(a) * data.targets)))
