"""Which face a ReLU neuron lies on, and where it lies deepest: proposals, from the exact maximiser at theta.
`classes.is_stable` judges them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import Matrix, Vector, column, dot, first_independent, to_vector
from relu_cert.patterns.pattern_set import bit_string
from relu_cert.problem.blocks import parallel_classes
from relu_cert.prove.classes import projector, slopes, spans
from relu_cert.prove.facts import NeuronClass
from relu_cert.prove.projection import ShortestVector, combine
from relu_cert.serialize import Sign

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
