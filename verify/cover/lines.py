"""xi t.(Zu)_+ = c0.u + sum_c w_c (p_c.u)_+ over the lines of the data, exactly and in short integers; t = P'theta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, isqrt
from operator import mul

import numpy as np
from numpy.typing import NDArray

from verify.numbers.integers import cleared, cleared_rows
from verify.problem.problem import Problem
from verify.text import Node, Vector

Row = tuple[int, ...]
Integers = NDArray[np.int64]
MOST_BITS = 44


@dataclass(frozen=True)
class Lines:
    """z_k = (multiple_k / scale) p_c, c = line_k, p_c primitive; -1 for rows of zeros. Lines in order of first rows."""

    rows: tuple[Row, ...]
    line: tuple[int, ...]
    multiple: tuple[int, ...]
    scale: int
    d: int

    def heights(self, u: Sequence[int]) -> list[int]:
        """p_c.u of all lines."""
        return [dot(p, u) for p in self.rows]


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """a.b"""
    return sum(map(mul, a, b))


def lines_of(problem: Problem) -> Lines:
    """The lines of Z."""
    rows, scale = cleared_rows(problem.seen)
    names: dict[Row, int] = {}
    found = []
    for z in rows:
        g = gcd(*z)
        p = tuple(x // max(g, 1) for x in z)
        opposite = tuple(-x for x in p)
        if opposite in names:
            p, g = opposite, -g
        found.append((names.setdefault(p, len(names)), g) if g else (-1, 0))
    line, multiple = zip(*found, strict=True)
    return Lines(tuple(names), line, multiple, scale, problem.d)


@dataclass(frozen=True)
class Weights:
    """w_c and c0 = sum_c s_c- p_c, all times `unit`."""

    lines: Lines
    w: tuple[int, ...]
    c0: Row
    unit: int

    @cached_property
    def convex(self) -> list[int]:
        """The lines with w_c > 0."""
        return [c for c, w in enumerate(self.w) if w > 0]

    @cached_property
    def concave(self) -> list[int]:
        """The lines with w_c < 0."""
        return [c for c, w in enumerate(self.w) if w < 0]


def weights_of(lines: Lines, t: Vector, xi: int) -> Weights:
    """s_c+ is the sum of a_k xi t_k over a_k > 0, s_c- that over a_k < 0, w_c = s_c+ - s_c-."""
    T, q = cleared(t)
    w, c0 = [0] * len(lines.rows), [0] * lines.d
    for c, a, x in zip(lines.line, lines.multiple, T, strict=True):
        if c >= 0:
            w[c] += abs(a) * xi * x
            c0 = [b + min(a, 0) * xi * x * p for b, p in zip(c0, lines.rows[c], strict=True)]
    return Weights(lines, tuple(w), tuple(c0), lines.scale * q)


@dataclass(frozen=True)
class Coarse:
    """Rows floor(|w_c| p_c 2^bits / lambda), and the length that c may have: whatever the rounding did, and for every
    residual r with Zeta |r - theta| <= margin lambda / 2^bits, a bound by `bound` is one by lambda (strictly)."""

    P: Integers
    N: Integers
    c0: list[int]
    bits: int
    bound: int


def coarse(weights: Weights, lam: Fraction, margin: int, width: int, node: Node) -> Coarse:
    """As many bits as keep the sum of all entries below 2^53, at most MOST_BITS; `width` is at least sum_l |u_l| for
    the u of length 1 that count: a row is off by less."""
    rows = weights.lines.rows
    total = sum(abs(w) * sum(map(abs, p)) for w, p in zip(weights.w, rows, strict=True)) + sum(map(abs, weights.c0))
    times, over = lam.denominator, weights.unit * lam.numerator
    bits = min(MOST_BITS, 53 - (total * times // over + 1).bit_length())
    bound = (1 << max(bits, 0)) - (len(weights.convex) + len(weights.concave) + 1) * width - margin
    node.require(bound > 0, "a lambda and a margin for which short integers are precise enough", f"{bits} bits")

    def floored(factor: int, v: Sequence[int]) -> list[int]:
        return [(factor * x * times << bits) // over for x in v]

    found = ([floored(abs(weights.w[c]), rows[c]) for c in lines] for lines in (weights.convex, weights.concave))
    P, N = (np.array(A, dtype=np.int64).reshape(-1, weights.lines.d) for A in found)
    return Coarse(P, N, floored(1, weights.c0), bits, bound)


def root_above(n: int) -> int:
    """The least integer >= sqrt(n)."""
    return isqrt(n - 1) + 1 if n else 0
