"""The set of all solutions where lower = upper, so that r* = theta."""

from __future__ import annotations

from fractions import Fraction

from verify.facts import COVER, DUAL, MULTIPLIERS, PATTERNS, VALUE, Facts, needed
from verify.optimal.ball import Ball
from verify.problem.problem import Problem
from verify.sets.solutions import OptimalSet, set_rule
from verify.sets.ties import Optimum, check_solutions
from verify.text import Node, show


def check_exact_set(problem: Problem, facts: Facts, node: Node) -> OptimalSet:
    """Reject unless the fact holds."""
    fields = node.record("solutions", "farkas")
    value, theta = facts[VALUE], facts[DUAL].theta
    if value.lower != value.upper:
        raise node.reject("lower = upper in the fact value", f"{show(value.lower)} < {show(value.upper)}")
    ball, cover = Ball(problem, theta, Fraction(0)), facts.get(COVER)
    if cover is not None:
        from verify.sets.covered import Covered

        return check_solutions(Covered(ball, theta, node, cover), None, node, fields)
    optimum = Optimum(ball, theta, needed(facts.get(MULTIPLIERS), MULTIPLIERS.name, node))
    return check_solutions(optimum, facts.get(PATTERNS), node, fields)


RULE = set_rule(check_exact_set, by=None)
