"""No verdict on the path of a lasso, or of a network on one feature, is wrong."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_planted_path
from properties.soundness.paths import lasso_paths

STATEMENT = "No verdict on the path of a lasso, or of a network on one feature, is wrong."
CLAIM = Claim("soundness: planted path", STATEMENT, Property(STATEMENT, lasso_paths(), check_planted_path))
