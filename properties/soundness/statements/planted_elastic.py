"""No verdict on a planted problem with delta > 0 is wrong."""

from __future__ import annotations

from hypothesis import strategies as st

from properties.model import Claim, Property
from properties.soundness.check import check_planted_elastic
from properties.strategies import planted_elastic, planted_elastic_network

STATEMENT = "No verdict on a planted problem with delta > 0 is wrong."
CLAIM = Claim(
    "soundness: planted elastic",
    STATEMENT,
    Property(STATEMENT, st.one_of(planted_elastic(), planted_elastic_network()), check_planted_elastic),
)
