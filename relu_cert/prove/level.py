"""Level classes: where biases are free, neurons that are zero at no row.

Such a neuron keeps its pattern D for an interval of biases. If it is active, the residual is orthogonal to 1_D, and 1_D is
a row of the lift: in the lifted problem it has a free coefficient. If that is the weight times a bias of the interval,
the lifted solution is a network, and solves the given problem; the neuron can be split into two of other biases.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb_mat

from relu_cert.exact import Vector, dot, norm_squared, sqrt_upper
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import ClassMap, has_biases, size_squared
from relu_cert.prove.definite import upper_length
from relu_cert.prove.facts import BallSet, Facts, NeuronClass
from relu_cert.prove.split import Outputs
from relu_cert.prove.unsettled import Unsettled
from relu_cert.rationals import column, matrix_of, to_fraction, to_vector

LINEAR = "a neuron that is on at all rows ties, and can change its free bias together with the output bias"
ORTHOGONAL = "a neuron is zero at no row, and the residual is not orthogonal to its rows"
TOGETHER = "a neuron is zero at no row, and its output differs from another's by free terms"
WITHOUT = "a neuron that is zero at no row may have weight zero"
NEAR = "a neuron is so near to a row that its free bias does not settle on which side"


def level_classes(problem: Problem, classes: Sequence[NeuronClass]) -> list[int]:
    """The level ones."""
    return [a for a, neuron in enumerate(classes) if has_biases(problem) and not neuron.kinks]


def on_rows(neuron: NeuronClass) -> Vector:
    """1_D"""
    return tuple(Fraction(int(bit)) for bit in neuron.pattern or "")


def check_linear(facts: Facts) -> None:
    """Unsettled where a neuron that is on at all rows ties, or nearly."""
    X = list(zip(*facts.problem.relu.Z, strict=True))[:-1]
    slope = sqrt_upper(sum((dot(x, facts.dual.theta) ** 2 for x in X), Fraction(0)), 64)
    if slope + sqrt_upper(size_squared(facts.problem) * facts.fit.radius_squared, 64) >= facts.lam:
        raise Unsettled(LINEAR)


def check_level(facts: Facts, found: BallSet, maps: Sequence[ClassMap], outputs: Outputs, level: list[int]) -> None:
    """Unsettled unless the lift gives each level class a bias that keeps its pattern, up to its possible error."""
    problem, theta, masses, delta = facts.problem, facts.dual.theta, found.masses, found.mass_error
    if len(found.groups) < len(maps):
        raise Unsettled(TOGETHER)
    L, R = matrix_of(found.lift), sqrt_upper(facts.fit.radius_squared, 64)
    W = (L * L.transpose()).solve(L)
    rest = column([y_k - t_k for y_k, t_k in zip(problem.y, theta, strict=True)]) - outputs.Q * column(masses)
    sizes = sum((upper_length(arb_mat(one.output(column(theta)))) for one in maps), Fraction(0))
    missed = R + delta * sizes + (sum(map(abs, masses)) + len(masses) * delta) * outputs.error
    for j, a in enumerate(level, len(found.lift) - len(level)):
        neuron, W_j = found.classes[a], tuple(map(to_fraction, W.tolist()[j]))
        if masses[a] <= delta:
            raise Unsettled(WITHOUT)
        b = neuron.sign * to_fraction((W * rest)[j, 0]) / masses[a]
        off = (sqrt_upper(norm_squared(W_j), 64) * missed + abs(b) * delta) / (masses[a] - delta)
        w = [neuron.sign * x for x in to_vector(maps[a].B().transpose() * column(theta))]
        for z, bit in zip(problem.relu.Z, neuron.pattern or "", strict=True):
            moved = sqrt_upper(norm_squared(z) * size_squared(problem), 64) * R
            if (dot(z, tuple(w)) + b) * (1 if bit == "1" else -1) <= off + moved:
                raise Unsettled(NEAR)
