"""No verdict on an interval around a planted lambda is wrong."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_interval
from properties.soundness.draw import planted_intervals

STATEMENT = "No verdict on an interval around a planted lambda is wrong."
CLAIM = Claim("soundness: interval", STATEMENT, Property(STATEMENT, planted_intervals(), check_interval))
