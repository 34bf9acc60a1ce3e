"""No verdict on a planted network over sets of rows is wrong."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.bags import check_planted_bags, planted_bags

STATEMENT = "No verdict on a planted network over sets of rows is wrong."
CLAIM = Claim("soundness: planted bags", STATEMENT, Property(STATEMENT, planted_bags(), check_planted_bags))
