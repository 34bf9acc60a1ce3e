"""Exact projections: the shortest vector sum_k m_k a_k with m in a box, over the rationals.

This one small problem serves everywhere. The projection of c on the cone {w : K'w <= 0} is c - K rho with the
shortest c - K rho, rho >= 0 (Moreau); the supremum of a concave piece is the shortest Z'm with m in the
piece's box. Its value is rational because its solution lies on a face.

Method: active sets as in Lawson and Hanson's NNLS with upper bounds (Stark and Parker's BVLS). In exact arithmetic
the objective strictly decreases from one face to the next, so it ends; nothing is rounded, nothing is tolerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

from relu_cert.exact import Vector, dot


@dataclass(frozen=True)
class Bounds:
    """low <= m <= high; None is no bound."""

    low: Fraction | None
    high: Fraction | None


@dataclass(frozen=True)
class Shortest:
    """The minimiser m, the shortest vector v = sum_k m_k a_k, and the rows that are strictly between their bounds."""

    m: Vector
    v: Vector
    free: tuple[int, ...]


def shortest(
    a: Sequence[Vector], box: Sequence[Bounds], start: Sequence[Fraction], free: Sequence[int] = ()
) -> Shortest:
    """The shortest sum_k m_k a_k with m in the box, from a feasible start.

    `free` proposes rows that may leave their start values at once (a float solver's guess of the face); a bad guess
    costs time, never correctness.
    """
    m = list(start)
    active: list[int] = []
    for k in free:
        if _independent(a, [*active, k]):
            active.append(k)
    m, active = _descend(a, box, m, active)
    while True:
        v = combine(a, m)
        entering = _most_violated(a, box, m, v, active)
        if entering is None:
            return Shortest(tuple(m), v, tuple(sorted(active)))
        m, active = _descend(a, box, m, [*active, entering])


def combine(a: Sequence[Vector], m: Sequence[Fraction]) -> Vector:
    """sum_k m_k a_k"""
    total = [Fraction(0)] * len(a[0])
    for row, weight in zip(a, m, strict=True):
        if weight:
            for j, x in enumerate(row):
                total[j] += weight * x
    return tuple(total)


def _most_violated(
    a: Sequence[Vector], box: Sequence[Bounds], m: Sequence[Fraction], v: Vector, active: Sequence[int]
) -> int | None:
    """A row at a bound whose move into the box shortens v, the steepest of them; None at the minimum."""
    best, best_slope = None, Fraction(0)
    held = set(active)
    for k, row in enumerate(a):
        if k in held:
            continue
        slope = dot(row, v)
        up = slope < 0 and (box[k].high is None or m[k] < box[k].high)  # type: ignore[operator]
        down = slope > 0 and (box[k].low is None or m[k] > box[k].low)  # type: ignore[operator]
        if (up or down) and abs(slope) > best_slope:
            best, best_slope = k, abs(slope)
    return best


def _descend(
    a: Sequence[Vector], box: Sequence[Bounds], m: list[Fraction], active: list[int]
) -> tuple[list[Fraction], list[int]]:
    """Minimise over the active rows, dropping rows that meet a bound, until the face's minimiser is inside the box."""
    while active:
        goal = _face_minimum(a, m, active)
        step, blocking = Fraction(1), None
        for k, target in zip(active, goal, strict=True):
            limit = box[k].high if target > m[k] else box[k].low
            if limit is None or target == m[k]:
                continue
            if (target > limit) if target > m[k] else (target < limit):
                ratio = (limit - m[k]) / (target - m[k])
                if ratio < step:
                    step, blocking = ratio, k
        m = list(m)
        for k, target in zip(active, goal, strict=True):
            m[k] += step * (target - m[k])
        if blocking is None:
            break
        active = [k for k in active if k != blocking]
    return m, active


def _face_minimum(a: Sequence[Vector], m: Sequence[Fraction], active: Sequence[int]) -> list[Fraction]:
    """The values of the active rows that make v orthogonal to them, the others held: A_F A_F' x = -A_F c."""
    held = set(active)
    c = combine(a, [Fraction(0) if k in held else x for k, x in enumerate(m)])
    gram = fmpq_mat([[_fmpq(dot(a[i], a[j])) for j in active] for i in active])
    right = fmpq_mat([[_fmpq(-dot(a[i], c))] for i in active])
    solution = gram.solve(right)
    return [Fraction(int(x.p), int(x.q)) for x in solution.entries()]


def _independent(a: Sequence[Vector], rows: Sequence[int]) -> bool:
    return bool(fmpq_mat([[_fmpq(x) for x in a[k]] for k in rows]).rank() == len(rows))


def _fmpq(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)
