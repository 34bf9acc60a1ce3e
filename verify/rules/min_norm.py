"""The shortest point of the polytope of optimal weights, without a list of vertices."""

from __future__ import annotations

from verify.facts import SET, SHORTEST, Facts, proved
from verify.field import product, read_numbers
from verify.field_system import FieldSystem
from verify.problem import Problem
from verify.rules import Rule
from verify.shortest import Shortest, check_min_norm
from verify.solutions import weights
from verify.text import Node, show


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """The shortest weights."""
    system = weights(problem, facts[SET], node)
    if isinstance(system, FieldSystem):
        return proved(SHORTEST, check_field_min_norm(system, node))
    return proved(SHORTEST, check_min_norm(system, node))


def check_field_min_norm(system: FieldSystem, node: Node) -> Shortest:
    """Reject unless alpha = (F'mu)_+ solves F alpha = g, and is within `radius` of `weights`, 0 where they are 0.

    Then alpha.(beta - alpha) >= mu.(F beta - F alpha) = 0 for every beta of the polytope: alpha is the shortest.
    """
    fields = node.record("bits", "weights", "radius", "mu")
    fields["bits"].index(1)
    weights, radius = fields["weights"].vector(system.total), fields["radius"].number()
    if radius < 0:
        raise fields["radius"].reject("a number >= 0")
    if not system.rows:  # no neuron ties
        fields["mu"].array(0)
        return Shortest(weights, radius)
    in_field = system.in_field
    zero = in_field.number(())
    mu = read_numbers(in_field, fields["mu"], system.rows)
    alpha = []
    for a, (weight, column) in enumerate(zip(weights, zip(*system.left, strict=True), strict=True)):
        height = product(mu, column, zero)
        alpha.append(height if height > 0 else zero)
        if (weight > 0) != (height > 0) or weight < 0 or abs(alpha[a] - weight) > radius:
            raise fields["weights"].reject(
                f"F_a.mu up to radius where it is positive, else 0, for class {a}", show(weight)
            )
    for l, (row, g_l) in enumerate(zip(system.left, system.right, strict=True)):
        if product(alpha, row, zero) != g_l:
            raise fields["mu"].reject(f"F alpha = g in row {l}")
    return Shortest(weights, radius)


RULE = Rule((SHORTEST,), check, rests=(SET,), after=("polytope",))
