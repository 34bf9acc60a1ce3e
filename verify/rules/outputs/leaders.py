"""A dual feasible Theta of a network with several outputs: leaders for each of some axes, and for directions of planes.

Theta = sum theta_i b_i' and |theta_i.P(Zu)_+| <= lambda_i |u| give F(u) = sum (theta_i.P(Zu)_+) b_i, hence |F(u)|^2 <=
sum_ij |b_i.b_j| lambda_i lambda_j |u|^2. In a plane of two axes, theta_i.P(Zu)_+ and theta_j.P(Zu)_+ are in the polygon
that more directions leave, and the four terms of i and j are at most the largest |x b_i + y b_j|^2 of its vertices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

from verify.facts import DUAL, Facts, proved
from verify.optimal.leaders import check_leaders
from verify.problem.problem import Problem, dot
from verify.rule import Rule
from verify.rules.value import Dual
from verify.text import Fields, Node, Vector, show

MOST_AXES, MOST_SIDES = 256, 62


def squares(problem: Problem) -> bool:
    """Squares: leaders know no rows of several probabilities."""
    return problem.targets > 1 and not problem.logistic


@dataclass(frozen=True)
class Axis:
    """b_i, lambda_i, theta_i, and the sides |c x + s y| <= lambda of the plane that begins with it, if any."""

    b: Vector
    lam: Fraction
    theta: Vector
    sides: list[tuple[Fraction, Fraction, Fraction]] = field(default_factory=list)


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless every theta_i is proved, and the lambda_i are small enough together."""
    node.require(facts.get(DUAL) is None, "one proof of the dual point, by `cover` or `leaders`", "two")
    fields = node.record("axes", optional=("across",))
    entries = fields["axes"].array()
    node.require(len(entries) <= MOST_AXES, f"at most {MOST_AXES} axes", str(len(entries)))
    axes = [read_axis(problem, entry) for entry in entries]
    for entry in fields["across"].array() if "across" in fields else ():
        read_across(problem, axes, entry)
    theta = [Fraction(0)] * len(problem.y)
    for one in axes:
        theta = [x + t * b for x, (t, b) in zip(theta, ((t, b) for t in one.theta for b in one.b), strict=True)]
    home = [i - 1 if i and axes[i - 1].sides else i for i in range(len(axes))]
    total = sum((widest(one, axes[i + 1]) for i, one in enumerate(axes) if one.sides), Fraction(0))
    for i, one in enumerate(axes):
        for j, other in enumerate(axes):
            if home[i] != home[j] or not axes[home[i]].sides:
                total += abs(dot(one.b, other.b)) * one.lam * other.lam
    node.require(total <= problem.lam**2, "sum |b_i.b_j| lambda_i lambda_j <= lambda^2", show(total))
    return proved(DUAL, Dual(tuple(theta)))


def proved_along(problem: Problem, fields: Fields) -> tuple[Fraction, Vector]:
    """lambda_i and theta_i; rejected unless |theta_i.P(Zu)_+| <= lambda_i |u|."""
    lam = fields["lambda"].number()
    fields["lambda"].require(lam > 0, "lambda > 0")
    one = replace(problem, lam=lam, y=(Fraction(0),) * problem.n, targets=1)
    return lam, check_leaders(one, fields["proof"])


def read_axis(problem: Problem, entry: Node) -> Axis:
    """`{"axis", "lambda", "proof"}`"""
    fields = entry.record("axis", "lambda", "proof")
    return Axis(fields["axis"].vector(problem.targets), *proved_along(problem, fields))


def read_across(problem: Problem, axes: Sequence[Axis], entry: Node) -> None:
    """`{"first", "weights", "lambda", "proof"}`: a direction of the plane of the axes `first` and the next."""
    fields = entry.record("first", "weights", "lambda", "proof")
    first = fields["first"].index(len(axes) - 1)
    one, two = axes[first : first + 2]
    apart = not two.sides and not (first and axes[first - 1].sides)
    fields["first"].require(apart, "an axis that is in no other plane", str(first))
    entry.require(len(one.sides) < MOST_SIDES, f"at most {MOST_SIDES} directions in a plane", "more")
    c, s = fields["weights"].vector(2)
    lam, theta = proved_along(problem, fields)
    if any(t != c * x + s * y for t, x, y in zip(theta, one.theta, two.theta, strict=True)):
        raise fields["proof"].reject("theta that is c theta_i + s theta_j", "another")
    one.sides.append((c, s, lam))


def widest(one: Axis, two: Axis) -> Fraction:
    """The largest |x b_i + y b_j|^2 where |x| <= lambda_i, |y| <= lambda_j and all |c x + s y| are at most theirs: a
    convex function of (x, y), at a vertex of a polygon that is bounded and contains -v with v."""
    sides = [(Fraction(1), Fraction(0), one.lam), (Fraction(0), Fraction(1), two.lam), *one.sides]
    largest = Fraction(0)
    for (c, s, a), (p, q, b) in combinations(sides, 2):
        if not (turn := c * q - s * p):
            continue
        for b_signed in (b, -b):
            x, y = (a * q - b_signed * s) / turn, (b_signed * c - a * p) / turn
            if all(abs(f * x + g * y) <= most for f, g, most in sides):
                corner = tuple(x * e + y * f for e, f in zip(one.b, two.b, strict=True))
                largest = max(largest, dot(corner, corner))
    return largest


RULE = Rule((DUAL,), check, applies=squares, bags=True)
