"""optimal: the point of `primal` is globally optimal up to the relative gap."""

from __future__ import annotations

from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node, show


def optimal(problem: Problem, facts: Facts, node: Node) -> str:
    """What is proved about the point: lower <= p* <= P(w) <= upper and upper - lower <= gap * upper."""
    primal, value = needed(facts.primal, "primal", node), needed(facts.value, "value", node)
    if value.upper - value.lower > value.gap * value.upper:
        found = f"{show(value.upper - value.lower)} > {show(value.gap)} * {show(value.upper)}"
        raise node.reject("upper - lower <= gap * upper", found)
    what = f"{'blocks' if problem.model == 'cgl' else 'neurons'}"
    over = "" if problem.patterns is None else f" over these {len(problem.patterns)} patterns only"
    where = f"[{show(value.lower)}, {show(value.upper)}]"
    return (
        f"for lambda = {show(problem.lam)} the global minimum{over} lies in {where}, "
        f"and the point with {primal.neurons} {what} attains it up to {show(value.upper - value.lower)} "
        f"(relative gap at most {show(value.gap)})"
    )
