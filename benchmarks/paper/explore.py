"""Exploring sets of networks with one and the same training fit, in floats.

Blocks with unit directions u_b have the outputs q_b = X_b u_b, and {a >= 0 : sum_b a_b q_b = yhat} are the weights
with the optimal fit. Over the blocks that are tied at the optimum (|v_b| = lambda) it is the optimal set
(prop:sol-fn-cgl); over more blocks than these its other points fit as well but have a larger penalty.

    Min L2   the shortest a
    EP       a vertex. The printed program maximises sum a, which is constant on the optimal set; there the true norm is
             maximised over vertices instead: a moves to the vertex furthest in its own direction until it stays, from
             several random starts, and the longest is kept. Over more blocks the printed objective is used.
    V-MSE    the least squared error on the validation rows, T-MSE on the test rows
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy
import numpy as np
from scipy.optimize import linprog

from benchmarks.paper.data import Bits, Floats, Points
from benchmarks.paper.sampled import Optimum, Prices, Sampled

cp: Any = cvxpy  # typed in parts only
_RANK = 1e-9  # singular values of unit outputs below this are rounding
_SAME = 1e-7  # unit directions this close are one neuron
_STARTS = 8


@dataclass(frozen=True)
class Directions:
    """Some blocks: their unit directions on the features (k x features), signs, gates and training outputs (n x k);
    and whether the network itself is gated."""

    u: Floats
    sign: Floats
    gates: Floats
    Q: Floats
    gated_model: bool = False

    def __len__(self) -> int:
        return len(self.u)

    def network(self, Z: Floats) -> Floats:
        """What the network's neurons say of other rows: xi (Zu)_+, or what its gates make of them."""
        if self.gated_model:
            return self.gated(Z)
        return np.maximum(Z @ self.u.T, 0.0) * self.sign

    def gated(self, Z: Floats) -> Floats:
        """What the sampled gates make of them: xi 1(Zg > 0) Zu (as the convex program with its fixed gates)."""
        return np.where(Z @ self.gates.T > 0.0, Z @ self.u.T, 0.0) * self.sign


@dataclass(frozen=True)
class Set:
    """{a >= 0 : Q a = yhat}, by independent equations A a = b, and one of its points."""

    directions: Directions
    A: Floats
    b: Floats
    start: Floats

    @property
    def dimension(self) -> int:
        """Of the affine hull of {a : Q a = yhat}; 0 where there is one point."""
        return int(self.A.shape[1] - self.A.shape[0])


def tied_blocks(prices: Prices, lam: float, margin: float = 1e-8) -> Bits:
    """Blocks with |v_b| = lambda, as far as floats can tell."""
    return prices.norm > lam * (1.0 - margin)


def directions(program: Sampled, optimum: Optimum, gates: Floats, which: Bits) -> Directions:
    """The chosen blocks in the directions v_b."""
    b = np.flatnonzero(which)
    v = optimum.prices.v[b] / optimum.prices.norm[b][:, None]
    xi, pattern = program.sign(b).astype(np.float64), program.pattern(b)
    Q = np.where(program.D[pattern], v @ program.Z.T, 0.0).T * xi
    return Directions(v @ program.basis.T, xi, gates[pattern], Q, program.gated)


def neuron_groups(blocks: Directions) -> list[list[int]]:
    """The blocks that have one neuron, together: a neuron on the border of two cones belongs to both. Gated
    neurons have their gates, and every block is one."""
    if blocks.gated_model:
        return [[i] for i in range(len(blocks))]
    named = np.column_stack([blocks.sign, blocks.u])
    left, groups = np.arange(len(named)), []
    while len(left):
        same = np.abs(named[left] - named[left[0]]).max(axis=1) <= _SAME
        groups.append(left[same].tolist())
        left = left[~same]
    return groups


def fitting(blocks: Directions, fit: Floats, start: Floats) -> Set:
    """The set of weights with this fit."""
    size = np.linalg.norm(blocks.Q, axis=0)
    U, s, _ = np.linalg.svd(blocks.Q / size, full_matrices=False)
    basis = U[:, s > _RANK * s[0]]
    return Set(blocks, basis.T @ blocks.Q, basis.T @ fit, start)


def shortest_point(given: Set) -> Floats:
    """Min L2."""
    return _minimise(given, cp.sum_squares)


def least_error(given: Set, points: Points) -> Floats:
    """The point of least squared error on other rows, for the networks' own predictions."""
    H = given.directions.network(points.Z)
    return _minimise(given, lambda a: cp.sum_squares(H @ a - points.y) / len(points))


def _minimise(given: Set, objective: Callable[[Any], Any]) -> Floats:
    if not given.dimension:
        return given.start
    scale = float(given.start.max()) or 1.0
    a = cp.Variable(len(given.start), nonneg=True)
    program = cp.Problem(cp.Minimize(objective(scale * a)), [given.A @ a == given.b / scale])
    try:
        program.solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return given.start
    return given.start if a.value is None else scale * np.maximum(np.asarray(a.value, dtype=np.float64), 0.0)


def furthest(given: Set, slope: Floats) -> Floats:
    """A vertex that maximises a linear function."""
    scale = float(given.start.max()) or 1.0
    found = linprog(-slope, A_eq=given.A, b_eq=given.b / scale, method="highs-ds")
    return given.start if found.x is None else scale * np.asarray(found.x, dtype=np.float64)


def long_vertex(given: Set, seed: int) -> Floats:
    """EP on the optimal set: a vertex that no vertex exceeds in its own direction, the longest of some."""
    if not given.dimension:
        return given.start
    rng = np.random.default_rng(seed)
    best = given.start
    for k in range(_STARTS):
        a = furthest(given, rng.standard_normal(len(given.start)))
        for _ in range(20):
            further = furthest(given, a / np.linalg.norm(a))
            if further @ further <= (1.0 + 1e-9) * (a @ a):
                break
            a = further
        best = a if k == 0 or a @ a > best @ best else best
    return best


def heaviest(given: Set) -> Floats:
    """The printed program of EP: the largest sum of weights."""
    return furthest(given, np.ones(len(given.start))) if given.dimension else given.start


def accuracy(scores: Floats, y: Floats) -> float:
    """The share of rows whose score has the sign of the target."""
    return float((np.sign(scores) == y).mean())
