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

from relu_cert.exact import Vector
from relu_cert.rationals import rows_of, to_fmpq, to_fraction


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
    A = rows_of(a)
    sides = [_Side(*(None if x is None else to_fmpq(x) for x in (b.low, b.high))) for b in box]
    m = [to_fmpq(x) for x in start]
    active: list[int] = []
    for k in free:
        if _rows(A, [*active, k]).rank() > len(active):
            active.append(k)
    m, active = _descend(A, sides, m, active)
    while True:
        v = _combine(A, m)
        entering = _most_violated(A, sides, m, v, active)
        if entering is None:
            return Shortest(
                tuple(to_fraction(x) for x in m), tuple(to_fraction(x) for x in v.entries()), tuple(sorted(active))
            )
        m, active = _descend(A, sides, m, [*active, entering])


def combine(a: Sequence[Vector], m: Sequence[Fraction]) -> Vector:
    """sum_k m_k a_k"""
    total = [Fraction(0)] * len(a[0])
    for row, weight in zip(a, m, strict=True):
        if weight:
            for j, x in enumerate(row):
                total[j] += weight * x
    return tuple(total)


@dataclass(frozen=True)
class _Side:
    """The bounds of one row for flint."""

    low: fmpq | None
    high: fmpq | None


def _rows(A: fmpq_mat, chosen: Sequence[int]) -> fmpq_mat:
    return fmpq_mat([[A[k, j] for j in range(A.ncols())] for k in chosen])


def _combine(A: fmpq_mat, m: Sequence[fmpq]) -> fmpq_mat:
    """A'm as a column."""
    return A.transpose() * fmpq_mat([[x] for x in m])


def _most_violated(
    A: fmpq_mat, box: Sequence[_Side], m: Sequence[fmpq], v: fmpq_mat, active: Sequence[int]
) -> int | None:
    """A row at a bound whose move into the box shortens v, the steepest of them; None at the minimum."""
    best, best_slope = None, fmpq(0)
    held = set(active)
    for k, slope in enumerate((A * v).entries()):
        if slope == 0 or k in held:
            continue
        bound = box[k].high if slope < 0 else box[k].low
        if (bound is None or m[k] != bound) and abs(slope) > best_slope:
            best, best_slope = k, abs(slope)
    return best


def _descend(A: fmpq_mat, box: Sequence[_Side], m: list[fmpq], active: list[int]) -> tuple[list[fmpq], list[int]]:
    """Minimise over the active rows, dropping rows that meet a bound, until the face's minimiser is inside the box."""
    while active:
        goal = _face_minimum(A, m, active)
        step, blocking = fmpq(1), None
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


def _face_minimum(A: fmpq_mat, m: Sequence[fmpq], active: Sequence[int]) -> list[fmpq]:
    """The values of the active rows that make v orthogonal to them, the others held: A_F A_F' x = -A_F c."""
    held = set(active)
    c = _combine(A, [fmpq(0) if k in held else x for k, x in enumerate(m)])
    F = _rows(A, active)
    return list(((F * F.transpose()).solve(-(F * c))).entries())
