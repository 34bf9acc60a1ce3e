"""Classes along a path s(tau): v = P X's is the maximiser of its region for every tau (FORMAT.md: `path`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import fmpq_mat

from verify.numbers.bounds import matrix, root_above, rows
from verify.numbers.patterns import Patterns
from verify.numbers.polynomials import at_least, never_negative
from verify.optimal.ball import Ball, Class
from verify.sets.classes import read_class
from verify.text import Node, show


@dataclass(frozen=True, kw_only=True)
class Along(Ball):
    """A path S(tau), by its coefficients: what is asked of a class holds for every tau, perhaps without strictness."""

    S: fmpq_mat

    @cached_property
    def residuals(self) -> fmpq_mat:
        """All coefficients."""
        return self.S

    def holds(self, x: Sequence[Any], moved_squared: Any, node: Node, k: int) -> None:
        """Reject unless the polynomial is >= 0 on the piece."""
        if not never_negative(x):
            raise node.reject(f"what stays >= 0 on the piece at {k}", f"a bound of {show(at_least(x))}")


def read_moving(ball: Ball, patterns: Patterns | None, S: fmpq_mat, node: Node, known: Class | None = None) -> Class:
    """Reject unless the class, read before or not, has its face on the whole path."""
    return read_class(Along(ball.problem, ball.theta, ball.R_squared, S=S), patterns, node, known=known)


def check_concave(ball: Ball, S: fmpq_mat, class_: Class, R: Fraction, node: Node) -> None:
    """relu: l_c - p_c = -xi sum |a_k| (P's)_k > 0 for every kink and every s within R of the path."""
    if ball.problem.model != "relu":
        return
    for c in class_.kinks:
        a, problem = ball.planes[c].a, ball.problem
        sizes = problem.pooled([-class_.key[0] * abs(a.get(k, Fraction(0))) for k in range(problem.N)])
        bend, moved = at_least(rows(matrix([sizes], problem.n) * S)[0]), root_above(ball.bends(c)[2]) * R
        node.require(bend > moved, f"a kink that stays concave, l_c - p_c > {show(moved)} at row {c}", show(bend))
