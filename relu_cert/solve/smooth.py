"""Newton's method in the residual, for programs whose dual is smooth: the elastic variant, and proximal steps.

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
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.linalg.blas import dsyrk

from relu_cert.clock import require_time
from relu_cert.solve.blocks import Priced, projected
from relu_cert.solve.cones import Cones, Projected
from relu_cert.solve.prepare import Bits, BlockArrays, Floats, Numbers

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
        found = {b: projected(parts[b], self.arrays.K[b], enough) for b in near}
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
        return tuple(projected(X.T @ r, K, 0.0).kinks for X, K in pairs)

    def size(self) -> float:
        return max((float((X * X).sum()) for X in self.arrays.X), default=0.0)
