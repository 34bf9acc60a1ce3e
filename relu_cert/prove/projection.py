"""Exact projections: the shortest vector c + sum_k m_k a_k, m in a box of rationals or of algebraic numbers.

This one small problem serves everywhere. The projection of c on the cone {w : K'w <= 0} is c - K rho with the
shortest c - K rho, rho >= 0 (Moreau); the supremum of a concave piece is the shortest Z'm with m in the
piece's box; the point of a polytope nearest to 0 is a mean of vertices. Its value is rational because its solution lies
on a face.

Method: active sets as in Lawson and Hanson's NNLS with upper bounds (Stark and Parker's BVLS). In exact arithmetic
the objective strictly decreases from one face to the next, so it ends; nothing is rounded, nothing is tolerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
from flint import arb_mat, ctx, fmpq, fmpq_mat
from numpy.typing import NDArray

from relu_cert.exact import Vector, middle, rows_of, scaled_rows, to_fmpq, to_fraction
from relu_cert.prove.algebraic.field import Exact

Entries = list[Any]
"""Numbers of one kind: flint's rationals, or those of a field."""


@dataclass(frozen=True)
class Bounds:
    """low <= m <= high, numbers of whatever kind m has; None is no bound."""

    low: Any
    high: Any


@dataclass(frozen=True)
class ShortestVector:
    """The minimiser m, the shortest vector v = c + sum_k m_k a_k."""

    m: Exact
    v: Exact


def shortest(
    a: Sequence[Vector], box: Sequence[Bounds], start: Exact, free: Sequence[int] = (), c: Exact = ()
) -> ShortestVector:
    """The shortest c + sum_k m_k a_k with m in the box, from a feasible start; c is 0 if it is not given. Its numbers
    are Fractions, or those of a field.

    `free` proposes rows that may leave their start values at once (a float solver's guess of the face); a bad guess
    costs time, never correctness.
    """
    if all(isinstance(x, Fraction) for x in start):
        sides = [Bounds(*(None if x is None else to_fmpq(x) for x in (b.low, b.high))) for b in box]
        m, v = _shortest(rows_of(a), sides, [to_fmpq(x) for x in start], free, [to_fmpq(x) for x in c])
        return ShortestVector(tuple(map(to_fraction, m)), tuple(map(to_fraction, v)))
    m, v = _shortest(rows_of(a), box, list(start), free, list(c))
    return ShortestVector(tuple(m), tuple(v))


def _shortest(
    A: fmpq_mat, box: Sequence[Bounds], m: Entries, free: Sequence[int], c: Entries
) -> tuple[Entries, Entries]:
    """The same for the rows of A: m and v = c + A'm."""
    active = list[int]()
    for k in free:
        if _rows(A, [*active, k]).rank() > len(active):
            active.append(k)
    m, active = _descend(A, box, m, active, c)
    while True:
        v = _sum(A, m, c)
        entering = _steepest(times(A, v), box, m, active)
        if entering is None:
            return m, v
        m, active = _descend(A, box, m, [*active, entering], c)


def shortest_mean(points: Sequence[Vector]) -> tuple[Vector, dict[int, Fraction]]:
    """The shortest x in the convex hull of points, and their weights > 0 in it.

    For u = s t with sum t = 1 the vector sum u_p (p, 1) - (0, 1) has the squared length s^2 |x|^2 + (s - 1)^2, x the
    mean with weights t; its least value over s, |x|^2 / (1 + |x|^2), is least where x is the shortest.
    """
    zero, one = Fraction(0), Fraction(1)
    rows, away = tuple((*p, one) for p in points), (*(zero,) * len(points[0]), -one)
    u = shortest(rows, [Bounds(zero, None)] * len(rows), (zero,) * len(rows), (), away).m
    mean = {i: u_i / sum(u) for i, u_i in enumerate(u) if u_i}
    return combine([points[i] for i in mean], list(mean.values())), mean


def combine(a: Sequence[Vector], m: Sequence[Fraction]) -> Vector:
    """sum_k m_k a_k"""
    N, q = scaled_rows(a)
    (weights,), p = scaled_rows([m])
    return tuple(Fraction(sum(map(mul, weights, column)), p * q) for column in zip(*N, strict=True))


