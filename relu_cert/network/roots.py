"""The sign of a sum of square roots of rationals, decided exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from relu_cert.prove.ggp.roots import root_sum_sign as signed_root_sum

Term = tuple[Fraction, Fraction]  # c sqrt(a), a > 0


def root_sum_sign(terms: Sequence[Term]) -> int:
    """The sign of sum c sqrt(a): -1, 0 or 1. Over one denominator L it is that of a sum of roots of integers."""
    squares = [c * c * a for c, a in terms]
    L = lcm(*(x.denominator for x in squares))
    return signed_root_sum([1 if c > 0 else -1 for c, _ in terms], [int(x * L * L) for x in squares])
