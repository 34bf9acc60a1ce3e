"""The formulas of paths, judged by the paper's definitions in sympy alone."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from sympy import QQ

from properties.symbolic.formulas import wrong_formulas
from properties.symbolic.numbers import column, matrix
from relu_cert import path

SQUARE = [[3, 0], [-3, 0], [0, 4], [0, -4]]
PATHS: dict[str, dict[str, Any]] = {
    "three points on a line": {"Z": [[1], [2], [-1]], "y": [1, 3, 2], "low": "1/10"},
    "exclusive or": {"Z": [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], "y": [0, 1, 1, 0], "low": "1/20"},
    "exclusive or without a bias": {"Z": [[-1, -1], [-1, 1], [1, -1], [1, 1]], "y": [-1, 1, 1, -1], "low": "1/20"},
    "three points with a bias": {"Z": [[0, 1], [1, 1], [2, 1]], "y": [0, 1, 0], "low": "1/10"},
    "two that move": {"Z": [[5, 1], [-3, 1], [0, 1]], "y": [2, -2, 0], "low": "1/20"},
    "neurons that turn": {"Z": [[-1, 1], [3, 1], [5, 1]], "y": [0, 2, -3], "low": "1/20"},
    "a square": {"Z": SQUARE, "y": [10, 10, 17, 17], "low": "1/50"},
}


def judged(options: dict[str, Any], change: Callable[[dict[str, Any]], None] = lambda _: None) -> list[str]:
    """What is wrong with the formulas of a path, after a change."""
    found = path(**options).exact
    assert found.complete
    told = copy.deepcopy(found.to_json())
    change(told)
    Z = matrix([[QQ(a) for a in row] for row in options["Z"]], len(options["Z"][0]))
    return wrong_formulas(Z, column([QQ(a) for a in options["y"]]), told)


@pytest.mark.parametrize("options", PATHS.values(), ids=PATHS)
def test_formulas_of_whole_paths_are_confirmed(options: dict[str, Any]) -> None:
    """On each stretch the network is optimal, p* its objective, its derivative the sum of the weights, and p* is
    continuous at the breakpoints."""
    assert judged(options) == []


@pytest.mark.parametrize(
    ("name", "where", "old", "new", "why"),
    [
        ("three points on a line", ("stretches", 0, "value"), "21/10", "211/100", "p* is not the objective"),
        ("three points on a line", ("stretches", 1, "value"), "17*lambda/5", "18*lambda/5", "d p*/d lambda"),
        (
            "three points on a line",
            ("stretches", 0, "neurons", 0, "weight"),
            "7/5 - lambda",
            "7/5 + lambda",
            "does not tie",
        ),
        ("three points with a bias", ("moving", 0, "value"), "12*alpha", "13*alpha", "d p*/d lambda"),
        ("a square", ("moving", 0, "lambda_squared"), "1381", "1382", "unit vector"),
        ("two that move", ("moving", 1, "value"), "lambda*w_2/2", "lambda*w_2/3", "d p*/d lambda"),
        ("two that move", ("moving", 1, "relations", 0), "25*u_1_1*w_1", "24*u_1_1*w_1", "does not tie"),
    ],
)
def test_formulas_that_are_off_are_noticed(name: str, where: tuple[Any, ...], old: str, new: str, why: str) -> None:
    """A coefficient that is another in p*, a weight or a relation."""

    def change(told: dict[str, Any]) -> None:
        part = told
        for key in where[:-1]:
            part = part[key]
        assert old in part[where[-1]], part[where[-1]]
        part[where[-1]] = part[where[-1]].replace(old, new)

    assert any(why in line for line in judged(PATHS[name], change))


def test_a_stretch_past_a_breakpoint_is_noticed() -> None:
    """The formula of one stretch on the next one, too: another neuron is longer than lambda; and a p* that jumps."""

    def stretch(told: dict[str, Any]) -> None:
        told["stretches"] = [one for one in told["stretches"] if one["hi"] == "7"]
        told["stretches"][0]["lo"] = "1/10"

    def jump(told: dict[str, Any]) -> None:
        for one in told["stretches"]:
            if one["hi"] == "7":
                one["value"] += " + 1/10**25"

    assert any("longer than lambda" in line for line in judged(PATHS["three points on a line"], stretch))
    assert any("jumps" in line for line in judged(PATHS["three points on a line"], jump))
