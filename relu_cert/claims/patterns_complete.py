"""patterns-complete: the listed patterns are exactly D_Z = {1(Zu >= 0) : u}."""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.patterns.model import PatternSet
from relu_cert.prove.facts import Facts
from relu_cert.report.text import count

NAME = "patterns-complete"
STATEMENT = "The listed activation patterns are exactly D_Z."


def applies(facts: Facts) -> bool:
    """Direct problems and networks over some patterns only do not speak of D_Z."""
    return _listed(facts) is not None


def _listed(facts: Facts) -> PatternSet | None:
    """D_Z, where the blocks are all of its patterns."""
    problem = facts.problem
    if problem.network is not None:
        return problem.network.all
    return problem.sampled.all if problem.sampled is not None else None


def decide(facts: Facts) -> Result:
    """Every pattern has a witness, and the listed circuits leave room for no other (Whitney's bound is attained)."""
    patterns = _listed(facts)
    if patterns is None:
        raise ValueError("a direct problem has no patterns")
    circuits = sum(len(g.circuits) for g in patterns.groups)
    lower = len(patterns) - patterns.open_cells
    faces = f" and {lower} of lower faces" if lower else ""
    by = count(circuits, "circuit") if circuits else "Cover's bound"
    return Result(
        NAME,
        Verdict.PROVED,
        "witnesses and count",
        f"{count(len(patterns), 'pattern')}: {count(patterns.open_cells, 'open cell')}{faces}, each with a witness; "
        f"none is missing by {by}.",
    )
