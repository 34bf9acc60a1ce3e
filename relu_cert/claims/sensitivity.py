"""sensitivity: the optimal network is differentiable in lambda and y at this lambda (prop:local-sol-fn, corrected).

It is, if E = A and every face is stable near r* (the implicit function theorem; the outputs are independent then). It
is not, if a tied neuron has weight 0 in some optimal network: with its output q, targets y + t q give it the weight t
for t > 0, and never a negative one. Nor if a neuron can leave its face at no cost while all others stay tied.
"""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.path.sensitivity import differentiable, not_differentiable
from relu_cert.prove.facts import Facts

NAME = "sensitivity"
STATEMENT = (
    "Every neuron that ties is active and keeps its face nearby, so the network is differentiable in lambda and y."
)


def applies(facts: Facts) -> bool:
    """Where it was asked for."""
    return facts.asked_sensitivity


def decide(facts: Facts) -> Result:
    """E = A and stable faces, or which of these fails."""
    reason = differentiable(facts)
    if not reason:
        return Result(NAME, Verdict.PROVED, "implicit function", _told(facts))
    if not_differentiable(facts):
        return Result(NAME, Verdict.REFUTED, "conditions", f"{reason}.")
    return Result(NAME, Verdict.UNDECIDED, "", f"{reason}.")


def _told(facts: Facts) -> str:
    if facts.lam**2 > facts.lambda_max.squared:
        return "lambda > lambda_max: the network is zero nearby, all derivatives vanish."
    found = facts.derivatives
    if found is None:
        return "E = A, the outputs are independent, and all faces are stable."
    freedom, sure = found.digits
    return f"E = A and all faces are stable; degrees of freedom {freedom}{f', SURE {sure}' if sure else ''}."
