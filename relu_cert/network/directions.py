"""How far each neuron's direction is from those that optimal networks have.

The distance of two directions is |w/|w| - v/|v||, from 0 to 2. That of a neuron is the least one to the neurons of its
sign that optimal networks have; 2 where they have none of its sign. Trained floats are never exactly right, so bounds
on both sides are what is worth knowing: 0 and 0 where the direction is optimal exactly, lower > 0 where it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from relu_cert.evidence import Cover
from relu_cert.exact import Matrix, Vector, dot, norm_squared, products, sqrt_lower, sqrt_upper
from relu_cert.free import weights_of
from relu_cert.network.objective import HALF, ConvexNeuron, Interval, bias_free, outputs, outward, root
from relu_cert.network.optimum import KnownNeuron, Optimum
from relu_cert.network.trained import TrainedNetwork
from relu_cert.problem.problem import Block, Problem
from relu_cert.prove.facts import Facts, UnknownSet
from relu_cert.prove.polytope.polytope import Unlisted
from relu_cert.prove.prove import fit, primal, relu_neuron, value

NORM_BITS = 64


def own_problem(neurons: Sequence[ConvexNeuron], Z: Matrix, y: Vector) -> Problem:
    """The convex program over the network's own patterns 1(Z w_i >= 0) only, with both signs for each.

    Its optimum is what a network can reach without a new pattern. A network that is optimal here and not over all
    patterns is stuck at a point that a sub-sampled program would call its solution.
    """
    patterns = dict.fromkeys(tuple(dot(z, neuron.w) >= 0 for z in Z) for neuron in neurons)
    d = len(Z[0])
    blocks = []
    for pattern in patterns:
        sides = (tuple(-x if on else x for x in z) for on, z in zip(pattern, Z, strict=True))
        K = tuple(zip(*sides, strict=True))
        for xi in (1, -1):
            X = tuple(tuple(xi * x if on else Fraction(0) for x in z) for on, z in zip(pattern, Z, strict=True))
            blocks.append(Block(X, K))
    columns = tuple(tuple(range(d * b, d * (b + 1))) for b in range(len(blocks)))
    return Problem("cgl", y, tuple(blocks), columns=columns)


def network_facts(facts: Facts, neurons: Sequence[ConvexNeuron], gap: Fraction) -> Facts:
    """The facts with the given network as their feasible point, for pictures of it and for its gap alone.

    `value.upper` is its P, rounded up, so that the claim `optimal` says that it is optimal up to the gap asked for. The
    optimal set is left out: it is proved with the better point that the solver found.
    """
    exact = [relu_neuron(facts.problem.relu.Z, neuron.sign, neuron.w, NORM_BITS) for neuron in neurons]
    point = primal(facts.problem, exact)
    bounds, dual = value(facts.problem, facts.lam, point, facts.dual, gap), facts.dual
    if isinstance(dual.multipliers, Cover):  # theta does not follow from this network
        dual = replace(dual, multipliers=replace(dual.multipliers, source=None))
    return replace(
        facts,
        primal=point,
        dual=dual,
        value=bounds,
        fit=fit(facts.problem, point, bounds),
        optimal_set=UnknownSet(),
        vertices=Unlisted(),
    )


def reaches(facts: Facts, neurons: Sequence[ConvexNeuron]) -> list[Fraction]:
    """xi theta.(Zw)_+ + R |(Zw)_+| of every neuron, at least xi r*.(Zw)_+."""
    theta, R = facts.dual.theta, sqrt_upper(facts.fit.radius_squared)
    known = outputs(neurons, facts.problem.relu.Z, facts.problem.relu.bags)
    return [dot(theta, q) + R * sqrt_upper(norm_squared(q)) for q in known]


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


def apart(w: Vector, known: KnownNeuron) -> Interval:
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


@dataclass(frozen=True)
class Merged:
    """The merged neurons, and for each of them the numbers of those it is made of; `gone` are groups that cancel."""

    neurons: tuple[ConvexNeuron, ...]
    groups: tuple[tuple[int, ...], ...]
    gone: tuple[tuple[int, ...], ...] = ()

    @property
    def merges(self) -> tuple[tuple[int, ...], ...]:
        """The groups of more than one, in the order of their first."""
        return tuple(sorted(group for group in (*self.groups, *self.gone) if len(group) > 1))


def merge_collinear(neurons: Sequence[ConvexNeuron]) -> Merged:
    """One neuron for every sign and direction: the same function everywhere, at the same P."""
    groups: dict[tuple[int, Vector], list[int]] = {}
    for i, neuron in enumerate(neurons):
        groups.setdefault((neuron.sign, direction(neuron.w)), []).append(i)
    return _merged(neurons, list(groups.values()))


def merge_on_data(neurons: Sequence[ConvexNeuron], Z: Matrix) -> Merged:
    """Neurons merged, first come first served, wherever one cone of the data holds them: the same fit, P no higher.

    Collinear neurons are merged first, so that a symmetry is never broken by a merge that is only good on the data.
    """
    first = merge_collinear(neurons)
    groups: list[list[int]] = []
    sides: list[tuple[int, list[int]]] = []
    inner = products([neuron.w for neuron in first.neurons], Z)
    for i, neuron in enumerate(first.neurons):
        signs = [_sign(a) for a in inner[i]]
        for group, (xi, side) in zip(groups, sides, strict=True):
            if xi == neuron.sign and all(a * b >= 0 for a, b in zip(side, signs, strict=True)):
                group.append(i)
                side[:] = [a or b for a, b in zip(side, signs, strict=True)]
                break
        else:
            groups.append([i])
            sides.append((neuron.sign, signs))
    joined = _merged(first.neurons, groups)
    named = [[tuple(sorted(k for i in g for k in first.groups[i])) for g in gs] for gs in (joined.groups, joined.gone)]
    return Merged(joined.neurons, tuple(named[0]), tuple(named[1]))


def merge_cells(neurons: Sequence[ConvexNeuron], Z: Matrix) -> Merged:
    """One neuron for every sign and sign vector on the data: the same fit, P no higher, whatever the order is."""
    groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for i, (neuron, heights) in enumerate(zip(neurons, products([n.w for n in neurons], Z), strict=True)):
        groups.setdefault((neuron.sign, tuple(map(_sign, heights))), []).append(i)
    return _merged(neurons, list(groups.values()))


def direction(w: Vector) -> Vector:
    """w divided by the size of its first entry that is not zero: equal for two vectors iff w = c w', c > 0."""
    size = next(abs(x) for x in w if x)
    return tuple(x / size for x in w)


