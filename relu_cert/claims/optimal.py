"""optimal: the network found is globally optimal, up to a proved gap (weak duality, eq:dual-program with rho >= 0)."""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.prove.facts import Facts
from relu_cert.report.text import at_most, percent_at_most, scientific

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
            f"{_above(facts)}; --gap asks for {scientific(value.gap)}.",
        )
    if facts.lam**2 >= facts.lambda_max.squared:
        detail = "lambda >= lambda_max: the zero network is the only solution."
    elif value.upper == value.lower:
        detail = "primal and dual value are equal."
    else:
        detail = f"relative gap at most {at_most(value.relative_gap)}, over {_patterns(facts)}."
    return Result(NAME, Verdict.PROVED, "duality", detail + _candidate(facts))


def _above(facts: Facts) -> str:
    """What is proved where it is not enough."""
    value = facts.value
    if facts.problem.unlisted and value.lower > 0:
        return f"the network found is at most {percent_at_most(value.above)} above the best of any width"
    return f"the proved relative gap is at most {at_most(value.relative_gap)}"


def _patterns(facts: Facts) -> str:
    if facts.problem.unlisted:
        return "all networks of any width"
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
