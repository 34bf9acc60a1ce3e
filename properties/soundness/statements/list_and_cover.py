"""The list of patterns and the cover do not contradict each other: verdicts, p*, widths and edges."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from properties.model import Claim, Property
from properties.soundness.carry import Pair
from properties.soundness.case import NetworkCase
from properties.soundness.check import check_pair
from properties.soundness.draw import any_network

STATEMENT = "The list of patterns and the cover do not contradict each other: verdicts, p*, widths and edges."


def both(case: NetworkCase) -> Pair:
    """The same ReLU network with its patterns listed, and with a cover."""
    listed = replace(case, model="relu")
    return Pair("cover", listed, replace(listed, cover=True), position=True)


def instances() -> st.SearchStrategy[Pair]:
    """Data of every kind at any lambda."""
    return any_network().map(both)


CLAIM = Claim("soundness: list and cover", STATEMENT, Property(STATEMENT, instances(), check_pair))
