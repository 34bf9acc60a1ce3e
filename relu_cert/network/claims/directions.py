"""network-directions: which neurons have directions that optimal networks have, and how far the others are off."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.network.examine import Comparison
from relu_cert.report.text import scientific

NAME = "network-directions"
STATEMENT = "All its neurons have directions that optimal networks can have."


def decide(comparison: Comparison, gap: Fraction) -> Result:
    """Distance 0 for all proves it, a positive distance of one refutes it."""
    del gap
    found = comparison.directions
    m = len(found)
    right, wrong = sum(not one.upper for one in found), sum(one.lower > 0 for one in found)
    if right == m:
        return Result(NAME, Verdict.PROVED, "equality", f"all {m} have the directions of optimal neurons, exactly.")
    if not wrong:
        detail = f"none of the {m} directions is excluded; the optimal ones are not known well enough."
        return Result(NAME, Verdict.UNDECIDED, "", detail)
    near, far = max(one.lower for one in found), max(one.upper for one in found)
    also = f", {right} exactly one that optimal networks have" if right else ""
    spread = f"the farthest is between {scientific(near)} and {scientific(far)} off"
    if far >= 2 and near < 2:
        spread = f"the farthest is at least {scientific(near)} off"
    detail = f"{wrong} of {m} neurons have a direction that no optimal network has{also}; {spread}."
    return Result(NAME, Verdict.REFUTED, "ball", detail)
