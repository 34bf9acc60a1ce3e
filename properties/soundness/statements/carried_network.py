"""Verdicts on a given network carry over when it is split, permuted, or changed together with the data."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_network_pair
from properties.soundness.network_carry import question_pairs

STATEMENT = "Verdicts on a given network carry over when it is split, permuted, or changed together with the data."
CLAIM = Claim("soundness: carried over, network", STATEMENT, Property(STATEMENT, question_pairs(), check_network_pair))
