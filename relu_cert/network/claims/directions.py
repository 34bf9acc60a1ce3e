"""network-directions: which neurons have directions that optimal networks have, and how far the others are off."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.network.claims.words import have, some_of
from relu_cert.network.examine import Comparison
from relu_cert.report.text import at_least, at_most, scientific

NAME = "network-directions"
STATEMENT = "All its neurons have directions that optimal networks can have."


def decide(comparison: Comparison, gap: Fraction) -> Result:
    """Distance 0 for all proves it, a positive distance of one refutes it."""
    del gap
    if comparison.facts.problem.free:
        return Result(NAME, Verdict.UNDECIDED, "", f"{comparison.facts.unsettled}.")
    found = comparison.directions
    m = len(found)
    right, wrong = sum(not one.upper for one in found), sum(one.lower > 0 for one in found)
    if right == m:
        detail = f"{some_of(m, m)} {have(m)} the direction of an optimal one, exactly." if m else "the network is zero."
        return Result(NAME, Verdict.PROVED, "equality", detail)
    far = max(one.upper for one in found)
    if not wrong:
        known = f"all are within {at_most(far)} of optimal ones" if far < 2 else "the optimal ones are not known"
        detail = f"none of the {m} directions is excluded; {known}, equality is not settled."
        return Result(NAME, Verdict.UNDECIDED, "", detail)
    also = f", {right} {have(right)} one exactly" if right else ""
    off = [one for one in found if one.lower > 0]
    low, high = min(one.lower for one in off), max(one.upper for one in off)
    about = scientific(high)
    spread = f"{about} off" if scientific(low) == about else f"from {at_least(low)} to {at_most(high)} off"
    facts = comparison.facts
    if facts.optimal_set is None and facts.exact_set is None and facts.algebraic is None:
        spread = f"at least {at_least(low)} off"
    who = f"{some_of(wrong, m)} {have(wrong)}"
    they = "it is" if wrong == 1 else "they are"
    detail = f"{who} a direction that no optimal network has{also}; {they} {spread}."
    return Result(NAME, Verdict.REFUTED, "ball", detail)
