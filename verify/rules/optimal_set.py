"""The set of all optimal networks: its classes, the masses of its superclasses, a point strictly inside, its dimension.

FORMAT.md has the argument. Everything is said of every residual in the ball |r - theta| <= R.
"""

from __future__ import annotations

from verify.facts import DUAL, MULTIPLIERS, PATTERNS, VALUE, Facts
from verify.optimal.ball import Ball
from verify.problem.problem import Problem
from verify.sets.classes import read_class
from verify.sets.masses import KEYS, check_set
from verify.sets.outs import check_outs
from verify.sets.solutions import OptimalSet, lifted, set_rule
from verify.text import Node


def check_optimal_set(problem: Problem, facts: Facts, node: Node) -> OptimalSet:
    """Reject unless the fact holds."""
    fields = node.record(*KEYS, "out", optional=("mixed",))
    patterns, value = facts.get(PATTERNS), facts[VALUE]
    ball = Ball(problem, facts[DUAL].theta, 2 * (value.upper - value.lower))
    classes = [read_class(ball, patterns, entry) for entry in fields["classes"].array()]
    check_outs(ball, patterns, classes, facts[MULTIPLIERS], fields["out"])
    return check_set(ball, classes, fields)


RULE = set_rule(check_optimal_set, applies=lambda problem: lifted(problem) and not problem.biases)
