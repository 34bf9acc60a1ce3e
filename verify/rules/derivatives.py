"""Derivatives of the optimal network in lambda and y, enclosed: solutions of linear systems with known condition.

With M = I + sum alpha_a G_a, Q = [q_a] at r* they solve M dr + Q dalpha = dy, Q'dr = lambda dlambda. FORMAT.md has the
bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from verify.facts import DERIVATIVES, DUAL, NEURONS, VALUE, Facts, proved
from verify.numbers.bounds import column, fraction, identity, matrix, rational, root_above, rows, vector
from verify.problem.problem import Problem, square
from verify.rule import Rule
from verify.sets.solutions import OptimalSet
from verify.sets.superclasses import length, side_by_side, stretch
from verify.text import Node, Vector, show


@dataclass(frozen=True)
class Derivatives:
    """All listed derivatives are within `radius`; `freedom` and `sure`, where they are listed, within theirs."""

    radius: Fraction
    freedom: tuple[Fraction, Fraction] | None
    sure: tuple[Fraction, Fraction] | None


@dataclass(frozen=True)
class Linear:
    """The system at theta and about alpha, M = I + sum_a alpha_a B_a B_a', and what the true one can differ by.

    `size` = (sum_a g_a^2)^(1/2) and `total` = sum_a g_a with g_a = |B_a|_F^2 >= |G_a|, `mu` >= |M|, `sigma` a lower
    bound on the stretch of the true Q.
    """

    B: Sequence[fmpq_mat]
    alpha: Sequence[Fraction]
    Q: fmpq_mat
    g: Vector
    R: Fraction
    error: Fraction
    mu: Fraction
    sigma: Fraction

    def distance(self, dr: fmpq_mat, da: fmpq_mat, dy: fmpq_mat, dlam: Fraction) -> Fraction:
        """How far (dr, da) can be from the solution for the right side (dy, dlam, ..., dlam)."""
        size, total = root_above(square(self.g)), sum(self.g, Fraction(0))
        moved = sum((g_a * abs(x) for g_a, x in zip(self.g, vector(da), strict=True)), Fraction(0))
        product = dr
        for b, weight in zip(self.B, self.alpha, strict=True):
            product += b * (b.transpose() * dr) * rational(weight)  # M dr
        first = length(product + self.Q * da - dy) + self.error * total * length(dr) + self.R * moved
        right = column([dlam] * len(self.g))
        second = length(self.Q.transpose() * dr - right) + self.R * size * length(dr)
        ratio = root_above(self.mu) / self.sigma
        return max(first + ratio * second, ratio * first + ratio**2 * second)


def check_derivatives(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless all derivatives are within the radius of those listed."""
    found, theta, value = facts[NEURONS], facts[DUAL].theta, facts[VALUE]
    node.require(found.system.rational, "a set whose residual is theta, or near to it", "algebraic_set")
    fields = node.record("lambda", "y", "radius", "freedom", "sure")
    R = root_above(2 * (value.upper - value.lower))
    system, k = read_system(problem, theta, R, found, node)
    n, radius = problem.n, fields["radius"].number()
    parts = fields["lambda"].record("alpha", "r")
    zero = column([Fraction(0)] * n)
    dr, da = column(parts["r"].vector(n)), column(parts["alpha"].vector(k))
    within(system.distance(dr, da, zero, problem.lam), radius, fields["radius"])
    if fields["y"].value is None:
        for key in ("freedom", "sure"):
            fields[key].require(fields[key].value is None, "null without the derivatives by y")
        return proved(DERIVATIVES, Derivatives(radius, None, None))
    parts = fields["y"].record("alpha", "r")
    r_y = matrix((row.vector(n) for row in parts["r"].array(n)), n)
    alpha_y = matrix((row.vector(n) for row in parts["alpha"].array(k)), n)
    for of_y_j in zip(*(rows(A.transpose()) for A in (r_y, alpha_y, identity(n))), strict=True):
        dr, da, dy = map(column, of_y_j)
        within(system.distance(dr, da, dy, Fraction(0)), radius, fields["radius"])
    freedom = n - sum((fraction(r_y[i, i]) for i in range(n)), Fraction(0))
    fields["freedom"].require(fields["freedom"].number() == freedom, f"n - trace dr/dy = {show(freedom)}")
    sure = None
    if fields["sure"].value is not None:
        sure = check_sure(problem, theta, system.R, (freedom, n * radius), fields["sure"])
    return proved(DERIVATIVES, Derivatives(radius, (freedom, n * radius), sure))


def read_system(problem: Problem, theta: Vector, R: Fraction, found: OptimalSet, node: Node) -> tuple[Linear, int]:
    """The system of the active neurons; blocks that carry one neuron are one. All must be active, with stable faces."""
    if not found.all_active or any(a.B is None for a in found.neurons):
        raise node.reject("one solution in which all tied neurons are active and keep their faces", "no proof of that")
    merged: dict[tuple[object, ...], list[int]] = {}
    for a, neuron in enumerate(found.neurons):
        merged.setdefault(tuple(neuron.B.entries()) if neuron.B is not None else (), []).append(a)
    B = [b for group in merged.values() if (b := found.neurons[group[0]].B) is not None]
    alpha = [sum((found.neurons[a].weight for a in group), Fraction(0)) for group in merged.values()]
    error = found.weight_error * max(map(len, merged.values()), default=0)
    g = tuple(square(vector(b)) for b in B)
    Q = side_by_side([b * (b.transpose() * column(theta)) for b in B], problem.n)
    mu = 1 + sum((g_a * (abs(weight) + error) for g_a, weight in zip(g, alpha, strict=True)), Fraction(0))
    sigma, moved = stretch(Q), R * root_above(square(g))
    node.require(sigma > moved, f"|Q x| > {show(moved)} |x| for all x, what the ball can change", show(sigma))
    return Linear(B, alpha, Q, g, R, error, mu, sigma - moved), len(B)


def check_sure(
    problem: Problem, theta: Vector, R: Fraction, freedom: tuple[Fraction, Fraction], node: Node
) -> tuple[Fraction, Fraction]:
    """SURE = |r|^2 - n noise^2 + 2 noise^2 freedom, and how far it can be off."""
    fields = node.record("noise", "value", "radius")
    variance = fields["noise"].number() ** 2
    value = square(theta) - problem.n * variance + 2 * variance * freedom[0]
    if fields["value"].number() != value:
        raise fields["value"].reject(f"|theta|^2 - n noise^2 + 2 noise^2 freedom = {show(value)}")
    off = 2 * root_above(square(theta)) * R + R**2 + 2 * variance * freedom[1]
    within(off, fields["radius"].number(), fields["radius"])
    return value, fields["radius"].number()


def within(distance: Fraction, radius: Fraction, node: Node) -> None:
    """Reject unless distance <= radius."""
    node.require(distance <= radius, f"a radius >= {show(distance)}", show(radius))


RULE = Rule((DERIVATIVES,), check_derivatives, rests=(DUAL, VALUE, NEURONS), bags=True)
