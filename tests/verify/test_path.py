"""The fact `path`: no piece is accepted that does not prove what it says."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from tests.path.cases import certificate_text, facts_on, network
from verify import VerifyError, check

F = Fraction


@cache
def good() -> str:
    """A certificate with smooth and still pieces, classes, weights and fine pieces that are out."""
    problem = network([[2, 1], [-1, 3], [2, -3], [-4, -1], [1, 1]], [3, -1, 2, 1, -2])
    return certificate_text(facts_on(problem, F(1), F(1, 2), F(4)))


def alone(piece: dict[str, Any]) -> dict[str, Any]:
    """A certificate whose path is this one piece."""
    content: dict[str, Any] = json.loads(good())
    content["facts"]["path"] = {"lo": piece["lo"], "hi": piece["hi"], "pieces": [piece]}
    return content


def accepted(content: dict[str, Any]) -> bool:
    """Whether the checker accepts it."""
    try:
        check(json.dumps(content).encode())
    except VerifyError:
        return False
    return True


def times(text: str, by: Fraction) -> str:
    """A vector times a number."""
    return " ".join(str(F(x) * by) for x in text.split())


def wide(piece: dict[str, Any]) -> None:
    """The same evidence for an interval that is wider by half."""
    lo, hi = F(piece["lo"]), F(piece["hi"])
    piece["lo"], piece["hi"] = str(lo - (hi - lo) / 2), str(hi + (hi - lo) / 2)


WRONG: dict[str, Any] = {
    "a wider interval": wide,
    "no radius": lambda p: p.update(radius="0"),
    "a longer path": lambda p: p.update(s=[times(row, F(1001, 1000)) for row in p["s"]]),
    "a much shorter path": lambda p: p.update(s=[times(row, F(1, 2)) for row in p["s"]]),
    "negative weights": lambda p: p.update(weights=[times(row, F(-1)) for row in p["weights"]]),
    "double weights": lambda p: p.update(weights=[times(row, F(2)) for row in p["weights"]]),
    "no class": lambda p: p.update(classes=[], weights=[], inverse=[]),
    "no inverse": lambda p: p.update(inverse=[times(row, F(0)) for row in p["inverse"]]),
    "classes twice": lambda p: p.update({key: p[key] * 2 for key in ("classes", "weights", "inverse")}),
    "no coefficient": lambda p: p.update(s=[], weights=["" for _ in p["weights"]]),
}


def test_the_good_one_is_accepted() -> None:
    """Otherwise no rejection below would mean anything."""
    assert accepted(json.loads(good()))


def test_every_piece_is_accepted_by_itself() -> None:
    """Nor would the rejection of a single piece."""
    assert all(accepted(alone(piece)) for piece in json.loads(good())["facts"]["path"]["pieces"])


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_pieces_are_rejected(wrong: str) -> None:
    """Each change of each piece that has active neurons is rejected."""
    tried = 0
    for piece in json.loads(good())["facts"]["path"]["pieces"]:
        changed = json.loads(json.dumps(piece))
        WRONG[wrong](changed)
        changed_path = alone(changed)
        changed_path["facts"]["path"]["hi"] = max(piece["hi"], changed["hi"], key=F)
        if changed != piece and any(set(row.split()) - {"0"} for row in piece["weights"]):
            tried += 1
            assert not accepted(changed_path)
    assert tried >= 3


def test_every_out_is_needed() -> None:
    """A fine piece that is neither out nor in a class, at either end of a piece, is a hole, and holes are rejected."""
    dropped = 0
    for piece in json.loads(good())["facts"]["path"]["pieces"]:
        for entries in (end[sign] for end in piece["out"] for sign in "+-"):
            if entries:
                entry = entries.pop()
                dropped += 1
                assert not accepted(alone(piece))
                entries.append(entry)
    assert dropped


def with_ends(order: list[int]) -> list[dict[str, Any]]:
    """The smooth pieces, each with the evidence of these ends."""
    pieces = [piece for piece in json.loads(good())["facts"]["path"]["pieces"] if len(piece["s"]) > 1]
    return [piece | {key: [piece[key][i] for i in order] for key in ("multipliers", "out")} for piece in pieces]


@pytest.mark.parametrize("order", [[], [0], [1], [0, 1, 1]])
def test_both_ends_are_needed(order: list[int]) -> None:
    """What is out at one end of a smooth piece may tie at the other one: evidence for one end is not enough."""
    pieces = with_ends(order)
    assert len(pieces) >= 3
    assert not any(accepted(alone(piece)) for piece in pieces)


@pytest.mark.parametrize("order", [[1, 0], [0, 0], [1, 1]])
def test_each_end_has_its_own_evidence(order: list[int]) -> None:
    """The multipliers of one end are no evidence for the other one, unless they happen to fit."""
    assert not all(accepted(alone(piece)) for piece in with_ends(order))


def test_holes_between_pieces_are_rejected() -> None:
    """Every piece is needed, and so are the ends."""
    content = json.loads(good())
    path = content["facts"]["path"]
    for i in (0, len(path["pieces"]) // 2, len(path["pieces"]) - 1):
        piece = path["pieces"].pop(i)
        assert not accepted(content)
        path["pieces"].insert(i, piece)
    path["lo"] = str(F(path["lo"]) / 2)
    assert not accepted(content)


@pytest.mark.parametrize("hi", ["1", "1/2"])
def test_an_interval_has_an_inside(hi: str) -> None:
    """A single lambda, or an interval turned around, needs no piece to be covered, and so it is no interval."""
    content = json.loads(good())
    content["facts"]["path"] = {"lo": "1", "hi": hi, "pieces": []}
    assert not accepted(content)


def test_a_path_alone_does_not_refute() -> None:
    """REFUTED needs a jump."""
    content = json.loads(good())
    for claim in content["claims"]:
        claim["verdict"] = "REFUTED"
    assert not accepted(content)
