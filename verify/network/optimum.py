"""What the optimal networks look like: their neurons, each within an error, and the vertices of their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verify.network.weights_set import WeightSet
from verify.numbers.bounds import column, fraction, root_above, vector
from verify.numbers.field import Number
from verify.optimal.ball import Ball
from verify.problem.problem import dot, square
from verify.rules.polytope import Polytope
from verify.sets.neurons import Neuron
from verify.sets.solutions import OptimalSet
from verify.text import Vector


@dataclass(frozen=True)
class Known:
    """A neuron xi, v* that optimal networks can have, |v* - v| <= error. `straight`: v* is a positive multiple of v.
    `used`: some optimal network has it (None: not known, False: none has). `in_field`: v* itself (`algebraic_set`)."""

    sign: int
    v: Vector
    error: Fraction
    straight: bool
    used: bool | None
    in_field: Sequence[Number] = ()

    def along(self, w: Vector) -> bool:
        """Whether w is a positive multiple of v*, decided in the field where v* is known there."""
        if not self.in_field:
            return False
        i = next((i for i, x in enumerate(w) if x), 0)
        return (self.in_field[i] * w[i]).sign() > 0 and all(
            not self.in_field[j] * w[i] - self.in_field[i] * x for j, x in enumerate(w)
        )


@dataclass(frozen=True)
class Optimum:
    """All neurons that optimal networks can have, and the vertices of their weights: `points` by the numbers of the
    neurons, entries within `errors` of the true ones and exactly 0 where there is none. None: they are not listed.
    `weights` are the equations (None: the zero network is the only one)."""

    neurons: tuple[Known, ...]
    points: tuple[dict[int, Fraction], ...] | None
    errors: Vector
    weights: WeightSet | None


def find_optimum(ball: Ball, zero: bool, known: OptimalSet | None, polytope: Polytope | None) -> Optimum | None:
    """The optimal networks of the facts; None if they are not known. `zero`: only the zero network is optimal."""
    if zero:
        return Optimum((), ({},), (Fraction(0),), None)
    if known is None:
        return None
    in_field = not known.system.rational
    neurons = []
    for a, neuron in enumerate(known.neurons):
        used = neuron.active if polytope is None else a in polytope.used
        neurons.append(exactly(neuron, used, in_field) if known.exact else enclosed(ball, neuron, used))
    points, errors = (None, ()) if polytope is None else (polytope.points, polytope.errors)
    if in_field:  # points are enclosed in rationals, and there are no equations
        ends = [{a: enclosure([x]) for a, x in point.items()} for point in points or ()]
        points = points and tuple({a: x for a, ((x,), _) in point.items()} for point in ends)
        errors = tuple(max((error for _, error in point.values()), default=Fraction(0)) for point in ends)
        return Optimum(tuple(neurons), points, errors, None)
    return Optimum(tuple(neurons), points, errors, WeightSet(known.system, len(neurons), total_weight(ball)))


def enclosure(numbers: Sequence[Any]) -> tuple[Vector, Fraction]:
    """Rationals, and how far they are, as a vector, from the numbers at most."""
    ends = [(-(-x).upper(), x.upper()) for x in numbers]
    return tuple((a + b) / 2 for a, b in ends), sum((b - a for a, b in ends), Fraction(0))


def total_weight(ball: Ball) -> Fraction:
    """At least sum alpha_a: lambda^2 sum alpha_a = r*.(y - r*) <= theta.(y - theta) + R |y - 2 theta|."""
    y, theta = ball.problem.y, ball.theta
    beyond = tuple(a - 2 * b for a, b in zip(y, theta, strict=True))
    return (dot(theta, y) - square(theta) + ball.R * root_above(square(beyond))) / ball.problem.lam**2


def enclosed(ball: Ball, neuron: Neuron, used: bool | None) -> Known:
    """v* = xi B'r*, so that |v* - xi B'theta| <= |B| R. Where B has rank one, all v(r) lie on one line."""
    xi, B = neuron.key[0], neuron.B
    if B is None:
        return Known(xi, (Fraction(0),) * ball.problem.d, ball.problem.lam, False, used)  # |v*| <= lambda is all
    v = tuple(xi * x for x in vector(B.transpose() * column(ball.theta)))
    error = root_above(sum((fraction(x) ** 2 for x in B.entries()), Fraction(0))) * ball.R
    return Known(xi, v, error, bool(B.rank() <= 1), used)


def exactly(neuron: Neuron, used: bool | None, in_field: bool) -> Known:
    """v* is known: rational, or in a field, where it is enclosed in rationals."""
    v: Any = neuron.v
    middle, error = enclosure(v) if in_field else (v, Fraction(0))
    return Known(neuron.key[0], middle, error, not in_field, used, v if in_field else ())
