"""e-equals-a: every optimal network uses every neuron that ties at lambda (E = A).

prop:local-sol-fn needs it and does not say so: with X = I, y = (2, 1), lambda = 1 and blocks of size one, LICQ and
strict complementarity hold (there is no cone), and yet the solution has a kink.
"""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.path.conditions import conditions
from relu_cert.prove.facts import Facts
from relu_cert.report.text import count

NAME = "e-equals-a"
STATEMENT = "Every optimal network uses every neuron that ties at lambda: E = A."


def applies(facts: Facts) -> bool:
    """Where the conditions of differentiability were asked for."""
    return facts.asked_sensitivity


def decide(facts: Facts) -> Result:
    """One network with every tied neuron in it, or a tied neuron that some optimal network leaves out."""
    if facts.lam**2 > facts.lambda_max.squared:
        return Result(NAME, Verdict.PROVED, "zero", "lambda > lambda_max: no neuron ties, and none is active.")
    if facts.lam**2 == facts.lambda_max.squared and facts.lambda_max.exact:
        detail = "lambda = lambda_max: a neuron ties, and the only optimal network is zero."
        return Result(NAME, Verdict.REFUTED, "zero", detail)
    known = conditions(facts)
    if known is None:
        return Result(NAME, Verdict.UNDECIDED, "", f"{facts.unsettled or 'the optimal set is not settled'}.")
    total = len(known.neurons)
    if known.all_active:
        return Result(
            NAME,
            Verdict.PROVED,
            "optimal set",
            f"{count(total, 'neuron')} {'ties' if total == 1 else 'tie'}, and all of them have weight.",
        )
    if not known.unique:
        detail = "there are several optimal networks, and the minimal ones leave tied neurons out."
        return Result(NAME, Verdict.REFUTED, "optimal set", detail)
    idle = sum(1 for one in known.neurons if one.active is False)
    if idle:
        return Result(NAME, Verdict.REFUTED, "optimal set", f"{idle} of {total} tied neurons have weight 0.")
    open_ = sum(1 for one in known.neurons if one.active is None)
    detail = f"{open_} of {count(total, 'neuron')} that may tie have no weight that is proved positive."
    return Result(NAME, Verdict.UNDECIDED, "", detail)
