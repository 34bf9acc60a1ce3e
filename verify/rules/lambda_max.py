"""lambda_max^2 = max_b |Proj_{C_b}(X_b' y)|^2: no larger, by multipliers, and no smaller, by a direction.

With the logistic loss the gradient at zero is -y/2, and y/2 takes the place of y.
"""

from __future__ import annotations

from fractions import Fraction

from verify.facts import LAMBDA_MAX, PATTERNS, Facts, proved
from verify.multipliers import check_multipliers
from verify.patterns import Patterns
from verify.problem import Problem, dot, square, transposed
from verify.rules import Rule
from verify.rules.primal import neuron_output
from verify.text import Node, Vector, show


def check_lambda_max(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless `squared` is lambda_max^2 exactly."""
    patterns = facts.get(PATTERNS)
    fields = node.record("squared", "multipliers", "attained")
    squared = fields["squared"].number()
    if squared < 0:
        raise fields["squared"].reject("a square")
    y = tuple(y_k / 2 for y_k in problem.y) if problem.logistic else problem.y
    check_multipliers(problem, patterns, y, squared, fields["multipliers"])
    if problem.model == "gated":
        check_gated(problem, patterns, y, squared, fields["attained"])
        return proved(LAMBDA_MAX, squared)
    first = "sign" if problem.model == "relu" else "block"
    parts = fields["attained"].record(first, "u")
    output, u = neuron_output(problem, facts, parts[first], parts["u"])
    reached = dot(y, output)
    if squared and not any(u):
        raise parts["u"].reject("a direction, not zero")
    if reached < 0 or reached**2 != squared * square(u):
        expected = f"y.(output of u) = sqrt(squared) |u|, its square {show(squared * square(u))}"
        raise parts["u"].reject(expected, f"{show(reached)}, its square {show(reached**2)}")
    return proved(LAMBDA_MAX, squared)


def check_gated(problem: Problem, patterns: Patterns | None, y: Vector, squared: Fraction, node: Node) -> None:
    """|Z'D y|^2 = squared for the pattern D."""
    pattern = node.record("pattern")["pattern"]
    mask = pattern.pattern(problem.n)
    if patterns is None or mask not in patterns:
        raise pattern.reject("a pattern in D_Z")
    Dy = tuple(y_k if mask >> k & 1 else Fraction(0) for k, y_k in enumerate(y))
    reached = square(transposed(problem.Z, Dy))
    if reached != squared:
        raise pattern.reject(f"|Z'D y|^2 = {show(squared)}", show(reached))


RULE = Rule((LAMBDA_MAX,), check_lambda_max, listed=True, applies=lambda problem: not problem.free)
