"""The facts `faces` and `derivatives`: what they do not prove is rejected, field by field."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from relu_cert.claims import decide
from tests.path.test_conditions import CASES, facts_of, text_of
from tests.verify.mutate import mutants
from verify import VerifyError, check

F = Fraction


def reason(content: dict[str, Any]) -> str:
    """Why the checker does not accept it; "" if it does."""
    try:
        check(json.dumps(content).encode())
    except VerifyError as error:
        return str(error)
    return ""


@cache
def good(name: str) -> str:
    """The certificate of a planted instance."""
    return text_of(facts_of(name))


def facts_in(content: dict[str, Any]) -> dict[str, Any]:
    """Its facts."""
    found: dict[str, Any] = content["facts"]
    return found


def swap(fact: str, key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Another value for one key of a fact."""
    return lambda content: facts_in(content)[fact].update({key: value})


def leave(**parts: Any) -> Callable[[dict[str, Any]], None]:
    """Other parts of the first leaving direction."""
    return lambda content: facts_in(content)["faces"]["leaving"][0].update(parts)


def first_class(**parts: Any) -> Callable[[dict[str, Any]], None]:
    """Other parts of the first stable class."""
    return lambda content: facts_in(content)["faces"]["stable"][0].update(parts)


# name of the instance, the change, a word of the rejection
WRONG: dict[str, tuple[str, Callable[[dict[str, Any]], None], str]] = {
    "u out of the cone": ("a multiplier 0", leave(u="1 0"), "into the cone"),
    "u along the face": ("a multiplier 0", leave(u="0 0"), "leaves the face"),
    "u that is not across the face": ("a multiplier 0", leave(u="-1 -1"), "combination"),
    "h along a tied output": ("a multiplier 0", leave(u="-1 0", h="0 1"), "h.q = 0"),
    "h of the wrong length": ("a multiplier 0", leave(h="1"), "2 numbers"),
    "h that is blind": ("a multiplier 0", leave(u="-1 0", h="0 0"), "orthogonal"),
    "a neuron that is not there": ("a multiplier 0", leave(neuron=1), "index"),
    "a multiplier that is not on its bound": (
        "a multiplier 3",
        lambda c: facts_in(c)["faces"].update(leaving=[{"neuron": 0, "u": "-1 0", "h": ""}]),
        "gain",
    ),
    "a ReLU multiplier that is not on its bound": (
        "dependent ReLU kinks",
        lambda c: facts_in(c)["faces"].update(leaving=[{"neuron": 0, "u": "0 1 0", "h": ""}]),
        "gain",
    ),
    "to the other side of a ReLU kink": ("a ReLU kink at its bound", leave(u="0 1"), "gain"),
    "a stable face that is not": (
        "a multiplier 0",
        lambda c: facts_in(c)["faces"].update(
            stable=[{"block": 0, "kinks": [0], "basis": [0], "idle": [], "fixed": ""}]
        ),
        "strictness",
    ),
    "an idle constraint that is not": (
        "a multiplier 0",
        lambda c: facts_in(c)["faces"].update(
            stable=[{"block": 0, "kinks": [0], "basis": [], "idle": [0], "fixed": ""}]
        ),
        "vanishes whatever",
    ),
    "a face without its kink": ("a multiplier 3", first_class(kinks=[], basis=[]), "strictness"),
    "no class for a tied neuron": ("a multiplier 3", swap("faces", "stable", []), "array of 1"),
    "the class of another sign": ("dependent ReLU kinks", first_class(sign="-"), "strictness|another"),
    "smaller radius": ("gated", swap("derivatives", "radius", "0"), "radius"),
    "a sigma, as it was": ("gated", swap("derivatives", "sigma", "1"), "unknown key"),
    "freedom that does not agree": ("no cone", swap("derivatives", "freedom", "2"), "trace"),
    "no freedom": ("no cone", swap("derivatives", "freedom", None), "string"),
    "freedom without derivatives": ("no cone", swap("derivatives", "y", None), "null without"),
    "derivatives of a kink": (
        "a multiplier 0",
        lambda c: facts_in(c).update(derivatives=json.loads(good("no cone"))["facts"]["derivatives"]),
        "keep their faces",
    ),
    "derivatives where a tie has no weight": (
        "a tie without weight",
        lambda c: facts_in(c).update(derivatives=json.loads(good("no cone"))["facts"]["derivatives"]),
        "all tied neurons are active",
    ),
    "the printed matrix": (  # M(w) in the place of lambda M(w)
        "no cone",
        lambda c: facts_in(c)["derivatives"]["y"].update(r=["8/75 -2/25", "-2/25 3/50"]),
        "radius",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_rejected(wrong: str) -> None:
    """For the reason that is wrong with it; unchanged, the certificate is accepted."""
    name, change, word = WRONG[wrong]
    content = json.loads(good(name))
    assert reason(content) == ""
    change(content)
    said = reason(content)
    assert said
    assert any(part in said for part in word.split("|")), said


def still_true(place: str, name: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether a changed field says something that is true all the same (plain cases, by hand)."""
    old, new = before["facts"], after["facts"]
    if old == new:  # keys in another order
        return True
    if place.startswith("facts.derivatives"):
        a, b = old["derivatives"], new["derivatives"]
        return a == {**b, "radius": a["radius"]} and F(b["radius"]) >= F(a["radius"])
    if name == "a multiplier 0":  # u = (-s, 0) with s > 0, and h = (g, 0) with g != 0, or no h
        (leaving,), stable = new["faces"]["leaving"], new["faces"]["stable"]
        u, h = [F(x) for x in leaving["u"].split()], [F(x) for x in leaving["h"].split()]
        return stable == [None] and leaving["neuron"] == 0 and u[0] < 0 and u[1] == 0 and h[0] != 0 and h[1] == 0
    return False


@pytest.mark.long
@pytest.mark.parametrize("name", ["a multiplier 0", "no cone", "a multiplier 3"])
def test_every_mutant_of_the_fields_is_rejected(name: str) -> None:
    """No small change of `faces` or `derivatives` survives, unless it is true by hand."""
    content, tried = json.loads(good(name)), 0
    survivors = []
    for mutant in mutants(content):
        if not mutant.place.startswith(("facts.faces", "facts.derivatives")):
            continue
        tried += 1
        try:
            check(mutant.text.encode())
        except VerifyError:
            continue
        if not still_true(mutant.place, name, content, json.loads(mutant.text)):
            survivors.append(mutant.name)
    assert survivors == []
    assert tried > 60


def test_facts_that_speak_of_nothing_are_rejected() -> None:
    """Without an optimal set there are no neurons to speak of."""
    for fact in ("faces", "derivatives"):
        content = json.loads(good("lambda > lambda_max"))
        content["facts"][fact] = json.loads(good("a multiplier 3"))["facts"][fact]
        assert "optimal_set or exact_set" in reason(content)


def test_claims_need_their_facts() -> None:
    """Without `faces`, an exact optimum with kinks proves neither strictness nor a derivative; E = A and LICQ stand."""
    content = json.loads(good("a multiplier 3"))
    del content["facts"]["faces"], content["facts"]["derivatives"]
    for claim, accepted in (("e-equals-a", 1), ("licq", 1), ("strict-complementarity", 0), ("sensitivity", 0)):
        content["claims"] = [{"claim": claim, "verdict": "PROVED"}]
        assert (reason(content) == "") == bool(accepted), claim


def test_other_problems_have_no_such_claims() -> None:
    """With the logistic loss or an l2 penalty these claims are rejected whatever the facts are."""
    content = json.loads(good("lambda > lambda_max"))
    content["problem"]["objective"] = "1/2|Xw-y|^2 + lambda*sum|w_b| + delta/2*sum|w_b|^2"
    content["problem"]["delta"] = "1"
    content["facts"] = {}
    for claim in ("e-equals-a", "licq", "strict-complementarity", "sensitivity"):
        for verdict in ("PROVED", "REFUTED"):
            content["claims"] = [{"claim": claim, "verdict": verdict}]
            assert reason(content)


def test_all_cases_are_accepted() -> None:
    """Otherwise no rejection would mean anything."""
    assert all(reason(json.loads(good(name))) == "" for name in CASES)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no cone", "no constraint is tight at a neuron that may be active (neurons: 1)"),
        ("a tie without weight", "no constraint is tight at a neuron that may be active (neurons: 1)"),
        ("a multiplier 3", "(neurons: 1, with tight constraints: 1)"),
        ("a ReLU kink inside", "(neurons: 1, with tight constraints: 1)"),
    ],
)
def test_what_no_neuron_makes_true_is_said(name: str, said: str) -> None:
    """LICQ and strict complementarity are true of nothing where no constraint is tight: the line says that, and
    elsewhere how many neurons it is about; so does the report."""
    lines = {line.claim: line.proved for line in check(good(name).encode())}
    report = {result.claim: result.detail for result in decide(facts_of(name), ("licq", "strict-complementarity"))}
    for claim in ("licq", "strict-complementarity"):
        assert lines[claim].endswith(said), lines[claim]
        assert report[claim].startswith("none is tight" if "no constraint" in said else "tight at 1 of 1 ")
