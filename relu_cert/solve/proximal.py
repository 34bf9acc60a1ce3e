"""A start for programs over many cones: the proximal-point method, each step by Newton's method in the residual.

    w+ = argmin  P(w) + delta/2 sum_b |w_b - w'_b|^2,    from w', for smaller and smaller delta

is the dual of the minimum over r of the strongly convex, once differentiable function

    f(r) = 1/2|r|^2 - y.r + 1/(2 delta) sum_b (|p_b| - lambda)_+^2,    p_b = Proj_{C_b}(X_b'r + delta w'_b),

with w+_b = (1 - lambda/|p_b|)_+ p_b / delta, and its gradient is r - y + sum_b X_b w+_b. On a face
p_b = P (X_b'r + delta w'_b), and the Hessian is I + sum_b X_b J_b X_b' with
J_b = ((1 - lambda/|p_b|) P + lambda p_b p_b' / |p_b|^3) / delta.

No face has to be followed, so that nothing runs in circles, and every w+ is feasible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from relu_cert.solve.cones import Cones, Projected
from relu_cert.solve.solution import Bits, Floats, Neuron

_FIRST = 0.01  # the first delta, as a share of |Z|^2
_SHRINK = 0.2  # delta from one proximal step to the next
_SHORT = 0.9  # steps as short as this are given up,
_NEAR = 1e-3  # and all of them from this relative gap on
_STEPS = 60  # proximal steps
_NEWTON = 80  # Newton steps in each
_INNER = 0.1  # |gradient| that is small enough, as a share of sqrt(delta) |w+ - w'|
_LEAST = 1e-10  # and in any case, as a share of |y|
_ENOUGH = 1e-7  # the relative gap at which Newton's method in kernel form takes over


@dataclass(frozen=True)
class _Step:
    """One proximal step: its delta and the weights w' (blocks x d) that it starts from."""

    cones: Cones
    y: Floats
    lam: float
    delta: float
    centre: Floats


@dataclass(frozen=True)
class _At:
    """f and its gradient at r, and p_b of the blocks with |p_b| > lambda."""

    r: Floats
    value: float
    gradient: Floats
    active: Projected
    w: Floats  # of the active blocks


def proximal_point(cones: Cones, y: Floats, lam: float) -> list[Neuron]:
    """Neurons in their cones, near the optimum: one for each block that is not zero."""
    Z = cones.arrays.Z
    centre = np.zeros((len(cones.arrays), Z.shape[1]))
    r, delta, shrink = y, _FIRST * (float(np.einsum("ij,ij->", Z, Z)) or 1.0), _SHRINK
    best, least = centre, np.inf
    for _ in range(_STEPS):
        at = _minimise(_Step(cones, y, lam, delta, centre), r)
        if at is None:  # too far, or too near for floats
            shrink **= 0.5
            delta /= shrink
            if shrink > _SHORT or least < _NEAR:
                break
            continue
        shrink = max(shrink**1.5, _SHRINK)
        r = at.r
        centre = np.zeros_like(centre)
        centre[at.active.blocks] = at.w
        gap = _relative_gap(cones, y, lam, at)
        if gap < least:
            best, least = centre, gap
        if gap <= _ENOUGH:
            break
        delta *= shrink
    return [Neuron(1, int(b), best[b]) for b in np.flatnonzero(best.any(axis=1))]


def _evaluate(step: _Step, r: Floats) -> _At:
    cones, lam, delta = step.cones, step.lam, step.delta
    c = cones.correlations(r) + delta * step.centre
    found = cones.project(np.arange(len(c)), c, lam)
    active = found.some(np.flatnonzero(found.norm > lam))
    w = ((1.0 - lam / active.norm) / delta)[:, None] * active.v
    value = 0.5 * float(r @ r) - float(step.y @ r) + float(((active.norm - lam) ** 2).sum()) / (2.0 * delta)
    return _At(r, value, r - step.y + _fit(cones, active, w), active, w)


