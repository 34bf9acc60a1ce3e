"""No verdict on a planted ReLU network is wrong where a cover proves it, without a list of patterns."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_planted_cover
from properties.soundness.draw import planted_networks

STATEMENT = "No verdict on a planted ReLU network is wrong where a cover proves it, without a list of patterns."
CLAIM = Claim("soundness: planted cover", STATEMENT, Property(STATEMENT, planted_networks(), check_planted_cover))
