"""Every small change of a valid certificate is rejected, unless it is still true for a reason that has a name."""

from __future__ import annotations

import json
import re
from functools import cache

import pytest

import verify
from tests.verify.corpus.accepted_cases import ACCEPTED, accepted
from tests.verify.mutate import mutants
from tests.verify.oracle.truth import EXCEPTIONS, KEY_ORDER, is_true, still_valid

pytestmark = pytest.mark.long

# Cases whose every field is changed. Of the others only the first and the last entry of every array is.
THOROUGH = (
    "xor, planted",
    "xor, planted, gated",
    "general position, planted",
    "repeated and zero rows, planted",
    "one dimension",
    "direct, planted",
    "direct, lambda above lambda_max",
)
LARGE = ("grid in space", "cube")  # hundreds of patterns, nothing that the smaller cases do not have


@cache
def reasons(name: str) -> tuple[int, dict[str, str | None]]:
    """The number of mutants of a case, and for each one that is accepted the reason why it may be."""
    case = accepted(name)
    total, survivors = 0, {}
    for mutant in mutants(case.certificate, None if name in THOROUGH else 2):
        total += 1
        try:
            verify.check(mutant.text.encode(), case.raw)
        except (verify.Rejected, verify.Declined):
            continue
        survivors[mutant.name] = still_valid(mutant.place, case.certificate, mutant.text, case.raw)
    return total, survivors


@pytest.mark.parametrize("name", [name for name in ACCEPTED if name not in LARGE])
def test_every_mutant_is_rejected_or_still_valid(name: str) -> None:
    """No change survives, except those that an independent oracle proves to be as true as the original."""
    total, survivors = reasons(name)
    assert [mutant for mutant, reason in survivors.items() if reason is None] == []
    assert total > 300


def test_every_exception_is_needed() -> None:
    """Each reason for which a mutant may be accepted is met; none stands there without use."""
    names = ("xor, planted", "circuits, planted", "one dimension", "rank one, antipodal", "direct, planted")
    met = {reason for name in names for reason in reasons(name)[1].values()}
    assert met == {*EXCEPTIONS.values(), KEY_ORDER}


@pytest.mark.parametrize("name", ["xor, planted", "circuits, planted", "direct, planted"])
def test_true_mutants_are_accepted(name: str) -> None:
    """The checker is not stricter than the truth: where a fact's number changes, stays in form, and the oracle finds
    the certificate true, it is accepted."""
    case = accepted(name)
    found = 0
    for mutant in mutants(case.certificate, 4):
        form = "plus 1|negated" if "witnesses" in mutant.place else "plus|minus|negated|halved"
        number = re.fullmatch(rf"number \d+ ({form}).*", mutant.change)
        base = re.fullmatch(r".*multipliers\.[+-]\[\d+\]\[0\]", mutant.place)
        if mutant.place.startswith("facts.") and number and not base and is_true(json.loads(mutant.text), case.raw):
            found += 1
            verify.check(mutant.text.encode(), case.raw)
    assert found
