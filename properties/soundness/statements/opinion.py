"""The certified interval meets an enclosure by other means, for every model."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_opinion
from properties.soundness.draw import any_model

STATEMENT = "The certified interval of every model meets an enclosure by other means."
CLAIM = Claim("soundness: second opinion", STATEMENT, Property(STATEMENT, any_model(), check_opinion))
