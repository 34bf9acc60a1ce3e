"""Sums of square roots of rationals, compared exactly.

Square roots of different square-free integers are linearly independent over Q, so a sum is zero iff, grouped by
square class, every coefficient is. A sum that is not zero gets its sign from an interval that shrinks until it
excludes zero: there is no tolerance. Factors and intervals are flint's.

>>> (RootSum.sqrt(8) - RootSum.sqrt(2) - RootSum.sqrt(2)).sign()
0
>>> RootSum.sqrt(2) + 1 < RootSum.sqrt(6)
True
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import isqrt, prod

from flint import arb, ctx, fmpq, fmpz


@cache
def square_class(m: int) -> tuple[int, int]:
    """(s, f) with m = s^2 f and f square-free, for m > 0."""
    root = isqrt(m)
    if root * root == m:
        return root, 1
    primes = [(int(p), int(k)) for p, k in fmpz(m).factor()]
    return prod(p ** (k // 2) for p, k in primes), prod(p for p, k in primes if k % 2)


@dataclass(frozen=True)
class RootSum:
    """sum of coefficient * sqrt(f) over square-free f; `terms` is sorted and has no zero coefficient."""

    terms: tuple[tuple[int, Fraction], ...] = ()

    @staticmethod
    def of(pairs: Iterable[tuple[int, Fraction]]) -> RootSum:
        """The sum of c sqrt(f), terms of one class collected."""
        out: dict[int, Fraction] = {}
        for f, c in pairs:
            out[f] = out.get(f, Fraction(0)) + c
        return RootSum(tuple(sorted((f, c) for f, c in out.items() if c)))

    @staticmethod
    def rational(x: Fraction | int) -> RootSum:
        """The rational x."""
        return RootSum.of([(1, Fraction(x))])

    @staticmethod
    def sqrt(x: Fraction | int) -> RootSum:
        """sqrt(x) for a rational x >= 0."""
        x = Fraction(x)
        if x < 0:
            raise ValueError("square root of a negative number")
        if x == 0:
            return RootSum()
        s, f = square_class(x.numerator * x.denominator)
        return RootSum.of([(f, Fraction(s, x.denominator))])

    def __add__(self, other: RootSum | Fraction | int) -> RootSum:
        return RootSum.of((*self.terms, *_coerce(other).terms))

    def __sub__(self, other: RootSum | Fraction | int) -> RootSum:
        return self + _coerce(other).times(-1)

    def times(self, x: Fraction | int) -> RootSum:
        """The sum multiplied by a rational."""
        return RootSum.of((f, c * x) for f, c in self.terms)

    def sign(self) -> int:
        """-1, 0 or 1, exactly."""
        bits = 64
        while self.terms:
            with ctx.workprec(bits):
                ball = sum((arb(fmpq(c.numerator, c.denominator)) * arb(f).sqrt() for f, c in self.terms), arb(0))
                if not ball.contains(0):
                    return 1 if ball > 0 else -1
            bits *= 2
        return 0

    def __lt__(self, other: RootSum | Fraction | int) -> bool:
        return (self - other).sign() < 0

    def __le__(self, other: RootSum | Fraction | int) -> bool:
        return (self - other).sign() <= 0

    def __gt__(self, other: RootSum | Fraction | int) -> bool:
        return (self - other).sign() > 0

    def __ge__(self, other: RootSum | Fraction | int) -> bool:
        return (self - other).sign() >= 0

    def as_fraction(self) -> Fraction | None:
        """The value if it is rational."""
        if any(f != 1 for f, _ in self.terms):
            return None
        return sum((c for _, c in self.terms), Fraction(0))


def _coerce(x: RootSum | Fraction | int) -> RootSum:
    return x if isinstance(x, RootSum) else RootSum.rational(x)


def rational_sqrt(x: Fraction) -> Fraction | None:
    """sqrt(x) if it is rational."""
    p, q = isqrt(x.numerator), isqrt(x.denominator)
    return Fraction(p, q) if p * p == x.numerator and q * q == x.denominator else None
