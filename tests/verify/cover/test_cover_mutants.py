"""Every small change of a certificate that rests on a cover is rejected, or states nothing that is not true."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import verify
from tests.verify.build.plain import Listing, list_patterns, relu_multipliers
from tests.verify.cover.bytes import byte_mutants, mutants_of
from tests.verify.cover.plant import PLANTED, planted
from tests.verify.cover.produced import PRODUCED, produced
from tests.verify.mutate import Mutant
from tests.verify.oracle.brute import Mat, Vec, dot, mat, vec

pytestmark = pytest.mark.long

FLIPPED = {"PROVED": "REFUTED", "REFUTED": "PROVED"}
WHOLE = ("corner", "ray", "wedge")
REFUTABLE = ("p-unique", "convex-unique", "e-equals-a", "licq", "strict-complementarity", "sensitivity")


def survivors(raw: bytes, changed: Iterator[Mutant]) -> tuple[int, dict[str, dict[str, Any]]]:
    """How many mutants there are, and those that are accepted."""
    total, found = 0, {}
    for mutant in changed:
        total += 1
        try:
            verify.check(mutant.text.encode(), raw)
        except verify.VerifyError:
            continue
        found[mutant.name] = json.loads(mutant.text)
    return total, found


def true_still(tree: dict[str, Any], original: dict[str, Any]) -> bool:
    """The problem and the claims are the same, and the numbers that the claims speak of hold by brute force: the point
    of the cover is dual feasible, lambda_max is what it was, and the bounds enclose those that were proved before."""
    facts, before = tree["facts"], original["facts"]
    if tree["problem"] != original["problem"] or tree["claims"] != original["claims"]:
        return False
    if "cover_lambda_max" in facts and facts["cover_lambda_max"]["squared"] != before["cover_lambda_max"]["squared"]:
        return False
    lower, upper = (Fraction(facts["value"][key]) for key in ("lower", "upper"))
    if lower > Fraction(before["value"]["upper"]) or upper < Fraction(before["value"]["lower"]):
        return False
    problem = tree["problem"]
    theta = theta_of(problem, facts)
    if facts["cover"]["theta"] == before["cover"]["theta"] and facts["primal"] == before["primal"]:
        return True
    return largest_squared(tuple(problem["Z"]), theta) <= Fraction(problem["lambda"]) ** 2


@cache
def patterns_of(rows: tuple[str, ...]) -> tuple[Mat, Listing]:
    """The rows, and all their patterns."""
    Z = mat([row.split(" ") for row in rows])
    return Z, list_patterns(Z)


@cache
def largest_squared(rows: tuple[str, ...], theta: Vec) -> Fraction:
    """max (theta.(Zu)_+)^2 / |u|^2 by brute force; many mutants have the same theta."""
    return relu_multipliers(*patterns_of(rows), theta)[1]


def theta_of(problem: dict[str, Any], facts: dict[str, Any]) -> Vec:
    """The point of a cover."""
    stated = facts["cover"]["theta"]
    if isinstance(stated, str):
        return vec(*stated.split(" "))
    Z, r = mat([row.split(" ") for row in problem["Z"]]), vec(*problem["y"].split(" "))
    for neuron in facts["primal"]["neurons"]:
        r = tuple(a - output for a, output in zip(r, outputs(Z, neuron), strict=True))
    tau, bits = Fraction(stated["tau"]), stated["bits"]
    return tuple(tau * Fraction((x.numerator << bits) // x.denominator, 1 << bits) for x in r)


def outputs(Z: Mat, neuron: dict[str, str]) -> Vec:
    """xi (Zw)_+"""
    xi, w = (1 if neuron["sign"] == "+" else -1), vec(*neuron["w"].split(" "))
    return tuple(xi * max(dot(z, w), Fraction(0)) for z in Z)


def test_the_oracle_can_say_no() -> None:
    """A point that is too long, or bounds beside the optimum, are not taken for true."""
    tree = planted("corner").certificate
    long = {**tree["facts"], "cover": {**tree["facts"]["cover"], "theta": "3 17/4"}}
    assert true_still(tree, tree)
    assert not true_still({**tree, "facts": long}, tree)
    assert not true_still({**tree, "facts": {**tree["facts"], "value": {"lower": "38", "upper": "39"}}}, tree)


@pytest.mark.parametrize("name", PLANTED)
def test_mutants_of_planted_covers(name: str) -> None:
    """By hand: every byte and every field of some, fewer entries of the others."""
    case = planted(name)
    total, found = survivors(case.raw, mutants_of(case.certificate, None if name in WHOLE else 2))
    assert total > 400
    assert [mutant for mutant, tree in found.items() if not true_still(tree, case.certificate)] == []


@pytest.mark.parametrize("name", PRODUCED)
def test_mutants_of_produced_covers(name: str) -> None:
    """By the producer: some bytes of every stream, and of the small ones some entries of every field."""
    case = produced(name)
    tree = case.certificate
    total, found = survivors(
        case.raw, byte_mutants(tree, 2) if "60" in name else mutants_of(tree, 2, ("cover", "cover_set"))
    )
    assert total > 100
    assert [mutant for mutant, tree in found.items() if not true_still(tree, case.certificate)] == []


@cache
def turned_round(name: str) -> list[str]:
    """The claims of a planted case, each list with one decided verdict turned round."""
    claims = planted(name).certificate["claims"]
    return [
        json.dumps([{**one, "verdict": FLIPPED[one["verdict"]]} if one is other else one for one in claims])
        for other in claims
        if other["claim"] in REFUTABLE
    ]


@pytest.mark.parametrize("name", PLANTED)
def test_no_change_of_bytes_turns_a_verdict_round(name: str) -> None:
    """Whatever the tree says, what is false is not accepted."""
    case = planted(name)
    stated = json.dumps(case.certificate["claims"])
    for mutant in byte_mutants(case.certificate, 2 if name == "plane" else 3):
        assert stated in mutant.text
        for claims in turned_round(name):
            with pytest.raises(verify.VerifyError):
                verify.check(mutant.text.replace(stated, claims).encode(), case.raw)
