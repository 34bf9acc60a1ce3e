"""Verdicts on networks carry over under scaling, permuting, rotating, splitting and zero rows."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.carry import network_pairs
from properties.soundness.check import check_pair

CLAIM = Claim(
    "soundness: carried over",
    "Verdicts on networks carry over under scaling, permuting, rotating, splitting and zero rows.",
    Property(
        "Verdicts on networks carry over under scaling, permuting, rotating, splitting and zero rows.",
        network_pairs(),
        check_pair,
    ),
)
