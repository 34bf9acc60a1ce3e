"""The set of optimal weights {alpha >= 0 : F* alpha = g*} where its vertices are too many to be listed.

F* and g* are known within errors, row by row. Points of the set are proved by solving for what is missing,

    M = F'(FF')^-1,   rho = g* - F* alpha,   |E_la| <= F_error_l,   alpha* = alpha + M (I + E M)^-1 rho,

which is positive where alpha is larger than what is added; linear functions are bounded by duality,

    b.alpha = mu.g* + (b - F*'mu).alpha >= mu.g* - max_a (F*'mu - b)_a^+ sum alpha,

with lambda^2 sum alpha = r*.(y - r*). Floats propose alpha and mu.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq_mat

from relu_cert.exact import Vector, column, dot, nearest_solution, norm_squared, sqrt_upper, to_fraction, to_vector
from relu_cert.network.vertices import Floats, VertexPoint, interior_point
from relu_cert.prove.facts import BallSet, ExactSet, Facts
from relu_cert.prove.polytope.system import System, weight_system

_ZERO = Fraction(0)
BITS = 256
SMALL = 1e-9  # weights below this part of the largest are proposed as zero
BLEND = Fraction(1, 2**60)  # how much of a point inside is mixed in, so that no weight is zero
_SPARE = 1 + Fraction(1, 2**10)


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
        support = [j for j, x in enumerate(chosen) if x > SMALL * max(chosen)]
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
