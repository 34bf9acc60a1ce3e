"""lower <= p* <= upper by weak duality, and the ball that holds the fit of every solution."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.primal import Primal
from verify.problem import Problem, dot, square
from verify.text import Node, Vector, show


@dataclass(frozen=True)
class Value:
    """lower = y.theta - 1/2|theta|^2 <= p* <= upper = 1/2|fit - y|^2 + lambda sum norm; `gap` was asked for."""

    lower: Fraction
    upper: Fraction
    gap: Fraction


@dataclass(frozen=True)
class Fit:
    """Every solution has the same fit, at most sqrt(radius_squared) from the center."""

    radius_squared: Fraction


def check_value(problem: Problem, primal: Primal, theta: Vector, node: Node) -> Value:
    """Reject unless `lower` and `upper` are exactly what the two points give."""
    fields = node.record("lower", "upper", "gap")
    lower = dot(problem.y, theta) - square(theta) / 2
    residual = tuple(a - b for a, b in zip(primal.fit, problem.y, strict=True))
    upper = square(residual) / 2 + problem.lam * primal.penalty
    equal(fields["lower"], "y.theta - 1/2|theta|^2", lower)
    equal(fields["upper"], "1/2|fit - y|^2 + lambda sum norm", upper)
    gap = fields["gap"].number()
    if gap < 0:
        raise fields["gap"].reject("a gap >= 0")
    return Value(lower, upper, gap)


def check_fit(primal: Primal, value: Value, node: Node) -> Fit:
    """Reject unless the center is the fit of `primal` and radius_squared = 2 (upper - lower)."""
    fields = node.record("center", "radius_squared")
    center = fields["center"].vector(len(primal.fit))
    for k, (stated, derived) in enumerate(zip(center, primal.fit, strict=True)):
        if stated != derived:
            raise fields["center"].reject(f"the fit {show(derived)} at row {k}", show(stated))
    radius_squared = 2 * (value.upper - value.lower)
    equal(fields["radius_squared"], "2 (upper - lower)", radius_squared)
    return Fit(radius_squared)


def equal(node: Node, formula: str, derived: Fraction) -> None:
    """Reject unless a redundant number is exactly the derived one."""
    if (stated := node.number()) != derived:
        raise node.reject(f"{formula} = {show(derived)}", f"{show(stated)} (off by {show(stated - derived)})")
