"""Refinement: points with as many digits as one asks for, and neurons that rest exactly on their kinks."""

from __future__ import annotations

from fractions import Fraction

import pytest

from relu_cert.exact import Vector, dot, matrix, norm_squared, vector
from relu_cert.problem.problem import Problem
from relu_cert.prove.prove import exact_neuron, prove
from relu_cert.prove.prove import lambda_max as exact_lambda_max
from relu_cert.refine import Refined, RefinedNeuron, refine
from relu_cert.solve import lambda_max, multipliers, prepare, solve
from tests.solve.instances import direct, network, random_direct, random_network

RATIOS = (0.9, 0.1, 1e-2, 1e-4)


def instance(kind: str, seed: int) -> Problem:
    """A random problem of one model."""
    return random_direct(seed) if kind == "cgl" else random_network(seed, kind)


def output(problem: Problem, neuron: RefinedNeuron) -> Vector:
    """The neuron's share of the fit, exactly."""
    if neuron.block is None:
        return tuple(neuron.sign * max(dot(z, neuron.w), Fraction(0)) for z in problem.relu.Z)
    return tuple(dot(row, neuron.w) for row in problem.blocks[neuron.block].X)


def rational_lambda(problem: Problem, ratio: float) -> Fraction:
    """A short rational near ratio * lambda_max."""
    return Fraction(ratio * lambda_max(problem)).limit_denominator(10**5)


@pytest.mark.parametrize("kind", ["relu", "gated", "cgl"])
@pytest.mark.parametrize("seed", range(18))
def test_the_optimality_conditions_hold_to_forty_digits(kind: str, seed: int) -> None:
    """y - fit = theta, and every neuron has theta.output = lambda |w|, in exact arithmetic up to 1e-38."""
    problem = instance(kind, seed)
    for ratio in RATIOS:
        lam = rational_lambda(problem, ratio)
        if lam == 0:
            continue
        refined = refine(problem, solve(problem, float(lam)), lam, 40)
        assert refined.reason == ""
        outputs = [output(problem, n) for n in refined.neurons]
        errors = [y - sum(column) - t for y, t, *column in zip(problem.y, refined.theta, *outputs, strict=True)]
        assert norm_squared(errors) <= Fraction(1, 10**76) * norm_squared(refined.theta)
        for neuron, q in zip(refined.neurons, outputs, strict=True):
            square = dot(refined.theta, q) ** 2
            assert abs(square - lam * lam * norm_squared(neuron.w)) <= Fraction(1, 10**38) * square


def test_kinks_are_exact() -> None:
    """A row that a float neuron nearly misses is missed exactly: z_k.w is 0 or clearly not 0."""
    kinks = 0
    for seed in range(12):
        problem = random_network(seed, "relu")
        assert problem.network is not None
        for ratio in RATIOS:
            lam = rational_lambda(problem, ratio)
            for neuron in refine(problem, solve(problem, float(lam)), lam, 40).neurons:
                for z in problem.network.Z:
                    square = dot(z, neuron.w) ** 2
                    assert square == 0 or square > Fraction(1, 10**20) * norm_squared(z) * norm_squared(neuron.w)
                    kinks += square == 0 and any(z)
    assert kinks > 100


def proved_gap(problem: Problem, lam: Fraction, refined: Refined, digits: int) -> Fraction:
    """The relative gap that the prover proves from the refined point."""
    floats = prepare(problem)

    bits = 4 * digits + 40
    neurons = [exact_neuron(problem, n.sign, n.block, n.w, bits) for n in refined.neurons]
    largest = exact_lambda_max(problem, multipliers(floats, floats.y, 0.0))
    facts = prove(
        problem,
        lam,
        largest,
        Fraction(1),
        neurons,
        refined.theta,
        lambda t: multipliers(floats, t, 0.99 * float(lam)),
        bits,
    )
    return (facts.value.upper - facts.value.lower) / facts.value.upper


@pytest.mark.parametrize("kind", ["relu", "gated", "cgl"])
@pytest.mark.parametrize(("digits", "seeds"), [(33, range(6)), (103, range(2))])
def test_tiny_gaps_can_be_proved(kind: str, digits: int, seeds: range) -> None:
    """The prover, which trusts nothing, proves a relative gap of 1e-30 and of 1e-100 from the refined point."""
    for seed in seeds:
        problem = instance(kind, seed)
        lam = rational_lambda(problem, 0.05)
        refined = refine(problem, solve(problem, float(lam)), lam, digits)
        assert proved_gap(problem, lam, refined, digits) <= Fraction(1, 10 ** (digits - 3))


def test_a_known_solution_is_found() -> None:
    """y = (6,8), X = I, lambda = 5: r* = (3,4) and w* = (3,4)."""
    problem = direct([matrix([[1, 0], [0, 1]])], [None], [6, 8])
    refined = refine(problem, solve(problem, 5.0), Fraction(5), 60)
    (neuron,) = refined.neurons
    for found in (refined.theta, neuron.w):
        error = tuple(a - b for a, b in zip(found, vector([3, 4]), strict=True))
        assert norm_squared(error) <= Fraction(1, 10**118)


def test_zero_networks_keep_theta() -> None:
    """Above lambda_max there is nothing to refine: theta is y."""
    problem = network([[1, 2], [3, -1], [-2, 1]], [1, 2, 3])
    refined = refine(problem, solve(problem, 100.0), Fraction(100), 40)
    assert refined.neurons == ()
    assert refined.theta == problem.y


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_a_bad_start_is_handed_back(seed: int, rounds: int) -> None:
    """An unfinished float solution is returned as it is, with a reason, or refined correctly; never a wrong claim."""
    problem = random_network(seed, "relu")
    lam = rational_lambda(problem, 0.01)
    rough = solve(problem, float(lam), rounds=rounds)
    refined = refine(problem, rough, lam, 40)
    if refined.reason:
        assert refined.theta == tuple(Fraction(float(x)) for x in rough.theta)
        assert len(refined.neurons) == len(rough.neurons)
    else:
        assert proved_gap(problem, lam, refined, 40) <= Fraction(1, 10**37)
