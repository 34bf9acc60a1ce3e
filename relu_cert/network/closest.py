"""The optimal network that is nearest to a given one, with bounds of the distance on both sides.

Both are sets of neurons xi, w. A matching pairs neurons of one sign, w_i and alpha_a v_a*, each at most once. Its
squared distance is sum |w_i - alpha_a v_a*|^2 over the pairs, plus |w|^2 over the neurons without a partner:

    sum_i |w_i|^2 + lambda^2 |alpha|^2 - 2 sum_pairs alpha_a w_i.v_a*        (|v_a*| = lambda).

The distance is the least over all matchings and all alpha of the polytope of optimal weights. For one matching it is a
quadratic program; floats go back and forth between matching and weights. From above, any matching and any optimal
weights do. From below: with prices S_a >= 0 and allowances p_i >= alpha_a (w_i.v_a* - S_a), p_i >= 0, the sum over the
pairs is at most sum p_i + S.alpha (duality of the assignment problem). What is left is convex in alpha, at least its
tangent at any point, and a linear function is bounded on the polytope by its vertices or by duality.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from relu_cert.exact import Vector, dot, norm_squared, sqrt_lower, sqrt_upper
from relu_cert.network.objective import ConvexNeuron, Interval, outward
from relu_cert.network.optimum import Floats, KnownNeuron, OptimalWeights, Optimum, VertexPoint, Vertices

Pairs = dict[int, int]  # a neuron of the optimal network: its partner
_ZERO = Fraction(0)
ROUNDS = 20
FINE = 2**128
BITS = 96


@dataclass(frozen=True)
class Matching:
    """Pairs (i, j) of neurons, and the squared distance of the two networks in this matching."""

    pairs: tuple[tuple[int, int], ...]
    distance_squared: Fraction


def match(neurons: Sequence[ConvexNeuron], optimal: Sequence[ConvexNeuron]) -> Matching:
    """The networks side by side: pairs with the most to gain, |w - w*|^2 - |w|^2 - |w*|^2 = -2 w.w* < 0."""
    pairs = tuple(assigned(_pulls([(n.sign, n.w) for n in optimal], neurons)))
    total = sum((norm_squared(n.w) for n in (*neurons, *optimal)), Fraction(0))
    for i, j in pairs:
        a, b = neurons[i], optimal[j]
        apart = norm_squared([x - y for x, y in zip(a.w, b.w, strict=True)])
        total += apart - norm_squared(a.w) - norm_squared(b.w)
    return Matching(pairs, total)


def assigned(gain: Floats) -> list[tuple[int, int]]:
    """The pairs of a row and a column, each at most once, with the most to gain."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(gain, maximize=True) if gain.size else ((), ())
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if gain[i, j] > 0.0]


@dataclass(frozen=True)
class Closest:
    """The distance from the nearest optimal network with merged neurons, enclosed, with what proves it.

    `weights`, `hull`  the weights of an optimal network, as `Point` has them
    `pairs`       (i, a): neuron i of the merged network, neuron a of the optimal one
    `tangent`, `prices`, `allowances`, `mu`   for the lower bound
    """

    weights: Vector
    hull: Vector
    pairs: tuple[tuple[int, int], ...]
    upper: Fraction
    tangent: Vector
    prices: Vector
    allowances: Vector
    mu: Vector
    lower: Fraction

    @property
    def distance(self) -> Interval:
        """The distance, enclosed."""
        return Interval(self.lower, self.upper)


def closest(optimum: Optimum, lam: Fraction, neurons: Sequence[ConvexNeuron]) -> Closest | None:
    """The nearest optimal network; None where the optimal weights are not known well enough."""
    weights = _weights(optimum)
    if weights is None:
        return None
    pairs, about = _propose(optimum, weights, float(lam), neurons)
    target = tuple(
        dot(neurons[pairs[a]].w, known.v) / lam**2 if a in pairs else _ZERO for a, known in enumerate(optimum.neurons)
    )
    point = weights.point(about, target)
    if point is None:
        return None
    found = max(_lower_bounds(optimum, weights, lam, neurons, pairs, point.alpha), key=lambda one: one.squared)
    distance = _distance(optimum, lam, neurons, pairs, point, found.squared)
    return Closest(
        weights=point.weights,
        hull=point.hull,
        pairs=tuple(sorted((i, a) for a, i in pairs.items())),
        upper=distance.upper,
        tangent=found.tangent,
        prices=found.prices,
        allowances=found.allowances,
        mu=found.mu,
        lower=distance.lower,
    )


