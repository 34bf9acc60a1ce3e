"""network-objective: the exact objective of the network, and how far it is above the global optimum at most."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.network.examine import Comparison, distance
from relu_cert.report.text import at_most, short

NAME = "network-objective"
STATEMENT = "Its objective is an exact rational, at most so far above the global optimum."


def decide(comparison: Comparison, gap: Fraction) -> Result:
    """J, and J - p* <= J - lower."""
    del gap
    found = comparison.examination
    away = distance(found, comparison.facts.value).trained.upper
    over = "equal to the global optimum" if away == 0 else f"at most {at_most(away)} above the global optimum"
    J = short(found.J)
    exact = f"J is about {J[1:]}, an exact rational" if J.startswith("~") else f"J = {J}"
    return Result(NAME, Verdict.PROVED, "duality", f"{exact}; {over}.")
