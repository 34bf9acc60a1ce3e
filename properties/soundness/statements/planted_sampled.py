"""No verdict on a planted network over some patterns is wrong."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_planted_sampled
from properties.strategies import planted_sampled

STATEMENT = "No verdict on a planted network over some patterns is wrong."
CLAIM = Claim("soundness: planted patterns", STATEMENT, Property(STATEMENT, planted_sampled(), check_planted_sampled))
