"""The set of all solutions where lower = upper, so that r* = theta."""

from __future__ import annotations

from fractions import Fraction

from verify.ball import Ball
from verify.facts import DUAL, MULTIPLIERS, PATTERNS, VALUE, Facts
from verify.problem import Problem
from verify.solutions import OptimalSet, set_rule
from verify.text import Node, show
from verify.ties import Optimum, check_solutions


def check_exact_set(problem: Problem, facts: Facts, node: Node) -> OptimalSet:
    """Reject unless the fact holds."""
    fields = node.record("solutions", "farkas")
    value, theta = facts[VALUE], facts[DUAL].theta
    if value.lower != value.upper:
        raise node.reject("lower = upper in the fact value", f"{show(value.lower)} < {show(value.upper)}")
    optimum = Optimum(Ball(problem, theta, Fraction(0)), theta, facts[MULTIPLIERS])
    return check_solutions(optimum, facts.get(PATTERNS), node, fields)


RULE = set_rule(check_exact_set)
