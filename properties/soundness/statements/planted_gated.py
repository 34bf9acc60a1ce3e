"""No verdict on a planted gated network is wrong."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_planted_gated
from properties.soundness.draw import planted_gated

STATEMENT = "No verdict on a planted gated network is wrong."
CLAIM = Claim("soundness: planted gated", STATEMENT, Property(STATEMENT, planted_gated(), check_planted_gated))
