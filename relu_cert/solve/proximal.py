"""A start for programs over many cones: the proximal-point method, each step by Newton's method in the residual.

    w+ = argmin  P(w) + delta/2 sum_b |w_b - w'_b|^2,    from w', for smaller and smaller delta        (`smooth`)

No face has to be followed, so that nothing runs in circles, and every w+ is feasible.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from relu_cert.solve.cones import Cones
from relu_cert.solve.smooth import At, PatternedBlocks, Step, newton
from relu_cert.solve.solution import Floats, Neuron

_FIRST = 0.01  # the first delta, as a share of |Z|^2
_SHRINK = 0.2  # delta from one proximal step to the next
_SHORT = 0.9  # steps as short as this are given up,
_NEAR = 1e-3  # and all of them from this relative gap on
_STEPS = 60  # proximal steps
_NEWTON = 80  # Newton steps in each
_INNER = 0.1  # |gradient| that is small enough, as a share of sqrt(delta) |w+ - w'|
_LEAST = 1e-10  # and in any case, as a share of |y|
_ENOUGH = 1e-7  # the relative gap at which Newton's method in kernel form takes over


def proximal_point(cones: Cones, y: Floats, lam: float) -> list[Neuron]:
    """Neurons in their cones, near the optimum: one for each block that is not zero."""
    Z = cones.arrays.Z
    blocks, centre = PatternedBlocks(cones), np.zeros((len(cones.arrays), Z.shape[1]))
    r, delta, shrink = y, _FIRST * (float(np.einsum("ij,ij->", Z, Z)) or 1.0), _SHRINK
    best, least = centre, np.inf
    for _ in range(_STEPS):
        step = Step(blocks, y, lam, delta, centre)
        at = _minimise(step, r)
        if at is None:  # too far, or too near for floats
            shrink **= 0.5
            delta /= shrink
            if shrink > _SHORT or least < _NEAR:
                break
            continue
        shrink = max(shrink**1.5, _SHRINK)
        r, centre = at.r, _weights(step, at)
        gap = _relative_gap(blocks, y, lam, at)
        if gap < least:
            best, least = centre, gap
        if gap <= _ENOUGH:
            break
        delta *= shrink
    return [Neuron(1, int(b), best[b]) for b in np.flatnonzero(best.any(axis=1))]


def _minimise(step: Step, r: Floats) -> At | None:
    """The minimum of f; None where Newton's method does not get there."""
    scale = float(np.linalg.norm(step.y))

    def small(at: At) -> float:
        moved = float(np.linalg.norm(_weights(step, at) - step.centre))
        return max(_LEAST * scale, _INNER * min(float(np.sqrt(step.delta)) * moved, scale))

    at, reached = newton(step, r, small, _NEWTON, _solved)
    return at if reached else None


def _solved(H: Floats, g: Floats) -> Floats:
    L, info = dpotrf(H, lower=1)
    if info:
        raise np.linalg.LinAlgError
    return np.asarray(dpotrs(L, g, lower=1)[0], dtype=np.float64)


def _weights(step: Step, at: At) -> Floats:
    """w+ of all blocks."""
    w: Floats = np.zeros_like(step.centre)
    w[at.active.blocks] = at.weights[:, None] * at.active.v
    return w


def _relative_gap(blocks: PatternedBlocks, y: Floats, lam: float, at: At) -> float:
    """Of the weights and of r as the dual point, without cancellation."""
    longest = float(blocks.active(at.r, lam, 0.0).norm.max(initial=lam))
    theta, fit = lam / longest * at.r, blocks.fit(at.active, at.weights)
    penalty, rest = lam * float(at.weights @ at.active.norm), y - fit
    gap = 0.5 * float((rest - theta) @ (rest - theta)) + penalty - float(theta @ fit)
    primal = 0.5 * float(rest @ rest) + penalty
    return gap / primal if primal > 0.0 else 0.0
