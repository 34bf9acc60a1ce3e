"""The softmax cross-entropy sum_k log sum_c exp(f_kc) - Y_k.f_k: its labels, its dual points, and its two bounds.

Its conjugate at -Theta_k is sum_c P_kc log P_kc for P = Y - Theta with rows in the simplex, infinity otherwise. Numbers
are enclosed by integers in fixed point, as with the logistic loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from verify.problem.problem import Problem
from verify.rules.logistic.value import ONE, ceiling, exp_of_minus, floor, log_of
from verify.text import Node, Vector, show


def with_classes(problem: Problem, node: Node) -> Problem:
    """The problem with this loss; every row of Y is 1 for one class, and 0 for the others."""
    good = all(sum(row) == 1 and all(x in (0, 1) for x in row) for row in rows(problem, problem.y))
    node.require(good, "rows with a single 1, and 0 elsewhere")
    return replace(problem, logistic=True)


def rows(problem: Problem, y: Vector) -> Iterator[Vector]:
    """Row by row."""
    C = problem.targets
    return (y[C * k : C * (k + 1)] for k in range(len(y) // C))


def chances(problem: Problem, theta: Vector) -> Iterator[Vector]:
    """The rows of Y - Theta."""
    return rows(problem, tuple(y - t for y, t in zip(problem.y, theta, strict=True)))


def check_chances(problem: Problem, theta: Vector, node: Node) -> None:
    """Reject unless the rows of Y - Theta are probabilities."""
    for k, p in enumerate(chances(problem, theta)):
        node.require(min(p) >= 0 and sum(p) == 1, f"Y - Theta >= 0 with the sum 1 at row {k}")


def entropy_below(p: Sequence[Fraction]) -> int:
    """At most ONE times -sum p log p, for p from 0 to 1."""
    return sum(floor(-x * Fraction(min(log_of(x)[1], 0), ONE)) for x in p if x)


def loss_between(f: Sequence[Fraction], y: Sequence[Fraction]) -> tuple[int, int]:
    """At most and at least ONE times log sum_c exp(f_c) - y.f: the largest f_c comes out of the logarithm."""
    top = max(f)
    low, high = (sum(exp_of_minus(top - x)[end] for x in f) for end in (0, 1))
    own = sum((a * b for a, b in zip(f, y, strict=True)), Fraction(0))
    return floor(top - own) + log_of(Fraction(low, ONE))[0], ceiling(top - own) + log_of(Fraction(high, ONE))[1]


def losses(problem: Problem, fit: Vector) -> tuple[Fraction, Fraction]:
    """At most and at least the loss of these outputs."""
    found = [loss_between(f, y) for f, y in zip(rows(problem, fit), rows(problem, problem.y), strict=True)]
    return Fraction(sum(low for low, _ in found), ONE), Fraction(sum(high for _, high in found), ONE)


def bounds(problem: Problem, theta: Vector, fit: Vector, penalty: Fraction) -> tuple[Fraction, Fraction]:
    """lower <= p* <= upper"""
    lower = Fraction(sum(map(entropy_below, chances(problem, theta))), ONE)
    return lower, losses(problem, fit)[1] + problem.lam * penalty


def check_bounds(problem: Problem, theta: Vector, fit: Vector, penalty: Fraction, lower: Node, upper: Node) -> None:
    """Reject unless the two numbers are bounds."""
    low, high = bounds(problem, theta, fit, penalty)
    lower.require(lower.number() <= low, "lower <= the sum of the entropies of Y - Theta", f"more than {show(low)}")
    upper.require(upper.number() >= high, "upper >= the objective of the network", f"less than {show(high)}")


def logarithms(problem: Problem, p: Sequence[Fraction], R: Fraction, node: Node) -> tuple[list[Fraction], Fraction]:
    """About the fit of every solution, the logarithms of its chances less their mean in every row, and how far it is at
    most: the chances are at most R from these, |log a - log b| <= |a - b| / min(a, b), and centring shortens."""
    least = min(p)
    node.require(least > R, f"chances that are more than {show(R)}", show(least))
    found: list[Fraction] = []
    for row in rows(problem, tuple(p)):
        logs = [Fraction(log_of(x)[0], ONE) for x in row]
        found += [x - sum(logs, Fraction(0)) / len(logs) for x in logs]
    width = max((log_of(x)[1] - log_of(x)[0] for x in p), default=0)
    return found, R / (least - R) + Fraction(2 * width * len(p), ONE)
