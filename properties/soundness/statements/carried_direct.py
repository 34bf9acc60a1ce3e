"""Verdicts on direct problems carry over under changes that leave the problem the same."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.carry_direct import direct_pairs
from properties.soundness.check import check_pair

CLAIM = Claim(
    "soundness: carried over, direct",
    "Verdicts on direct problems carry over under changes that leave the problem the same.",
    Property(
        "Verdicts on direct problems carry over under changes that leave the problem the same.",
        direct_pairs(),
        check_pair,
    ),
)
