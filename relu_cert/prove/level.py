"""Level classes: where biases are free, neurons that are zero at no row.

Such a neuron keeps its pattern D for an interval of biases. If it is active, the residual is orthogonal to 1_D, and 1_D
is a row of the lift: in the lifted problem it has a free coefficient. If that is the weight times a bias of the
interval, the lifted solution is a network, and solves the given problem; the neuron can be split into two of other
biases.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb_mat

from relu_cert.exact import Matrix, dot, norm_squared, sqrt_upper
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import ClassMap, has_biases, size_squared
from relu_cert.prove.definite import upper_length
from relu_cert.prove.facts import BallSet, Facts, NeuronClass
from relu_cert.prove.split import Outputs, columns
from relu_cert.prove.unsettled import Unsettled
from relu_cert.rationals import column, matrix_of, to_fraction, to_vector

LINEAR = "a neuron that is on at all rows ties, and can change its free bias together with the output bias"
ORTHOGONAL = "a neuron is zero at no row, and the residual is not orthogonal to its rows"
DEPENDENT = "neurons that are zero at no row depend on each other by their free biases"
TOGETHER = "neurons that are zero at no row differ from others by their free biases only"
WITHOUT = "a neuron that ties and is zero at no row may have weight zero"
NEAR = "a neuron is so near to a row that its free bias does not settle on which side"


def level_classes(problem: Problem, classes: Sequence[NeuronClass]) -> list[int]:
    """The level ones."""
    return [a for a, neuron in enumerate(classes) if has_biases(problem) and not neuron.kinks]


def is_linear(neuron: NeuronClass) -> bool:
    """On at all rows."""
    return "0" not in (neuron.pattern or "")


def rows_of_lift(classes: Sequence[NeuronClass], level: Sequence[int]) -> Matrix:
    """1_D of the level classes, but for linear ones: the constant is free anyway."""
    chosen = (classes[a].pattern or "" for a in level if not is_linear(classes[a]))
    return tuple(tuple(Fraction(int(bit)) for bit in pattern) for pattern in chosen)


def no_linear(facts: Facts) -> bool:
    """Whether no neuron that is on at all rows can tie."""
    X = list(zip(*facts.problem.relu.Z, strict=True))[:-1]
    slope = sqrt_upper(sum((dot(x, facts.dual.theta) ** 2 for x in X), Fraction(0)), 64)
    return slope + sqrt_upper(size_squared(facts.problem) * facts.fit.radius_squared, 64) < facts.lam


def check_level(facts: Facts, found: BallSet, maps: Sequence[ClassMap], outputs: Outputs, level: list[int]) -> int:
    """How many level classes have weight; Unsettled unless there is one, and the first class of every superclass can
    carry its mass alone, with a bias from the lift that keeps its pattern if it is level."""
    problem, theta, masses, delta = facts.problem, facts.dual.theta, found.masses, found.mass_error
    bent = [a for a in level if not is_linear(found.classes[a])]
    if bent == level and not no_linear(facts):
        raise Unsettled(LINEAR)
    mass_of = {group[0]: mass for group, mass in zip(found.groups, masses, strict=True)}
    heavy = [a for a in level if mass_of.get(a, delta) > delta]
    if any(a not in mass_of for a in bent):
        raise Unsettled(TOGETHER)
    if not {*bent} <= {*heavy} or not heavy:
        raise Unsettled(WITHOUT)
    L, R = matrix_of(found.lift), sqrt_upper(facts.fit.radius_squared, 64)
    W = (L * L.transpose()).solve(L)
    rest = column(problem.y) - columns(outputs.Q, list(mass_of)) * column(masses)
    sizes = sum((upper_length(arb_mat(maps[a].output(column(theta)))) for a in mass_of), Fraction(0))
    missed = delta * sizes + (sum(map(abs, masses)) + len(masses) * delta) * outputs.error
    for j, a in enumerate(bent, len(found.lift) - len(bent)):
        neuron, W_j = found.classes[a], tuple(map(to_fraction, W.tolist()[j]))
        b = neuron.sign * to_fraction((W * rest)[j, 0]) / mass_of[a]
        off = (sqrt_upper(norm_squared(W_j), 64) * missed + abs(b) * delta) / (mass_of[a] - delta)
        w = tuple(neuron.sign * x for x in to_vector(maps[a].B().transpose() * column(theta)))
        for z, bit in zip(problem.relu.Z, neuron.pattern or "", strict=True):
            moved = sqrt_upper(norm_squared(z) * size_squared(problem), 64) * R
            if (dot(z, w) + b) * (1 if bit == "1" else -1) <= off + moved:
                raise Unsettled(NEAR)
    return len(heavy)
