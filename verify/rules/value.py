"""lower <= p* <= upper by weak duality."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verify.facts import DUAL, PRIMAL, VALUE, Facts, proved
from verify.problem.problem import Problem, dot, square
from verify.rule import Rule, everywhere
from verify.text import Node, Vector, show


@dataclass(frozen=True)
class Dual:
    """A dual feasible point; with delta > 0, what the blocks that are longer than lambda take from the dual value."""

    theta: Vector
    cost: Fraction = Fraction(0)


@dataclass(frozen=True)
class Value:
    """lower = y.theta - 1/2|theta|^2 <= p* <= upper = 1/2|fit - y|^2 + lambda sum norm; `gap` was asked for.

    With delta > 0: delta/2 sum |w_b|^2 more, and the cost of the long blocks less. Logistic: bounds of the logarithms.
    """

    lower: Fraction
    upper: Fraction
    gap: Fraction


def check_value(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless `lower` and `upper` are exactly what the two points give."""
    fields = node.record("lower", "upper", "gap")
    primal, dual, gap = facts[PRIMAL], facts[DUAL], read_gap(fields["gap"])
    lower = dot(problem.y, dual.theta) - square(dual.theta) / 2 - dual.cost
    residual = tuple(a - b for a, b in zip(primal.fit, problem.y, strict=True))
    upper = square(residual) / 2 + problem.lam * primal.penalty + problem.delta * primal.squares / 2
    equal(fields["lower"], "y.theta - 1/2|theta|^2 - cost", lower)
    equal(fields["upper"], "1/2|fit - y|^2 + lambda sum norm + delta/2 sum |w|^2", upper)
    return proved(VALUE, Value(lower, upper, gap))


def read_gap(node: Node) -> Fraction:
    """The relative gap that was asked for."""
    node.require(0 <= (gap := node.number()) < 1, "a gap from 0 to less than 1: everything is optimal up to 1")
    return gap


def equal(node: Node, formula: str, derived: Fraction) -> None:
    """Reject unless a redundant number is exactly the derived one."""
    if (stated := node.number()) != derived:
        raise node.reject(f"{formula} = {show(derived)}", f"{show(stated)} (off by {show(stated - derived)})")


RULE = Rule((VALUE,), check_value, rests=(PRIMAL, DUAL), applies=everywhere, bags=True)
