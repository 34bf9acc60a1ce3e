"""No verdict is contradicted by the paper's definitions in sympy."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.symbolic import check_symbolic, questions

STATEMENT = "No verdict is contradicted by the paper's definitions in sympy."
CLAIM = Claim("soundness: symbolic", STATEMENT, Property(STATEMENT, questions(), check_symbolic))
