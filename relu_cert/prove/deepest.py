"""Points far inside a polyhedron, in floats: proposals that exact arithmetic judges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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
