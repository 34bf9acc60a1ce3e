"""The set of optimal weights {alpha >= 0 : F* alpha = g*} without its vertices: points of it, and linear bounds on it.

F* and g* are known within the errors of the system, row by row. FORMAT.md has the argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.numbers.bounds import column, dual_basis, fraction, vector
from verify.problem.problem import dot
from verify.sets.solutions import System
from verify.sets.system import on_grid
from verify.text import Node, Vector, show

ZERO = Fraction(0)
GRID_BITS = 256  # F and g are rounded to multiples of 2^-256 before they are inverted, within the errors


@dataclass(frozen=True)
class WeightSet:
    """The equations, and a bound of sum_a alpha_a. `size` classes in all; those without a column have weight 0."""

    system: System
    size: int
    total: Fraction

    def contains_near(self, alpha: Vector, node: Node) -> Vector:
        """How far, entry by entry, a point of the set is from alpha at most; rejected if none is known to be near.

        With M = F'(FF')^-1, rho = g* - F* alpha and |E_la| <= F_error_l: F* M = I + E M, and if the rows of |E M| add
        up to less than 1, alpha + M (I + E M)^-1 rho solves the equations. It is positive where alpha is larger than
        what is added.
        """
        names = self.system.names
        system = self.system if self.system.exact else on_grid(self.system, GRID_BITS)
        if len(alpha) != self.size or any(x and a not in names for a, x in enumerate(alpha)):
            raise node.reject(f"{self.size} weights, 0 for the classes that are not active")
        chosen = tuple(alpha[a] for a in names)
        if system.exact:
            if min(chosen, default=ZERO) < 0 or vector(system.F * column(chosen)) != system.g:
                raise node.reject("the weights of an optimal network, which is known exactly")
            return (ZERO,) * self.size
        F = system.F
        W = dual_basis(F)
        rows = [] if W is None else [tuple(abs(fraction(x)) for x in row) for row in W.transpose().tolist()]
        spread = sum((sum(row, ZERO) for row in rows), ZERO) * max(system.F_error, default=ZERO)
        if W is None or spread >= 1:
            raise node.reject("equations that the errors cannot make dependent")
        off = vector(F * column(chosen) - column(system.g))
        size = sum(chosen, ZERO)
        errors = zip(off, system.g_error, system.F_error, strict=True)
        rho = max((abs(x) + g_e + F_e * size for x, g_e, F_e in errors), default=ZERO)
        moved = [sum(row, ZERO) * rho / (1 - spread) for row in rows]
        for name, x, move in zip(names, chosen, moved, strict=True):
            node.require(x > move, f"a weight > {show(move)} for {name}, its possible error", show(x))
        place = dict(zip(names, moved, strict=True))
        return tuple(place.get(a, ZERO) for a in range(self.size))

    def largest(self, a: int) -> Fraction:
        """A bound of alpha_a: the total, or what an exact row of numbers >= 0 leaves to it."""
        if a not in self.system.names:
            return ZERO
        best, j = self.total, self.system.names.index(a)
        for row, g, F_e, g_e in zip(
            self.system.F.tolist(), self.system.g, self.system.F_error, self.system.g_error, strict=True
        ):
            if not F_e and row[j] > 0 and min(row) >= 0:
                best = min(best, (g + g_e) / fraction(row[j]))
        return max(best, ZERO)

    def least(self, slope: list[Fraction], mu: Vector) -> Fraction:
        """A lower bound of slope.alpha on the set: mu.g* + (slope - F*'mu).alpha, the second part at least its most
        negative coefficient times the total."""
        system = self.system
        changes = sum((abs(m) * e for m, e in zip(mu, system.F_error, strict=True)), ZERO)
        pulls = vector(system.F.transpose() * column(mu))
        short = max((pull + changes - slope[a] for a, pull in zip(system.names, pulls, strict=True)), default=ZERO)
        errors = sum((abs(m) * e for m, e in zip(mu, system.g_error, strict=True)), ZERO)
        return dot(mu, system.g) - errors - max(short, ZERO) * self.total
