"""Whether coefficients that were given are optimal, up to a gap."""

from __future__ import annotations

from verify.claims import PROVED, REFUTED, Row
from verify.facts import SOLUTION, VALUE, Facts
from verify.network.solution import Solution
from verify.problem.problem import Problem
from verify.text import Node, show


def told(found: Solution) -> str:
    """The coefficients, with what the certificate has chosen beside them: weights of groups, and an extra cost."""
    times = ""
    if any(weight != 1 for weight in found.weights):
        ends = f"from {show(min(found.weights))} to {show(max(found.weights))}"
        times = f", times the weights of their groups ({ends}),"
    plus = f"{'' if times else ','} with {show(found.extra)} for their intercept," if found.extra else ""
    return f"the given coefficients{times}{plus}"


def reached(problem: Problem, facts: Facts, node: Node) -> str:
    """J (1 - gap) <= upper end of J (1 - gap) <= lower <= p*."""
    J, gap, lower = facts[SOLUTION].upper, facts[SOLUTION].gap, facts[VALUE].lower
    node.require(J - lower <= gap * J, f"J - lower <= gap * J = {show(gap * J)}", show(J - lower))
    return f"{told(facts[SOLUTION])} are optimal up to the relative gap {show(gap)}: at most {show(J - lower)} above p*"


def missed(problem: Problem, facts: Facts, node: Node) -> str:
    """J (1 - gap) >= lower end of J (1 - gap) > upper >= p*."""
    J, gap, upper = facts[SOLUTION].lower, facts[SOLUTION].gap, facts[VALUE].upper
    node.require(J - upper > gap * J, f"J - upper > gap * J = {show(gap * J)}", show(J - upper))
    return f"{told(facts[SOLUTION])} are at least {show(J - upper)} above p*, more than the relative gap {show(gap)}"


TABLE = (
    Row("solution-optimal", PROVED, (SOLUTION, VALUE), reached),
    Row("solution-optimal", REFUTED, (SOLUTION, VALUE), missed),
)
