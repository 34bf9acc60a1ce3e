"""The checks can fail: every broken line of a claim's check code is noticed by a control, or changes no answer.

`python -m tests.properties.forge NAME` chooses the controls of a claim and prints the broken lines that none notices.
Those that change no answer stand in the file of controls with the reason. Some broken lines of each claim are tried
here, all of them if RELU_CERT_LONG is in the environment.
"""

from __future__ import annotations

import os

import pytest

from properties.registry import load, module_names
from tests.properties.controls import complaints, controls, equivalent, unnoticed
from tests.properties.forge import notices
from tests.properties.mutants import Mutant, mutants

pytestmark = pytest.mark.long

TRIED = 10  # of each claim


def noticed(mutant: Mutant) -> bool:
    """A control answers otherwise, or not at all, or the module cannot even be loaded."""
    try:
        broken = mutant.load()
    except Exception:
        return True
    return any(notices(broken, control) for control in controls(mutant.module))


@pytest.mark.parametrize("name", module_names())
def test_every_broken_line_is_noticed(name: str) -> None:
    """No mutant of the check functions survives but those that are equivalent, and these do."""
    found = list(mutants(name))
    assert len(found) >= 2
    assert set(equivalent(name)) <= {mutant.name for mutant in found}
    tried = found if "RELU_CERT_LONG" in os.environ else found[:: -(-len(found) // TRIED)]
    survivors = {mutant.name for mutant in tried if not noticed(mutant)}
    assert survivors == {mutant.name for mutant in tried} & set(equivalent(name))


def test_no_broken_line_is_left_without_a_reason() -> None:
    """No file of controls names a broken line that is neither noticed nor equivalent."""
    assert [name for name in module_names() if unnoticed(name)] == []


def test_a_whole_claim_is_no_mutant() -> None:
    """The claim itself, unbroken, has no complaint against it; a check that always holds has."""
    name = "lemma_unique_cgl"
    assert list(complaints(load(name), controls(name))) == []
    assert any("_holds" in mutant.name and noticed(mutant) for mutant in mutants(name))
