"""Whether the point is globally optimal, up to a gap; or what is proved of the global minimum all the same."""

from __future__ import annotations

from verify.claims import PROVED, UNDECIDED, Row
from verify.facts import PRIMAL, VALUE, Facts
from verify.problem.problem import Problem
from verify.text import Node, show


def between(problem: Problem, facts: Facts, _: Node) -> str:
    """lower <= p* <= P(w) <= upper, however far they are apart."""
    lower, upper = show(facts[VALUE].lower), show(facts[VALUE].upper)
    return f"for lambda = {show(problem.lam)} the global minimum lies in [{lower}, {upper}]"


def optimal(problem: Problem, facts: Facts, node: Node) -> str:
    """The same, and upper - lower <= gap * upper."""
    value, what = facts[VALUE], "blocks" if problem.model == "cgl" else "neurons"
    gap = value.upper - value.lower
    found = f"{show(gap)} > {show(value.gap)} * {show(value.upper)}"
    node.require(gap <= value.gap * value.upper, "upper - lower <= gap * upper", found)
    said = f"{between(problem, facts, node)}, and the point attains it up to {show(gap)}"
    return f"{said} ({what}: {facts[PRIMAL].neurons}; relative gap at most {show(value.gap)})"


TABLE = (Row("optimal", PROVED, (PRIMAL, VALUE), optimal), Row("optimal", UNDECIDED, (PRIMAL, VALUE), between))
