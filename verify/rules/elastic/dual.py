"""The dual of the elastic variant, delta > 0: every theta is feasible, and long blocks cost something.

For w in C_b and rho >= 0, theta.X_b w <= (X_b'theta - K_b rho).w <= s |w|, so that
lambda |w| + delta/2 |w|^2 - theta.X_b w >= -(s - lambda)^2 / (2 delta) where s > lambda, and >= 0 where s <= lambda.
"""

from __future__ import annotations

from fractions import Fraction

from verify.facts import DUAL, Facts, proved
from verify.problem.blocks import pushed
from verify.problem.problem import Problem, square
from verify.rule import Rule, everywhere
from verify.rules.value import Dual
from verify.text import Node, show


def check_elastic(problem: Problem, facts: Facts, node: Node) -> Facts:
    """theta, and the sum of (s - lambda)^2 / (2 delta) over the blocks of `excess`; no other is longer than lambda."""
    fields = node.record("theta", "multipliers", "excess")
    theta = fields["theta"].vector(problem.n)
    entries = fields["multipliers"].array(len(problem.groups))
    longer: dict[int, tuple[Fraction, Node]] = {}
    for entry in fields["excess"].array():
        block, length = entry.array(2)
        b, s = block.index(len(problem.groups)), length.number()
        block.require(not longer or b > max(longer), "blocks in ascending order")
        length.require(s > problem.lam, f"a length > lambda = {show(problem.lam)}")
        longer[b] = (s, length)
    for b, entry in enumerate(entries):
        squared = square(pushed(problem, theta, b, entry))
        s, place = longer.get(b, (problem.lam, entry))
        place.require(squared <= s**2, f"|X_b'theta - K_b rho|^2 <= {show(s**2)} for block {b}", show(squared))
    cost = sum(((s - problem.lam) ** 2 for s, _ in longer.values()), Fraction(0)) / (2 * problem.delta)
    return proved(DUAL, Dual(theta, cost))


RULE = Rule((DUAL,), check_elastic, applies=everywhere)
