"""The shortest point of the polytope of optimal weights, without a list of vertices."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import Any

from flint import fmpq

from verify.facts import SET, SHORTEST, Facts, proved
from verify.numbers.bounds import rational
from verify.numbers.field import read_numbers
from verify.problem.problem import Problem
from verify.rule import Rule
from verify.sets.shortest import Shortest, check_enclosed, read_weights, weights
from verify.sets.solutions import System
from verify.sets.system import MOST_BITS, on_grid
from verify.text import Fields, Node, Vector, show


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """The shortest weights."""
    return proved(SHORTEST, check_min_norm(weights(problem, facts[SET], node), node))


def check_min_norm(system: System, node: Node) -> Shortest:
    """Reject unless the shortest alpha is as stated: by `mu`, or as in `check_enclosed`."""
    fields = node.record("bits", "weights", "radius", "mu")
    bits = fields["bits"].index(1 if system.exact else MOST_BITS + 1)
    stated, found = read_weights(system, fields)
    if system.exact:
        check_slopes(system, stated, rational(found.radius), fields)
    else:
        fields["mu"].vector(0)
        check_enclosed(on_grid(system, bits), stated, found.radius, fields)
    return found


def check_slopes(system: System, stated: Vector, radius: fmpq, fields: Fields) -> None:
    """Reject unless alpha = (F'mu)_+ solves F alpha = g, and is within `radius` of `weights`, 0 where they are 0.

    Then alpha.(beta - alpha) >= mu.(F beta - F alpha) = 0 for every beta of the polytope: alpha is the shortest.
    """
    left, right = system.F.tolist(), [rational(x) for x in system.g]
    mu: Sequence[Any] = [rational(x) for x in fields["mu"].vector(system.rows)] if system.rational else ()
    if not system.rational:
        mu = read_numbers(system.g[0].field, fields["mu"], system.rows) if right else fields["mu"].array(0)
    columns = ([row[a] for row in left] for a in range(len(system.names)))
    alpha = [max(sum(map(mul, mu, entries)), 0) for entries in columns]
    for name, x, weight in zip(system.names, alpha, stated, strict=True):
        if (weight > 0) != (x > 0) or abs(x - rational(weight)) > radius:
            expected = f"F_a.mu up to radius where it is positive, else 0, for class {name}"
            raise fields["weights"].reject(expected, show(weight))
    for l, (row, g_l) in enumerate(zip(left, right, strict=True)):
        fields["mu"].require(sum(map(mul, alpha, row)) == g_l, f"F alpha = g in row {l}")


RULE = Rule((SHORTEST,), check, rests=(SET,), bags=True)
