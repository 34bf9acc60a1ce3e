"""Every small change of a valid certificate is rejected, unless it is still true for a reason that has a name."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import verify
from tests.verify.cases import ACCEPTED, accepted
from tests.verify.mutate import mutants
from tests.verify.oracle import EXCEPTIONS, KEY_ORDER, is_true, still_valid

# Cases whose every field is changed; the others are large or much like these.
THOROUGH = (
    "xor, lambda above lambda_max",
    "xor, planted",
    "xor, planted, gated",
    "general position, planted",
    "repeated and zero rows, planted",
    "antipodal rows, planted",
    "axes in three dimensions",
    "circuits, planted",
    "one dimension",
    "a gap that is not reached",
    "bias, semicolons, no header",
    "direct, planted",
    "direct, lambda above lambda_max",
)
SPREAD = {"axes in three dimensions": 3, "circuits, planted": 4}


@pytest.mark.parametrize("name", THOROUGH)
def test_every_mutant_is_rejected_or_still_valid(name: str) -> None:
    """No change survives, except those that an independent oracle proves to be as true as the original."""
    case = accepted(name)
    survivors = []
    total = 0
    for mutant in mutants(case.certificate, SPREAD.get(name)):
        total += 1
        try:
            verify.check(mutant.text.encode(), case.raw)
        except (verify.Rejected, verify.Declined):
            continue
        if still_valid(mutant.place, case.certificate, mutant.text, case.raw) is None:
            survivors.append(mutant.name)
    assert survivors == []
    assert total > 900


def test_every_exception_is_needed() -> None:
    """Each reason for which a mutant may be accepted is met; none stands there without use."""
    met: Counter[str | None] = Counter()
    for name in ("xor, planted", "circuits, planted", "axes in three dimensions", "one dimension", "direct, planted"):
        case = accepted(name)
        for mutant in mutants(case.certificate, 4):
            reason = still_valid(mutant.place, case.certificate, mutant.text, case.raw)
            if reason is not None:
                met[reason] += 1
    assert {*EXCEPTIONS.values(), KEY_ORDER} <= set(met)


@pytest.mark.parametrize("name", ["xor, planted", "circuits, planted", "direct, planted"])
def test_true_mutants_of_values_are_accepted(name: str) -> None:
    """The checker is not stricter than the truth: where only a fact's numbers change and the oracle finds the
    certificate true, it is accepted."""
    case = accepted(name)
    for mutant in mutants(case.certificate, 4):
        number = any(word in mutant.change for word in ("plus 1", "negated", "halved", "little", "swapped"))
        if mutant.place.startswith("facts.") and number and is_true(json.loads(mutant.text), case.raw):
            verify.check(mutant.text.encode(), case.raw)


@pytest.mark.parametrize("name", [name for name in ACCEPTED if name not in THOROUGH])
def test_the_other_cases_are_mutated_lightly(name: str) -> None:
    """As above, for the first and last entry of every array."""
    case = accepted(name)
    for mutant in mutants(case.certificate, 2):
        try:
            verify.check(mutant.text.encode(), case.raw)
        except (verify.Rejected, verify.Declined):
            continue
        assert still_valid(mutant.place, case.certificate, mutant.text, case.raw), mutant.name
