"""The certified interval of a variant meets an enclosure by other means."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_opinion
from properties.soundness.draw import any_variant

STATEMENT = "The certified interval of a variant meets an enclosure by other means."
CLAIM = Claim("soundness: second opinion", STATEMENT, Property(STATEMENT, any_variant(), check_opinion))
