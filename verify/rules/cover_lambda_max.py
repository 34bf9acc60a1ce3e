"""lambda_max^2 by a cover for theta = y (logistic: y/2): no larger, and attained in a direction, so no smaller."""

from __future__ import annotations

from verify.cover.check import check_cover
from verify.facts import LAMBDA_MAX, Facts, proved
from verify.problem import Problem, dot, square
from verify.rules import Rule
from verify.rules.cover import applies
from verify.rules.primal import neuron_output
from verify.text import Node, show


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless `squared` is lambda_max^2 exactly."""
    fields = node.record("squared", "proof", "attained")
    squared = fields["squared"].number()
    fields["squared"].require(squared > 0, "a square > 0")
    y = tuple(y_k / 2 for y_k in problem.y) if problem.logistic else problem.y
    check_cover(problem, y, squared, fields["proof"])
    parts = fields["attained"].record("sign", "u")
    output, u = neuron_output(problem, facts, parts["sign"], parts["u"])
    reached = dot(y, output)
    if reached <= 0 or reached**2 != squared * square(u):
        expected = f"y.(output of u) = sqrt(squared) |u|, its square {show(squared * square(u))}"
        raise parts["u"].reject(expected, f"{show(reached)}, its square {show(reached**2)}")
    return proved(LAMBDA_MAX, squared)


RULE = Rule((LAMBDA_MAX,), check, applies=lambda problem: applies(problem) and not problem.free)
