"""Small instances, their exact optimum by the list of patterns, and (*) decided exactly in the plane."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from relu_cert import certify
from relu_cert.evidence import Leaders
from relu_cert.exact import Vector, dot, matrix, norm_squared, vector
from relu_cert.leaders.find import FloatNeuron, find_leaders
from relu_cert.results.certified import Certified
from relu_cert.serialize import serialize
from verify.optimal.leaders import check_leaders
from verify.problem.problem import Problem
from verify.problem.variants import with_free_terms
from verify.rules.logistic.value import ONE, entropy_of
from verify.text import Node

LONG = 600.0  # seconds: time is never what decides a test
Z_SMALL = ((3, 1), (1, 2), (-2, 1), (-1, -3), (2, -2), (1, 2), (0, 0), (-3, 1), (2, 3), (-1, 1))
Y_SMALL = (2, -1, 1, 3, -2, 1, 1, -1, 0, 2)


def solved(rows: Any, y: Any, lam: str, loss: str = "squares") -> Certified:
    """The optimum of all networks, proved by the list of patterns."""
    return certify(rows, y, lam, loss=loss)  # type: ignore[arg-type]


def neurons_of(result: Certified) -> list[FloatNeuron]:
    """The neurons of the certified network."""
    return [FloatNeuron(neuron.sign, neuron.w) for neuron in result.facts.primal.neurons]


def found(rows: Any, y: Any, lam: str, loss: str = "squares", cells: int = 2) -> tuple[Leaders, Certified]:
    """The leaders for the optimal network, and that network."""
    result = solved(rows, y, lam, loss)
    logistic = loss == "logistic"
    leaders = find_leaders(
        matrix(rows), vector(y), Fraction(lam), neurons_of(result), LONG, logistic=logistic, good=1e-6, cells=cells
    )
    assert leaders is not None
    return leaders, result


def node_of(leaders: Leaders | dict[str, Any]) -> Node:
    """The evidence as the checker reads it."""
    record = serialize(leaders) if isinstance(leaders, Leaders) else leaders
    return Node(json.loads(json.dumps(record)), None, "leaders")


def checked(
    rows: Any,
    y: Any,
    lam: str,
    evidence: Leaders | dict[str, Any],
    logistic: bool = False,
    free: tuple[str, ...] = (),
) -> tuple[Vector, Fraction]:
    """The theta that the checker accepts, and the lower bound that it gives."""
    problem = Problem("relu", Fraction(lam), matrix(rows), vector(y), logistic=logistic)
    if free:
        problem = with_free_terms(problem, Node(list(free), None, "free"))
    theta = check_leaders(problem, node_of(evidence))
    if logistic:
        return theta, Fraction(sum(entropy_of(a * b)[0] for a, b in zip(problem.y, theta, strict=True)), ONE)
    return theta, sum((a * b - b * b / 2 for a, b in zip(problem.y, theta, strict=True)), Fraction(0))


def height(Z: Sequence[Vector], theta: Sequence[Fraction], u: Sequence[Fraction]) -> Fraction:
    """sum theta_k (z_k.u)_+"""
    return sum((t * max(dot(z, u), Fraction(0)) for t, z in zip(theta, Z, strict=True)), Fraction(0))


def holds_in_plane(rows: Any, theta: Sequence[Fraction], lam: Fraction) -> bool:
    """Whether xi sum theta_k (z_k.u)_+ <= lambda |u| for all u in R^2, decided exactly: on a cone where no row changes
    its sign the left side is linear, so the worst direction is a boundary ray or the gradient."""
    Z = matrix(rows)
    for xi in (1, -1):
        t = [xi * x for x in theta]
        for u in worst(Z, t):
            h = height(Z, t, u)
            if h > 0 and h * h > lam * lam * norm_squared(u):
                return False
    return True


def worst(Z: Sequence[Vector], t: Sequence[Fraction]) -> Iterator[Vector]:
    """The rays where rows vanish, and the gradients of all cones between them."""
    rays = sorted({ray for z in Z if any(z) for ray in ((-z[1], z[0]), (z[1], -z[0]))}, key=_angle)
    rays = rays or [(Fraction(1), Fraction(0)), (Fraction(-1), Fraction(0))]
    yield from rays
    for one, two in zip(rays, (*rays[1:], rays[0]), strict=True):
        inside = (one[0] + two[0], one[1] + two[1])
        for middle in (inside, (-one[1], one[0])):
            on = [t_k if dot(z, middle) > 0 else Fraction(0) for t_k, z in zip(t, Z, strict=True)]
            yield tuple(dot(on, column) for column in zip(*Z, strict=True))


def _angle(ray: Vector) -> float:
    return float(np.arctan2(float(ray[1]), float(ray[0])))
