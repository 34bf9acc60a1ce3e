"""How far each neuron's direction is from those that optimal networks have.

The distance of two directions is |w/|w| - v/|v||, from 0 to 2. That of a neuron is the least one to the neurons of its
sign that optimal networks have; 2 where they have none of its sign. Trained floats are never exactly right, so bounds
on both sides are what is worth knowing: 0 and 0 where the direction is optimal exactly, lower > 0 where it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from relu_cert.exact import Vector, dot, norm_squared, sqrt_lower, sqrt_upper
from relu_cert.network.compare import reaches
from relu_cert.network.objective import ConvexNeuron, Interval, outward
from relu_cert.network.optimum import Known, Optimum
from relu_cert.prove.facts import Facts

FARTHEST = Fraction(2)
_ZERO = Fraction(0)
BITS = 96


def direction_bounds(facts: Facts, optimum: Optimum | None, neurons: Sequence[ConvexNeuron]) -> tuple[Interval, ...]:
    """The distance of every neuron from the optimal directions, enclosed."""
    if optimum is None:
        return tuple(Interval(_rounded_down(low), FARTHEST) for low in _by_correlation(facts, neurons))
    return tuple(_rounded(_bounds(optimum, neuron)) for neuron in neurons)


def _bounds(optimum: Optimum, neuron: ConvexNeuron) -> Interval:
    """Below over all neurons that may be used, above over those that are."""
    lower = upper = FARTHEST
    for known in optimum.neurons:
        if known.sign == neuron.sign and known.used is not False:
            found = apart(neuron.w, known)
            lower = min(lower, found.lower)
            if known.used:
                upper = min(upper, found.upper)
    return Interval(lower, upper)


def apart(w: Vector, known: Known) -> Interval:
    """|w/|w| - v*/|v*||. With s = |w||v| and c = w.v it is sqrt(2 - 2c/s) for v itself; the direction of v* is within
    2 error / |v| of that of v."""
    if known.along(w):
        return Interval(_ZERO, _ZERO)
    c, product = dot(w, known.v), norm_squared(w) * norm_squared(known.v)
    if not product:
        return Interval(_ZERO, FARTHEST)
    above, below = sqrt_upper(product), sqrt_lower(product)
    if c > 0:  # 2 - 2c/s = 2 (s^2 - c^2) / (s (s + c)), without cancellation
        least, most = (2 * (product - c * c) / (s * (s + c)) for s in (above, below))
    else:
        least, most = 2 - 2 * c / above, 2 - 2 * c / below
    moved = _ZERO if known.straight else 2 * known.error / sqrt_lower(norm_squared(known.v))
    return Interval(max(sqrt_lower(least) - moved, _ZERO), min(sqrt_upper(most) + moved, FARTHEST))


def _by_correlation(facts: Facts, neurons: Sequence[ConvexNeuron]) -> list[Fraction]:
    """Lower bounds where the optimal neurons are not known: u -> xi r*.(Zu)_+ is lambda at them, has the Lipschitz
    constant zeta |r*|, and is at most (xi theta.(Zw)_+ + R |(Zw)_+|) / |w| at w/|w|."""
    theta, R = facts.dual.theta, sqrt_upper(facts.fit.radius_squared)
    size = sqrt_upper(facts.problem.relu.size_squared)
    steep = size * (sqrt_upper(norm_squared(theta)) + R)
    found = []
    for neuron, reach in zip(neurons, reaches(facts, neurons), strict=True):
        short = facts.lam - max(reach, _ZERO) / sqrt_lower(neuron.norm_squared)
        found.append(min(max(short, _ZERO) / steep, FARTHEST) if steep else FARTHEST)
    return found


def _rounded(interval: Interval) -> Interval:
    """Ends of few digits, away from each other."""
    return Interval(_rounded_down(interval.lower), min(outward(Interval(_ZERO, interval.upper), BITS).upper, FARTHEST))


def _rounded_down(x: Fraction) -> Fraction:
    """A number of few digits, a little below x > 0."""
    return x if x in (_ZERO, FARTHEST) else outward(Interval(x * (1 - Fraction(1, 2**BITS)), x), BITS).lower
