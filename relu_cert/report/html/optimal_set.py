"""The set of all optimal networks as floats, for pictures.

With the tied neurons a = 1..k, their dual vectors v_a and outputs q_a, the optimal set is a polytope {alpha >= 0 :
F alpha = g}. The convex solution has |w_a| = lambda alpha_a, and the network first-layer weights of length sqrt(|w_a|).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from flint import fmpq_mat
from scipy.optimize import linprog

from relu_cert.exact import dot
from relu_cert.prove.algebraic.model import AlgebraicSet
from relu_cert.prove.classes import class_map, column
from relu_cert.prove.exact_optimum import tied_neurons
from relu_cert.prove.facts import ExactNeuron, Facts, NeuronClass, OptimalSet
from relu_cert.prove.split import split_map
from relu_cert.rationals import to_fraction
from relu_cert.report.html.neurons import heaviest_first
from relu_cert.report.html.view import Floats, drawable

MOST_NEURONS = 60
ZERO = 1e-7  # below this share of the largest size a neuron is drawn as absent
PARALLEL = 1 - 1e-9  # the cosine of directions that are one


@dataclass(frozen=True)
class Polytope:
    """{x >= 0 : F x = g}, x_a = |w_a| the size of neuron a, with the range of every coordinate.

    `names` are the neurons' names, `signs` their signs, `directions` their dual vectors (rows; empty for blocks of
    different sizes).
    """

    F: Floats
    g: Floats
    low: Floats
    high: Floats
    dimension: int
    names: tuple[str, ...]
    signs: tuple[str, ...]
    directions: tuple[tuple[float, ...], ...]

    @property
    def reach(self) -> float:
        """The largest size of any neuron."""
        return float(self.high.max()) or 1.0

    def vertices(self) -> Floats:
        """All vertices of a polytope of dimension 1 or 2, one row each, in order around it."""
        k = self.F.shape[1]
        found: list[Floats] = []
        for zeros in combinations(range(k), self.dimension):
            rows = np.vstack([self.F, np.eye(k)[list(zeros)]])
            x, _, rank, _ = np.linalg.lstsq(rows, np.r_[self.g, np.zeros(len(zeros))], rcond=1e-9)
            solves = np.allclose(self.F @ x, self.g, atol=1e-6 * (1 + abs(self.g).max()))
            if rank < k or (x < -ZERO * self.reach).any() or not solves:
                continue
            if not any(np.abs(x - other).max() < 1e-6 * self.reach for other in found):
                found.append(np.maximum(x, 0.0))
        corners = np.array(found).reshape(-1, k)
        if self.dimension < 2 or len(corners) < 3:
            return corners
        centred = corners - corners.mean(axis=0)
        axes = np.linalg.svd(centred)[2][:2]
        turned = centred @ axes.T
        order: Floats = corners[np.argsort(np.arctan2(turned[:, 1], turned[:, 0]))]
        return order


@dataclass(frozen=True)
class _Equations:
    """The rows F and g before they are scaled, with what is known of the neurons."""

    F: Floats
    g: Floats
    signs: tuple[str, ...]
    blocks: tuple[int | None, ...]
    directions: tuple[tuple[float, ...], ...]


def polytope(facts: Facts) -> Polytope | None:
    """The optimal set of all neurons that can be active; None where it is not known, or cannot be drawn."""
    try:
        found = _equations(facts)
    except OverflowError:
        return None
    if found is None or not 1 <= len(found.signs) <= MOST_NEURONS:
        return None
    scale = np.maximum(np.abs(found.F).max(axis=1), np.abs(found.g)) if len(found.F) else np.ones(0)
    some = scale > 0
    F, g = found.F[some] / scale[some, None], found.g[some] / scale[some]
    ranges = [_range(F, g, a) for a in range(F.shape[1])]
    if any(one is None for one in ranges):
        return None
    low, high = np.array(ranges, dtype=np.float64).T
    here = np.flatnonzero(high > ZERO * (high.max() or 1.0))
    if not len(here):
        return None
    dimension = len(here) - int(np.linalg.matrix_rank(F[:, here], tol=1e-8))
    names = _names(facts, found, here.tolist())
    return Polytope(
        F[:, here],
        g,
        np.maximum(low[here], 0.0),
        high[here],
        dimension,
        names,
        tuple(found.signs[a] for a in here),
        tuple(found.directions[a] for a in here) if found.directions else (),
    )


def _names(facts: Facts, found: _Equations, here: Sequence[int]) -> tuple[str, ...]:
    """The numbers that the page gives the neurons of its network; those that it does not use are counted on."""
    if not found.directions:
        return tuple(str(n + 1) if found.blocks[a] is None else f"b{found.blocks[a]}" for n, a in enumerate(here))
    listed = [(_sign(facts, one), _unit([drawable(x) for x in one.w])) for one in heaviest_first(facts)]
    names, following = [], len(listed)
    for a in here:
        u = _unit(found.directions[a])
        same = [i for i, (sign, w) in enumerate(listed) if sign == found.signs[a] and float(w @ u) > PARALLEL]
        if same:
            names.append(str(same[0] + 1))
        else:
            following += 1
            names.append(str(following))
    return tuple(names)


def _unit(v: Sequence[float]) -> Floats:
    u = np.array(v, dtype=np.float64)
    return u / (float(np.linalg.norm(u)) or 1.0)


def _range(F: Floats, g: Floats, a: int) -> tuple[float, float] | None:
    """The least and the largest x_a."""
    c = np.zeros(F.shape[1])
    c[a] = 1.0
    least, largest = (linprog(sign * c, A_eq=F, b_eq=g, bounds=(0, None)) for sign in (1.0, -1.0))
    if least.status != 0 or largest.status != 0 or least.x is None or largest.x is None:
        return None
    return float(least.x[a]), float(largest.x[a])


def _equations(facts: Facts) -> _Equations | None:
    if facts.exact_set is not None:
        return _exact_equations(facts)
    if facts.algebraic is not None:
        return _algebraic_equations(facts, facts.algebraic)
    return None if facts.optimal_set is None else _enclosed_equations(facts, facts.optimal_set)


def _exact_equations(facts: Facts) -> _Equations:
    """sum alpha_a q_a = y - r*, in the sizes lambda alpha."""
    tied = tied_neurons(facts.problem, facts.dual, facts.lam)
    F = np.array([[drawable(x) for x in one.q] for one in tied]).T
    g = np.array([drawable((y - t) * facts.lam) for y, t in zip(facts.problem.y, facts.dual.theta, strict=True)])
    network = facts.problem.kind != "cgl"
    return _Equations(
        F.reshape(facts.problem.n, len(tied)),
        g,
        tuple(_sign(facts, one.neuron) for one in tied),
        tuple(_block(facts, one.neuron) for one in tied),
        tuple(tuple(drawable(x) for x in one.v) for one in tied) if network else (),
    )


def _algebraic_equations(facts: Facts, found: AlgebraicSet) -> _Equations:
    """The same where r* is irrational."""
    F = np.array([[float(x) for x in one.q] for one in found.tied]).T
    g = np.array([float((y - r) * facts.lam) for y, r in zip(facts.problem.y, found.residual, strict=True)])
    network = facts.problem.network is not None
    return _Equations(
        F.reshape(facts.problem.n, len(found.tied)),
        g,
        tuple("plus" if one.sign > 0 else "minus" for one in found.tied),
        tuple(one.block for one in found.tied),
        tuple(tuple(float(x) for x in one.v) for one in found.tied) if network else (),
    )


def _enclosed_equations(facts: Facts, found: OptimalSet) -> _Equations:
    """The masses of the superclasses and the part in the lift, at the centre of the ball, for the active classes."""
    theta = column(facts.dual.theta)
    classes = [found.classes[a] for a in found.active]
    groups = [[found.active.index(a) for a in group if a in found.active] for group in found.groups]
    mixed = [(found.active.index(a), beta) for a, beta in found.mixed if a in found.active]
    lift = found.lift[: len(found.lift) - found.void]
    maps = [class_map(facts.problem, one) for one in classes]
    outputs = [one.output(theta).entries() for one in maps]
    Q = fmpq_mat([list(row) for row in zip(*outputs, strict=True)])
    F = [[drawable(to_fraction(x)) for x in row] for row in split_map(lift, groups, Q, mixed).tolist()]
    goal = [*found.masses, *(dot(row, facts.problem.y) for row in lift)]
    duals = [(one.P * (one.X.transpose() * theta)).entries() for one in maps]
    directions = [tuple(one.sign * drawable(to_fraction(x)) for x in v) for one, v in zip(classes, duals, strict=True)]
    return _Equations(
        np.array(F),
        np.array([drawable(x * facts.lam) for x in goal]),
        tuple(_sign(facts, one) for one in classes),
        tuple(_block(facts, one) for one in classes),
        tuple(directions) if facts.problem.kind != "cgl" else (),
    )


def _sign(facts: Facts, neuron: NeuronClass | ExactNeuron) -> str:
    """Its colour; a block of a network over some patterns knows its sign."""
    sampled = facts.problem.sampled
    sign = neuron.sign if sampled is None or neuron.block is None else sampled.sign(neuron.block)
    return "plus" if sign > 0 else "minus"


def _block(facts: Facts, neuron: NeuronClass | ExactNeuron) -> int | None:
    """The block that a neuron is named by, for problems that were given directly."""
    return neuron.block if facts.problem.kind == "cgl" else None
