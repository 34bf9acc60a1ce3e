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
    near, far = max(one.lower for one in found), max(one.upper for one in found)
    if not wrong:
        known = f"all are within {scientific(far)} of optimal ones" if far < 2 else "the optimal ones are not known"
        detail = f"none of the {m} directions is excluded; {known}, equality is not settled."
        return Result(NAME, Verdict.UNDECIDED, "", detail)
    also = f", {right} exactly one that optimal networks have" if right else ""
    low, high = scientific(near), scientific(far)
    spread = f"the farthest is {high} off" if low == high else f"the farthest is between {low} and {high} off"
    if far >= 2:
        spread = f"the farthest is {low} off" if near == 2 else f"the farthest is at least {low} off"
    detail = f"{wrong} of {m} neurons have a direction that no optimal network has{also}; {spread}."
    return Result(NAME, Verdict.REFUTED, "ball", detail)
