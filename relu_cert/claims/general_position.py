"""general-position: the columns of X are in general position (prop:general-position-relation), for comparison with ggp.

It says that the lasso, every column a block of its own, has one solution for every lambda > 0 (Tibshirani 2013). It
neither implies nor follows from group general position.
"""

from __future__ import annotations

from relu_cert.claims.ggp import position_result
from relu_cert.claims.model import Result
from relu_cert.prove.facts import Facts

NAME = "general-position"
STATEMENT = "The columns of X are in general position."


def applies(facts: Facts) -> bool:
    """Gated and direct problems, as group general position."""
    return facts.ggp is not None


def decide(facts: Facts) -> Result:
    """No null vector of X on at most n + 1 columns has entries that add up to zero with signs."""
    return position_result(NAME, None if facts.ggp is None else facts.ggp.columns, "column", "")
