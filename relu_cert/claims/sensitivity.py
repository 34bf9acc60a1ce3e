"""sensitivity: the optimal network is differentiable in lambda and y at this lambda (prop:local-sol-fn, corrected).

LICQ and strict complementarity do not suffice: X = I, y = (2, 1), lambda = 1 is a kink. It takes E = A as well: every
neuron that ties is active.
"""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.path.sensitivity import Sensitivity, differentiable
from relu_cert.prove.facts import Facts

NAME = "sensitivity"
STATEMENT = (
    "Every neuron that ties is active and keeps its face nearby, so the network is differentiable in lambda and y."
)


def applies(facts: Facts) -> bool:
    """Where it was asked for."""
    return facts.asked_sensitivity


def decide(facts: Facts) -> Result:
    """E = A, independent outputs and stable faces, or which of these fails."""
    reason = differentiable(facts)
    if not reason:
        return Result(NAME, Verdict.PROVED, "implicit function", _told(facts))
    if facts.exact_set is not None and _refuted(facts):
        return Result(NAME, Verdict.REFUTED, "exact optimum", f"{reason}.")
    return Result(NAME, Verdict.UNDECIDED, "", f"{reason}.")


def _refuted(facts: Facts) -> bool:
    """Two solutions, or a tied neuron without weight, exactly."""
    found = facts.exact_set
    return found is not None and (len(found.solutions) > 1 or not all(found.solutions[0]))


def _told(facts: Facts) -> str:
    if facts.lam**2 > facts.lambda_max.squared:
        return "lambda > lambda_max: the network is zero nearby, all derivatives vanish."
    found: Sensitivity | None = facts.sensitivity
    if found is None:
        return "E = A, the outputs are independent, and all faces are stable."
    sure = f", SURE {found.sure.str(10, radius=False)}" if found.sure is not None else ""
    return f"E = A and all faces are stable; degrees of freedom {found.freedom.str(10, radius=False)}{sure}."
