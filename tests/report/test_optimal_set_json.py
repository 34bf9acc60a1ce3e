"""The object `optimal_set` of `check --json`, re-computed from its own numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from relu_cert.driver.optimum import LambdaChoice, find_facts
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, relu
from relu_cert.prove.facts import Facts
from relu_cert.report.optimal_set import optimal_set_json
from tests.prove.test_polytope_planted import GAP, Silent

Z = tuple(tuple(map(Fraction, z)) for z in ([1, 2], [-1, 1], [2, -1], [-2, -2], [0, 3], [1, -3], [3, 1]))
Y = tuple(map(Fraction, (3, 1, 2, 4, 5, 2, 1)))


def told(model: str) -> tuple[Facts, dict[str, Any]]:
    """A network whose optimum is irrational, and what is told of its optimal set."""
    build = relu if model == "relu" else gated
    facts = find_facts(build(Z, Y, enumerate_patterns(Z)), LambdaChoice(value=Fraction(1, 10)), GAP, Silent())
    content = optimal_set_json(facts)
    assert content is not None
    return facts, content


@pytest.mark.parametrize("model", ["relu", "gated"])
def test_the_dual_vectors(model: str) -> None:
    """v is the map of theta, has length lambda up to its radius, and every neuron of S is one of E."""
    facts, content = told(model)
    for neuron in content["neurons"]:
        v = [Fraction(x) for x in neuron["v"]]
        radius = Fraction(neuron["radius"])
        if neuron["map"] is not None:
            theta = facts.dual.theta
            assert v == [sum(Fraction(m) * t for m, t in zip(row, theta, strict=True)) for row in neuron["map"]]
        assert (facts.lam - radius) ** 2 <= sum(x * x for x in v) <= (facts.lam + radius) ** 2
    assert set(content["S"]) <= set(range(len(content["neurons"])))


@pytest.mark.parametrize("model", ["relu", "gated"])
def test_every_vertex_fits(model: str) -> None:
    """The networks w = alpha v of all vertices have the fit y - theta, up to what the ball leaves open."""
    facts, content = told(model)
    for vertex in content["vertices"]:
        for z, on, y_k, t_k in zip(Z, range(len(Z)), Y, facts.dual.theta, strict=True):
            fit = Fraction(0)
            for a, weight in zip(vertex["support"], vertex["weights"], strict=True):
                neuron = content["neurons"][a]
                height = sum(Fraction(x) * c for x, c in zip(neuron["v"], z, strict=True))
                opened = height > 0 if model == "relu" else neuron["pattern"][on] == "1"
                fit += neuron["sign"] * Fraction(weight) * height * opened
            assert abs(fit - (y_k - t_k)) < Fraction(1, 10**6)