def _merged(neurons: Sequence[ConvexNeuron], groups: Sequence[Sequence[int]]) -> Merged:
    sums = [replace(neurons[group[0]], w=_total([neurons[i].w for i in group])) for group in groups]
    # Two neurons of one cone cancel only if all their rows vanish: then they have no output, and the sum is dropped.
    named = [(neuron, tuple(group)) for neuron, group in zip(sums, groups, strict=True)]
    kept = [(neuron, group) for neuron, group in named if any(neuron.w)]
    gone = tuple(group for neuron, group in named if not any(neuron.w))
    return Merged(tuple(neuron for neuron, _ in kept), tuple(group for _, group in kept), gone)


def _total(vectors: Sequence[Vector]) -> Vector:
    return tuple(sum(entries, Fraction(0)) for entries in zip(*vectors, strict=True))


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


@dataclass(frozen=True)
class NeuronScale:
    """|W1_i|^2 and w2_i^2 of one neuron, and what their difference costs. `dead`: its output is zero everywhere because
    one of its weights is (a free bias is in no norm, but not nothing)."""

    first: Fraction
    second: Fraction
    excess: Interval
    dead: bool

    @property
    def balanced(self) -> bool:
        """Whether the two norms are equal, exactly."""
        return self.first == self.second


def scales(network: TrainedNetwork, lam: Fraction) -> tuple[NeuronScale, ...]:
    """The scale of every neuron of W1 (an output bias is balanced). The excesses sum to J - P."""
    found = []
    for w, v in zip(bias_free(network).W1, network.V, strict=True):
        a, b = norm_squared(weights_of(network.free, w)), norm_squared(v)
        # (sqrt(a) - sqrt(b))^2 = a + b - 2 sqrt(ab), without cancellation: (a - b)^2 / (a + b + 2 sqrt(ab))
        product = root(a * b)
        excess = Interval(Fraction(0), Fraction(0))
        if a != b:
            square = (a - b) ** 2
            exact = Interval(square / (a + b + 2 * product.upper), square / (a + b + 2 * product.lower))
            excess = outward(exact, 128)
        found.append(NeuronScale(a, b, excess.scale(HALF * lam), not any(v) or not any(w)))
    return tuple(found)
