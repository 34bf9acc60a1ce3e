"""The convex program over sampled patterns: min 1/2|sum_b X_b w_b - y|^2 + lambda sum_b |w_b|, w_b in C_b.

Blocks are (D_i, xi): X_b = xi D_i Z and C_b = {u : (2 D_i - I) Z u >= 0} for ReLU networks; for gated ones X_b = D_i Z
without a cone. The package's solver takes them all.

Every optimal w_b is a multiple of v_b = Proj_{C_b}(X_b'r), which lies in the span of the rows of Z. Where there are
fewer rows than features, everything happens in orthonormal coordinates of that span.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper.data import Bits, Floats, Points
from relu_cert.solve import FloatProblem, Neuron, Solution, solve
from relu_cert.solve.cones import Cones
from relu_cert.solve.prepare import NetworkArrays, PatternedArrays

Signs = NDArray[np.int_]


@dataclass(frozen=True)
class Sampled:
    """The program: Z (n x d) in coordinates of its row space, y, the patterns (k x n), lambda, and whether it is gated.

    Block b is the pattern b // 2 with xi = 1 for even b and -1 for odd b (ReLU), or the pattern b (gated). `basis`
    (features x d) leads back: the weight of a block on the features is basis @ w.
    """

    Z: Floats
    y: Floats
    D: Bits
    lam: float
    gated: bool
    basis: Floats

    @property
    def blocks(self) -> int:
        """How many there are."""
        return len(self.D) * (1 if self.gated else 2)

    def pattern(self, b: NDArray[np.intp]) -> NDArray[np.intp]:
        """The blocks' patterns."""
        return b if self.gated else b // 2

    def sign(self, b: NDArray[np.intp]) -> Signs:
        """xi of the blocks."""
        return np.ones(len(b), dtype=np.int_) if self.gated else 1 - 2 * (b % 2)


@dataclass(frozen=True)
class Prices:
    """v_b = Proj_{C_b}(X_b'theta) of every block, and |v_b|."""

    v: Floats
    norm: Floats


@dataclass(frozen=True)
class Optimum:
    """The solver's answer and all prices at its dual point."""

    solution: Solution
    prices: Prices


def sampled_program(points: Points, D: Bits, lam: float, *, gated: bool = False) -> Sampled:
    """The program of these points and patterns."""
    n, d = points.Z.shape
    if d <= n:
        return Sampled(points.Z, points.y, D, lam, gated, np.eye(d))
    _, s, rows = np.linalg.svd(points.Z, full_matrices=False)
    basis = rows[s > 1e-12 * s[0]].T
    return Sampled(points.Z @ basis, points.y, D, lam, gated, basis)


def prices(program: Sampled, theta: Floats) -> Prices:
    """All blocks at theta."""
    if program.gated:
        v = (program.D * theta) @ program.Z
        return Prices(v, np.linalg.norm(v, axis=1))
    cones = Cones(PatternedArrays(program.Z, program.D))
    found = cones.project(np.arange(program.blocks), cones.correlations(theta), 0.0)
    return Prices(found.v, found.norm)


def optimum(program: Sampled, tol: float = 1e-12) -> Optimum:
    """The optimal weights to a relative gap of `tol`, if floats allow it."""
    arrays = (
        NetworkArrays(program.Z, np.packbits(program.D, axis=1), gated=True)
        if program.gated
        else PatternedArrays(program.Z, program.D)
    )
    found = solve(FloatProblem(program.y, arrays), program.lam, tol=tol)
    return Optimum(found, prices(program, found.theta))


def output(program: Sampled, neuron: Neuron) -> Floats:
    """X_b w_b"""
    b = np.array([neuron.block])
    shares: Floats = program.sign(b)[0] * np.where(program.D[program.pattern(b)[0]], program.Z @ neuron.w, 0.0)
    return shares
