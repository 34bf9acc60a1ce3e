"""How far each neuron's direction is from the directions that optimal networks have.

The distance of two directions is |w/|w| - v/|v||, between 0 and 2; that of a neuron is the least one to the neurons of
its sign that optimal networks have, and 2 if they have none of its sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.network.optimum import Known, Optimum
from verify.network.weights import Neuron, Weights
from verify.numbers.bounds import root_above
from verify.optimal.ball import Ball
from verify.problem.problem import dot, square
from verify.text import Node, Vector, show

FARTHEST = Fraction(2)


@dataclass(frozen=True)
class Directions:
    """For each neuron that is not zero, lower <= its distance from the optimal directions <= upper."""

    lower: Vector
    upper: Vector


def check_directions(ball: Ball, optimum: Optimum | None, weights: Weights, node: Node) -> Directions:
    """Reject unless every stated bound is no better than what is derived."""
    lowers, uppers = [], []
    for neuron, entry in zip(weights.neurons, node.array(len(weights.neurons)), strict=True):
        fields = entry.record("lower", "upper")
        lower, upper = fields["lower"].number(), fields["upper"].number()
        below, above = bounds(ball, optimum, neuron)
        fields["lower"].require(0 <= lower <= below, f"a number from 0 to {show(below)}", show(lower))
        fields["upper"].require(above <= upper <= FARTHEST, f"a number from {show(above)} to 2", show(upper))
        lowers.append(lower)
        uppers.append(upper)
    return Directions(tuple(lowers), tuple(uppers))


def bounds(ball: Ball, optimum: Optimum | None, neuron: Neuron) -> tuple[Fraction, Fraction]:
    """Bounds of a neuron's distance: over the known neurons, or, if they are not known, by its correlation."""
    if optimum is None:
        return by_correlation(ball, neuron), FARTHEST
    lower = upper = FARTHEST
    for known in optimum.neurons:
        if known.sign == neuron.sign and known.used is not False:
            below, above = apart(neuron.w, known)
            lower = min(lower, below)
            if known.used:
                upper = min(upper, above)
    return lower, upper


def apart(w: Vector, known: Known) -> tuple[Fraction, Fraction]:
    """Bounds of |w/|w| - v*/|v*||. With s = |w||v| and c = w.v it is sqrt(2 - 2c/s) for v, and 2 error / |v| bounds
    how far the direction of v* is from that of v."""
    if known.along(w):
        return Fraction(0), Fraction(0)
    c, product = dot(w, known.v), square(w) * square(known.v)
    if not product:
        return Fraction(0), FARTHEST
    above = root_above(product)
    below = product / above
    if c > 0:  # 2 - 2c/s = 2 (s^2 - c^2) / (s (s + c)), without cancellation
        least, most = (2 * (product - c * c) / (s * (s + c)) for s in (above, below))
    else:
        least, most = 2 - 2 * c / above, 2 - 2 * c / below
    length = square(known.v) / root_above(square(known.v))  # at most |v|
    moved = Fraction(0) if known.straight else 2 * known.error / length
    low = least / root_above(least) if least else least
    return max(low - moved, Fraction(0)), min(root_above(most) + moved, FARTHEST)


def by_correlation(ball: Ball, neuron: Neuron) -> Fraction:
    """A neuron of an optimal network has xi r*.P(Zu)_+ = lambda for its direction u. That function of u changes by
    at most Zeta |r*| times the change of u; so (lambda - xi r*.P(Zw)_+ / |w|) / (Zeta |r*|) is a lower bound if > 0."""
    problem = ball.problem
    reach = dot(ball.theta, neuron.q) + ball.R * root_above(square(neuron.q))
    length = square(neuron.w) / root_above(square(neuron.w))  # at most |w|
    if reach >= problem.lam * length:
        return Fraction(0)
    short = problem.lam - max(reach, Fraction(0)) / length
    steep = root_above(ball.zeta_squared) * (root_above(square(ball.theta)) + ball.R)
    return min(short / steep, FARTHEST) if steep else FARTHEST
