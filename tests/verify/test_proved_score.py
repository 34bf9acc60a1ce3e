"""The proved checker beside the one in Python: on the corpus of files and on mutants neither accepts what the other
rejects, but for what is documented."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import verify
from tests.verify import divided, test_rocq
from tests.verify.divided import CASES
from tests.verify.score import LIMITS, beside, entries, main, print_beside, second
from verify import proved

pytestmark = test_rocq.pytestmark
built = test_rocq.built
SPOKEN = ("bags", "decayed", "outputs", "cover", "cover_set", "cover_lambda_max", "leaders")
TRIED = 60  # mutants of fields of each case, and as many of bytes


@pytest.fixture(scope="module", name="judged")
def fixture_judged() -> dict[str, dict[str, int]]:
    """What the proved checker says to the whole corpus."""
    table, wrong = beside(entries())
    assert wrong == []
    return {kind: dict(found) for kind, found in table.items()}


def test_no_file_divides_the_checkers(judged: dict[str, dict[str, int]]) -> None:
    """What Python accepts on covers, leaders and lists is accepted, what it rejects there is rejected, is not looked
    at, or is rejected for its form only; all else is declined."""
    for kind, found in judged.items():
        assert not {"right rejected", "wrong accepted"} & set(found), kind
        if kind in SPOKEN:
            others = {"right declined"} if kind in ("bags", "cover_lambda_max", "outputs") else set()
            assert {one for one in found if one.startswith("right")} == {"right accepted"} | others, kind
    assert sum(judged[kind].get("wrong rejected", 0) for kind in SPOKEN) >= 90
    assert sum(found.get("right accepted", 0) for kind, found in judged.items() if kind not in SPOKEN) >= 30


def test_every_limit_is_met_by_a_file() -> None:
    """No limit is documented that no file of the corpus meets."""
    met = {entry.why.partition(": certificate")[0] for entry in entries() if second(entry) == "form"}
    assert met == set(LIMITS)


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """--proved adds a line for each kind, and the exit code is 0 where nothing disagrees."""
    assert main(["--kinds", "cover_lambda_max", "--proved"]) == 0
    said = capsys.readouterr().out
    assert "cover_lambda_max right:   1 accepted,   1 declined,   0 rejected; wrong:   1 rejected" in said


def test_a_disagreement_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A checker that accepts all, with any bounds, disagrees on what is right, and on what is wrong."""
    monkeypatch.setattr(proved, "prove", lambda *_: proved.Bounds(Fraction(0), Fraction(10**9)))
    some = [entry for entry in entries() if entry.kind == "leaders"]
    assert print_beside(some) == 57
    said = capsys.readouterr().out
    assert "disagrees: rejected/leaders-00" in said and "disagrees: accepted/leaders-00" in said


@pytest.mark.parametrize("name", CASES)
def test_no_mutant_divides_the_checkers(name: str) -> None:
    """What Python accepts after a change the proved checker accepts, too, and all that it accepts is true."""
    counts, wrong = divided.beside(name, TRIED, 5)
    assert wrong == []
    assert counts[divided.NEITHER] > 20


def test_what_divides_the_checkers_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A checker that accepts nothing, bounds that are false, and a network called unique that is not: all are printed,
    and the exit code is 1."""
    whole = proved.prove(divided.stored("square-cover").text)
    text = divided.stored("square-cover").text
    assert divided.judged(text, whole, several=True) == divided.BOTH
    for found in (
        replace(whole, width=(4, 4)),
        replace(whole, lower=whole.upper + 1),
        replace(whole, upper=Fraction(0)),
    ):
        monkeypatch.setattr(proved, "prove", lambda *_, found=found: found)
        assert divided.judged(text, whole, several=True) == "the proved checker accepts what is false"
    answers = iter([whole])
    monkeypatch.setattr(proved, "prove", lambda *_: next(answers, None) or refuse())
    assert divided.main(["--cases", "square-cover", "--mutants", "40"]) == 1
    assert "the proved checker alone rejects" in capsys.readouterr().out


def refuse() -> None:
    """A checker that accepts nothing."""
    raise verify.Rejected("here", "this", "that")
