"""lower <= p* <= upper of a network with several outputs, with squares or the softmax cross-entropy."""

from __future__ import annotations

from verify.facts import DUAL, PRIMAL, VALUE, Facts, proved
from verify.problem.problem import Problem
from verify.rule import Rule, everywhere
from verify.rules.value import Value, check_value, read_gap
from verify.text import Node


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless the two bounds hold."""
    if not problem.logistic:
        return check_value(problem, facts, node)
    from verify.outputs.softmax import check_bounds

    fields = node.record("lower", "upper", "gap")
    lower, upper, primal = fields["lower"], fields["upper"], facts[PRIMAL]
    check_bounds(problem, facts[DUAL].theta, primal.fit, primal.penalty, lower, upper)
    return proved(VALUE, Value(lower.number(), upper.number(), read_gap(fields["gap"])))


RULE = Rule((VALUE,), check, rests=(PRIMAL, DUAL), applies=everywhere, bags=True)
