"""The elastic variant in float64: Newton's method on the dual, a strongly convex function of the residual alone.

    minimise over r   f(r) = 1/2|r|^2 - y.r + 1/(2 delta) sum_b (|v_b| - lambda)_+^2,    v_b = Proj_{C_b}(X_b'r)

(lemma:l2-reformulation, with the part of the dual that belongs to sqrt(delta) I solved for). f is once differentiable,
its gradient is r - y + sum_b X_b w_b with w_b = (1 - lambda/|v_b|)_+ v_b / delta: where it vanishes, w is the solution.
On a face v_b = P X_b'r, and the Hessian is

    H = I + sum_b X_b J_b X_b',    J_b = ((1 - lambda/|v_b|) P + lambda v_b v_b' / |v_b|^3) / delta.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from relu_cert.problem.problem import Problem
from relu_cert.solve.cones import Cones
from relu_cert.solve.prepare import BlockArrays, PatternedArrays, prepare
from relu_cert.solve.shortest import shortest
from relu_cert.solve.solution import Floats
from relu_cert.solve.threads import one_thread

Kinks = tuple[int, ...]

_STEPS = 100
_FLOOR = 1e-15  # relative size of the gradient below which floats say nothing more


@dataclass(frozen=True)
class ElasticPoint:
    """r, the kinks of every block's projection there, and x -> H^{-1} x."""

    r: Floats
    kinks: tuple[Kinks, ...]
    newton: Callable[[Floats], Floats]


def solve_elastic(problem: Problem, lam: float, start: Floats | None = None) -> ElasticPoint:
    """The residual of the elastic problem (its delta > 0, its blocks written out), as exactly as floats allow.

    delta is lowered step by step from the size of the data, each solution the start of the next.
    """
    with one_thread():
        blocks = _blocks_of(problem)
        delta = float(problem.delta)
        r = blocks.y.copy() if start is None else start
        size = max(float(np.abs(blocks.scale()).max(initial=0.0)), delta)
        for factor in 10.0 ** np.arange(np.ceil(np.log10(size / delta)), -1.0, -1.0):
            r = _minimise(blocks, lam, delta * max(factor, 1.0), r)
        at = _evaluate(blocks, lam, delta, r)
        return ElasticPoint(r, at.kinks(), _inverse(at.H()))


class _Blocks(Protocol):
    """All blocks of a problem."""

    @property
    def y(self) -> Floats: ...
    def scale(self) -> Floats:
        """|X_b|^2 of every block, or a bound."""

    def project(self, r: Floats) -> tuple[list[Floats], list[NDArray[np.intp]]]:
        """v_b and its kinks, for all blocks."""

    def block(self, b: int) -> tuple[Floats, Floats]:
        """X_b, and the rows of K_b'."""


@dataclass(frozen=True)
class _Direct:
    """Blocks of their own."""

    y: Floats
    arrays: BlockArrays

    def scale(self) -> Floats:
        return np.array([float((X * X).sum()) for X in self.arrays.X])

    def project(self, r: Floats) -> tuple[list[Floats], list[NDArray[np.intp]]]:
        found: list[Floats] = []
        kinks: list[NDArray[np.intp]] = []
        for X, K in zip(self.arrays.X, self.arrays.K, strict=True):
            c = X.T @ r
            if not len(K):
                found.append(c)
                kinks.append(np.zeros(0, dtype=np.intp))
                continue
            best = shortest(c[None], K, np.full((1, len(K)), -1.0), np.full((1, len(K)), np.inf))
            found.append(best.v[0])
            kinks.append(best.kinks[0][best.kinks[0] >= 0])
        return found, kinks

    def block(self, b: int) -> tuple[Floats, Floats]:
        return self.arrays.X[b], self.arrays.K[b]


@dataclass(frozen=True)
class _Network(_Direct):
    """ReLU blocks: all cones have the rows of Z, up to their signs, and all projections are done at once."""

    cones: Cones

    def project(self, r: Floats) -> tuple[list[Floats], list[NDArray[np.intp]]]:
        found = self.cones.project(np.arange(len(self.cones.arrays)), self.cones.correlations(r), 0.0)
        return list(found.v), [row[row >= 0] for row in found.kinks]


def _blocks_of(problem: Problem) -> _Blocks:
    data = prepare(problem)
    match data.arrays:
        case PatternedArrays() as arrays:
            return _Network(data.y, arrays.written_out(), Cones(arrays))
        case BlockArrays() as arrays:
            return _Direct(data.y, arrays)
        case _:
            raise ValueError("the elastic variant needs its blocks written out")


@dataclass(frozen=True)
class _At:
    """f, its gradient, and what its Hessian is made of, at r."""

    blocks: _Blocks
    lam: float
    delta: float
    value: float
    gradient: Floats
    v: list[Floats]
    rests: list[NDArray[np.intp]]

    def H(self) -> Floats:
        """The Hessian (a generalised one where faces meet)."""
        n = len(self.gradient)
        H = np.eye(n)
        for b, v in enumerate(self.v):
            length = float(np.sqrt(v @ v))
            if length <= self.lam:
                continue
            X, K = self.blocks.block(b)
            G = K[self.rests[b]]
            XP = X - (X @ np.linalg.pinv(G)) @ G if len(G) else X
            Xv = X @ v
            H += ((1.0 - self.lam / length) * (XP @ XP.T) + self.lam / length**3 * np.outer(Xv, Xv)) / self.delta
        return H

    def kinks(self) -> tuple[Kinks, ...]:
        """The kinks of every block."""
        return tuple(tuple(int(k) for k in rest) for rest in self.rests)


def _inverse(H: Floats) -> Callable[[Floats], Floats]:
    """x -> H^{-1} x for a Hessian: no eigenvalue is below 1, whatever rounding says where delta is small."""
    values, vectors = np.linalg.eigh(H)
    return lambda x: np.asarray(vectors @ ((vectors.T @ x) / np.maximum(values, 1.0)), dtype=np.float64)


def _evaluate(blocks: _Blocks, lam: float, delta: float, r: Floats) -> _At:
    v, rests = blocks.project(r)
    value = 0.5 * float(r @ r) - float(blocks.y @ r)
    gradient = r - blocks.y
    for b, v_b in enumerate(v):
        length = float(np.sqrt(v_b @ v_b))
        if length > lam:
            value += (length - lam) ** 2 / (2.0 * delta)
            gradient = gradient + blocks.block(b)[0] @ v_b * ((1.0 - lam / length) / delta)
    return _At(blocks, lam, delta, value, gradient, v, rests)


def _minimise(blocks: _Blocks, lam: float, delta: float, r: Floats) -> Floats:
    """Newton steps with halving, until the gradient is rounding or nothing improves."""
    at = _evaluate(blocks, lam, delta, r)
    small = _FLOOR * float(np.linalg.norm(blocks.y))
    for _ in range(_STEPS):
        if np.linalg.norm(at.gradient) <= small:
            break
        step = -_inverse(at.H())(at.gradient)
        slope = float(at.gradient @ step)
        length = 1.0
        while True:
            tried = _evaluate(blocks, lam, delta, r + length * step)
            better = np.linalg.norm(tried.gradient) < 0.9 * np.linalg.norm(at.gradient)
            if tried.value <= at.value + 1e-4 * length * slope or better or length < 1e-8:
                break
            length /= 2.0
        if length < 1e-8 or not (better or tried.value < at.value):
            break
        r, at = r + length * step, tried
    return r
