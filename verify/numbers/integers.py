"""Rationals as integers over one denominator."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm

from verify.text import Matrix


def cleared_rows(A: Matrix) -> tuple[list[list[int]], int]:
    """Rows of integers P and the least q > 0 with A = P / q."""
    q = lcm(*(x.denominator for row in A for x in row))
    return [[x.numerator * (q // x.denominator) for x in row] for row in A], q


def cleared(u: Iterable[Fraction]) -> tuple[list[int], int]:
    """Integers p and the least q > 0 with u = p / q."""
    (p,), q = cleared_rows((tuple(u),))
    return p, q
