"""A start for programs over many cones: the proximal-point method, each step by Newton's method in the residual.

    w+ = argmin  P(w) + delta/2 sum_b |w_b - w'_b|^2,    from w', for smaller and smaller delta        (`smooth`)

No face has to be followed, so that nothing runs in circles, and every w+ is feasible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import clarabel
import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dpotrf, dpotrs

from relu_cert.problem.problem import Problem
from relu_cert.solve.cones import Cones
from relu_cert.solve.prepare import BlockArrays, Floats, Neuron, PatternedArrays, one_thread, prepare
from relu_cert.solve.smooth import At, Blocks, DirectBlocks, Kinks, PatternedBlocks, Step, hessian, newton

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


def interior_point(arrays: BlockArrays, y: Floats, lam: float) -> list[Neuron]:
    """Neurons near the optimum, not necessarily inside their cones to the last bit."""
    sizes = [X.shape[1] for X in arrays.X]
    W, B, n = sum(sizes), len(sizes), len(y)
    starts = np.cumsum([0, *sizes])
    quadratic = sparse.diags(np.concatenate([np.zeros(W + B), np.ones(n)])).tocsc()
    linear = np.concatenate([np.zeros(W), np.full(B, lam), np.zeros(n)])
    fit = sparse.hstack([sparse.csr_matrix(np.concatenate(arrays.X, axis=1)), sparse.csr_matrix((n, B)), sparse.eye(n)])
    cones = [sparse.csr_matrix(K) for K in arrays.K]
    rows = sum(len(K) for K in arrays.K)
    inside = sparse.hstack([sparse.block_diag(cones), sparse.csr_matrix((rows, B + n))])
    bounds = sparse.lil_matrix((W + B, W + B + n))
    row = 0
    for b, size in enumerate(sizes):
        bounds[row, W + b] = -1.0
        for j in range(size):
            bounds[row + 1 + j, starts[b] + j] = -1.0
        row += 1 + size
    A = sparse.csc_matrix(sparse.vstack([fit, inside, bounds]))
    kinds = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(rows)]
    kinds += [clarabel.SecondOrderConeT(1 + size) for size in sizes]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    found = clarabel.DefaultSolver(
        quadratic, linear, A, np.concatenate([y, np.zeros(rows + W + B)]), kinds, settings
    ).solve()
    w = np.array(found.x[:W])
    if not np.isfinite(w).all():
        return []
    parts = [Neuron(1, b, w[starts[b] : starts[b + 1]]) for b in range(B)]
    largest = max((float(p.w @ p.w) for p in parts), default=0.0)
    return [p for p in parts if p.w @ p.w > 1e-16 * largest]


_STEPS_elastic = 100
_FLOOR = 1e-15  # relative size of the gradient below which floats say nothing more


@dataclass(frozen=True)
class ElasticPoint:
    """r, the kinks of every block's projection there, and x -> H^{-1} x."""

    r: Floats
    kinks: tuple[Kinks, ...]
    newton: Callable[[Floats], Floats]


def solve_elastic(problem: Problem, lam: float) -> ElasticPoint:
    """The residual of the elastic problem (its delta > 0, its blocks written out), as exactly as floats allow.

    delta is lowered step by step from the size of the data, each solution the start of the next.
    """
    with one_thread():
        data, delta = prepare(problem), float(problem.delta)
        match data.arrays:
            case PatternedArrays() as arrays:
                blocks: Blocks = PatternedBlocks(Cones(arrays))
            case BlockArrays() as arrays:
                blocks = DirectBlocks(arrays)
            case _:
                raise ValueError("the elastic variant needs its blocks written out")
        step, small, r = Step(blocks, data.y, lam, delta), _FLOOR * float(np.linalg.norm(data.y)), data.y
        for factor in 10.0 ** np.arange(np.ceil(np.log10(max(blocks.size(), delta) / delta)), -1.0, -1.0):
            wide = replace(step, delta=delta * max(factor, 1.0))
            at, _ = newton(wide, r, lambda _: small, _STEPS_elastic, lambda H, g: _inverse(H)(g))
            r = at.r
        return ElasticPoint(r, blocks.kinks(r), _inverse(hessian(step, at)))


def _inverse(H: Floats) -> Callable[[Floats], Floats]:
    """x -> H^{-1} x for a Hessian: no eigenvalue is below 1, whatever rounding says where delta is small."""
    values, vectors = np.linalg.eigh(H)
    return lambda x: np.asarray(vectors @ ((vectors.T @ x) / np.maximum(values, 1.0)), dtype=np.float64)
