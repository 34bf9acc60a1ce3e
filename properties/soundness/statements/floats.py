"""Training by descent and linear programs over tied neurons find nothing against a verdict."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_floats
from properties.soundness.draw import any_network

CLAIM = Claim(
    "soundness: floats",
    "Training by descent and linear programs over tied neurons find nothing against a verdict.",
    Property(
        "Training by descent and linear programs over tied neurons find nothing against a verdict.",
        any_network(),
        check_floats,
    ),
)