def _weights(optimum: Optimum) -> OptimalWeights | None:
    """The set of optimal weights: by its vertices, where they are listed."""
    if optimum.points is None:
        return optimum.weights
    return Vertices(optimum.points, optimum.errors, optimum.system, len(optimum.neurons))


def _distance(
    optimum: Optimum, lam: Fraction, neurons: Sequence[ConvexNeuron], pairs: Pairs, point: VertexPoint, least: Fraction
) -> Interval:
    """From both sides, of few digits."""
    parts = zip(point.alpha, point.errors, optimum.neurons, strict=True)
    spread = sqrt_upper(sum(((e * lam + x * known.error) ** 2 for x, e, known in parts if x), _ZERO))
    upper = spread + sqrt_upper(_matched(optimum, neurons, pairs, point.alpha))
    lower = sqrt_lower(least) if least > 0 else _ZERO
    return outward(Interval(lower, upper * (1 + Fraction(1, 2**BITS))), BITS) if upper else Interval(_ZERO, _ZERO)


def _matched(optimum: Optimum, neurons: Sequence[ConvexNeuron], pairs: Pairs, alpha: Vector) -> Fraction:
    """The squared distance in this matching, at the centres of the enclosures."""
    partners = set(pairs.values())
    total = sum((neuron.norm_squared for i, neuron in enumerate(neurons) if i not in partners), _ZERO)
    for a, (x, known) in enumerate(zip(alpha, optimum.neurons, strict=True)):
        w = neurons[pairs[a]].w if a in pairs else (_ZERO,) * len(known.v)
        total += norm_squared([p - x * q for p, q in zip(w, known.v, strict=True)])
    return total


def _propose(
    optimum: Optimum, weights: OptimalWeights, lam: float, neurons: Sequence[ConvexNeuron]
) -> tuple[Pairs, Floats]:
    """A matching and weights, in floats, from several starts by turns; the shortest distance wins."""
    pulls = _pulls([(known.sign, known.v) for known in optimum.neurons], neurons)
    starts = [weights.middle()]
    if len(neurons) and len(optimum.neurons):
        starts.append(weights.nearest(pulls.max(axis=0) / lam**2))
    found = [_by_turns(weights, pulls, lam, start) for start in starts]
    _, pairs, alpha = min(found, key=lambda one: one[0])
    return pairs, alpha


def _by_turns(weights: OptimalWeights, pulls: Floats, lam: float, alpha: Floats) -> tuple[float, Pairs, Floats]:
    """The matching for the weights, the weights for the matching, until nothing changes; with the value reached."""
    pairs: Pairs = {}
    for _ in range(ROUNDS):
        matching = {a: i for i, a in assigned(pulls * alpha[None, :])}
        c = np.zeros(len(alpha))
        for a, i in matching.items():
            c[a] = pulls[i, a]
        alpha = weights.nearest(c / lam**2)
        if matching == pairs:
            break
        pairs = matching
    gains = sum(alpha[a] * pulls[i, a] for a, i in pairs.items())
    return float(lam**2 * alpha @ alpha - 2 * gains), pairs, alpha


def _pulls(optimal: Sequence[tuple[int, Vector]], neurons: Sequence[ConvexNeuron]) -> Floats:
    """w_i.v_a where the signs agree and it is positive, else 0."""
    found = np.zeros((len(neurons), len(optimal)))
    for i, neuron in enumerate(neurons):
        for a, (sign, v) in enumerate(optimal):
            if neuron.sign == sign:
                found[i, a] = max(0.0, float(dot(neuron.w, v)))
    return found


