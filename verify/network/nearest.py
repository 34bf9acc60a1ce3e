"""The distance of the network, merged on the data, from the nearest optimal network with merged neurons.

A matching pairs neurons of one sign, w_i of the network and alpha_a v_a* of an optimal one, each at most once. The
squared distance is the sum of |w_i - alpha_a v_a*|^2 over the pairs and of |w|^2 over the neurons without a partner:

    sum_i |w_i|^2 + lambda^2 |alpha|^2 - 2 sum_pairs alpha_a w_i.v_a*,

and the distance is the least one over all matchings and all optimal networks with one neuron for each sign and
direction. (One that has several can be nearer.) FORMAT.md has the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.network.optimum import Known, Optimum
from verify.network.weights import Neuron
from verify.numbers.bounds import root_above
from verify.problem.problem import Problem, dot, square
from verify.text import Fields, Node, Vector, show

ZERO = Fraction(0)


@dataclass(frozen=True)
class Nearest:
    """lower <= the distance of the merged network from the nearest optimal one with merged neurons <= upper."""

    lower: Fraction
    upper: Fraction


def check_nearest(problem: Problem, optimum: Optimum, merged: tuple[Neuron, ...], node: Node) -> Nearest:
    """Reject unless both bounds are proved."""
    fields = node.record("weights", "hull", "pairs", "upper", "tangent", "prices", "allowances", "mu", "lower")
    if optimum.points is None and optimum.weights is None:
        raise node.reject("the fact polytope, which this rests on", "none")
    pairs = read_pairs(optimum, merged, fields["pairs"])
    alpha, errors = read_point(optimum, fields["weights"], fields["hull"])
    upper = fields["upper"].number()
    spread = root_above(moved_squared(problem, optimum, alpha, errors))
    far = matched(optimum, merged, pairs, alpha)
    if upper < spread or (upper - spread) ** 2 < far:
        found = f"{show(upper)}, the errors {show(spread)}"
        raise fields["upper"].reject(f"errors and more, the rest squared at least {show(far)}", found)
    lower = fields["lower"].number()
    least = least_squared(problem, optimum, merged, fields)
    if lower < 0 or (lower and lower**2 > least):
        raise fields["lower"].reject(f"a number >= 0, its square at most {show(max(least, ZERO))}", show(lower))
    return Nearest(lower, upper)


def read_pairs(optimum: Optimum, merged: tuple[Neuron, ...], node: Node) -> dict[int, int]:
    """The matching: for neurons of optimal networks the number of their partner."""
    pairs: dict[int, int] = {}
    for entry in node.array():
        first, second = entry.array(2)
        i, a = first.index(len(merged)), second.index(len(optimum.neurons))
        if a in pairs or i in pairs.values() or merged[i].sign != optimum.neurons[a].sign:
            raise entry.reject("two neurons of one sign, each in one pair only")
        pairs[a] = i
    return pairs


def read_point(optimum: Optimum, weights: Node, hull: Node) -> tuple[Vector, Vector]:
    """The weights of an optimal network, and the error of each: given by themselves, or as a mean of the vertices."""
    alpha, t = weights.vector(), hull.vector()
    if not t:
        if optimum.weights is None:
            hull.require(not optimum.neurons, "a number for each vertex")
            return weights.vector(0), ()
        return alpha, optimum.weights.contains_near(alpha, weights)
    points = optimum.points or ()
    if alpha or len(t) != len(points) or any(x < 0 for x in t) or sum(t) != 1:
        raise hull.reject("no weights, and a number >= 0 for each vertex that is listed, which add up to 1")
    k = range(len(optimum.neurons))
    mean = tuple(sum((t_p * p.get(a, ZERO) for t_p, p in zip(t, points, strict=True) if t_p), ZERO) for a in k)
    used = {a for t_p, p in zip(t, points, strict=True) if t_p for a in p}
    error = dot(t, optimum.errors)
    return mean, tuple(error if a in used else ZERO for a in k)


def moved_squared(problem: Problem, optimum: Optimum, alpha: Vector, errors: Vector) -> Fraction:
    """A bound of sum_a |alpha_a* v_a* - alpha_a v_a|^2: each at most error_a |v_a*| + alpha_a |v_a* - v_a|."""
    parts = zip(alpha, errors, optimum.neurons, strict=True)
    return sum(((error * problem.lam + x * known.error) ** 2 for x, error, known in parts), ZERO)


def matched(optimum: Optimum, merged: tuple[Neuron, ...], pairs: dict[int, int], alpha: Vector) -> Fraction:
    """The squared distance in this matching, for the weights alpha and the directions v."""
    total = sum((square(neuron.w) for i, neuron in enumerate(merged) if i not in pairs.values()), ZERO)
    for a, (x, known) in enumerate(zip(alpha, optimum.neurons, strict=True)):
        w = merged[pairs[a]].w if a in pairs else (ZERO,) * len(known.v)
        total += square(tuple(p - x * q for p, q in zip(w, known.v, strict=True)))
    return total


def least_squared(problem: Problem, optimum: Optimum, merged: tuple[Neuron, ...], fields: Fields) -> Fraction:
    """A lower bound of the squared distance over all matchings and all weights alpha of the polytope.

    With prices S_a >= 0 and allowances p_i >= 0, p_i >= alpha_a (w_i.v_a* - S_a) for all pairs of one sign, the sum
    over the pairs is at most sum p_i + S.alpha. What is left is convex in alpha, so at least its tangent at any point,
    and a linear function is least at a vertex; where these are not listed, mu bounds it.
    """
    prices = fields["prices"].vector(len(optimum.neurons))
    allowances = fields["allowances"].vector(len(merged))
    for name, entries in (("prices", prices), ("allowances", allowances)):
        fields[name].require(all(x >= 0 for x in entries), "numbers >= 0")
    for a, known in enumerate(optimum.neurons):
        largest = largest_weight(optimum, a)
        for i, neuron in enumerate(merged):
            if neuron.sign == known.sign and allowances[i] < (need := largest * (pull(neuron, known) - prices[a])):
                raise fields["allowances"].reject(f"at least {show(need)} for {i}, by {a}", show(allowances[i]))
    tangent = fields["tangent"].vector(len(optimum.neurons))
    squared = problem.lam**2
    start = sum((square(neuron.w) for neuron in merged), ZERO) - 2 * sum(allowances, ZERO) - squared * square(tangent)
    slope = [2 * (squared * x - price) for x, price in zip(tangent, prices, strict=True)]
    return start + least_linear(optimum, slope, fields["mu"])


def largest_weight(optimum: Optimum, a: int) -> Fraction:
    """A bound of alpha_a in all optimal networks."""
    if optimum.points is None and optimum.weights is not None:
        return optimum.weights.largest(a)
    listed = zip(optimum.points or (), optimum.errors, strict=True)
    return max((p[a] + e for p, e in listed if a in p), default=ZERO)


def least_linear(optimum: Optimum, slope: list[Fraction], node: Node) -> Fraction:
    """A lower bound of slope.alpha over all optimal networks."""
    if optimum.points is None and optimum.weights is not None:
        return optimum.weights.least(slope, node.vector(optimum.weights.system.rows))
    node.vector(0)
    listed = zip(optimum.points or (), optimum.errors, strict=True)
    return min(sum((slope[a] * x - e * abs(slope[a]) for a, x in p.items()), ZERO) for p, e in listed)


def pull(neuron: Neuron, known: Known) -> Fraction:
    """At least w_i.v_a*."""
    return dot(neuron.w, known.v) + root_above(square(neuron.w)) * known.error
