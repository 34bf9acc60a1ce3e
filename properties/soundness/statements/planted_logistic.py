"""No verdict on a planted problem with the logistic loss is wrong."""

from __future__ import annotations

from hypothesis import strategies as st

from properties.model import Claim, Property
from properties.soundness.check import check_planted_logistic
from properties.strategies import planted_logistic, planted_logistic_network

INSTANCES = st.one_of(planted_logistic(), planted_logistic_network())

STATEMENT = "No verdict on a planted problem with the logistic loss is wrong."
CLAIM = Claim("soundness: planted logistic", STATEMENT, Property(STATEMENT, INSTANCES, check_planted_logistic))
