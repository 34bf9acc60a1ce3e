"""No verdict on a lasso, or on a network on one feature, is wrong, at any lambda."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_one_feature
from properties.soundness.paths import any_lasso_path

STATEMENT = "No verdict on a lasso, or on a network on one feature, is wrong, at any lambda."
CLAIM = Claim("soundness: planted one feature", STATEMENT, Property(STATEMENT, any_lasso_path(), check_one_feature))