@dataclass(frozen=True)
class _Lower:
    """A lower bound of the squared distance, and what proves it."""

    tangent: Vector
    prices: Vector
    allowances: Vector
    mu: Vector
    squared: Fraction


def _lower_bounds(
    optimum: Optimum,
    weights: OptimalWeights,
    lam: Fraction,
    neurons: Sequence[ConvexNeuron],
    pairs: Pairs,
    alpha: Vector,
) -> Iterator[_Lower]:
    """Lower bounds with the prices of the assignment at alpha, at the largest weights, and with no allowance at all."""
    largest = [weights.largest(a) for a in range(len(optimum.neurons))]
    pulls = [
        [_pull(neuron, known) if neuron.sign == known.sign else None for known in optimum.neurons] for neuron in neurons
    ]
    most = tuple(
        max((row[a] or _ZERO for row in pulls if row[a] is not None), default=_ZERO) for a in range(len(largest))
    )
    free = tuple(_up(max(_ZERO, x)) for x in most)
    for prices in (free, _prices(pulls, pairs, alpha, free), _prices(pulls, pairs, largest, free)):
        allowances = tuple(
            max((big * (x - s) for big, x, s in zip(largest, row, prices, strict=True) if x is not None), default=_ZERO)
            for row in pulls
        )
        allowances = tuple(_up(max(_ZERO, p)) for p in allowances)
        for tangent in (tuple(map(_up, alpha)), _relaxed(weights, prices, lam)):
            slope = [2 * (lam**2 * t - s) for t, s in zip(tangent, prices, strict=True)]
            mu, least = weights.least(slope)
            squared = sum((neuron.norm_squared for neuron in neurons), _ZERO) - 2 * sum(allowances, _ZERO)
            squared += least - lam**2 * norm_squared(tangent)
            yield _Lower(tangent, prices, allowances, mu, squared)


def _up(x: Fraction) -> Fraction:
    """x rounded up to a multiple of 2^-128."""
    return Fraction(ceil(x * FINE), FINE)


def _pull(neuron: ConvexNeuron, known: KnownNeuron) -> Fraction:
    """At least w_i.v_a*."""
    if not known.error:
        return dot(neuron.w, known.v)
    return dot(neuron.w, known.v) + sqrt_upper(neuron.norm_squared) * known.error


def _prices(
    pulls: Sequence[Sequence[Fraction | None]], pairs: Pairs, weights: Sequence[Fraction], free: Vector
) -> Vector:
    """Prices that make the matching dual optimal at these weights: the least allowances p_i >= 0 with

        p_j >= alpha_a pull_ja - s_a,   s_a = alpha_a pull_ia - p_i for the pair (i, a),

    by rounds of improvement; S_a = s_a / alpha_a. They are what they are: every price is valid.
    """
    gain = [[None if x is None else weights[a] * x for a, x in enumerate(row)] for row in pulls]
    p = [_ZERO] * len(pulls)
    for _ in range(len(pulls) + 1):
        s = {a: (gain[i][a] or _ZERO) - p[i] for a, i in pairs.items()}
        better = [max((g - s.get(a, _ZERO) for a, g in enumerate(row) if g is not None), default=_ZERO) for row in gain]
        raised = [max(a, b) for a, b in zip(p, better, strict=True)]
        if raised == p:
            break
        p = raised
    s = {a: (gain[i][a] or _ZERO) - p[i] for a, i in pairs.items()}
    free_of_charge = {a: price for a, price in enumerate(free) if not weights[a]}
    return tuple(
        free_of_charge[a] if a in free_of_charge else _up(max(_ZERO, s.get(a, _ZERO) / weights[a]))
        for a in range(len(weights))
    )


def _relaxed(weights: OptimalWeights, prices: Vector, lam: Fraction) -> Vector:
    """About the optimal weights nearest to S / lambda^2, where lambda^2 |alpha|^2 - 2 S.alpha is least."""
    found = weights.nearest(np.array([float(s / lam**2) for s in prices]))
    return tuple(_up(Fraction(float(x))) for x in found)
