"""What is known of a given network, exactly and by other means than the certifier's; does an answer contradict it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations

from properties.exact import enclose
from properties.exact.lasso import solve_lasso
from properties.exact.linalg import Vector, add, dot, norm2, rank, scale, sub, total
from properties.exact.network import clarke_stationary, network_objective, output
from properties.exact.patterns import Pattern, pattern_of, patterns, relu_problem
from properties.exact.polytope import barycentre
from properties.exact.problem import is_optimal, objective, positive_ratio
from properties.exact.roots import RootSum
from properties.soundness.held import Held, numbers, truths, wrong
from properties.soundness.networks import NetworkAnswer, Question
from properties.soundness.truth import Truth, contradiction, truth_at
from relu_cert.network.objective import ConvexNeuron, Interval

MOST_MATCHED = 4  # all matchings of so many neurons are tried
FARTHEST = Fraction(4)  # the square of the distance of opposite directions

Signed = tuple[int, Vector]


@dataclass(frozen=True)
class NetworkTruth:
    """A network and the truth about the optimum of its data."""

    question: Question
    optimum: Truth

    @cached_property
    def alive(self) -> tuple[Signed, ...]:
        """Sign and image of the neurons that are not zero."""
        return tuple((i.sign, i.image) for i in self.question.net if any(i.image))

    @cached_property
    def outputs(self) -> tuple[Vector, ...]:
        """Their outputs xi (Zw)_+."""
        return tuple(scale(xi, output(self.question.Z, w)) for xi, w in self.alive)

    @cached_property
    def J(self) -> Fraction:
        """The objective."""
        return network_objective(self.question.Z, self.question.y, self.question.lam, self.question.net)

    def optimal_neurons(self, alpha: Vector) -> list[Signed]:
        """The neurons of an optimal network, in convex form."""
        t = self.optimum
        return [((-1) ** t.carriers[a][0], scale(x, t.v[a])) for a, x in enumerate(alpha) if x]

    @cached_property
    def directions(self) -> list[Signed]:
        """Sign and direction of all neurons that optimal networks have."""
        t = self.optimum
        return [((-1) ** t.carriers[a][0], t.v[a]) for a in t.used]

    @cached_property
    def own_patterns(self) -> tuple[Pattern, ...]:
        """The network's own patterns."""
        return tuple(dict.fromkeys(pattern_of(self.question.Z, w) for _, w in self.alive))

    @cached_property
    def own_value(self) -> Fraction | None:
        """The optimum over its own patterns, where it is known: one feature; or an optimal network has no others; or
        the network satisfies the optimality conditions of that program."""
        q = self.question
        own = relu_problem(q.Z, self.own_patterns, q.y, q.lam**2)
        if len(q.Z[0]) == 1:
            return objective(own, solve_lasso(own)).as_fraction()
        listed, t = patterns(q.Z).all, self.optimum
        mine = {a for a in t.used if any(listed[b // 2] in self.own_patterns for b in t.carriers[a])}
        if any(support <= mine for support in t.supports):
            return t.value
        weights = [(Fraction(0),) * len(q.Z[0])] * len(own.blocks)
        for xi, w in self.alive:
            b = 2 * self.own_patterns.index(pattern_of(q.Z, w)) + (xi < 0)
            weights[b] = add(weights[b], w)
        return objective(own, tuple(weights)).as_fraction() if is_optimal(own, tuple(weights)) else None

    @cached_property
    def known(self) -> dict[str, bool]:
        """The claims that are true, and those that are not."""
        q = self.question
        out = {
            "p-unique": self.optimum.p_unique,
            "network-optimal": self.J - self.optimum.value <= q.gap * self.J,
            "network-stationary": clarke_stationary(q.Z, q.y, q.lam, q.net),
            "network-balanced": all(norm2(i.W) == i.w2**2 for i in q.net),
            "network-merged": not any(self._merge(i, j) for i in range(len(self.alive)) for j in range(i)),
            "network-independent": rank(self.outputs) == len(self.outputs),
            "network-directions": all(not self.distance_squared(n)[1] for n in self.alive),
        }
        if self.alive and self.own_value is not None:
            out["network-own-optimal"] = self.J - self.own_value <= q.gap * self.J
        return out

    def _merge(self, i: int, j: int) -> bool:
        """(Zw_i)_+ + (Zw_j)_+ = (Z(w_i + w_j))_+, and the signs are equal."""
        (xi, w), (other, u) = self.alive[i], self.alive[j]
        whole = scale(xi, output(self.question.Z, add(w, u)))
        return xi == other and add(self.outputs[i], self.outputs[j]) == whole

    def distance_squared(self, neuron: Signed) -> enclose.Interval:
        """|w/|w| - v/|v||^2 = 2 - 2 w.v / (|w||v|) from the nearest direction that optimal networks have."""
        xi, w = neuron
        found = [(FARTHEST, FARTHEST)]
        for sign, v in self.directions:
            if sign == xi and positive_ratio(w, v) is not None:
                return Fraction(0), Fraction(0)
            if sign == xi:
                low, high = enclose.root(norm2(w) * norm2(v))
                ends = sorted((2 - 2 * dot(w, v) / low, 2 - 2 * dot(w, v) / high))
                found.append((max(ends[0], Fraction(0)), ends[1]))
        return min(a for a, _ in found), min(b for _, b in found)


def truth_of(question: Question) -> NetworkTruth:
    """All that is known."""
    q = question
    convex = relu_problem(q.Z, patterns(q.Z).all, q.y, q.lam**2)
    return NetworkTruth(q, truth_at(convex, q.r, "relu"))


def network_contradiction(answer: NetworkAnswer, truth: NetworkTruth) -> str:
    """Where the answer contradicts the truth; "" if nowhere."""
    found = answer.comparison.examination
    if found.J != truth.J:
        return f"J is {truth.J}, not {found.J}"
    return (
        contradiction(answer, truth.optimum)
        or wrong(answer.said, truth.known)
        or _wrong_directions(answer.comparison.directions, truth)
        or _wrong_pruned(answer, truth)
        or _wrong_nearest(answer, truth)
    )


def held_of(truth: NetworkTruth) -> Held:
    """What the claims about the network are held against."""
    known = ("network-objective", "network-prune", "network-nearest", "optimal", "fit", "patterns-complete")
    return numbers((*known, "optimal-set")) | truths(truth.known)


def _wrong_directions(found: Sequence[Interval], truth: NetworkTruth) -> str:
    for neuron, one in zip(truth.alive, found, strict=True):
        low, high = truth.distance_squared(neuron)
        if one.lower**2 > high or one.upper**2 < low:
            return f"the direction of {neuron} is not within [{float(one.lower)}, {float(one.upper)}] of an optimal one"
    return ""


def _wrong_pruned(answer: NetworkAnswer, truth: NetworkTruth) -> str:
    """The pruned network has the same fit, independent outputs, and sum |w| no larger."""
    q, left = truth.question, answer.comparison.examination.pruned.neurons
    outputs = [scale(n.sign, output(q.Z, n.w)) for n in left]
    if total(outputs, len(q.y)) != total(truth.outputs, len(q.y)):
        return "the pruned network has another fit"
    if rank(outputs) < len(outputs):
        return "the outputs of the pruned network are dependent"
    if _length(w for _, w in truth.alive) < _length(n.w for n in left):
        return "the pruned network has a higher objective"
    return ""


def _length(weights: Iterator[Vector]) -> RootSum:
    out = RootSum()
    for w in weights:
        out = out + RootSum.sqrt(norm2(w))
    return out


def _wrong_nearest(answer: NetworkAnswer, truth: NetworkTruth) -> str:
    """The merged network is as good as the given one, and as far from some optimal network as is said: at most as far
    as from those that are tried, and exactly so where there is one only."""
    q, merged, found = truth.question, answer.comparison.examination.cells.neurons, answer.comparison.closest
    if total((scale(n.sign, output(q.Z, n.w)) for n in merged), len(q.y)) != total(truth.outputs, len(q.y)):
        return "the merged network has another fit"
    if found is None:
        return ""
    t = truth.optimum
    tried = [*t.vertices, barycentre(t.vertices)]
    distances = [_distance_squared(merged, truth.optimal_neurons(alpha)) for alpha in tried]
    known = [d for d in distances if d is not None]
    if known and found.distance.lower**2 > min(known):
        return f"an optimal network is at distance^2 {min(known)}, less than {float(found.distance.lower)}^2"
    if known and t.p_unique and found.distance.upper**2 < known[0]:
        return f"the only optimal network is at distance^2 {known[0]}, more than {float(found.distance.upper)}^2"
    return ""


def _distance_squared(given: Sequence[ConvexNeuron], optimal: Sequence[Signed]) -> Fraction | None:
    """The least over all matchings of neurons of one sign; None if there are too many."""
    if max(len(given), len(optimal)) > MOST_MATCHED:
        return None
    size = max(len(given), len(optimal))
    places: list[Signed | None] = [*optimal, *[None] * (size - len(optimal))]
    alone = sum((norm2(n.w) for n in given), Fraction(0)) + sum((norm2(w) for _, w in optimal), Fraction(0))
    best = alone
    for order in permutations(places):
        cost = alone
        for n, partner in zip(given, order, strict=False):
            if partner is not None and partner[0] == n.sign:
                cost += min(Fraction(0), norm2(sub(n.w, partner[1])) - norm2(n.w) - norm2(partner[1]))
        best = min(best, cost)
    return best
