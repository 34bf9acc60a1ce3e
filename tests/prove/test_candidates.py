"""The classes of the ties of a cover."""

from __future__ import annotations

import pytest

from relu_cert.errors import Unsettled
from relu_cert.prove.candidates import distinct
from relu_cert.prove.facts import NeuronClass

LEVEL = NeuronClass(1, "011", None)
BENT = NeuronClass(1, "011", None, kinks=(0,), basis=(0,))
IDLE = NeuronClass(1, "011", None, kinks=(0, 1), basis=(0,), idle=(1,))
OTHER = NeuronClass(-1, "011", None)


def test_one_class_for_each_sign_and_pattern() -> None:
    """In the place of the first; idle kinks count, and pieces that are out have no class."""
    assert distinct([BENT, None, OTHER, BENT]) == (BENT, OTHER)
    assert distinct([BENT, OTHER, IDLE]) == distinct([IDLE, OTHER, BENT]) == (IDLE, OTHER)


@pytest.mark.parametrize("found", [[LEVEL, BENT], [BENT, LEVEL]])
def test_a_class_without_kinks_is_not_one_with_some(found: list[NeuronClass]) -> None:
    """One replaced the other, and a bias that is not fixed was taken for one that is."""
    with pytest.raises(Unsettled, match="zero at no row"):
        distinct(found)
