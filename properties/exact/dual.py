"""Dual numbers a + b eps with eps^2 = 0: exact first derivatives without a formula for them.

prop:local-sol-fn is checked by putting w + eps dw and rho + eps drho into the optimality conditions themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from properties.exact.roots import rational_sqrt


@dataclass(frozen=True)
class Dual:
    """a + b eps."""

    a: Fraction
    b: Fraction = Fraction(0)

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.a + other.a, self.b + other.b)

    def __sub__(self, other: Dual) -> Dual:
        return Dual(self.a - other.a, self.b - other.b)

    def __mul__(self, other: Dual) -> Dual:
        return Dual(self.a * other.a, self.a * other.b + self.b * other.a)

    def __truediv__(self, other: Dual) -> Dual:
        return Dual(self.a / other.a, (self.b * other.a - self.a * other.b) / other.a**2)

    def sqrt(self) -> Dual:
        """The square root, where a is the square of a positive rational."""
        root = rational_sqrt(self.a)
        if not root:
            raise ValueError("needs the square of a positive rational")
        return Dual(root, self.b / (2 * root))


def dual_dot(x: Sequence[Dual], y: Sequence[Dual]) -> Dual:
    """x.y"""
    out = Dual(Fraction(0))
    for s, t in zip(x, y, strict=True):
        out = out + s * t
    return out


def lift(x: Sequence[Fraction], dx: Sequence[Fraction] | None = None) -> tuple[Dual, ...]:
    """x + eps dx"""
    return tuple(Dual(a, b) for a, b in zip(x, dx if dx is not None else [Fraction(0)] * len(x), strict=True))
