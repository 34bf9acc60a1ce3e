"""Level classes: where biases are free, neurons that are zero at no row.

Such a neuron keeps its pattern D for an interval of biases. If it is active, the residual is orthogonal to 1_D, and 1_D
is a row of the lift: in the lifted problem it has a free coefficient. If that is the weight times a bias of the
interval, the lifted solution is a network, and solves the given problem; the neuron can be split into two of other
biases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import arb_mat, fmpq_mat
from numpy.typing import NDArray

from relu_cert.errors import Unsettled
from relu_cert.exact import Matrix, Vector, column, dot, matrix_of, norm_squared, sqrt_upper, to_fraction, to_vector
from relu_cert.problem.networks import parallel_classes
from relu_cert.problem.problem import Network, Problem
from relu_cert.prove.classes import ClassMap, has_biases, independent, size_squared
from relu_cert.prove.facts import BallSet, Facts, NeuronClass
from relu_cert.prove.projection import deepest, floats, upper_length
from relu_cert.prove.split import SEEMS_POSITIVE, SplitOutputs, columns, null_space, split_map, with_split

Floats = NDArray[np.float64]
LINEAR = "a neuron that is on at all rows ties, and can change its free bias together with the output bias"
ORTHOGONAL = "a neuron is zero at no row, and the residual is not orthogonal to its rows"
DEPENDENT = "neurons that are zero at no row depend on each other by their free biases"
WITHOUT = "a neuron that ties and is zero at no row may have weight zero"
NEAR = "a neuron is so near to a row that its free bias does not settle on which side"


def level_classes(problem: Problem, classes: Sequence[NeuronClass]) -> list[int]:
    """The level ones."""
    return [a for a, neuron in enumerate(classes) if has_biases(problem) and not neuron.kinks]


def is_linear(neuron: NeuronClass) -> bool:
    """On at all rows."""
    return "0" not in (neuron.pattern or "")


def rows_of_lift(problem: Problem, classes: Sequence[NeuronClass], level: Sequence[int]) -> dict[str, Vector]:
    """P 1_D of the level classes by D, but for linear ones (the constant is free anyway) and the other rows of one
    before."""
    named: dict[str, Vector] = {}
    for pattern in (classes[a].pattern or "" for a in level if not is_linear(classes[a])):
        if _others(pattern) not in named:
            named[pattern] = problem.relu.bags.pooled([Fraction(int(bit)) for bit in pattern])
    return named


def _others(pattern: str) -> str:
    return pattern.translate({48: 49, 49: 48})


def no_linear(facts: Facts) -> bool:
    """Whether no neuron that is on at all rows can tie."""
    X = list(zip(*facts.problem.relu.Z, strict=True))[:-1]
    t = facts.problem.relu.bags.spread(facts.dual.theta)
    slope = sqrt_upper(sum((dot(x, t) ** 2 for x in X), Fraction(0)), 64)
    return slope + sqrt_upper(size_squared(facts.problem) * facts.fit.radius_squared, 64) < facts.lam


@dataclass(frozen=True)
class _Row:
    """A row of the lift of level classes: W, a row of the dual basis, and the ends of sign times bias, by class."""

    W: Vector
    ends: Mapping[int, tuple[Fraction, Fraction]]


def with_level(
    facts: Facts, plain: BallSet, maps: Sequence[ClassMap], outputs: SplitOutputs, level: list[int]
) -> BallSet:
    """The set with the number of level classes that have weight in some optimal network; Unsettled if there is none, or
    no biases that keep the patterns add up to what the lift has."""
    if not any(is_linear(plain.classes[a]) for a in level) and not no_linear(facts):
        raise Unsettled(LINEAR)
    rows = _rows(facts, plain, maps, level)
    found = plain
    weights, error = dict(zip((group[0] for group in plain.groups), plain.masses, strict=True)), plain.mass_error
    if plain.equations or len(plain.groups) < len(plain.classes):
        start = _inside(facts, plain, outputs, rows)
        found = with_split(facts.problem.y, plain, maps, outputs, start)
        weights, error = {a: found.split[a] for a in found.active}, found.split_error
    heavy = [a for a in level if weights.get(a, error) > error]
    if not heavy:
        raise Unsettled(WITHOUT)
    rest = column(facts.problem.y) - columns(outputs.Q, list(weights)) * column(list(weights.values()))
    sizes = sum((upper_length(arb_mat(columns(outputs.Q, [a]))) for a in weights), Fraction(0))
    missed = error * sizes + (sum(map(abs, weights.values())) + len(weights) * error) * outputs.error
    for row in rows:
        total, off = dot(row.W, to_vector(rest)), sqrt_upper(norm_squared(row.W), 64) * missed
        low, high = off, -off
        for a in {*weights} & {*row.ends}:
            least, most = row.ends[a]
            low += weights[a] * least + error * abs(least)
            high += weights[a] * most - error * abs(most)
        if not low < total < high:
            raise Unsettled(NEAR if {*weights} & {*row.ends} else WITHOUT)
    return replace(found, level=len(heavy))


def _rows(facts: Facts, plain: BallSet, maps: Sequence[ClassMap], level: Sequence[int]) -> list[_Row]:
    """The rows of level classes, each with the classes that it is of."""
    L, names = matrix_of(plain.lift), rows_of_lift(facts.problem, plain.classes, level)
    W = (L * L.transpose()).solve(L).tolist()
    found = []
    for pattern, W_j in zip(names, W[plain.free - len(names) : plain.free], strict=True):
        ends = {}
        for a in level:
            own, xi = plain.classes[a].pattern or "", plain.classes[a].sign
            if own in (pattern, _others(pattern)):
                low, high = _kept_interval(facts, plain.classes[a], maps[a])
                if low < high:
                    s = xi if own == pattern else -xi
                    ends[a] = (low, high) if s > 0 else (-high, -low)
        found.append(_Row(tuple(map(to_fraction, W_j)), ends))
    return found


def _kept_interval(facts: Facts, neuron: NeuronClass, one: ClassMap) -> tuple[Fraction, Fraction]:
    """The ends of an interval of biases that keep the pattern, for every residual of the ball."""
    problem, R = facts.problem, sqrt_upper(facts.fit.radius_squared, 64)
    w = tuple(neuron.sign * x for x in to_vector(one.B().transpose() * column(facts.dual.theta)))
    low, high = [], []
    for z, bit in zip(problem.relu.Z, neuron.pattern or "", strict=True):
        room = sqrt_upper(norm_squared(z) * size_squared(problem), 64) * R
        if bit == "1":
            low.append(room - dot(z, w))
        else:
            high.append(-dot(z, w) - room)
    return max(low), min(high)


def _inside(facts: Facts, plain: BallSet, outputs: SplitOutputs, rows: Sequence[_Row]) -> Floats:
    """Weights that are as far as possible from where a bias no longer keeps a pattern, or a weight is zero; or, if some
    are zero in all networks, from the former."""
    k, y, level = len(plain.classes), facts.problem.y, {a for row in rows for a in row.ends}
    Phi = floats(split_map(plain.equations, plain.groups, outputs.Q, ()))
    goal = np.array([float(x) for x in (*plain.masses, *(dot(row, y) for row in plain.equations))])
    scale = np.maximum(np.abs(Phi).max(axis=1), 1e-300)
    Q, A, b = floats(outputs.Q), [], []
    for row in rows:
        pull, ends = np.array([float(x) for x in row.W]) @ Q, np.zeros((2, k))
        for a, both in row.ends.items():
            ends[:, a] = [float(x) for x in both]
        size = float(np.abs(ends).max()) or 1.0
        A += [(ends[0] + pull) / size, -(ends[1] + pull) / size]
        b += [float(dot(row.W, y)) / size, -float(dot(row.W, y)) / size]
    bent = {a for a, one in enumerate(plain.classes) if not one.kinks and not is_linear(one)}
    bounds = [(0.0, 0.0 if a in bent - level else None) for a in range(k)]
    for most in (-np.eye(k)[[a for a in range(k) if a not in bent - level]], np.zeros((0, k))):
        found = deepest(
            np.array([*A, *most]).reshape(-1, k),
            np.array([*b, *np.zeros(len(most))]),
            bounds,
            most=1.0,
            equal=Phi / scale[:, None],
            goal=goal / scale,
        )
        if found is not None and found[1] > SEEMS_POSITIVE * np.abs(found[0]).max():
            return found[0]
    raise Unsettled(NEAR)


def rows_beside(
    problem: Problem, classes: Sequence[NeuronClass], theta: Vector, free: Matrix, level: Sequence[int]
) -> Matrix:
    """Independent rows, orthogonal to the free ones and to theta."""
    Z, bags = problem.relu.Z, problem.relu.bags
    proposed: list[Vector] = []
    for kinks in {neuron.kinks: None for neuron in classes}:
        columns = [bags.pooled(one) for one in on_face(Z, kinks)]
        if not any(dot(one, theta) for one in columns):
            proposed += columns
    if level:
        proposed += _without_weight(problem.relu, theta, free)
    chosen = independent((*free, *proposed))[len(free) :]
    if not chosen or not free:
        return chosen
    B, rows = matrix_of(free), matrix_of(chosen)
    inside = (B * B.transpose()).solve(B * rows.transpose())
    return tuple(to_vector(fmpq_mat([row])) for row in (rows - inside.transpose() * B).tolist())


def on_face(Z: Matrix, kinks: Sequence[int]) -> list[Vector]:
    """Z u for a basis of the u that vanish on these rows."""
    d = len(Z[0])
    face = null_space(matrix_of([*(Z[k] for k in kinks), (Fraction(0),) * d]))
    return [to_vector(matrix_of(Z) * u) for u in face]


def _without_weight(network: Network, theta: Vector, free: Matrix) -> Iterator[Vector]:
    """The lines that have no weight: differences of those that the free rows do not tell apart, then one of each."""
    first: dict[tuple[Fraction, ...], Vector] = {}
    t = network.bags.spread(theta)
    for rows in parallel_classes(network.Z).values():
        if not sum((t[k] for k in rows), Fraction(0)):
            line = network.bags.pooled([Fraction(k in rows) for k in range(len(network.Z))])
            other = first.setdefault(tuple(dot(row, line) for row in free), line)
            yield tuple(a - b for a, b in zip(line, other, strict=True)) if other != line else line
