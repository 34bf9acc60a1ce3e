"""min-norm-continuous: the paper's closing conjecture, refuted exactly."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from relu_cert import certify
from relu_cert.claims.claim import Verdict
from relu_cert.exact import norm_squared
from relu_cert.path.jumps import simplest
from relu_cert.prove.facts import Facts
from tests.path.cases import certificate_text, example, facts_on, verdicts
from verify import VerifyError, check

pytestmark = pytest.mark.long

F = Fraction
JUMPS = {  # the lambda of the jump, |alpha|^2 at it and beside it
    "conjecture": (F(25), F(1, 1250), F(1, 625)),
    "gated-conjecture": (F(5), F(1, 2), F(1)),
    "conjecture-relu": (F(8), F(4, 3), F(4)),
}


@pytest.fixture(scope="module", params=JUMPS)
def jumping(request: pytest.FixtureRequest) -> tuple[str, Facts]:
    """An example with its jump inside the interval, seen from another lambda."""
    lam = JUMPS[request.param][0]
    return request.param, facts_on(example(request.param), lam * F(9, 10), lam * F(4, 5), lam * F(6, 5))


def test_refuted_and_accepted(jumping: tuple[str, Facts]) -> None:
    """The jump is found though lambda is elsewhere; both claims are REFUTED, and the independent checker agrees."""
    name, facts = jumping
    lam, here, beside = JUMPS[name]
    assert facts.path is not None and facts.path.jump is not None
    jump = facts.path.jump
    assert (jump.lam, norm_squared(jump.shorter), norm_squared(jump.limit)) == (lam, here, beside)
    assert {result.verdict for result in verdicts(facts).values()} == {Verdict.REFUTED}
    assert {line.verdict for line in check(certificate_text(facts).encode())} == {"REFUTED"}


def jump_of(content: dict[str, Any]) -> dict[str, Any]:
    """The fact in a certificate."""
    fact: dict[str, Any] = content["facts"]["jump"]
    return fact


WRONG: dict[str, Any] = {
    "longer is not shorter": lambda j: j.update(limit=j["shorter"], shorter=j["limit"]),
    "no jump between equals": lambda j: j.update(shorter=j["limit"]),
    "another lambda": lambda j: j.update({"lambda": str(F(j["lambda"]) + 1)}),
    "outside the interval": lambda j: j.update(hi=j["lambda"]),
    "no active neuron": lambda j: j.update(active=[]),
    "weights that do not fit": lambda j: j.update(limit=" ".join(["1/3"] * len(j["limit"].split()))),
    "a residual that is not optimal": lambda j: j.update(theta=" ".join(["0"] * len(j["theta"].split()))),
    "a side that does not exist": lambda j: j.update(side="0"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_jumps_are_rejected(jumping: tuple[str, Facts], wrong: str) -> None:
    """No mutation of the evidence is accepted."""
    content = json.loads(certificate_text(jumping[1]))
    WRONG[wrong](jump_of(content))
    with pytest.raises(VerifyError):
        check(json.dumps(content).encode())


def test_the_limit_must_be_a_limit() -> None:
    """On the side of the jump where neuron 0 grows, neuron 1 may not be the active one; and (1, 1, 0), optimal at
    the jump, is the limit of nothing."""
    facts = facts_on(example("conjecture-relu"), F(8), F(7), F(9))
    content = json.loads(certificate_text(facts))
    jump = jump_of(content)
    assert jump["active"] == [0, 2]
    for change in ({"active": [1, 2]}, {"active": [0, 1], "limit": "1 1 0"}, {"active": [2]}, {"active": [0, 1, 2]}):
        wrong = json.loads(json.dumps(content))
        jump_of(wrong).update(change)
        with pytest.raises(VerifyError):
            check(json.dumps(wrong).encode())


def test_the_farkas_vector_matters() -> None:
    """In the gated example one neuron stays tied beside the jump; without h nothing says that it has weight 0."""
    facts = facts_on(example("gated-conjecture"), F(5), F(4), F(6))
    content = json.loads(certificate_text(facts))
    assert jump_of(content)["farkas"] == "0 0 1"
    for h in ("", "0 0 0", "0 0 -1", "1 0 0"):
        jump_of(content)["farkas"] = h
        with pytest.raises(VerifyError):
            check(json.dumps(content).encode())


@pytest.mark.parametrize(
    ("lo", "hi", "expected"),
    [(F(314, 100), F(315, 100), F(22, 7)), (F(24999, 1000), F(25001, 1000), F(25)), (F(1, 3), F(1, 2), F(1, 2))],
)
def test_simplest_rational(lo: Fraction, hi: Fraction, expected: Fraction) -> None:
    """The rational of an interval with the smallest denominator."""
    assert simplest(lo, hi) == expected


def test_a_jump_where_a_cover_proves_the_optimum() -> None:
    """The jump has multipliers of its own, not the cover of the facts beside it, which the checker would not read."""
    Z, y = [[2, -2, -2, 2], [-6, 3, 0, 3], [0, 1, 2, 1]], [73, 27, 17]
    found = certify(Z, y, 36, claims="min-norm-continuous")
    assert found.claims["min-norm-continuous"].verdict == "REFUTED"
