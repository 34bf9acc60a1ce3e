"""What optimal networks look like, read off the facts: their neurons, each within an error, and all vertices.

A neuron that can be active is v* = xi B'r* with |r* - theta| <= R, so it is within |B| R of xi B'theta; where the
optimum is rational, r* = theta. The weights alpha are the polytope {alpha >= 0 : F alpha = g}, whose vertices are known
within errors.

The set of optimal weights {alpha >= 0 : F* alpha = g*} where its vertices are too many to be listed.

F* and g* are known within errors, row by row. Points of the set are proved by solving for what is missing,

    M = F'(FF')^-1,   rho = g* - F* alpha,   |E_la| <= F_error_l,   alpha* = alpha + M (I + E M)^-1 rho,

which is positive where alpha is larger than what is added; linear functions are bounded by duality,

    b.alpha = mu.g* + (b - F*'mu).alpha >= mu.g* - max_a (F*'mu - b)_a^+ sum alpha,

with lambda^2 sum alpha = r*.(y - r*). Floats propose alpha and mu.

A set of optimal weights that is known by its vertices: nearest points, exact points, linear bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from relu_cert.exact import (
    Matrix,
    Vector,
    column,
    dot,
    nearest_solution,
    norm_squared,
    sqrt_upper,
    to_fraction,
    to_vector,
)
from relu_cert.prove.classes import class_map
from relu_cert.prove.facts import AlgebraicSet, BallSet, ExactSet, Facts, NeuronClass, UnknownSet
from relu_cert.prove.field import Number
from relu_cert.prove.polytope.polytope import Polytope
from relu_cert.prove.polytope.walk import System, weight_system

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


BITS = 256
PROPOSED_ZERO = 1e-9  # weights below this part of the largest are proposed as zero
BLEND = Fraction(1, 2**60)  # how much of a point inside is mixed in, so that no weight is zero


@dataclass(frozen=True)
class WeightSet:
    """The equations for `size` neurons in all (those without a column have weight 0), a bound of the sum of the
    weights, and weights strictly inside (exact ones: any)."""

    system: System
    size: int
    total: Fraction
    inside: Vector

    def middle(self) -> Floats:
        """The weights inside."""
        return np.array([float(x) for x in self.inside])

    def point(self, alpha: Floats, target: Vector) -> VertexPoint | None:
        """Weights near alpha with the errors that prove them."""
        found = self.exactly(alpha, target)
        errors = self.errors(found)
        return None if errors is None else VertexPoint(found, errors, weights=found)

    def nearest(self, target: Floats) -> Floats:
        """The alpha of the set nearest to the target, in floats."""
        F, g, _ = self.system.floats()
        names = list(self.system.names)
        alpha = interior_point(F, g, np.eye(len(names)), target[names])
        if alpha is None:
            return self.middle()
        found = np.zeros(self.size)
        found[names] = alpha
        return found

    def exactly(self, alpha: Floats, target: Vector) -> Vector:
        """Rational weights near alpha that solve the equations: nearest to the target among those with the same
        support, if they are positive; else alpha itself, moved. Mixed with weights inside, where they are enclosed."""
        chosen = [float(alpha[a]) for a in self.system.names]
        support = [j for j, x in enumerate(chosen) if x > PROPOSED_ZERO * max(chosen)]
        aims = [target[self.system.names[j]] for j in support]
        found = self._solved(support, aims)
        if found is None:
            found = self._solved(list(range(len(chosen))), [Fraction(x) for x in chosen])
        inside = tuple(self.inside[a] for a in self.system.names)
        if found is None or (self.system.exact and min(found, default=_ZERO) < 0):
            found = inside
        elif not self.system.exact:
            # far enough inside that every weight is positive
            worst = max((-x / y for x, y in zip(found, inside, strict=True) if x < 0), default=_ZERO)
            t = min(Fraction(1), 2 * worst + BLEND)
            found = tuple((1 - t) * x + t * y for x, y in zip(found, inside, strict=True))
            found = tuple(Fraction(round(x * 2**BITS), 2**BITS) for x in found)
        place = dict(zip(self.system.names, found, strict=True))
        return tuple(place.get(a, _ZERO) for a in range(self.size))

    def errors(self, alpha: Vector) -> Vector | None:
        """How far a point of the set is from alpha at most, entry by entry; None if none is known to be near."""
        system, names = self.system, self.system.names
        if system.exact:
            return (_ZERO,) * self.size
        chosen = tuple(alpha[a] for a in names)
        M = self._inverse(system.F)
        if M is None:
            return None
        rows = [sum((abs(to_fraction(x)) for x in row), _ZERO) for row in M.tolist()]
        unit = Fraction(1, 2**BITS)
        spread = sum(rows, _ZERO) * (max(system.F_error, default=_ZERO) + unit)
        off = to_vector(system.F * column(chosen) - column(system.g))
        size = sum(chosen, _ZERO)
        parts = zip(off, system.g_error, system.F_error, strict=True)
        rho = max((abs(x) + g_e + unit + (F_e + unit) * size for x, g_e, F_e in parts), default=_ZERO)
        if spread >= Fraction(1, 2):
            return None
        moved = dict(zip(names, (row * rho / (1 - spread) * _SPARE for row in rows), strict=True))
        if any(alpha[a] <= 2 * moved[a] for a in names):
            return None
        return tuple(moved.get(a, _ZERO) for a in range(self.size))

    def largest(self, a: int) -> Fraction:
        """A bound of alpha_a: the total, or what an exact row of numbers >= 0 leaves to it."""
        if a not in self.system.names:
            return _ZERO
        best, j, unit = self.total, self.system.names.index(a), Fraction(1, 2**self.system.bits)
        for l, row in enumerate(self.system.F.tolist()):
            exact = self.system.F_error[l] == (0 if self.system.exact else unit)
            if exact and row[j] > 0 and min(row) >= 0:
                best = min(best, (self.system.g[l] + self.system.g_error[l]) / to_fraction(row[j]))
        return max(best, _ZERO)

    def least(self, slope: Sequence[Fraction]) -> tuple[Vector, Fraction]:
        """A lower bound of slope.alpha by duality."""
        mu = self.multipliers(slope)
        return mu, self.bound(slope, mu)

    def multipliers(self, slope: Sequence[Fraction]) -> Vector:
        """About the mu for which the lower bound of slope.alpha is best."""
        from scipy.optimize import linprog

        F, g, scale = self.system.floats()
        cost = np.array([float(slope[a]) for a in self.system.names])
        found = linprog(cost, A_eq=F, b_eq=g, bounds=(0, None), method="highs-ds")
        if found.x is None:
            return (_ZERO,) * self.system.rows
        return tuple(Fraction(float(m)) / Fraction(float(s)) for m, s in zip(found.eqlin.marginals, scale, strict=True))

    def bound(self, slope: Sequence[Fraction], mu: Vector) -> Fraction:
        """The lower bound of slope.alpha that mu proves."""
        system = self.system
        changes = sum((abs(m) * e for m, e in zip(mu, system.F_error, strict=True)), _ZERO)
        pulls = to_vector(system.F.transpose() * column(mu)) if mu else (_ZERO,) * len(system.names)
        short = max((p + changes - slope[a] for a, p in zip(system.names, pulls, strict=True)), default=_ZERO)
        errors = sum((abs(m) * e for m, e in zip(mu, system.g_error, strict=True)), _ZERO)
        return dot(mu, system.g) - errors - max(short, _ZERO) * self.total

    def _solved(self, support: list[int], aims: Sequence[Fraction]) -> Vector | None:
        """The solution of F alpha = g on the support nearest to the aims."""
        found = nearest_solution(self.system.on(support), self.system.g, aims)
        if found is None or (len(support) < len(self.system.names) and min(found) < 0):
            return None
        place = dict(zip(support, found, strict=True))
        return tuple(place.get(j, _ZERO) for j in range(len(self.system.names)))

    @staticmethod
    def _inverse(F: fmpq_mat) -> fmpq_mat | None:
        """F'(FF')^-1, or None where the rows are dependent."""
        if F.ncols() < F.nrows():
            return None
        try:
            return F.transpose() * (F * F.transpose()).inv()
        except ZeroDivisionError:
            return None


def weight_set(facts: Facts) -> WeightSet | None:
    """The optimal weights of the facts, without their vertices."""
    theta, y = facts.dual.theta, facts.problem.y
    beyond = [a - 2 * b for a, b in zip(y, theta, strict=True)]
    R = sqrt_upper(facts.fit.radius_squared)
    total = (dot(theta, y) - norm_squared(theta) + R * sqrt_upper(norm_squared(beyond))) / facts.lam**2
    found = facts.optimal_set
    if isinstance(found, ExactSet):
        inside = found.solutions[0]
        return WeightSet(weight_system(facts), len(inside), total, inside)
    if not isinstance(found, BallSet) or not found.split:
        return None
    return WeightSet(weight_system(facts, BITS), len(found.classes), total * _SPARE, found.split)


FIELD_BITS, POINT_BITS = 256, 60  # how near the numbers of a field are taken
_SPARE = 1 + Fraction(1, 2**20)  # the checker's square roots may be a little larger than ours


@dataclass(frozen=True)
class KnownNeuron:
    """A neuron xi, v* that optimal networks can have, |v* - v| <= error. `straight`: v* is a positive multiple of v.
    `used`: some optimal network has it (None: not known; False: none has). `in_field`: v* itself, as algebraic
    numbers, where it is known so."""

    sign: int
    v: Vector
    error: Fraction
    straight: bool
    used: bool | None
    in_field: tuple[Number, ...] = ()

    def along(self, w: Vector) -> bool:
        """Whether w is a positive multiple of v*, decided in the field where v* is known there."""
        if not self.in_field:
            return False
        v, i = self.in_field, next(i for i, x in enumerate(w) if x)
        return (v[i] * w[i]).sign() > 0 and all(not v[j] * w[i] - v[i] * x for j, x in enumerate(w))


@dataclass(frozen=True)
class Optimum:
    """All neurons that optimal networks can have, and the vertices of their weights with the error of each (None: they
    are not listed). `system` are the equations of the weights, where these are exact; `weights` is the set of the
    weights, where its vertices are not listed."""

    neurons: tuple[KnownNeuron, ...]
    points: Matrix | None
    errors: Vector
    system: System | None = None
    weights: WeightSet | None = None


def known_optimum(facts: Facts) -> Optimum | None:
    """The optimal networks that the facts know; None where they do not."""
    if facts.zero:
        return Optimum((), ((),), (_ZERO,))
    found, known = facts.polytope, facts.optimal_set
    if isinstance(known, UnknownSet):
        return None
    if isinstance(known, AlgebraicSet):
        return _in_field(known, found)
    if isinstance(known, ExactSet):
        used = known.used if found is None else _used(found)
        exact = tuple(KnownNeuron(a.sign, a.v, _ZERO, True, u) for a, u in zip(known.tied, used, strict=True))
        points = None if found is None else found.points
        unlisted = weight_set(facts) if points is None else None
        return Optimum(exact, points, (_ZERO,) * len(points or ()), weight_system(facts), unlisted)
    R = sqrt_upper(facts.fit.radius_squared)
    used = _used_within(known) if found is None else _used(found)
    pairs = zip(known.classes, used, strict=True)
    neurons = tuple(_enclosed(facts, neuron, R, u) for neuron, u in pairs)
    if found is None:
        return Optimum(neurons, None, (), weights=weight_set(facts))
    return Optimum(neurons, *_vertices(found, weight_system(facts, found.bits)))


def _in_field(exact: AlgebraicSet, found: Polytope | None) -> Optimum:
    """All is known in a field of algebraic numbers, and enclosed here."""
    used = exact.used if found is None else _used(found)
    neurons = []
    for a, u in zip(exact.tied, used, strict=True):
        v = tuple(x.rounded(FIELD_BITS) for x in a.v)
        neurons.append(KnownNeuron(a.sign, v, Fraction(len(v), 2**FIELD_BITS), False, u, a.v))
    if found is None:
        return Optimum(tuple(neurons), None, ())
    return Optimum(tuple(neurons), found.points, (Fraction(1, 2**POINT_BITS),) * len(found.points))


def _enclosed(facts: Facts, neuron: NeuronClass, R: Fraction, used: bool | None) -> KnownNeuron:
    B = class_map(facts.problem, neuron).B()
    v = to_vector(B.transpose() * column(facts.dual.theta))
    size = sqrt_upper(sum((to_fraction(x) ** 2 for x in B.entries()), _ZERO))
    error = size * R * _SPARE
    return KnownNeuron(neuron.sign, tuple(neuron.sign * x for x in v), error, bool(B.rank() <= 1), used)


def _used(found: Polytope) -> list[bool | None]:
    return [a in found.used for a in range(found.tied)]


def _used_within(found: BallSet) -> list[bool | None]:
    if found.split:
        return [a in found.active for a in range(len(found.classes))]
    return [True if mass > found.mass_error * _SPARE else None for mass in found.masses]


def _vertices(found: Polytope, system: System) -> tuple[Matrix, Vector]:
    """The weights of every vertex and the error of its entries, from the first basis with its support."""
    place = {name: i for i, name in enumerate(system.names)}
    errors: dict[tuple[int, ...], Fraction] = {}
    points: dict[tuple[int, ...], dict[int, Fraction]] = {}
    for basis in found.bases:
        corner = system.basic([place[a] for a in basis])
        x, dx = [to_fraction(x_a) for x_a in corner.x], to_fraction(corner.dx)
        support = tuple(a for a, x_a in zip(basis, x, strict=True) if abs(x_a) > dx)
        if support not in errors:
            errors[support] = dx * _SPARE
            points[support] = dict(zip(basis, x, strict=True))
    rows = [tuple(points[s][a] if a in s else _ZERO for a in range(found.tied)) for s in found.vertices]
    return tuple(rows), tuple(errors[support] for support in found.vertices)
