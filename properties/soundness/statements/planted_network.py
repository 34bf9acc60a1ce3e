"""No verdict on a given network is wrong."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_planted_network
from properties.soundness.networks import questions

STATEMENT = "No verdict on a given network is wrong."
CLAIM = Claim("soundness: planted network", STATEMENT, Property(STATEMENT, questions(), check_planted_network))
