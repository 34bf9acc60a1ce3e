"""fit: every optimal network has the same fit, and it lies in a small ball (lemma:unique-fit-cgl, with a radius)."""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.exact import sqrt_upper
from relu_cert.prove.facts import Facts
from relu_cert.report.text import at_most

NAME = "fit"
STATEMENT = "The fit of all optimal networks is one and the same, and lies in the ball."


def applies(facts: Facts) -> bool:
    """Always."""
    return True


def decide(facts: Facts) -> Result:
    """|yhat - Xw| <= sqrt(2 (upper - lower)) for the fit yhat of every solution.

    Logistic: |p(yhat) - p(Xw)| <= sqrt((upper - lower) / 2) for the probabilities (Pinsker).
    """
    radius = sqrt_upper(facts.fit.radius_squared)
    if facts.problem.loss == "logistic":
        detail = f"one fit for all optimal networks; its probabilities are within {at_most(radius)} of those found."
        return Result(NAME, Verdict.PROVED, "strict convexity", detail)
    detail = "known exactly." if radius == 0 else f"within {at_most(radius)} of the fit of the network found."
    return Result(NAME, Verdict.PROVED, "strong convexity", f"one fit for all optimal networks, {detail}")
