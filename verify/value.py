"""lower <= p* <= upper by weak duality, and the ball that holds the fit of every solution."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.logistic import check_logistic
from verify.primal import Primal
from verify.problem import Problem, dot, square
from verify.text import Node, Vector, show


@dataclass(frozen=True)
class Value:
    """lower = y.theta - 1/2|theta|^2 <= p* <= upper = 1/2|fit - y|^2 + lambda sum norm; `gap` was asked for.

    With delta > 0 the upper one has delta/2 sum |w_b|^2 more, the lower one the cost of the long blocks less. With the
    logistic loss they are bounds of the sums of logarithms.
    """

    lower: Fraction
    upper: Fraction
    gap: Fraction


@dataclass(frozen=True)
class Fit:
    """Every solution has the same fit, at most sqrt(radius_squared) from the center."""

    radius_squared: Fraction


def check_value(problem: Problem, primal: Primal, theta: Vector, cost: Fraction, node: Node) -> Value:
    """Reject unless `lower` and `upper` are exactly what the two points give (logistic: no better than that)."""
    fields = node.record("lower", "upper", "gap")
    gap = fields["gap"].number()
    if not 0 <= gap < 1:
        raise fields["gap"].reject("a gap from 0 to less than 1: every point is optimal up to 1")
    if problem.logistic:
        lower, upper = check_logistic(problem, primal, theta, fields["lower"], fields["upper"])
        return Value(lower, upper, gap)
    lower = dot(problem.y, theta) - square(theta) / 2 - cost
    residual = tuple(a - b for a, b in zip(primal.fit, problem.y, strict=True))
    upper = square(residual) / 2 + problem.lam * primal.penalty + problem.delta * primal.squares / 2
    less, more = (" - cost", " + delta/2 sum |w|^2") if problem.delta else ("", "")
    equal(fields["lower"], f"y.theta - 1/2|theta|^2{less}", lower)
    equal(fields["upper"], f"1/2|fit - y|^2 + lambda sum norm{more}", upper)
    return Value(lower, upper, gap)


def check_fit(problem: Problem, primal: Primal, value: Value, node: Node) -> Fit:
    """Reject unless the center is the fit of `primal` and radius_squared = 2 (upper - lower), or a quarter of that with
    the logistic loss, where it is the probabilities 1/(1 + exp(-fit_k)) that are this near to each other."""
    fields = node.record("center", "radius_squared")
    center = fields["center"].vector(len(primal.fit))
    for k, (stated, derived) in enumerate(zip(center, primal.fit, strict=True)):
        if stated != derived:
            raise fields["center"].reject(f"the fit {show(derived)} at row {k}", show(stated))
    radius_squared = (value.upper - value.lower) * (Fraction(1, 2) if problem.logistic else 2)
    equal(fields["radius_squared"], f"{'1/2' if problem.logistic else '2'} (upper - lower)", radius_squared)
    return Fit(radius_squared)


def equal(node: Node, formula: str, derived: Fraction) -> None:
    """Reject unless a redundant number is exactly the derived one."""
    if (stated := node.number()) != derived:
        raise node.reject(f"{formula} = {show(derived)}", f"{show(stated)} (off by {show(stated - derived)})")