def _minimise(step: _Step, r: Floats) -> _At | None:
    """Newton steps with halving until the gradient is small; None if it does not get there."""
    at = _evaluate(step, r)
    scale = float(np.linalg.norm(step.y))
    for _ in range(_NEWTON):
        size = float(np.linalg.norm(at.gradient))
        if size <= max(_LEAST * scale, _INNER * min(np.sqrt(step.delta) * _moved(step, at), scale)):
            return at
        L, info = dpotrf(_hessian(step, at), lower=1)
        if info:
            return None
        way = -dpotrs(L, at.gradient, lower=1)[0]
        slope, length = float(at.gradient @ way), 1.0
        blind = -slope <= 1e-11 * abs(at.value)  # what f would tell is rounding
        while length > (1e-3 if blind else 1e-7):
            tried = _evaluate(step, at.r + length * way)
            if tried.value <= at.value + 1e-4 * length * slope or (
                blind and np.linalg.norm(tried.gradient) < 0.5 * size
            ):
                break
            length *= 0.5
        else:
            return None
        at = tried
    return None


def _moved(step: _Step, at: _At) -> float:
    """|w+ - w'|"""
    change = -step.centre
    change[at.active.blocks] += at.w
    return float(np.linalg.norm(change))


def _hessian(step: _Step, at: _At) -> Floats:
    """I + sum_b X_b J_b X_b' (its lower triangle), with P = N'N, N an orthonormal basis of the face; but where there
    are few kinks P = I - Q'Q, Q a basis of their span, and X_b X_b' = D_b Z Z' D_b is Z Z' on the rows that are on."""
    arrays, active = step.cones.arrays, at.active
    Z, n = arrays.Z, len(arrays.Z)
    if not len(active.blocks):
        return np.eye(n)
    on = arrays.on[arrays.pattern(active.blocks)]
    s = (1.0 - step.lam / active.norm) / step.delta
    basis, span = step.cones.bases(active)
    few, first = 2 * span < Z.shape[1], np.arange(Z.shape[1]) < span[:, None]
    outputs = np.where(on, active.v @ Z.T, 0.0) * np.sqrt(step.lam / (step.delta * active.norm**3))[:, None]

    def outer(where: Bits) -> Floats:
        """sqrt(s_b) D_b Z q for the rows q of these bases."""
        block, row = np.nonzero(where)
        shares: Floats = np.where(on[block], basis[block, row] @ Z.T, 0.0) * np.sqrt(s[block])[:, None]
        return shares

    H: Floats = dsyrk(1.0, np.concatenate([outputs, outer(~few[:, None] & ~first)]), trans=1, lower=1)
    if few.any():
        D = on[few].astype(np.float64)
        H += (Z @ Z.T) * ((s[few][:, None] * D).T @ D)
        if len(minus := outer(few[:, None] & first)):
            H -= dsyrk(1.0, minus, trans=1, lower=1)
    H[np.diag_indices(n)] += 1.0
    return H


def _fit(cones: Cones, active: Projected, w: Floats) -> Floats:
    """sum_b X_b w_b"""
    arrays = cones.arrays
    on, xi = arrays.on[arrays.pattern(active.blocks)], arrays.xi(active.blocks)
    return np.asarray(xi @ np.where(on, w @ arrays.Z.T, 0.0), dtype=np.float64)


def _relative_gap(cones: Cones, y: Floats, lam: float, at: _At) -> float:
    """Of the weights and of r as the dual point, without cancellation."""
    prices = cones.project(np.arange(len(cones.arrays)), cones.correlations(at.r), lam)
    theta = min(1.0, lam / float(prices.norm.max(initial=lam))) * at.r
    fit = _fit(cones, at.active, at.w)
    penalty, rest = lam * float(np.linalg.norm(at.w, axis=1).sum()), y - fit
    gap = 0.5 * float((rest - theta) @ (rest - theta)) + penalty - float(theta @ fit)
    primal = 0.5 * float(rest @ rest) + penalty
    return gap / primal if primal > 0.0 else 0.0