def times(A: fmpq_mat, x: Entries) -> Entries:
    """A x"""
    if not x or isinstance(x[0], fmpq):
        return list((A * fmpq_mat([[y] for y in x])).entries())
    zero = x[0] * 0
    return [sum((y * a for a, y in zip(row, x, strict=True) if a and y), zero) for row in A.tolist()]


def _sum(A: fmpq_mat, m: Entries, c: Entries) -> Entries:
    """c + A'm"""
    v = times(A.transpose(), m)
    return [x + y for x, y in zip(c, v, strict=True)] if c else v


def _rows(A: fmpq_mat, chosen: Sequence[int]) -> fmpq_mat:
    return fmpq_mat([[A[k, j] for j in range(A.ncols())] for k in chosen])


def _steepest(slopes: Entries, box: Sequence[Bounds], m: Entries, active: Sequence[int]) -> int | None:
    """A row at a bound whose move into the box shortens v, about the steepest of them; None at the minimum."""
    best, steepest = None, 0.0
    held = set(active)
    for k, slope in enumerate(slopes):
        if not slope or k in held:
            continue
        bound = box[k].high if slope < 0 else box[k].low
        if (bound is None or m[k] != bound) and abs(float(slope)) >= steepest:
            best, steepest = k, abs(float(slope))
    return best


def _descend(
    A: fmpq_mat, box: Sequence[Bounds], m: Entries, active: list[int], c: Entries
) -> tuple[Entries, list[int]]:
    """Minimise over the active rows, dropping rows that meet a bound, until the face's minimiser is inside the box."""
    while active:
        goal = _face_minimum(A, m, active, c)
        step, blocking = None, None
        for k, target in zip(active, goal, strict=True):
            if target == m[k]:
                continue
            rising = target > m[k]
            limit = box[k].high if rising else box[k].low
            if limit is not None and (target > limit if rising else target < limit):
                ratio = (limit - m[k]) / (target - m[k])
                if step is None or ratio < step:
                    step, blocking = ratio, k
        m = list(m)
        for k, target in zip(active, goal, strict=True):
            m[k] = target if step is None else m[k] + step * (target - m[k])
        if blocking is None:
            break
        active = [k for k in active if k != blocking]
    return m, active


def _face_minimum(A: fmpq_mat, m: Entries, active: Sequence[int], c: Entries) -> Entries:
    """The values of the active rows that make v orthogonal to them, the others held: A_F A_F' x = -A_F held."""
    moves = set(active)
    held = _sum(A, [x * 0 if k in moves else x for k, x in enumerate(m)], c)
    F = _rows(A, active)
    return times(-(F * F.transpose()).inv() * F, held)


SPARE = Fraction(15, 16)  # the checker looks for an inverse of its own
_BITS = 64


def floats(A: fmpq_mat | arb_mat) -> NDArray[np.float64]:
    """The matrix in float64, up to the last bit."""
    entries = (arb_mat(A) if isinstance(A, fmpq_mat) else A).entries()
    return np.array([float(x) for x in entries], dtype=np.float64).reshape(A.nrows(), A.ncols())


def stretch(A: fmpq_mat) -> Fraction:
    """Some sigma with |A x| >= sigma |x| for all x; 0 if no other is found.

    With N = W A - I: |x| = |W A x - N x| <= |W| |A x| + |N| |x|, whatever W is. Products are taken in balls.
    """
    n, k = A.nrows(), A.ncols()
    if k == 0:
        return Fraction(1)
    with ctx.workprec(_BITS):
        balls = arb_mat(A)
        try:
            near = np.linalg.pinv(floats(balls), rcond=0.0)
        except np.linalg.LinAlgError:
            return Fraction(0)
        if not np.isfinite(near).all():
            return Fraction(0)
        W = arb_mat(k, n, near.ravel().tolist())
        missed = upper_length(W * balls - arb_mat(k, k, [int(i == j) for i in range(k) for j in range(k)]))
        return SPARE * (1 - missed) / upper_length(W) if missed < 1 else Fraction(0)


def upper_length(A: arb_mat) -> Fraction:
    """An upper bound on the Frobenius norm."""
    with ctx.workprec(_BITS):
        row = arb_mat(1, A.nrows() * A.ncols(), A.entries())
        return middle((row * row.transpose())[0, 0].upper().sqrt().upper())
