"""Verdicts on an interval of lambdas carry over, also to a part of it."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.carry_interval import interval_pairs
from properties.soundness.check import check_interval_pair

STATEMENT = "Verdicts on an interval of lambdas carry over, also to a part of it."
CLAIM = Claim(
    "soundness: carried over, interval", STATEMENT, Property(STATEMENT, interval_pairs(), check_interval_pair)
)
