"""The optimal network that is nearest to a given one, with bounds of the distance on both sides.

Both are sets of neurons xi, w. A matching pairs neurons of one sign, w_i and alpha_a v_a*, each at most once. Its
squared distance is sum |w_i - alpha_a v_a*|^2 over the pairs, plus |w|^2 over the neurons without a partner:

    sum_i |w_i|^2 + lambda^2 |alpha|^2 - 2 sum_pairs alpha_a w_i.v_a*        (|v_a*| = lambda).

The distance is the least over all matchings and all alpha of the polytope of optimal weights. For one matching it is a
quadratic program; floats go back and forth between matching and weights. From above, any matching and any optimal
weights do. From below: with prices S_a >= 0 and allowances p_i >= alpha_a (w_i.v_a* - S_a), p_i >= 0, the sum over the
pairs is at most sum p_i + S.alpha (duality of the assignment problem). What is left is convex in alpha, at least its
tangent at any point, which is least at a vertex.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, nnls

from relu_cert.exact import Matrix, Vector, dot, norm_squared, sqrt_lower, sqrt_upper
from relu_cert.network.linear import columns as matrix_of
from relu_cert.network.linear import fraction, solve
from relu_cert.network.objective import ConvexNeuron, Interval, outward
from relu_cert.network.optimum import Known, Optimum
from relu_cert.prove.classes import column, to_vector
from relu_cert.prove.polytope.system import System

Floats = NDArray[np.float64]
Pairs = dict[int, int]  # a neuron of the optimal network: its partner
_ZERO, _ONE = Fraction(0), Fraction(1)
ROUNDS = 20
GRID = 2**64
FINE = 2**128
BITS = 96


@dataclass(frozen=True)
class Closest:
    """The distance from the nearest optimal network, enclosed, with what proves it.

    `weights`     alpha of an optimal network, exactly; empty where the weights are only enclosed
    `hull`        then they are this mean of the vertices; empty otherwise
    `pairs`       (i, a): neuron i of the merged network, neuron a of the optimal one
    `tangent`, `prices`, `allowances`   for the lower bound
    """

    pairs: tuple[tuple[int, int], ...]
    weights: Vector
    hull: Vector
    tangent: Vector
    prices: Vector
    allowances: Vector
    distance: Interval


def closest(optimum: Optimum, lam: Fraction, neurons: Sequence[ConvexNeuron]) -> Closest | None:
    """The nearest optimal network; None where the vertices of the optimal weights are not listed."""
    if optimum.points is None:
        return None
    pairs, mean = _propose(optimum, float(lam), neurons)
    weights, hull, alpha, error = _point(optimum, lam, neurons, pairs, mean)
    spread = sqrt_upper(
        sum(((error * lam + x * a.error) ** 2 for x, a in zip(alpha, optimum.neurons, strict=True) if x), _ZERO)
    )
    apart = spread + sqrt_upper(_matched(optimum, neurons, pairs, alpha))
    found = max(_lower_bounds(optimum, lam, neurons, pairs, alpha), key=lambda one: one.squared)
    lower = sqrt_lower(found.squared) if found.squared > 0 else _ZERO
    if apart:  # few digits, away from each other; sqrt_upper and sqrt_lower are already on the right side
        wide = outward(Interval(lower, apart * (1 + Fraction(1, 2**BITS))), BITS)
        lower, apart = wide.lower, wide.upper
    return Closest(
        tuple(sorted((i, a) for a, i in pairs.items())),
        weights,
        hull,
        found.tangent,
        found.prices,
        found.allowances,
        Interval(lower, apart),
    )


def _matched(optimum: Optimum, neurons: Sequence[ConvexNeuron], pairs: Pairs, alpha: Vector) -> Fraction:
    """The squared distance in this matching, at the centres of the enclosures."""
    partners = set(pairs.values())
    total = sum((neuron.norm_squared for i, neuron in enumerate(neurons) if i not in partners), _ZERO)
    for a, (x, known) in enumerate(zip(alpha, optimum.neurons, strict=True)):
        w = neurons[pairs[a]].w if a in pairs else (_ZERO,) * len(known.v)
        total += norm_squared([p - x * q for p, q in zip(w, known.v, strict=True)])
    return total


# ---- the proposal, in floats


def _propose(optimum: Optimum, lam: float, neurons: Sequence[ConvexNeuron]) -> tuple[Pairs, Floats]:
    """A matching and a mean of the vertices, from several starts by turns; the shortest distance wins."""
    points = np.array([[float(x) for x in p] for p in optimum.points or ()], dtype=np.float64)
    pulls = _pulls(optimum, neurons)
    best: tuple[float, Pairs, Floats] | None = None
    for start in _starts(points, pulls, lam):
        mean = start
        pairs: Pairs = {}
        for _ in range(ROUNDS):
            matching = _matching(pulls * (mean @ points)[None, :])
            c = np.zeros(points.shape[1])
            for a, i in matching.items():
                c[a] = pulls[i, a]
            mean = _nearest_mean(points, c / lam**2)
            if matching == pairs:
                break
            pairs = matching
        alpha = mean @ points
        value = float(lam**2 * alpha @ alpha - 2 * sum(alpha[a] * pulls[i, a] for a, i in pairs.items()))
        if best is None or value < best[0]:
            best = value, pairs, mean
    if best is None:
        raise ValueError("there is always a start")
    return best[1], best[2]


def _pulls(optimum: Optimum, neurons: Sequence[ConvexNeuron]) -> Floats:
    """w_i.v_a where the signs agree and it is positive, else 0."""
    found = np.zeros((len(neurons), len(optimum.neurons)))
    for i, neuron in enumerate(neurons):
        for a, known in enumerate(optimum.neurons):
            if neuron.sign == known.sign:
                found[i, a] = max(0.0, float(dot(neuron.w, known.v)))
    return found


def _starts(points: Floats, pulls: Floats, lam: float) -> Iterator[Floats]:
    """The middle of the vertices, and the mean that is nearest if every neuron could pair with all."""
    yield np.full(len(points), 1.0 / len(points))
    if len(points) > 1 and len(pulls):
        yield _nearest_mean(points, pulls.max(axis=0) / lam**2)


def _matching(gain: Floats) -> Pairs:
    """The pairs with the most to gain."""
    if not gain.size:
        return {}
    rows, columns = linear_sum_assignment(gain, maximize=True)
    return {int(a): int(i) for i, a in zip(rows, columns, strict=True) if gain[i, a] > 0.0}


def _nearest_mean(points: Floats, target: Floats) -> Floats:
    """The weights t >= 0 of sum 1 for which sum t_p p is nearest to the target.

    u >= 0 that minimises |sum u_p (p - target)|^2 + (sum u - 1)^2, divided by its sum.
    """
    if len(points) == 1:
        return np.ones(1)
    off = (points - target[None, :]).T
    size = max(float(np.abs(off).max(initial=0.0)), 1e-300)
    u = nnls(np.vstack([off / size, np.ones(len(points))]), np.r_[np.zeros(len(target)), 1.0])[0]
    return np.asarray(u / u.sum())


# ---- optimal weights, exactly


def _point(
    optimum: Optimum, lam: Fraction, neurons: Sequence[ConvexNeuron], pairs: Pairs, mean: Floats
) -> tuple[Vector, Vector, Vector, Fraction]:
    """(weights, hull, alpha, error): the optimal weights and how far they may be from the true ones."""
    points = optimum.points or ()
    k = range(len(optimum.neurons))
    hull = _on_grid(mean)
    alpha = tuple(sum((t * p[a] for t, p in zip(hull, points, strict=True) if t), _ZERO) for a in k)
    if optimum.system is None and optimum.neurons:
        return (), hull, alpha, dot(hull, optimum.errors)
    better = None if optimum.system is None else _polished(optimum, optimum.system, lam, neurons, pairs, alpha)
    return better or alpha, (), better or alpha, _ZERO


def _on_grid(mean: Floats) -> Vector:
    """Rational weights of sum exactly 1 near to these; the smallest are dropped."""
    rounded = [Fraction(round(float(t) * GRID), GRID) for t in mean]
    total = sum(rounded, _ZERO)
    return tuple(t / total for t in rounded)


def _polished(
    optimum: Optimum, system: System, lam: Fraction, neurons: Sequence[ConvexNeuron], pairs: Pairs, alpha: Vector
) -> Vector | None:
    """The exact minimiser of the quadratic for this matching and support: alpha = c/lambda^2 + F'mu on the support,
    F alpha = g. None if that leaves the polytope."""
    support = [a for a, x in enumerate(alpha) if x > Fraction(1, 2**40) * max(alpha)]
    target = [dot(neurons[pairs[a]].w, optimum.neurons[a].v) / lam**2 if a in pairs else _ZERO for a in support]
    columns = [system.names.index(a) for a in support]
    reduced, rank = _augmented(system, columns)
    rows, g = [row[:-1] for row in reduced[:rank]], [row[-1] for row in reduced[:rank]]
    if any(not any(row) for row in rows):
        return None
    left = [[dot(a, b) for b in rows] for a in rows]
    mu = solve(left, [x - dot(row, target) for x, row in zip(g, rows, strict=True)]) if rows else ()
    found = [t + sum((m * row[j] for m, row in zip(mu, rows, strict=True)), _ZERO) for j, t in enumerate(target)]
    if any(x < 0 for x in found):
        return None
    exact = dict(zip(support, found, strict=True))
    whole = tuple(exact.get(a, _ZERO) for a in range(len(alpha)))
    named = tuple(whole[a] for a in system.names)
    return whole if to_vector(system.F * column(named)) == system.g else None


def _augmented(system: System, columns: Sequence[int]) -> tuple[Matrix, int]:
    """[F | g] on these columns, in reduced echelon form, and its rank."""
    rows = system.F.tolist()
    parts = [[fraction(row[c]) for row in rows] for c in columns]
    reduced, rank = matrix_of([*parts, list(system.g)]).rref()
    return tuple(tuple(fraction(x) for x in row) for row in reduced.tolist()), int(rank)


# ---- the lower bound


@dataclass(frozen=True)
class _Lower:
    """A lower bound of the squared distance, and what proves it."""

    tangent: Vector
    prices: Vector
    allowances: Vector
    squared: Fraction


def _lower_bounds(
    optimum: Optimum, lam: Fraction, neurons: Sequence[ConvexNeuron], pairs: Pairs, alpha: Vector
) -> Iterator[_Lower]:
    """Lower bounds with the prices of the assignment at alpha, at the largest weights, and with no allowance at all."""
    points = optimum.points or ()
    largest = [
        max((p[a] + e for p, e in zip(points, optimum.errors, strict=True) if p[a]), default=_ZERO)
        for a in range(len(optimum.neurons))
    ]
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
        for tangent in (tuple(map(_up, alpha)), _relaxed(points, prices, lam)):
            squared = _tangent_bound(optimum, lam, neurons, tangent, prices, allowances)
            yield _Lower(tangent, prices, allowances, squared)


def _up(x: Fraction) -> Fraction:
    """x rounded up to a multiple of 2^-128."""
    return Fraction(ceil(x * FINE), FINE)


def _pull(neuron: ConvexNeuron, known: Known) -> Fraction:
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


def _relaxed(points: Matrix, prices: Vector, lam: Fraction) -> Vector:
    """The mean of the vertices that is nearest to S / lambda^2, where lambda^2 |alpha|^2 - 2 S.alpha is least."""
    rows = np.array([[float(x) for x in p] for p in points], dtype=np.float64)
    mean = _on_grid(_nearest_mean(rows, np.array([float(s / lam**2) for s in prices])))
    k = range(len(prices))
    return tuple(_up(sum((t * p[a] for t, p in zip(mean, points, strict=True) if t), _ZERO)) for a in k)


def _tangent_bound(
    optimum: Optimum,
    lam: Fraction,
    neurons: Sequence[ConvexNeuron],
    tangent: Vector,
    prices: Vector,
    allowances: Vector,
) -> Fraction:
    """sum |w|^2 - 2 sum p - lambda^2 |t|^2 + min over the vertices of 2 (lambda^2 t - S).alpha, within the errors."""
    start = sum((neuron.norm_squared for neuron in neurons), _ZERO) - 2 * sum(allowances, _ZERO)
    slope = [2 * (lam**2 * t - s) for t, s in zip(tangent, prices, strict=True)]
    ends = [
        sum((b * x - e * abs(b) for b, x in zip(slope, p, strict=True) if x), _ZERO)
        for p, e in zip(optimum.points or (), optimum.errors, strict=True)
    ]
    return start - lam**2 * norm_squared(tangent) + min(ends)
