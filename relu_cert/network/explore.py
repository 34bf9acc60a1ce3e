"""Exploring the set of all optimal networks: they fit the training data equally, and differ elsewhere.

With the tied neurons a = 1..k and their dual vectors v_a the optimal networks are

    f(x) = sum_a alpha_a xi_a (v_a.x)_+,   alpha in the polytope {alpha >= 0 : F alpha = g}      (cor:relu-sol-fn)

and f(x) is linear in alpha, so that a squared error on other data is a convex quadratic of alpha. The polytope is the
proved one; the points chosen in it here are floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from relu_cert.bags import EACH, Each
from relu_cert.errors import UsageError
from relu_cert.exact import Matrix, Vector, column, to_vector
from relu_cert.network.optimum import interior_point, nearest_mean
from relu_cert.network.trained import open_gates
from relu_cert.prove.classes import class_map
from relu_cert.prove.facts import Exactly, ExactSet, Facts, UnknownSet
from relu_cert.prove.polytope.walk import weight_system

Floats = NDArray[np.float64]
Extreme = Literal["norm", "random"]


@dataclass(frozen=True)
class OptimalNetworks:
    """All optimal networks in floats: {alpha >= 0 : F alpha = g} on neurons with signs xi, dual vectors v (rows) and,
    for gated ReLU, exact gates (rows). `vertices` are all minimal networks (rows), or None if they are not listed."""

    F: Floats
    g: Floats
    signs: Floats
    v: Floats
    gates: Matrix | None
    vertices: Floats | None
    shortest: Floats | None

    def outputs(self, Z: Matrix, bags: Each = EACH) -> Floats:
        """What each neuron says of each data point: f = outputs(Z) @ alpha. Gates are decided by the exact rows."""
        inputs = np.array([[float(x) for x in row] for row in Z])
        heights = inputs @ self.v.T
        if self.gates is None:
            return bags.pooled_floats(np.maximum(heights, 0.0) * self.signs)
        return np.asarray(np.where(open_gates(inputs, self.gates, lambda k: Z[k]), heights, 0.0))

    def min_norm(self) -> Floats:
        """The network of least |w|^2 = lambda^2 |alpha|^2 (eq:min-norm-program): the proved one if there is one."""
        if self.shortest is not None:
            return self.shortest
        return self._quadratic(np.eye(self.F.shape[1]), np.zeros(self.F.shape[1]))

    def extreme(self, how: Extreme, seed: int = 0) -> Floats:
        """A vertex: of the largest |w|^2 (a convex function is largest at a vertex; all of them are compared), or where
        a random linear functional is largest. (The sum of alpha, which the paper maximises, is the same everywhere.)"""
        from scipy.optimize import linprog

        if how == "norm":
            if self.vertices is None:
                raise UsageError(
                    "the vertices are not listed: they are too many, or not known; choose --extreme random."
                )
            return np.asarray(self.vertices[int(np.argmax((self.vertices**2).sum(axis=1)))])
        cost: Floats = np.random.default_rng(seed).standard_normal((self.F.shape[1],))
        if self.vertices is not None:
            return np.asarray(self.vertices[int(np.argmin(self.vertices @ cost))])
        found = linprog(cost, A_eq=self.F, b_eq=self.g, bounds=[(0, None)] * len(cost))
        if found.x is None:
            raise UsageError("no vertex of the optimal set was found in floats.")
        return np.asarray(found.x)

    def least_error(self, A: Floats, y: Floats) -> Floats:
        """The optimal network of least squared error on other data, with these outputs of the neurons."""
        return self._quadratic(A, y)

    def slack(self, A: Floats, y: Floats, alpha: Floats) -> float | None:
        """How far the mean squared error of alpha can be above the least one: by convexity at most the largest
        grad.(alpha - p) over all vertices p; None if they are not listed."""
        if self.vertices is None:
            return None
        gradient = 2 * A.T @ (A @ alpha - y) / len(y)
        return max(0.0, float(gradient @ alpha - (self.vertices @ gradient).min()))

    def _quadratic(self, A: Floats, b: Floats) -> Floats:
        """The alpha in the polytope for which |A alpha - b| is least: a mean of the vertices, where they are listed."""
        if self.vertices is not None:
            return np.asarray(nearest_mean(self.vertices @ A.T, b) @ self.vertices)
        found = interior_point(self.F, self.g, A, b)
        if found is None:
            raise UsageError("the search over the optimal set ended without a point.")
        return found


def _found(facts: Facts) -> OptimalNetworks:
    """The network that was found, as if it were the only one."""
    neurons, lam = facts.primal.neurons, float(facts.lam)
    W = np.array([[float(x) for x in neuron.w] for neuron in neurons])
    alpha = np.linalg.norm(W, axis=1) / lam
    signs = np.array([float(neuron.sign) for neuron in neurons])
    return OptimalNetworks(np.eye(len(W)), alpha, signs, W / alpha[:, None], None, alpha[None, :], alpha)


def optimal_networks(facts: Facts) -> OptimalNetworks:
    """The set of all optimal networks that the facts prove; where data are too many for that, the network that was
    found; UsageError if there is none."""
    patterned = facts.problem.patterned
    if facts.problem.network is None and facts.problem.model != "gated":
        raise UsageError("a problem that was given directly has no network.")
    if not facts.known and facts.problem.unlisted and facts.primal.neurons:
        return _found(facts)
    if not facts.known:
        if facts.zero:
            raise UsageError("lambda >= lambda_max: the zero network is the only best one, nothing is to be explored.")
        raise UsageError(f"the optimal set is not known: {facts.unsettled}.")
    system = weight_system(facts)
    tied = _neurons(facts)
    neurons = [tied[a] for a in system.names]
    F, g, _ = system.floats()
    found = facts.polytope
    shortest = None if found is None else found.min_norm
    gates = None if patterned is None else tuple(patterned.gate(pattern) or () for _, _, pattern in neurons)
    return OptimalNetworks(
        F,
        g,
        np.array([float(sign) for sign, _, _ in neurons]),
        np.array([[float(x) for x in v] for _, v, _ in neurons]),
        gates,
        None if found is None else np.array([_chosen(point, system.names) for point in found.points]),
        None if shortest is None else np.array(_chosen(shortest.weights, system.names)),
    )


def _chosen(alpha: Vector, names: Sequence[int]) -> list[float]:
    return [float(alpha[a]) for a in names]


def _neurons(facts: Facts) -> list[tuple[int, Vector, str]]:
    """Sign, dual vector and pattern of every tied neuron, at the centre of the ball."""
    known = facts.optimal_set
    if isinstance(known, UnknownSet):
        raise ValueError("the optimal set is known")
    if isinstance(known, Exactly):
        near = [one.v if isinstance(known, ExactSet) else tuple(x.near() for x in one.v) for one in known.tied]
        return [(one.sign, v, one.pattern or "") for one, v in zip(known.tied, near, strict=True)]
    theta = column(facts.dual.theta)
    neurons = []
    for neuron in known.classes:
        one = class_map(facts.problem, neuron)
        v = to_vector(one.v(theta))
        neurons.append((neuron.sign, tuple(Fraction(neuron.sign) * x for x in v), neuron.pattern or ""))
    return neurons
