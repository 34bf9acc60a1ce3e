"""breakpoints: where a neuron enters, leaves, or changes its face, in intervals of relative width 1e-12."""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.prove.facts import Facts
from relu_cert.report.text import count

NAME = "breakpoints"
STATEMENT = "In every listed interval of relative width 1e-12 the active neurons, or their faces, change."


def applies(facts: Facts) -> bool:
    """Where a curve was asked for, and the certificate has the path that it rests on."""
    return facts.curve is not None and facts.path is not None


def decide(facts: Facts) -> Result:
    """Each has proved ends, or it is not listed."""
    found = facts.curve
    if found is None:
        raise ValueError("no curve was asked for")
    detail = (
        f"{count(len(found.breakpoints), 'breakpoint')}, with other active neurons, or other faces, on both sides; on "
        f"{count(len(found.branches), 'smooth piece')} no neuron enters or leaves."
    )
    if not found.breakpoints:
        return Result(NAME, Verdict.UNDECIDED, "", "no breakpoint is listed, so that there is nothing to prove.")
    return Result(NAME, Verdict.PROVED, "pieces", detail)
