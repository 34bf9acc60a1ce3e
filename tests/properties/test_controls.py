"""Forged instances: every claim's check gives the answer, and the reason, that its controls ask for."""

from __future__ import annotations

import pytest

from properties.registry import load, module_names
from tests.properties.controls import FOLDER, complaints, controls

NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_the_check_answers_as_it_should(name: str) -> None:
    """Honest and forged instances, with the exact reason."""
    assert list(complaints(load(name), controls(name))) == []


def test_controls_object() -> None:
    """Nearly every claim with controls has one at which a check that always holds would be noticed."""
    assert set(NAMES) <= set(module_names())
    silent = [name for name in NAMES if all(control.answer == "holds" for control in controls(name))]
    assert len(silent) <= 1, silent
