"""A network and its convex program as a direct problem get verdicts that agree."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.carry import written_out_pairs
from properties.soundness.check import check_pair

STATEMENT = "A network and its convex program as a direct problem get verdicts that agree."
CLAIM = Claim("soundness: written out", STATEMENT, Property(STATEMENT, written_out_pairs(), check_pair))
