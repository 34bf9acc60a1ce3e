"""Lifted pieces of the fact `path`, and onsets: no piece is accepted that does not prove what it says."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tests.path.sets import CASES, SEVERAL, text_of
from tests.verify.mutate import mutants
from verify import Rejected, VerifyError, check

F = Fraction
Json = dict[str, Any]


def pieces_of(name: str) -> list[Json]:
    """The pieces of a case."""
    found: list[Json] = json.loads(text_of(name))["facts"]["path"]["pieces"]
    return found


def alone(name: str, piece: Json, **verdicts: str) -> Json:
    """The certificate of a case whose path is this one piece; claims other than those given are undecided."""
    content: Json = json.loads(text_of(name))
    content["facts"]["path"] = {"lo": piece["lo"], "hi": piece["hi"], "pieces": [piece]}
    for claim in content["claims"]:
        claim["verdict"] = verdicts.get(claim["claim"].replace("-", "_"), "UNDECIDED")
    return content


def accepted(content: Json) -> bool:
    """Whether the checker accepts it."""
    return accepted_text(json.dumps(content))


def accepted_text(text: str) -> bool:
    """The same for the text of a certificate."""
    try:
        check(text.encode())
    except VerifyError:
        return False
    return True


def rejected(content: Json) -> str:
    """Why the checker rejects it."""
    with pytest.raises(Rejected) as caught:
        check(json.dumps(content).encode())
    return str(caught.value)


def times(text: str, by: Fraction) -> str:
    """A vector times a number."""
    return " ".join(str(F(x) * by) for x in text.split())


def shifted(text: str) -> str:
    """A vector with 1 more in its first entry."""
    first, *rest = text.split()
    return " ".join([str(F(first) + 1), *rest])


def ones(text: str) -> str:
    """As many ones."""
    return " ".join("1" for _ in text.split())


def to_the_wall(piece: Json) -> None:
    """All weight of the first two active classes on the first of them."""
    active = [a for a, row in enumerate(piece["weights"]) if set(row.split()) - {"0"}]
    one, other = active[:2]
    rows = [[F(x) for x in piece["weights"][a].split()] for a in (one, other)]
    piece["weights"][one] = " ".join(str(x + z) for x, z in zip(*rows, strict=True))
    piece["weights"][other] = " ".join("0" for _ in rows[0])


def wide(piece: Json) -> None:
    """The same evidence for an interval that is wider by half."""
    lo, hi = F(piece["lo"]), F(piece["hi"])
    piece["lo"], piece["hi"] = str(lo - (hi - lo) / 2), str(hi + (hi - lo) / 2)


Change = Callable[[Json], Any]
LIFTED: dict[str, tuple[Change, str]] = {
    "no lift": (lambda p: p["lifted"].update(lift=[]), ""),
    "another lift": (lambda p: p["lifted"].update(lift=[shifted(p["lifted"]["lift"][0])]), ""),
    "a row of the lift twice": (lambda p: p["lifted"]["lift"].append(p["lifted"]["lift"][0]), "independent rows"),
    "W that sees the lift": (lambda p: p.update(inverse=[shifted(p["inverse"][0]), *p["inverse"][1:]]), ""),
    "no W": (lambda p: p.update(inverse=[times(row, F(0)) for row in p["inverse"]]), "a sum below 1"),
    "no V": (lambda p: p["lifted"].update(spread=[times(row, F(0)) for row in p["lifted"]["spread"]]), "F V - I"),
    "three times V": (lambda p: p["lifted"].update(spread=[times(r, F(3)) for r in p["lifted"]["spread"]]), "F V - I"),
    "a row of V less": (lambda p: p["lifted"]["spread"].pop(), "an array of"),
    "a split at the wall": (to_the_wall, ""),
    "all forced": (lambda p: p["lifted"].update(forced=list(range(len(p["classes"])))), ""),
    "not lifted": (lambda p: p.pop("lifted"), ""),
    "a wider interval": (wide, ""),
    "an onset": (lambda p: p["lifted"].update(onset={"rows": [], "normal": "", "apart": []}), ""),
    "an unknown key": (lambda p: p["lifted"].update(more=[]), "only the keys"),
}


@pytest.mark.parametrize("wrong", LIFTED)
def test_wrong_lifted_pieces_are_rejected(wrong: str) -> None:
    """Each change of the widest smooth lifted piece of each case is rejected for its reason; unchanged, the piece is
    accepted by itself."""
    change, reason = LIFTED[wrong]
    for name in SEVERAL:
        smooth = [p for p in pieces_of(name) if "lifted" in p and len(p["s"]) > 1 and len(p["classes"]) > 2]
        piece = max(smooth, key=lambda p: F(p["hi"]) / F(p["lo"]))
        assert accepted(alone(name, piece, set_continuous="PROVED"))
        change(piece)
        assert reason in rejected(alone(name, piece))


ONSET: dict[str, tuple[Change, str]] = {
    "no normal": (lambda o: o.update(normal=times(o["normal"], F(0))), "H.q >"),
    "the other normal": (lambda o: o.update(normal=times(o["normal"], F(-1))), "H.q >"),
    "no rows": (lambda o: o.update(rows=[]), "at least one"),
    "a row twice": (lambda o: o["rows"].append(o["rows"][0]), "independent"),
    "another row": (lambda o: o.update(rows=[ones(o["rows"][0]), *o["rows"][1:]]), "orthogonal"),
    "no apart": (lambda o: o.update(apart=[]), "an array of"),
    "apart that is zero": (lambda o: o.update(apart=[[times(r, F(0)) for r in U] for U in o["apart"]]), "U N - I"),
    "apart three times": (lambda o: o.update(apart=[[times(r, F(3)) for r in U] for U in o["apart"]]), "U N - I"),
}
WITH_ONSET = ("a point becomes fitted", "antipodal neurons set in")


@pytest.mark.parametrize("name", WITH_ONSET)
@pytest.mark.parametrize("wrong", ONSET)
def test_wrong_onsets_are_rejected(wrong: str, name: str) -> None:
    """Each change of an onset is rejected for its reason; unchanged, its piece is accepted by itself."""
    change, reason = ONSET[wrong]
    piece = next(p for p in pieces_of(name) if "onset" in p.get("lifted", {}))
    assert accepted(alone(name, piece, set_continuous="PROVED"))
    change(piece["lifted"]["onset"])
    assert reason in rejected(alone(name, piece))


@pytest.mark.parametrize("name", WITH_ONSET)
def test_an_onset_is_no_lifted_piece(name: str) -> None:
    """Without its onset the piece would say that nothing sets in; with wider ends, that it sets in elsewhere."""
    piece = next(p for p in pieces_of(name) if "onset" in p.get("lifted", {}))
    without = json.loads(json.dumps(piece))
    del without["lifted"]["onset"]
    assert not accepted(alone(name, without))
    piece["lo"], piece["hi"] = str(F(piece["lo"]) * F(9, 10)), str(F(piece["hi"]) * F(11, 10))
    assert not accepted(alone(name, piece))


def test_forced_classes_are_needed_and_proved() -> None:
    """A gate that must stay shut: neither without h, nor with another h, nor with an open gate named."""
    name = "a gate that must stay shut"
    for piece in (piece for piece in pieces_of(name) if "lifted" in piece):
        lifted = piece["lifted"]
        forced, force = lifted["forced"], lifted["force"]
        assert accepted(alone(name, piece, continuous="PROVED"))
        for wrong in (
            {"forced": [], "force": ""},
            {"force": times(force, F(-1))},
            {"force": times(force, F(0))},
            {"force": shifted(force)},
            {"forced": forced[1:]},
            {"forced": sorted({*range(len(piece["classes"]))} - {*forced})},
        ):
            lifted.update({"forced": forced, "force": force} | wrong)
            assert not accepted(alone(name, piece))


@pytest.mark.parametrize("name", SEVERAL)
def test_lifted_pieces_do_not_prove_uniqueness(name: str) -> None:
    """A piece of positive dimension refutes `continuous`, and never proves it; it refutes neither of the other two.
    An interval beside the piece is not refuted by it."""
    piece = next(p for p in pieces_of(name) if "lifted" in p and len(p["s"]) > 1 and len(p["classes"]) > 2)
    assert accepted(alone(name, piece, continuous="REFUTED"))
    assert not accepted(alone(name, piece, continuous="PROVED"))
    assert not accepted(alone(name, piece, set_continuous="REFUTED"))
    assert not accepted(alone(name, piece, min_norm_continuous="REFUTED"))
    beside = alone(name, piece, continuous="REFUTED")
    beside["facts"]["path"].update(lo=str(F(piece["hi"]) * 2), hi=str(F(piece["hi"]) * 3))
    assert not accepted(beside)


@pytest.mark.parametrize("name", CASES)
def test_holes_are_told(name: str) -> None:
    """A path with a hole is a fact, but it proves nothing about the whole interval."""
    content = json.loads(text_of(name))
    pieces = content["facts"]["path"]["pieces"]
    if len(pieces) > 1:
        del pieces[len(pieces) // 2]
        assert not accepted(content)
        for claim in content["claims"]:
            claim["verdict"] = "UNDECIDED"
        assert accepted(content)


NEAR = ("s[", "weights", "inverse", "radius", "lifted.spread", "lifted.onset.normal", "lifted.onset.apart")
ROWS = ("lifted.lift[", "lifted.onset.rows[")


def harmless(place: str, change: str, text: str, original: str) -> bool:
    """Whether a changed piece may still be a proof: numbers that need only be near what they stand for, another
    multiple of a basis vector, an interval that is narrower by next to nothing, another order of keys, no change."""
    if text == original:
        return True
    if place.startswith(NEAR) and (change in ("one character shorter", "reversed") or "swapped" in change):
        return True
    if not change.startswith("number"):
        return change.endswith((" first", " last"))
    return place.startswith((*NEAR, *ROWS)) or (place in ("lo", "hi") and "a little" in change)


@pytest.mark.parametrize("kind", ["lifted", "onset"])
def test_every_field_counts(kind: str) -> None:
    """Of all small changes of one piece only those survive that leave it a proof."""
    name = "a point becomes fitted"
    piece = next(p for p in pieces_of(name) if "lifted" in p and ("onset" in p["lifted"]) == (kind == "onset"))
    original = json.dumps(piece)
    before, after = json.dumps(alone(name, piece, set_continuous="PROVED")).split(original)
    total, survivors = 0, []
    for mutant in mutants({"piece": piece}, 2):
        place, text = mutant.place.removeprefix("piece."), mutant.text[len('{"piece": ') : -1]
        if mutant.place == "top" or harmless(place, mutant.change, text, original):
            continue
        total += 1
        if accepted_text(before + text + after):
            survivors.append(f"{place}: {mutant.change}")
    assert survivors == []
    assert total > 300
