"""No verdict on a planted ReLU network is wrong."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_planted_relu
from properties.soundness.draw import planted_networks

STATEMENT = "No verdict on a planted ReLU network is wrong."
CLAIM = Claim("soundness: planted ReLU", STATEMENT, Property(STATEMENT, planted_networks(), check_planted_relu))
