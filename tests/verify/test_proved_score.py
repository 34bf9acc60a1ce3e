"""The proved checker beside the one in Python: on the corpus of files and on mutants neither accepts what the other
rejects, but for what is documented."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import verify
from tests.verify import test_rocq
from tests.verify.cover.bytes import byte_mutants
from tests.verify.cover.fold import fold
from tests.verify.cover.plant import PLANTED, planted
from tests.verify.leading import leading
from tests.verify.mutate import Mutant, mutants
from tests.verify.score import LIMITS, beside, entries, main, print_beside, second
from tests.verify.small import Case
from verify import proved

pytestmark = test_rocq.pytestmark
built = test_rocq.built
SPOKEN = ("cover", "cover_set", "cover_lambda_max", "leaders")
TRIED = 60  # mutants of each case


@pytest.fixture(scope="module", name="judged")
def fixture_judged() -> dict[str, dict[str, int]]:
    """What the proved checker says to the whole corpus."""
    table, wrong = beside(entries())
    assert wrong == []
    return {kind: dict(found) for kind, found in table.items()}


def test_no_file_divides_the_checkers(judged: dict[str, dict[str, int]]) -> None:
    """What Python accepts on covers and leaders is accepted, what it rejects there is rejected, is not looked at, or is
    rejected for its form only; all else is declined."""
    for kind, found in judged.items():
        if kind not in SPOKEN:
            assert set(found) <= {"right declined", "wrong declined", "wrong rejected"}, kind
        else:
            assert set(found) & {"right accepted", "right declined", "right rejected"} == {"right accepted"}, kind
    assert sum(judged[kind].get("wrong rejected", 0) for kind in SPOKEN) >= 90


def test_every_limit_is_met_by_a_file() -> None:
    """No limit is documented that no file of the corpus meets."""
    met = {entry.why.partition(": certificate")[0] for entry in entries() if second(entry) == "form"}
    assert met == set(LIMITS)


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """--proved adds a line for each kind, and the exit code is 0 where nothing disagrees."""
    assert main(["--kinds", "cover_lambda_max", "--proved"]) == 0
    said = capsys.readouterr().out
    assert "cover_lambda_max right:   1 accepted,   0 declined,   0 rejected; wrong:   1 rejected" in said


def test_a_disagreement_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A checker that accepts all, with any bounds, disagrees on what is right, and on what is wrong."""
    monkeypatch.setattr(proved, "prove", lambda *_: proved.Bounds(Fraction(0), Fraction(10**9)))
    some = [entry for entry in entries() if entry.kind == "leaders"]
    assert print_beside(some) == 36
    said = capsys.readouterr().out
    assert "disagrees: rejected/leaders-00" in said and "disagrees: accepted/leaders-00" in said


CASES = {**{name: lambda name=name: planted(name) for name in PLANTED}, "fold": fold}
CASES |= {f"{name} by leaders": lambda name=name: leading(name) for name in ("single", "halves", "twins", "plane")}


def some(case: Case, seed: int) -> list[Mutant]:
    """Some changes of the evidence for the bounds: bytes of trees, and fields."""
    tree = case.certificate
    facts = {name: fact for name, fact in tree["facts"].items() if name in ("primal", "cover", "leaders", "value")}
    tree = {**tree, "facts": facts, "claims": [one for one in tree["claims"] if one["claim"] == "optimal"]}
    fields = [
        one for one in mutants(tree, 3) if one.place.startswith(("facts.cover.", "facts.leaders.", "facts.primal"))
    ]
    streams = list(byte_mutants(tree, 3)) if "cover" in facts else []
    draw = random.Random(seed)
    return draw.sample(fields, min(TRIED, len(fields))) + draw.sample(streams, min(TRIED, len(streams)))


@pytest.mark.parametrize("name", CASES)
def test_no_mutant_divides_the_checkers(name: str) -> None:
    """What Python accepts after a change the proved checker accepts, too, and every bound that it accepts is true."""
    case = CASES[name]()
    whole = proved.prove(case.text)
    both = rejected = 0
    for mutant in some(case, 5):
        text = mutant.text.encode()
        try:
            found = proved.prove(text)
        except verify.VerifyError:
            found = None
        try:
            verify.check(text)
        except verify.VerifyError:
            rejected += found is None
            assert found is None or (found.lower <= whole.upper and whole.lower <= found.upper), mutant.name
            continue
        assert found is not None, mutant.name
        assert found.lower <= whole.upper and whole.lower <= found.upper, mutant.name
        both += 1
    assert rejected > 20
