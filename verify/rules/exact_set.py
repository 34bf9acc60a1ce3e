"""The set of all solutions where lower = upper, so that r* = theta."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verify.ball import Ball
from verify.facts import DUAL, MULTIPLIERS, PATTERNS, VALUE, Facts
from verify.problem import Problem
from verify.solutions import OptimalSet, System, set_rule
from verify.system import exact_system
from verify.text import Node, show
from verify.ties import Numbers, Optimum, check_solutions


class Rational(Optimum):
    """r* = theta in rational numbers."""

    def system(self, outputs: Sequence[Numbers], fit: Numbers) -> System:
        """The equations of the weights."""
        return exact_system([tuple(q) for q in outputs], tuple(fit))


def check_exact_set(problem: Problem, facts: Facts, node: Node) -> OptimalSet:
    """Reject unless the fact holds."""
    fields = node.record("solutions", "farkas")
    value, theta = facts[VALUE], facts[DUAL].theta
    if value.lower != value.upper:
        raise node.reject("lower = upper in the fact value", f"{show(value.lower)} < {show(value.upper)}")
    optimum = Rational(Ball(problem, theta, Fraction(0)), theta, facts[MULTIPLIERS])
    return check_solutions(optimum, facts.get(PATTERNS), node, fields)


RULE = set_rule(check_exact_set)
