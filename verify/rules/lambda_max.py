"""lambda_max^2 = max_b |Proj_{C_b}(X_b' y)|^2: no larger, by multipliers, and no smaller, by a direction.

With the logistic loss the gradient at zero is -y/2, and y/2 takes the place of y.
"""

from __future__ import annotations

from fractions import Fraction

from verify.facts import LAMBDA_MAX, PATTERNS, Facts, proved
from verify.optimal.multipliers import check_multipliers
from verify.problem.problem import Problem, dot, square
from verify.rule import Rule
from verify.rules.primal import neuron_output
from verify.text import Node, Vector, show


def check_lambda_max(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless `squared` is lambda_max^2 exactly."""
    patterns = facts.get(PATTERNS)
    fields = node.record("squared", "multipliers", "attained")
    squared = fields["squared"].number()
    fields["squared"].require(squared >= 0, "a square")
    y = slope_at_zero(problem)
    check_multipliers(problem, patterns, y, squared, fields["multipliers"])
    if problem.model == "gated":
        from verify.problem.blocks import check_reached

        check_reached(problem, patterns, y, squared, fields["attained"])
    else:
        check_attained(problem, facts, squared, fields["attained"])
    return proved(LAMBDA_MAX, squared)


def slope_at_zero(problem: Problem) -> Vector:
    """Minus the gradient of the loss at the fit 0."""
    return tuple(y_k / 2 for y_k in problem.y) if problem.logistic else problem.y


def check_attained(problem: Problem, facts: Facts, squared: Fraction, node: Node) -> None:
    """Reject unless a direction u other than 0, or any one where `squared` is 0, attains the bound."""
    first = "sign" if problem.model == "relu" else "block"
    parts = node.record(first, "u")
    output, u = neuron_output(problem, facts, parts[first], parts["u"])
    y = slope_at_zero(problem)
    reached = dot(y, output)
    parts["u"].require(not squared or any(u), "a direction, not zero")
    if reached < 0 or reached**2 != squared * square(u):
        expected = f"y.(output of u) = sqrt(squared) |u|, its square {show(squared * square(u))}"
        raise parts["u"].reject(expected, f"{show(reached)}, its square {show(reached**2)}")


RULE = Rule((LAMBDA_MAX,), check_lambda_max, listed=True, applies=lambda problem: not problem.free, bags=True)
