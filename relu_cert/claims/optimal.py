"""optimal: the network found is globally optimal, up to a proved gap (weak duality, eq:dual-program with rho >= 0)."""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.prove.facts import Facts
from relu_cert.report.text import at_most, scientific

NAME = "optimal"
STATEMENT = "The network found is globally optimal up to the relative gap."


def applies(facts: Facts) -> bool:
    """Always."""
    return True


def decide(facts: Facts) -> Result:
    """lower <= p* <= upper with upper - lower <= gap * upper."""
    value = facts.value
    if not value.reached:
        return Result(
            NAME,
            Verdict.UNDECIDED,
            "",
            f"the proved relative gap is {scientific(value.relative_gap)}, above the {scientific(value.gap)} "
            "that --gap asks for.",
        )
    if facts.lam**2 >= facts.lambda_max.squared:
        detail = "lambda >= lambda_max: the zero network is the only solution."
    elif value.upper == value.lower:
        detail = "primal and dual value are equal."
    else:
        over = "over all patterns" if facts.problem.sampled is None else f"over {_patterns(facts)}"
        detail = f"relative gap at most {at_most(value.relative_gap)}, {over}."
    return Result(NAME, Verdict.PROVED, "duality", detail + _candidate(facts))


def _patterns(facts: Facts) -> str:
    sampled = facts.problem.sampled
    if sampled is None or sampled.all is not None:
        return "all patterns"
    return f"these {len(sampled.patterns)} patterns"


def _candidate(facts: Facts) -> str:
    """What optimality over some patterns means for the network."""
    sampled = facts.problem.sampled
    if sampled is None or sampled.all is not None:
        return ""
    return " Optimal for these patterns only: a candidate for a stationary point."
