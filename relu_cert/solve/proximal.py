"""A start for programs over many cones: the proximal-point method, each step by Newton's method in the residual.

    w+ = argmin  P(w) + delta/2 sum_b |w_b - w'_b|^2,    from w', for smaller and smaller delta        (`smooth`)

No face has to be followed, so that nothing runs in circles, and every w+ is feasible.

Newton's method in the residual, for programs whose dual is smooth: the elastic variant, and proximal steps.

    w+ = argmin  P(w) + delta/2 sum_b |w_b - w'_b|^2

(w' = 0: lemma:l2-reformulation, with the part of the dual that belongs to sqrt(delta) I solved for) is the dual of the
minimum over r of the strongly convex, once differentiable function

    f(r) = 1/2|r|^2 - y.r + 1/(2 delta) sum_b (|p_b| - lambda)_+^2,    p_b = Proj_{C_b}(X_b'r + delta w'_b),

with w+_b = (1 - lambda/|p_b|)_+ p_b / delta, and its gradient is r - y + sum_b X_b w+_b. On a face
p_b = P (X_b'r + delta w'_b), and the Hessian is I + sum_b X_b J_b X_b' with
J_b = ((1 - lambda/|p_b|) P + lambda p_b p_b' / |p_b|^3) / delta.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import clarabel
import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from relu_cert.clock import require_time
from relu_cert.problem.problem import Problem
from relu_cert.solve.cones import Cones, Projected
from relu_cert.solve.oracle import Priced, project_on_block
from relu_cert.solve.prepare import Bits, BlockArrays, Floats, Neuron, Numbers, PatternedArrays, one_thread, prepare

Kinks = tuple[int, ...]
Solve = Callable[[Floats, Floats], Floats]  # H^{-1} g, of the lower triangle of H


class Blocks(Protocol):
    """All blocks of a problem with their cones."""

    def active(self, r: Floats, enough: float, shift: Floats | float) -> Any:
        """The blocks with |p_b| > enough, p_b = Proj_{C_b}(X_b'r + shift_b): `norm` are these."""

    def fit(self, active: Any, weights: Floats) -> Floats:
        """sum_b weight_b X_b p_b"""

    def curved(self, active: Any, flat: Floats, along: Floats) -> Floats:
        """sum_b X_b (flat_b P_b + along_b p_b p_b') X_b', its lower triangle."""

    def kinks(self, r: Floats) -> tuple[Kinks, ...]:
        """The kinks of the projection of X_b'r, for all blocks."""

    def size(self) -> float:
        """The largest |X_b|^2."""


@dataclass(frozen=True)
class Step:
    """The function f; `centre` is w', a row for each block, or 0."""

    blocks: Blocks
    y: Floats
    lam: float
    delta: float
    centre: Floats | float = 0.0


@dataclass(frozen=True)
class At:
    """f and its gradient at r; the blocks with |p_b| > lambda, and w+_b = weight_b p_b of these."""

    r: Floats
    value: float
    gradient: Floats
    active: Any
    weights: Floats


def newton(step: Step, r: Floats, small: Callable[[At], float], steps: int, solve: Solve) -> tuple[At, bool]:
    """Newton steps with halving until the gradient is small, which is said, or nothing is gained any more."""
    at = _evaluate(step, r)
    for _ in range(steps):
        require_time()
        size = float(np.linalg.norm(at.gradient))
        if size <= small(at):
            return at, True
        try:
            way = -solve(hessian(step, at), at.gradient)
        except np.linalg.LinAlgError:
            return at, False
        slope, length = float(at.gradient @ way), 1.0
        blind = -slope <= 1e-11 * abs(at.value)  # what f would tell is rounding
        while length > (1e-3 if blind else 1e-7):
            tried = _evaluate(step, at.r + length * way)
            halved = blind and np.linalg.norm(tried.gradient) < 0.5 * size
            if halved or tried.value <= at.value + 1e-4 * length * slope:
                break
            length *= 0.5
        else:
            return at, False
        if tried.value >= at.value and np.linalg.norm(tried.gradient) >= 0.9 * size:
            return at, False
        at = tried
    return at, False


def hessian(step: Step, at: At) -> Floats:
    """The lower triangle of the Hessian (a generalised one where faces meet)."""
    H = step.blocks.curved(at.active, at.weights, step.lam / (step.delta * at.active.norm**3))
    H[np.diag_indices(len(H))] += 1.0
    return H


def _evaluate(step: Step, r: Floats) -> At:
    active = step.blocks.active(r, step.lam, step.delta * step.centre)
    weights = (1.0 - step.lam / active.norm) / step.delta
    value = 0.5 * float(r @ r) - float(step.y @ r) + float(((active.norm - step.lam) ** 2).sum()) / (2.0 * step.delta)
    return At(r, value, r - step.y + step.blocks.fit(active, weights), active, weights)


@dataclass(frozen=True)
class PatternedBlocks:
    """ReLU blocks: all cones have the rows of Z, up to their signs, and all projections are done at once."""

    cones: Cones

    def active(self, r: Floats, enough: float, shift: Floats | float) -> Projected:
        c = self.cones.correlations(r) + shift
        found = self.cones.project(np.arange(len(c)), c, enough)
        return found.some(np.flatnonzero(found.norm > enough))

    def fit(self, active: Projected, weights: Floats) -> Floats:
        arrays = self.cones.arrays
        on, xi = arrays.on[arrays.pattern(active.blocks)], arrays.xi(active.blocks)
        w = weights[:, None] * active.v
        return np.asarray(xi @ np.where(on, w @ arrays.Z.T, 0.0), dtype=np.float64)

    def curved(self, active: Projected, flat: Floats, along: Floats) -> Floats:
        """P = N'N, N an orthonormal basis of the face; but where there are few kinks P = I - Q'Q, Q a basis of their
        span, and X_b X_b' = D_b Z Z' D_b is Z Z' on the rows that are on."""
        arrays = self.cones.arrays
        Z, n = arrays.Z, len(arrays.Z)
        if not len(active.blocks):
            return np.zeros((n, n))
        on = arrays.on[arrays.pattern(active.blocks)]
        basis, span = self.cones.bases(active)
        few, first = 2 * span < Z.shape[1], np.arange(Z.shape[1]) < span[:, None]
        outputs = np.where(on, active.v @ Z.T, 0.0) * np.sqrt(along)[:, None]

        def outer(where: Bits) -> Floats:
            """sqrt(flat_b) D_b Z q for the rows q of these bases."""
            block, row = np.nonzero(where)
            shares: Floats = np.where(on[block], basis[block, row] @ Z.T, 0.0) * np.sqrt(flat[block])[:, None]
            return shares

        H: Floats = dsyrk(1.0, np.concatenate([outputs, outer(~few[:, None] & ~first)]), trans=1, lower=1)
        if few.any():
            D = on[few].astype(np.float64)
            H += (Z @ Z.T) * ((flat[few][:, None] * D).T @ D)
            if len(minus := outer(few[:, None] & first)):
                H -= dsyrk(1.0, minus, trans=1, lower=1)
        return H

    def kinks(self, r: Floats) -> tuple[Kinks, ...]:
        c = self.cones.correlations(r)
        return tuple(tuple(row[row >= 0].tolist()) for row in self.cones.project(np.arange(len(c)), c, 0.0).kinks)

    def size(self) -> float:
        arrays = self.cones.arrays
        return float((arrays.on @ (arrays.Z * arrays.Z).sum(axis=1)).max(initial=0.0))


@dataclass(frozen=True)
class _Several:
    """Some blocks of their own: their numbers, projections and norms."""

    blocks: list[int]
    found: list[Priced]
    norm: Floats


@dataclass(frozen=True)
class DirectBlocks:
    """Blocks of their own, one by one, all with w' = 0."""

    arrays: BlockArrays

    def active(self, r: Floats, enough: float, shift: Floats | float) -> _Several:
        c, starts = self._beside.T @ r + shift, self._starts
        near = np.flatnonzero(np.add.reduceat(c * c, starts) > enough * enough).tolist()
        parts = np.split(c, starts[1:])
        found = {b: project_on_block(parts[b], self.arrays.K[b], enough) for b in near}
        kept = [b for b in near if found[b].norm > enough]
        return _Several(kept, [found[b] for b in kept], np.array([found[b].norm for b in kept]))

    @cached_property
    def _beside(self) -> Floats:
        """All blocks side by side."""
        return np.concatenate(self.arrays.X, axis=1)

    @cached_property
    def _starts(self) -> Numbers:
        """Their first columns."""
        return np.cumsum([0, *(X.shape[1] for X in self.arrays.X[:-1])])

    def fit(self, active: _Several, weights: Floats) -> Floats:
        total: Floats = np.zeros(len(self.arrays.X[0]))
        for b, one, weight in zip(active.blocks, active.found, weights, strict=True):
            total += weight * (self.arrays.X[b] @ one.v)
        return total

    def curved(self, active: _Several, flat: Floats, along: Floats) -> Floats:
        n = len(self.arrays.X[0])
        H = np.zeros((n, n))
        for b, one, s, t in zip(active.blocks, active.found, flat, along, strict=True):
            X, G = self.arrays.X[b], self.arrays.K[b][list(one.kinks)]
            XP, Xv = X - (X @ np.linalg.pinv(G)) @ G if len(G) else X, X @ one.v
            H += s * (XP @ XP.T) + t * np.outer(Xv, Xv)
        return H

    def kinks(self, r: Floats) -> tuple[Kinks, ...]:
        pairs = zip(self.arrays.X, self.arrays.K, strict=True)
        return tuple(project_on_block(X.T @ r, K, 0.0).kinks for X, K in pairs)

    def size(self) -> float:
        return max((float((X * X).sum()) for X in self.arrays.X), default=0.0)


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

    at, reached = newton(step, r, small, _NEWTON, _solve_step)
    return at if reached else None


def _solve_step(H: Floats, g: Floats) -> Floats:
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
