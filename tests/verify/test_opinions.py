"""What the checker accepts on small problems is true by oracles that share nothing with it; they notice what is not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import pytest

from tests.verify.opinions import KINDS, campaign, opinions
from tests.verify.score import CORPUS

QUICK = [kind for kind in KINDS if kind not in ("curve", "feature", "jump", "lasso")]


@pytest.mark.parametrize("kind", QUICK)
def test_what_is_accepted_is_true(kind: str) -> None:
    """A produced certificate, and what is accepted of some forgeries of it."""
    tally = campaign([kind], range(5, 6), 12)
    assert not tally.false and tally.counts["certificates"] + tally.counts["refused"] == 1


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_accepted_of_many_is_true(kind: str) -> None:
    """More of them; most are forged, and of what is accepted something is judged."""
    tally = campaign([kind], range(100, 106), 20)
    assert not tally.false and sum(tally.said.values()) > 10 and tally.counts["forged and accepted"] > 0


@cache
def produced(kind: str, seed: int) -> str:
    """A certificate."""
    text: str = KINDS[kind](Random(f"{kind} {seed}")).certificate
    return text


def turned(claim: str) -> Callable[[dict[str, Any]], None]:
    """The other verdict."""

    def change(tree: dict[str, Any]) -> None:
        (one,) = (one for one in tree["claims"] if one["claim"] == claim)
        one["verdict"] = {"PROVED": "REFUTED", "REFUTED": "PROVED"}[one["verdict"]]

    return change


def put(place: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Another value at a place."""

    def change(tree: dict[str, Any]) -> None:
        *path, last = [int(key) if key.isdigit() else key for key in place.split(".")]
        for key in path:
            tree = tree[key]  # type: ignore[index]
        tree[last] = value  # type: ignore[index]

    return change


NOTICED = [
    ("lasso", 1, turned("p-unique"), "p-unique REFUTED"),
    ("lasso", 1, turned("continuous"), "continuous REFUTED"),
    ("lasso", 1, turned("set-continuous"), "set-continuous REFUTED"),
    ("lasso", 1, put("facts.value.lower", "1000"), "value"),
    ("lasso", 1, put("facts.lambda_max.squared", "1"), "lambda_max"),
    ("lasso", 1, put("facts.derivatives.lambda.r", "7 7"), "derivatives"),
    ("lasso", 5, turned("e-equals-a"), "e-equals-a PROVED"),
    ("jump", 1, turned("continuous"), "continuous PROVED"),
    ("jump", 1, turned("p-unique"), "p-unique PROVED"),
    ("jump", 1, put("facts.polytope.vertices", []), "optimal-set"),
    ("logistic", 1, put("facts.value.upper", "0"), "value"),
    ("logistic", 1, put("facts.fit.radius_squared", "-1"), "fit"),
    ("position", 1, turned("ggp"), "ggp REFUTED"),
    ("position", 2, turned("general-position"), "general-position PROVED"),
]


@pytest.mark.parametrize(("kind", "seed", "change", "said"), NOTICED, ids=lambda x: str(x)[:30])
def test_what_is_false_is_noticed(kind: str, seed: int, change: Callable[[dict[str, Any]], None], said: str) -> None:
    """The oracles find all of a certificate true, and not what is changed in it."""
    tree = json.loads(produced(kind, seed))
    assert all(true for _, true in opinions(tree))
    change(other := copy.deepcopy(tree))
    assert (said, False) in list(opinions(other))


STORED = [
    ("algebraic_set-00", turned("p-unique"), "p-unique REFUTED"),
    ("algebraic_set-00", put("facts.algebraic_set.residual.0", "9"), "the residual is dual feasible"),
    ("jump-00", put("facts.jump.theta", "0 0 0"), "theta of a jump is the residual"),
    ("jump-00", put("facts.jump.limit", "9 9 9"), "the limit"),
    ("path-05", put("facts.path.pieces.0.radius", "0"), "a tube"),
    ("curve-00", put("facts.curve.samples.0.upper", "0"), "a sample"),
]


@pytest.mark.parametrize(("name", "change", "said"), STORED, ids=lambda x: str(x)[:30])
def test_what_is_false_in_a_stored_one_is_noticed(
    name: str, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    """The same with files of the corpus: sets in a field, jumps, pieces, samples."""
    tree = json.loads((CORPUS / "accepted" / f"{name}.json").read_text())
    assert all(true for _, true in opinions(tree))
    change(other := copy.deepcopy(tree))
    assert (said, False) in list(opinions(other))
