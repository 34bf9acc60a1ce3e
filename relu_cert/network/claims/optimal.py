"""network-optimal: the network is globally optimal up to the relative gap."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.network.examine import Comparison, distance
from relu_cert.prove.facts import Value
from relu_cert.report.text import at_least, at_most, scientific

NAME = "network-optimal"
STATEMENT = "It is globally optimal up to the relative gap."


def decide(comparison: Comparison, gap: Fraction) -> Result:
    """J - p* <= gap J proves it; a better point of all patterns refutes it."""
    over = "over networks of any width" if comparison.facts.problem.unlisted else "over all patterns"
    return against(NAME, comparison, comparison.facts.value, gap, over)


def against(claim: str, comparison: Comparison, value: Value, gap: Fraction, where: str) -> Result:
    """J against the optimal value of one program: upper and lower bound of the difference."""
    found = comparison.examination
    away = distance(found, value)
    upper, lower = away.trained.upper, away.trained.lower
    relative = at_most(away.relative(found.J))
    bounds = f"at most {at_most(upper)} above the optimum {where} (relative {relative})"
    if upper <= gap * found.J:
        return Result(claim, Verdict.PROVED, "duality", f"{bounds}.")
    if found.J - value.upper > gap * found.J:
        return Result(claim, Verdict.REFUTED, "better point", f"{bounds}, at least {at_least(lower)}.")
    return Result(claim, Verdict.UNDECIDED, "", f"{bounds}; more than the {scientific(gap)} asked for.")
