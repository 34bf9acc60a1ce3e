"""The certified interval meets an enclosure by other means, for every model."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from properties.model import Claim, Outcome, Property
from properties.soundness.check import check_opinion
from properties.soundness.draw import any_model
from properties.soundness.opinion_calls import check_call
from properties.soundness.symbolic import Call, calls


def check(asked: Any) -> Outcome:
    """A case, or a call of the package."""
    return check_call(asked) if isinstance(asked, Call) else check_opinion(asked)


STATEMENT = "The certified interval of every model meets an enclosure by other means."
CLAIM = Claim("soundness: second opinion", STATEMENT, Property(STATEMENT, st.one_of(any_model(), calls()), check))
