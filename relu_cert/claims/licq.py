"""licq: the constraints that are tight at the active neurons are linearly independent (prop:local-sol-fn).

Each half-space (each hyperplane of the data, for networks) counts once, however often it is given, and zero rows are no
constraint. Without it multipliers are not unique; derivatives may exist all the same.
"""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.path.conditions import conditions
from relu_cert.prove.facts import Facts
from relu_cert.report.text import count

NAME = "licq"
STATEMENT = "At every neuron of an optimal network the tight constraints are linearly independent (LICQ)."


def applies(facts: Facts) -> bool:
    """Where the conditions of differentiability were asked for."""
    return facts.asked_sensitivity


def decide(facts: Facts) -> Result:
    """Independent at every neuron that may be active, or dependent at one that is."""
    if facts.lam**2 >= facts.lambda_max.squared:
        return Result(NAME, Verdict.PROVED, "zero", "lambda >= lambda_max: no neuron is active.")
    known = conditions(facts)
    if known is None:
        return Result(NAME, Verdict.UNDECIDED, "", f"{facts.unsettled or 'the optimal set is not settled'}.")
    wrong = [one for one in known.neurons if not one.independent and one.active is not False]
    if not wrong:
        return Result(NAME, Verdict.PROVED, "faces", "independent at every neuron that can be active.")
    if any(one.active for one in wrong):
        where = f"{len(wrong)} of {count(len(known.neurons), 'neuron')}"
        detail = f"dependent at {where}: more constraints meet there than needed."
        return Result(NAME, Verdict.REFUTED, "faces", detail)
    return Result(NAME, Verdict.UNDECIDED, "", f"dependent at {count(len(wrong), 'neuron')} that may not be active.")
