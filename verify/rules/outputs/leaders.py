"""A dual feasible Theta of a network with several outputs, output by output: leaders for each of some axes.

Theta = sum theta_i b_i' and |theta_i.P(Zu)_+| <= lambda_i |u| give F(u) = sum (theta_i.P(Zu)_+) b_i, hence |F(u)|^2 <=
sum_ij |b_i.b_j| lambda_i lambda_j |u|^2.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from verify.facts import DUAL, Facts, proved
from verify.optimal.leaders import check_leaders
from verify.problem.problem import Problem, dot
from verify.rule import Rule
from verify.rules.value import Dual
from verify.text import Node, show

MOST_AXES = 256


def squares(problem: Problem) -> bool:
    """Squares: leaders know no rows of several probabilities."""
    return problem.targets > 1 and not problem.logistic


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless every theta_i is proved, and the lambda_i are small enough together."""
    node.require(facts.get(DUAL) is None, "one proof of the dual point, by `cover` or `leaders`", "two")
    entries = node.record("axes")["axes"].array()
    node.require(len(entries) <= MOST_AXES, f"at most {MOST_AXES} axes", str(len(entries)))
    theta, axes = [Fraction(0)] * len(problem.y), []
    for entry in entries:
        fields = entry.record("axis", "lambda", "proof")
        axis, lam = fields["axis"].vector(problem.targets), fields["lambda"].number()
        fields["lambda"].require(lam > 0, "lambda > 0")
        one = replace(problem, lam=lam, y=(Fraction(0),) * problem.n, targets=1)
        found = check_leaders(one, fields["proof"])
        theta = [x + t * b for x, (t, b) in zip(theta, ((t, b) for t in found for b in axis), strict=True)]
        axes.append((axis, lam))
    total = sum((abs(dot(a, b)) * s * t for a, s in axes for b, t in axes), Fraction(0))
    node.require(total <= problem.lam**2, "sum |b_i.b_j| lambda_i lambda_j <= lambda^2", show(total))
    return proved(DUAL, Dual(tuple(theta)))


RULE = Rule((DUAL,), check, applies=squares, bags=True)
