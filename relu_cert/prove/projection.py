"""Exact projections: the shortest vector c + sum_k m_k a_k, m in a box of rationals or of algebraic numbers.

This one small problem serves everywhere. The projection of c on the cone {w : K'w <= 0} is c - K rho with the
shortest c - K rho, rho >= 0 (Moreau); the supremum of a concave piece is the shortest Z'm with m in the
piece's box; the point of a polytope nearest to 0 is a mean of vertices. Its value is rational because its solution lies
on a face.

Method: active sets as in Lawson and Hanson's NNLS with upper bounds (Stark and Parker's BVLS). In exact arithmetic
the objective strictly decreases from one face to the next, so it ends; nothing is rounded, nothing is tolerated.

Which face a ReLU neuron lies on, and where it lies deepest: proposals, from the exact maximiser at theta.
`classes.is_stable` judges them.
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

from relu_cert.exact import (
    Matrix,
    Vector,
    column,
    dot,
    first_independent,
    middle,
    rows_of,
    scaled_rows,
    to_fmpq,
    to_fraction,
    to_vector,
)
from relu_cert.patterns.pattern_set import bit_string
from relu_cert.problem.networks import parallel_classes
from relu_cert.prove.classes import projector, slopes, spans
from relu_cert.prove.facts import NeuronClass
from relu_cert.prove.field import Exact
from relu_cert.serialize import Sign

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


Floats = NDArray[np.float64]
SMALL = 1e-7  # a weight below this share of the largest is taken for 0; a wrong choice costs a proof, never a verdict
INSIDE = 1e-10  # a split whose least weight is above this share of the largest is taken for one inside
TINY = 1e-4  # weights up to this share of the largest count when as many as possible are to be positive
CENTERING, CENTERED, REACH = 80, 1e-4, 0.9  # Newton steps to the analytic centre, when it is reached, and their length


def deepest(
    A: Floats,
    b: Floats,
    bounds: Sequence[tuple[float | None, float | None]],
    most: float | None = None,
    equal: Floats | None = None,
    goal: Floats | None = None,
) -> tuple[Floats, float] | None:
    """x within the bounds and the largest depth t, at most `most`, with Ax + t <= b and `equal` x = goal; None if there
    is none."""
    from scipy.optimize import linprog

    cost = np.r_[np.zeros(A.shape[1]), -1.0]
    A_eq = None if equal is None else np.c_[equal, np.zeros(len(equal))]
    found = linprog(
        cost, np.c_[A, np.ones(len(A))], b, A_eq, None if equal is None else goal, [*bounds, (None, most)]
    ).x
    return None if found is None else (found[:-1], float(found[-1]))


def inside(F: Floats, g: Floats) -> tuple[Floats, list[int]]:
    """Weights as far inside as possible, and the places that must be 0."""
    from scipy.optimize import linprog

    middle = center(F, g)
    if middle.min(initial=1.0) > INSIDE * np.abs(middle).max(initial=1.0):
        return middle, []
    k = F.shape[1]
    most = TINY * max(float(g.max(initial=0.0)), 1e-300)
    found = linprog(
        np.r_[np.zeros(k), -np.ones(k)],
        A_eq=np.c_[F, np.zeros(F.shape)],
        b_eq=g,
        A_ub=np.c_[-np.eye(k), np.eye(k)],
        b_ub=np.zeros(k),
        bounds=[(0, None)] * k + [(0, most)] * k,
    )
    if found.x is None:
        return middle, []
    zero = [a for a in range(k) if found.x[k + a] <= SMALL * most]
    kept = [a for a in range(k) if a not in zero]
    if not zero or not kept:
        return middle, []
    alpha = np.zeros(k)
    alpha[kept] = center(F[:, kept], g)
    return alpha, zero


def center(F: Floats, g: Floats) -> Floats:
    """The analytic centre of {alpha >= 0 : F alpha = g}; where no point is inside, the one with the largest least
    entry."""
    k = F.shape[1]
    middle = _analytic(F, g)
    if middle is not None:
        return middle
    found = deepest(-np.eye(k), np.zeros(k), [(None, None)] * k, equal=F, goal=g)
    return np.asarray(np.linalg.lstsq(F, g, rcond=None)[0] if found is None else found[0], dtype=np.float64)


def _analytic(F: Floats, g: Floats) -> Floats | None:
    """The analytic centre, where sum log alpha is largest: it moves smoothly, which a vertex of a linear program does
    not. Newton steps from a point that need not satisfy the equations; None if they do not get there."""
    k = F.shape[1]
    if not k:
        return np.zeros(0)
    alpha = np.full(k, max(float(np.abs(g).max(initial=0.0)), 1e-300))
    for _ in range(CENTERING):
        miss = g - F @ alpha
        rows = F * alpha  # F diag(alpha)
        dual = np.linalg.lstsq(rows @ rows.T, miss - rows @ np.ones(k), rcond=None)[0]
        step = alpha * (1.0 + rows.T @ dual)  # F step = miss
        ratio = step / alpha
        size = float(np.abs(ratio).max())
        length = min(1.0, REACH / max(float(-ratio.min()), 1e-300))
        alpha = alpha + length * step
        if length == 1.0 and size <= CENTERED:
            alpha = alpha + np.linalg.lstsq(F, g - F @ alpha, rcond=None)[0]
            return np.asarray(alpha) if (alpha > 0.0).all() else None
    return None


SEEMS_ZERO = 1e-6  # relative height at which a row is proposed as a kink; a wrong proposal costs time, never a verdict
SHORT = 10**6  # denominators of proposed multipliers


def exact_face(Z: Matrix, xi: Sign, t: Vector, best: ShortestVector) -> NeuronClass:
    """The face on which the exact maximiser at theta lies, with its own multipliers."""
    heights = [dot(z, best.v) for z in Z]
    kinks, inside, share = [], [], {}
    for c, rows in parallel_classes(Z).items():
        if heights[c] != 0:
            continue
        kinks.append(c)
        right, left = slopes(rows, t)
        mu = sum((a * best.m[k] for k, a in rows.items()), Fraction(0))
        if right < mu < left:
            inside.append(c)
        share[c] = (left - mu) / (left - right) if right != left else Fraction(0)
    return neuron_on_face(Z, xi, [h > 0 for h in heights], kinks, inside, share)


def near_face(Z: Matrix, xi: Sign, t: Vector, best: ShortestVector) -> NeuronClass:
    """The face of all kinks that the maximiser nearly has, with multipliers far inside their bounds (a linear program).

    Where more kinks meet than the face needs (grids, repeated directions), multipliers are not unique, and those of the
    maximiser may lie on their bounds though others do not.
    """
    v, classes = best.v, parallel_classes(Z)
    size = float(np.linalg.norm([float(x) for x in v]))
    lengths = [float(np.linalg.norm([float(x) for x in z])) for z in Z]
    heights = [float(dot(z, v)) for z in Z]
    kinks = [c for c in classes if abs(heights[c]) <= SEEMS_ZERO * size * lengths[c]]
    rows_at_kinks = {k for c in kinks for k in classes[c]}
    on = [h > 0 and k not in rows_at_kinks for k, h in enumerate(heights)]
    share = _central_shares(Z, t, on, {c: slopes(classes[c], t) for c in kinks})
    inside = [c for c in kinks if 0 < share.get(c, Fraction(0)) < 1]
    return neuron_on_face(Z, xi, on, kinks, inside, {c: share.get(c, Fraction(0)) for c in kinks})


def neuron_on_face(
    Z: Matrix, xi: Sign, on: Sequence[bool], kinks: Sequence[int], inside: list[int], share: dict[int, Fraction]
) -> NeuronClass:
    """The class on this face; `share` of each kink, those `inside` strictly between 0 and 1."""
    basis = independent_rows(Z, inside)
    idle = tuple(c for c in kinks if c not in inside and not spans([Z[i] for i in basis], [Z[c]]))
    fixed = tuple(share[c] for c in kinks if c not in basis and c not in idle)
    return NeuronClass(xi, bit_string(on), None, tuple(kinks), basis, idle, fixed)


def _central_shares(
    Z: Matrix, t: Vector, on: Sequence[bool], kink_slopes: dict[int, tuple[Fraction, Fraction]]
) -> dict[int, Fraction]:
    """f far inside [0, 1] with mu_c = l_c + f_c (p_c - l_c) and sum mu_c z_c the part of -sum_D t_k z_k in the span."""
    kinks = [c for c, (right, left) in kink_slopes.items() if right < left]
    if not kinks:
        return {}
    start = combine(Z, [t_k if o else Fraction(0) for t_k, o in zip(t, on, strict=True)])
    basis = independent_rows(Z, kinks)
    inner = to_vector(projector([Z[c] for c in basis], len(start)) * column(start))
    goal = [a - b for a, b in zip(inner, start, strict=True)]  # = sum mu_c z_c
    A = np.array([[float((kink_slopes[c][0] - kink_slopes[c][1]) * x) for x in Z[c]] for c in kinks]).T
    b = np.array([float(g) for g in goal]) - np.array(
        [float(sum((kink_slopes[c][1] * Z[c][j] for c in kinks), Fraction(0))) for j in range(len(start))]
    )
    scale = max(float(np.abs(A).max()), 1e-300)
    k = len(kinks)
    both, sides = np.r_[-np.eye(k), np.eye(k)], np.r_[np.zeros(k), np.ones(k)]
    found = deepest(both, sides, [(0, 1)] * k, equal=A / scale, goal=b / scale)
    if found is None:
        return {}
    return {c: Fraction(float(f)).limit_denominator(SHORT) for c, f in zip(kinks, found[0], strict=True)}


def independent_rows(Z: Matrix, rows: list[int]) -> tuple[int, ...]:
    """A greedy basis of the span of the rows, by their numbers."""
    return tuple(rows[j] for j in first_independent([Z[k] for k in rows]))
