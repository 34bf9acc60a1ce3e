"""Whether the point is globally optimal, up to a gap."""

from __future__ import annotations

from verify.claims import PROVED, Row
from verify.facts import PRIMAL, VALUE, Facts
from verify.problem import Problem
from verify.text import Node, show


def optimal(problem: Problem, facts: Facts, node: Node) -> str:
    """lower <= p* <= P(w) <= upper and upper - lower <= gap * upper."""
    primal, value = facts[PRIMAL], facts[VALUE]
    gap = value.upper - value.lower
    found = f"{show(gap)} > {show(value.gap)} * {show(value.upper)}"
    node.require(gap <= value.gap * value.upper, "upper - lower <= gap * upper", found)
    what = "blocks" if problem.model == "cgl" else "neurons"
    where = f"[{show(value.lower)}, {show(value.upper)}], and the point attains it up to {show(gap)}"
    said = f"for lambda = {show(problem.lam)} the global minimum lies in {where}"
    return f"{said} ({what}: {primal.neurons}; relative gap at most {show(value.gap)})"


TABLE = (Row("optimal", PROVED, (PRIMAL, VALUE), optimal),)
