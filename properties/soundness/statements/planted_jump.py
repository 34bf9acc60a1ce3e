"""No verdict on an interval around a planted jump, or beside it, is wrong."""

from __future__ import annotations

from hypothesis import strategies as st

from properties.model import Claim, Property
from properties.soundness.check import check_planted_jump
from properties.soundness.paths import gated_jumps, group_jumps

STATEMENT = "No verdict on an interval around a planted jump, or beside it, is wrong."
INSTANCES = st.one_of(group_jumps(), gated_jumps())
CLAIM = Claim("soundness: planted jump", STATEMENT, Property(STATEMENT, INSTANCES, check_planted_jump))
