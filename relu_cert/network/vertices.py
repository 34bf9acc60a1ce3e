"""A set of optimal weights that is known by its vertices: nearest points, exact points, linear bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import Matrix, Vector, dot, nearest_solution
from relu_cert.prove.polytope.walk import System

Floats = NDArray[np.float64]
_ZERO = Fraction(0)
GRID = 2**64
SMALL = Fraction(1, 2**40)


@dataclass(frozen=True)
class VertexPoint:
    """Weights of an optimal network: alpha, each entry within its one of `errors` of the true ones.

    As a certificate has them: `weights`, given by themselves, or `hull`, the mean of the vertices that they are.
    """

    alpha: Vector
    errors: Vector
    weights: Vector = ()
    hull: Vector = ()


class OptimalWeights(Protocol):
    """A set of optimal weights, one for each neuron that can be active."""

    def middle(self) -> Floats:
        """Weights inside."""

    def nearest(self, target: Floats) -> Floats:
        """The weights nearest to the target."""

    def point(self, alpha: Floats, target: Vector) -> VertexPoint | None:
        """Weights near alpha that are proved, as near to the target as can be; None if none are found."""

    def largest(self, a: int) -> Fraction:
        """A bound of alpha_a."""

    def least(self, slope: Sequence[Fraction]) -> tuple[Vector, Fraction]:
        """A lower bound of slope.alpha, and the multipliers mu that prove it (none: the vertices do)."""


@dataclass(frozen=True)
class Vertices:
    """All vertices, with the errors of their entries; `system` are the equations, where they are exact."""

    points: Matrix
    errors: Vector
    system: System | None
    size: int

    def middle(self) -> Floats:
        """The middle of the vertices."""
        return np.asarray(self._rows().mean(axis=0))

    def nearest(self, target: Floats) -> Floats:
        """The nearest mean of the vertices."""
        rows = self._rows()
        return np.asarray(nearest_mean(rows, target) @ rows)

    def point(self, alpha: Floats, target: Vector) -> VertexPoint:
        """The exact minimiser where the set is exact and its support is right, else a mean of the vertices."""
        mean = _on_grid(nearest_mean(self._rows(), np.array([float(x) for x in target], dtype=np.float64)))
        exact = tuple(
            sum((t * p[a] for t, p in zip(mean, self.points, strict=True) if t), _ZERO) for a in range(self.size)
        )
        if self.system is None and self.size:
            return VertexPoint(exact, (dot(mean, self.errors),) * self.size, hull=mean)
        better = (None if self.system is None else _polished(self.system, target, exact)) or exact
        return VertexPoint(better, (_ZERO,) * self.size, weights=better)

    def largest(self, a: int) -> Fraction:
        """The largest entry of a vertex that is not exactly 0."""
        return max((p[a] + e for p, e in zip(self.points, self.errors, strict=True) if p[a]), default=_ZERO)

    def least(self, slope: Sequence[Fraction]) -> tuple[Vector, Fraction]:
        """A linear function is least at a vertex."""
        ends = [
            sum((b * x - e * abs(b) for b, x in zip(slope, p, strict=True) if x), _ZERO)
            for p, e in zip(self.points, self.errors, strict=True)
        ]
        return (), min(ends)

    def _rows(self) -> Floats:
        rows = [[float(x) for x in p] for p in self.points]
        return np.array(rows, dtype=np.float64).reshape(len(rows), self.size)


def nearest_mean(points: Floats, target: Floats) -> Floats:
    """The weights t >= 0 of sum 1 for which the mean sum t_p p of points (rows) is nearest to the target.

    u >= 0 that minimises |sum u_p (p - target)|^2 + (sum u - 1)^2, divided by its sum: for u = s t with sum t = 1 this
    is s^2 |mean - target|^2 + (s - 1)^2.
    """
    if len(points) == 1:
        return np.ones(1)
    from scipy.optimize import nnls

    off = (points - target[None, :]).T
    size = max(float(np.abs(off).max(initial=0.0)), 1e-300)
    u = nnls(np.vstack([off / size, np.ones(len(points))]), np.r_[np.zeros(len(target)), 1.0])[0]
    return np.asarray(u / u.sum())


def interior_point(F: Floats, g: Floats, A: Floats, b: Floats) -> Floats | None:
    """The alpha >= 0 with F alpha = g for which |A alpha - b| is least, without vertices; None if none is found."""
    cp: Any = import_module("cvxpy")
    alpha = cp.Variable(F.shape[1], nonneg=True)
    size = max(float(np.abs(A).max(initial=0.0)), float(np.abs(b).max(initial=0.0)), 1e-300)
    program = cp.Problem(cp.Minimize(cp.sum_squares((A @ alpha - b) / size)), [F @ alpha == g])
    try:
        program.solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return None
    return None if alpha.value is None else np.asarray(np.maximum(alpha.value, 0.0), dtype=np.float64)


def _on_grid(mean: Floats) -> Vector:
    """Rational weights of sum exactly 1 near to these; the smallest are dropped."""
    rounded = [Fraction(round(float(t) * GRID), GRID) for t in mean]
    total = sum(rounded, _ZERO)
    return tuple(t / total for t in rounded)


def _polished(system: System, target: Vector, alpha: Vector) -> Vector | None:
    """The point of {F alpha = g} nearest to the target on the support of alpha. None if that leaves the polytope."""
    support = [a for a, x in enumerate(alpha) if x > SMALL * max(alpha)]
    chosen = system.on([system.names.index(a) for a in support])
    found = nearest_solution(chosen, system.g, [target[a] for a in support])
    if found is None or any(x < 0 for x in found):
        return None
    exact = dict(zip(support, found, strict=True))
    return tuple(exact.get(a, _ZERO) for a in range(len(alpha)))
