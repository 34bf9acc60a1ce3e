"""Intervals on which the network is not unique, and their certificates."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from relu_cert.prove.facts import Facts
from tests.path.cases import certificate_text, facts_on, network

F = Fraction
CASES = {
    "a point becomes fitted": (network([[0, 3], [1, 2], [-3, -2]], [2, 2, 3], "gated"), F(1), F(119, 220), F(119, 88)),
    "a pair enters": (
        network([[-1, 2], [-2, 0], [1, -1], [-2, -3]], [1, 3, -3, 1], "gated"),
        F(1),
        F(73, 120),
        F(73, 48),
    ),
    "a gate that must stay shut": (
        network([[3, 2], [1, 3], [2, 2], [2, 2], [-2, -3]], [0, -3, -2, 2, -1], "gated"),
        F(12, 5),
        F(12, 5),
        F(5, 2),
    ),
    "antipodal neurons set in": (
        network([[-2, -3], [3, 3], [4, 3], [-2, -2], [0, -1]], [-2, 4, 1, -1, 4]),
        F(14, 25),
        F(27, 50),
        F(57, 100),
    ),
    "antipodal neurons": (
        network(
            [[1, 2], [-3, 0], [3, 3], [3, 2], [1, 3], [-2, 1], [3, 1]],
            [-2, 0, -3, 0, 3, -1, 1],
        ),
        F(2, 5),
        F(2, 5),
        F(9, 20),
    ),
}
SEVERAL = ("a point becomes fitted", "a pair enters", "antipodal neurons set in", "antipodal neurons")  # not all unique


@cache
def facts_of(name: str) -> Facts:
    """The facts of one case."""
    return facts_on(*CASES[name])


@cache
def text_of(name: str) -> str:
    """Its certificate."""
    return certificate_text(facts_of(name))
