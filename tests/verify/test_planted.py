"""Covers and leaders by hand are accepted, whole and with a part of their facts, each with the verdicts it states."""

from __future__ import annotations

import copy
import json

import pytest

import verify
from tests.verify.build.leaders import FILES, LED, leading
from tests.verify.build.plain import Case
from tests.verify.cover.fold import fold
from tests.verify.cover.plant import PLANTED, planted

CASES = {
    **{name: lambda name=name: planted(name) for name in PLANTED},
    **{f"{name} by leaders": lambda name=name: leading(name) for name in (*LED, *FILES)},
    "fold": fold,
}
BARE = ("optimal", "fit")


def bare(case: Case, *dropped: str) -> bytes:
    """The certificate without these facts, and the claims that rest on none of them."""
    tree = copy.deepcopy(case.certificate)
    tree["facts"] = {name: fact for name, fact in tree["facts"].items() if name not in dropped}
    tree["claims"] = [claim for claim in tree["claims"] if claim["claim"] in BARE]
    return json.dumps(tree).encode()


@pytest.mark.parametrize("name", CASES)
def test_planted_evidence_is_accepted(name: str) -> None:
    """With its data, and with the verdicts that are stated."""
    case = CASES[name]()
    lines = verify.check(case.text, case.raw)
    stated = [(claim["claim"], claim["verdict"]) for claim in case.certificate["claims"]]
    assert [(line.claim, line.verdict) for line in lines] == stated
    assert ("optimal", "PROVED") in stated


@pytest.mark.parametrize("name", [*PLANTED, "fold"])
def test_a_cover_alone_proves_the_bounds(name: str) -> None:
    """Without the set of all solutions and lambda_max the bounds and the fit are proved as before."""
    case = CASES[name]()
    for dropped in (("cover_set", "cover_lambda_max"), ("cover_set",)):
        lines = verify.check(bare(case, *dropped), case.raw)
        assert [(line.claim, line.verdict) for line in lines] == [(claim, "PROVED") for claim in BARE]
