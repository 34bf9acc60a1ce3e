"""The set of all solutions where r* is known exactly, in a field of real algebraic numbers.

r is dual feasible, and y - r = sum alpha_a q_a with alpha >= 0 over the neurons with |v_a| = lambda: so r = r*.
FORMAT.md has the argument.
"""

from __future__ import annotations

from verify.facts import COVER, DUAL, MULTIPLIERS, PATTERNS, Facts, needed
from verify.numbers.field import read_field, read_numbers
from verify.optimal.ball import Ball
from verify.problem.problem import Problem
from verify.sets.in_field import InField
from verify.sets.solutions import OptimalSet, set_rule
from verify.sets.ties import check_solutions
from verify.text import Node


def check_algebraic_set(problem: Problem, facts: Facts, node: Node) -> OptimalSet:
    """Reject unless the fact holds."""
    fields = node.record("field", "residual", "multipliers", "solutions", "farkas")
    in_field, theta = read_field(fields["field"]), facts[DUAL].theta
    r = read_numbers(in_field, fields["residual"], problem.n)
    for k, (r_k, t_k) in enumerate(zip(problem.spread(r), problem.spread(theta), strict=True)):
        node = fields["residual"] if problem.bags else fields["residual"].item(k)
        node.require(not r_k or r_k * t_k > 0, "0, or the sign of theta")
    off = [r_k - t_k for r_k, t_k in zip(r, theta, strict=True)]
    ball = Ball(problem, theta, sum((x * x for x in off), in_field.number(())).upper())
    if (cover := facts.get(COVER)) is not None:
        from verify.sets.covered import CoveredInField

        return check_solutions(CoveredInField(ball, r, node, fields["multipliers"], cover), None, node, fields)
    optimum = InField(ball, r, needed(facts.get(MULTIPLIERS), MULTIPLIERS.name, node), fields["multipliers"])
    fields["multipliers"].require(problem.model != "gated" or fields["multipliers"].value is None, "null")
    return check_solutions(optimum, facts.get(PATTERNS), fields["multipliers"], fields)


RULE = set_rule(check_algebraic_set, by=None)
