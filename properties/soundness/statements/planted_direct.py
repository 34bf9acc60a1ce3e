"""No verdict on a planted constrained group lasso is wrong."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_planted_direct
from properties.soundness.draw import planted_direct

STATEMENT = "No verdict on a planted constrained group lasso is wrong."
CLAIM = Claim("soundness: planted direct", STATEMENT, Property(STATEMENT, planted_direct(), check_planted_direct))
