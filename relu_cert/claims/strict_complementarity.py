"""strict-complementarity: multipliers of the tight constraints can be strictly inside their bounds (prop:local-sol-fn).

Equivalently: an active neuron that leaves its face loses at first order. For a hyperplane of the data the bounds are
the slopes on both sides; for a constraint of a cone the bound is 0.
"""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.path.conditions import conditions
from relu_cert.prove.facts import Facts
from relu_cert.report.text import count

NAME = "strict-complementarity"
STATEMENT = "Every neuron of an optimal network loses at first order when it leaves its face (strict complementarity)."


def applies(facts: Facts) -> bool:
    """Where the conditions of differentiability were asked for."""
    return facts.asked_sensitivity


def decide(facts: Facts) -> Result:
    """Strict at every neuron that may be active, or a direction in which one that is leaves its face at no cost."""
    if facts.lam**2 >= facts.lambda_max.squared:
        return Result(NAME, Verdict.PROVED, "zero", "lambda >= lambda_max: no neuron is active.")
    known = conditions(facts)
    if known is None:
        return Result(NAME, Verdict.UNDECIDED, "", f"{facts.unsettled or 'the optimal set is not settled'}.")
    open_ = [one for one in known.neurons if not one.strict and one.active is not False]
    if not open_:
        return Result(NAME, Verdict.PROVED, "faces", "multipliers strictly inside at every neuron that can be active.")
    free = sum(1 for one in open_ if one.active and one.strict is False)
    if free:
        detail = f"{free} of {count(len(known.neurons), 'neuron')} can leave their face at no cost at first order."
        return Result(NAME, Verdict.REFUTED, "faces", detail)
    return Result(NAME, Verdict.UNDECIDED, "", f"the multipliers at {count(len(open_), 'neuron')} are not settled.")
