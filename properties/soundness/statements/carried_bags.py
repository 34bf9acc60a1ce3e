"""Verdicts on networks over sets of rows carry over where the sets are only written in another way."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.bags import bag_pairs, check_bag_pair

STATEMENT = "Verdicts on networks over sets of rows carry over where the sets are only written in another way."
CLAIM = Claim("soundness: carried bags", STATEMENT, Property(STATEMENT, bag_pairs(), check_bag_pair))
