"""Verdicts on variants carry over, and p* rises with delta and with fewer patterns."""

from __future__ import annotations

from hypothesis import strategies as st

from properties.model import Claim, Property
from properties.soundness.carry import doubled_pairs, variant_pairs
from properties.soundness.check import check_pair

INSTANCES = st.one_of(variant_pairs(), variant_pairs(), variant_pairs(), doubled_pairs())

STATEMENT = "Verdicts on variants carry over, and p* rises with delta and with fewer patterns."
CLAIM = Claim("soundness: carried over, variants", STATEMENT, Property(STATEMENT, INSTANCES, check_pair))
