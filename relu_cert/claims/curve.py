"""curve: width, weights, directions and objective against lambda."""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.prove.facts import Facts
from relu_cert.report.text import at_most, count

NAME = "curve"
STATEMENT = "At every listed lambda the objective, the width, the weights and the directions are within their bounds."


def applies(facts: Facts) -> bool:
    """Where a curve was asked for, and the certificate has the path that it rests on."""
    return facts.curve is not None and facts.path is not None


def decide(facts: Facts) -> Result:
    """Each lambda has a proved radius, or it is not listed."""
    found = facts.curve
    if found is None:
        raise ValueError("no curve was asked for")
    radii = [one.radius for one in found.samples if one.radius is not None]
    widths = [len(one.neurons) for one in found.samples]
    if not radii:
        return Result(NAME, Verdict.UNDECIDED, "", "no lambda of a smooth piece is listed.")
    detail = (
        f"{count(len(radii), 'lambda')}, widths {min(widths)} to {max(widths)}; weights and directions within "
        f"{at_most(max(radii))}."
    )
    return Result(NAME, Verdict.PROVED, "pieces", detail)
