"""Paths over covers: what is planted is accepted, and a class stands for the side of every line that its rows name."""

from __future__ import annotations

import json

import pytest

import verify
from tests.verify.corpus.rejected_cases import changed
from tests.verify.cover.along import PATHS, WRONG

ACCEPTED = ("corner path", "ridge path")


@pytest.mark.parametrize("name", ACCEPTED)
def test_planted_paths_are_accepted(name: str) -> None:
    """Both claims, on the whole interval."""
    case = PATHS[name]()
    said = [line.proved for line in verify.check(case.text, case.raw)]
    assert len(said) == 2 and all(line.startswith("for every lambda in [2, 4] the ") for line in said)


@pytest.mark.parametrize(("name", "reason"), [wrong[:2] for wrong in WRONG])
def test_wrong_paths_are_rejected(name: str, reason: str) -> None:
    """Each for its own reason; two ends, two covers."""
    case = PATHS[name]()
    change, message = next(wrong[2:] for wrong in WRONG if wrong[:2] == (name, reason))
    with pytest.raises(verify.Rejected, match=message):
        verify.check(changed(case, change), case.raw)


def test_the_cross_is_not_unique() -> None:
    """Two different networks of the cross, weights (5 - lambda)/2 or so on opposite neurons, have one fit and one norm:
    a certificate that its network is unique is false, whatever it says."""
    problem = PATHS["cross"]().certificate["problem"]
    Z = [list(map(int, row.split(" "))) for row in problem["Z"]]
    pairs = [((3, 4), (-3, -4)), ((3, -4), (-3, 4))]
    fits = [[sum(max(sum(a * b for a, b in zip(z, u, strict=True)), 0) for u in pair) for z in Z] for pair in pairs]
    assert fits[0] == fits[1] == [3, 3, 4, 4] == list(map(int, problem["y"].split(" ")))
    assert json.dumps(pairs[0]) != json.dumps(pairs[1])
