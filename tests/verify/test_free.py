"""Certificates of networks with free terms: what is accepted is true, whatever is changed in it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import relu_cert.driver.network
import relu_cert.driver.variant
import verify
from relu_cert import certify, certify_network
from tests.free.brute import best
from tests.verify.build.free_terms import bent, hinge, level, linear, pairs, single, turned, two_sides, unseen
from tests.verify.mutate import mutants
from verify.statement import statement

X, Y = [[-2], [0], [1], [3]], [1, -1, 2, 1]
FREE = "output-bias,biases"
BY_HAND = {"hinge": hinge, "single": single, "both": turned, "bent": bent, "level": level, "linear": linear}
BY_HAND |= {"pairs": pairs, "sides": two_sides, "unseen": unseen}
W1, B1, W2, B2 = [[1.0], [-0.5]], [0.5, 0.25], [0.75, -1.0], 0.25


def test_made_by_hand() -> None:
    """The hinge is accepted with its data, its interval is the point 7/4, and every line says what is free."""
    case = hinge()
    report = verify.certificate.read(case.text, case.raw)
    assert {line.under for line in report.lines} == {"with these terms free of penalty: output-bias, biases"}
    assert statement(report, data=True, network=False)["free"] == "output-bias,biases"
    assert "lies in [7/4, 7/4]" in next(line.proved for line in report.lines if line.claim == "optimal")
    assert best([[-1, 1], [1, 1]], [-2, 2], 1.0, ("biases",)) == pytest.approx(1.75, abs=1e-5)


def test_sets_over_covers_made_by_hand() -> None:
    """One neuron beside a free constant is unique, two that differ by a constant share a weight; said with the data."""
    for case, verdict in ((single(), "PROVED"), (turned(), "REFUTED")):
        report = verify.certificate.read(case.text, case.raw)
        assert {line.claim: line.verdict for line in report.lines}["p-unique"] == verdict
        assert "p-unique" in {line.claim for line in report.lines if "output-bias" in line.under}


@cache
def certified(kind: str) -> dict[str, Any]:
    """A small certificate: over a list, by leaders, by a cover, by one with free biases, of a given network."""
    if kind in BY_HAND:
        return BY_HAND[kind]().certificate
    if kind == "network":
        network = {"W1": W1, "b1": B1, "w2": W2, "b2": B2, "skip": [0.5]}
        return json.loads(certify_network(network, X, Y, 1, free=f"{FREE},skip").certificate)  # type: ignore[no-any-return]
    with pytest.MonkeyPatch.context() as patch:
        if kind not in ("list", "bias", "turned"):
            patch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 0)
        if kind not in ("cover", "prisms"):
            patch.setattr(relu_cert.driver.network, "setting_for_cover", lambda problem: None)
        free = {"cover": "output-bias", "bias": "output-bias", "turned": "skip"}.get(kind, FREE)
        found = certify(X, Y, 1, free=free, bias=kind not in ("bias", "turned"), seconds=5)
        tree: dict[str, Any] = json.loads(found.certificate)
    assert {"prisms": "cover", "cover": "cover", "leaders": "leaders"}.get(kind, "dual") in tree["facts"]
    return tree


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "spread"),
    [
        ("hinge", None),
        ("single", None),
        ("both", None),
        ("bent", 3),
        ("level", 3),
        ("linear", None),
        ("pairs", 3),
        ("sides", 3),
        ("unseen", 3),
        ("list", 4),
        ("bias", 4),
        ("turned", 4),
        ("leaders", 3),
        ("cover", 2),
        ("prisms", 2),
        ("network", 3),
    ],
)
def test_field_mutants(kind: str, spread: int | None) -> None:
    """Every change of a field is rejected, or leaves what is true: the interval holds p* of the problem that is stated,
    and the objective of a given network is its own."""
    tree = certified(kind)
    verify.check(json.dumps(tree).encode())
    total, wrong = 0, []
    for mutant in mutants(tree, spread):
        total += 1
        try:
            verify.check(mutant.text.encode())
        except verify.VerifyError:
            continue
        changed = json.loads(mutant.text)
        wrong += [f"{mutant.name}: {why}" for why in falsehoods(changed)]
        if changed["problem"] == tree["problem"]:
            said = {one["claim"]: one["verdict"] for one in tree["claims"]}
            opposite = {"PROVED": "REFUTED", "REFUTED": "PROVED"}
            wrong += [
                mutant.name for one in changed["claims"] if one["verdict"] == opposite.get(said.get(one["claim"]))
            ]
    assert not wrong
    assert total > 200


def falsehoods(tree: dict[str, Any]) -> Iterator[str]:
    """What the certificate says that is not so, by another way."""
    problem, value = tree["problem"], tree["facts"].get("value")
    Z = [[Fraction(x) for x in row.split()] for row in problem["Z"]]
    y = [Fraction(x) for x in problem["y"].split()]
    lam, free = Fraction(problem["lambda"]), tuple(problem.get("free", ()))
    if value is not None:
        optimum = value_of(json.dumps(problem), tree["input"]["bias"])
        slack = 1e-5 * (1 + abs(optimum))
        if not float(Fraction(value["lower"])) - slack <= optimum <= float(Fraction(value["upper"])) + slack:
            yield f"p* is {optimum}"
    if (fact := tree["facts"].get("network")) is not None:
        constant = Fraction(fact["b2"])
        skip = [Fraction(x) for x in fact.get("skip", "").split()]
        rows = [[Fraction(x) for x in row.split()] for row in fact["W1"]]
        tops = [Fraction(x) for x in fact["w2"].split()]
        loss = Fraction(0)
        for z, t in zip(Z, y, strict=True):
            out = constant + (dot(skip, z) if skip else 0)
            out += sum((v * max(dot(w, z), Fraction(0)) for w, v in zip(rows, tops, strict=True)), Fraction(0))
            loss += (out - t) ** 2 / 2
        counted = len(Z[0]) - ("biases" in free)
        squares = sum((x * x for w in rows for x in w[:counted]), sum((v * v for v in tops), Fraction(0)))
        bias = 0 if {"biases", "output-bias"} & set(free) else 2 * abs(constant)
        if Fraction(fact["objective"]) != loss + lam / 2 * (squares + bias):
            yield "the objective is another"


@cache
def value_of(problem: str, appended: bool) -> float:
    """p* of the problem, in floats."""
    stated = json.loads(problem)
    rows = [row.split() for row in stated["Z"]]
    y, lam = [Fraction(x) for x in stated["y"].split()], float(Fraction(stated["lambda"]))
    return best(rows, y, lam, stated.get("free", ()), appended=appended)


def dot(u: list[Fraction], v: list[Fraction]) -> Fraction:
    """u.v"""
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def test_free_columns_as_a_lift() -> None:
    """The optimal set beside free columns rests on exactly these as its lift, on masses above 0 where classes share
    them, and on no mixed class."""
    said = {one["claim"]: one["verdict"] for kind in ("bias", "turned") for one in certified(kind)["claims"]}
    assert said["p-unique"] == "REFUTED" and certified("bias")["claims"][3] == {
        "claim": "p-unique",
        "verdict": "PROVED",
    }
    for kind, lift in (("bias", []), ("turned", []), ("bias", ["1 -1 0 0"]), ("turned", ["-2 0 1 3", "1 1 1 1"])):
        tree = copy.deepcopy(certified(kind))
        tree["facts"]["optimal_set"]["lift"] = lift
        with pytest.raises(verify.Rejected):
            verify.check(json.dumps(tree).encode())
    tree = copy.deepcopy(certified("turned"))
    tree["problem"]["free"] = ["output-bias"]
    with pytest.raises(verify.Rejected):
        verify.check(json.dumps(tree).encode())


def test_what_rests_on_other_problems_is_refused() -> None:
    """A given network beside free terms has no own program and no comparison with optimal networks."""
    for key in ("own", "directions", "nearest"):
        tree = copy.deepcopy(certified("network"))
        tree["facts"]["network"][key] = []
        with pytest.raises(verify.Rejected, match=f"unknown key '{key}'"):
            verify.check(json.dumps(tree).encode())
    tree = copy.deepcopy(certified("network"))
    del tree["facts"]["network"]["skip"]
    with pytest.raises(verify.Rejected, match="the key skip"):
        verify.check(json.dumps(tree).encode())
