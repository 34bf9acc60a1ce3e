"""Two sides of one line, each with its neuron and class; margins and balls at their edges."""

from __future__ import annotations

from fractions import Fraction

import pytest

import verify
from tests.verify.cover.along import PIECE, corner_path
from tests.verify.cover.sides import CASES, WRONG
from tests.verify.wrong import changed


@pytest.mark.parametrize("name", CASES)
def test_both_are_accepted(name: str) -> None:
    """All claims are proved."""
    case = CASES[name]()
    assert all(line.verdict == "PROVED" for line in verify.check(case.text, case.raw))


@pytest.mark.parametrize(("name", "reason"), [wrong[:2] for wrong in WRONG])
def test_wrong_sides_are_rejected(name: str, reason: str) -> None:
    """Each for its own reason."""
    change, message = next(wrong[2:] for wrong in WRONG if wrong[:2] == (name, reason))
    with pytest.raises(verify.Rejected, match=message):
        verify.check(changed(CASES[name](), change), CASES[name]().raw)


@pytest.mark.parametrize(("radius", "good"), [("55/100", True), ("577/1000", True), ("578/1000", False), ("1", False)])
def test_the_margin_is_just_enough(radius: str, good: bool) -> None:
    """A margin of 1 at 44 bits holds for |Z|_F times the radius below 2^-44, |Z|_F = root 3, and no more."""
    case = corner_path()
    text = changed(case, {f"{PIECE}.radius": str(Fraction(radius) / 2**44)})
    if good:
        assert len(verify.check(text, case.raw)) == 2
    else:
        with pytest.raises(verify.Rejected, match="a cover whose margin holds for the whole ball"):
            verify.check(text, case.raw)
