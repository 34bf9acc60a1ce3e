"""One piece of a path that has been checked, read again: what it says at a single lambda (FORMAT.md: `curve`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from flint import fmpq_mat

from verify.bounds import column, fraction, matrix, rational, root_above, vector
from verify.classes import Ball, Class
from verify.moving import read_moving
from verify.patterns import Patterns
from verify.polynomials import at_least, at_most
from verify.problem import Problem, square
from verify.rules.path import Frame, tube
from verify.text import Node, Vector, show


@dataclass(frozen=True)
class Piece:
    """lo <= lambda <= hi; |s(eta) - s(tau)| <= R, and W Q = I up to row sums `beta` < 1 for the true outputs Q.

    `ball` has its radius around s_0, for lambda = 1; `lengths` are the |W_i|; `entries` are those of `classes`.
    """

    lo: Fraction
    hi: Fraction
    frame: Frame
    ball: Ball
    S: fmpq_mat
    alpha: list[Vector]
    classes: list[Class]
    R: Fraction
    lengths: Vector
    beta: Fraction
    entries: list[Node]

    @cached_property
    def still(self) -> bool:
        """Whether s(tau) = s_0."""
        return bool(self.S.ncols() == 1)

    def powers(self, lam: Fraction, node: Node) -> Vector:
        """1, tau, tau^2, ... at lambda."""
        if not self.lo <= lam <= self.hi:
            raise node.reject(f"a lambda of the piece, from {show(self.lo)} to {show(self.hi)}", show(lam))
        tau = (1 / lam - self.frame.center) / self.frame.h if self.frame.h else Fraction(0)
        return tuple(tau**j for j in range(self.S.ncols()))

    def near(self, lam: Fraction, node: Node) -> fmpq_mat:
        """s(tau) at lambda, as a column."""
        return self.S * column(self.powers(lam, node))

    def weight_error(self, missed: Fraction, R: Fraction, alpha: Vector) -> Fraction:
        """How far weights can be from the true ones, if they miss eta y - s by `missed` at a point within R of s(eta).

        (I + Delta)(alpha* - alpha) = W (eta y - s* - sum alpha_a q_a*), |Delta| <= beta, row sums.
        """
        moved = R * (1 + sum((a.bound * abs(x) for a, x in zip(self.classes, alpha, strict=True)), Fraction(0)))
        return max(self.lengths, default=Fraction(0)) * (missed + moved) / (1 - self.beta)


def read_piece(problem: Problem, patterns: Patterns | None, node: Node) -> Piece:
    """A piece on which the network is unique; it has been accepted as a part of the path."""
    if isinstance(node.value, dict) and "lifted" in node.value:
        raise node.reject("a piece on which the network is unique", "a lifted one")
    fields = node.record("lo", "hi", "s", "classes", "aside", "weights", "multipliers", "out", "inverse", "radius")
    lo, hi = fields["lo"].number(), fields["hi"].number()
    s = [row.vector(problem.n) for row in fields["s"].array()]
    ball = Ball(replace(problem, lam=Fraction(1)), s[0], fields["radius"].number() ** 2)
    S = matrix(s, problem.n).transpose()
    classes = [read_moving(ball, patterns, S, entry) for entry in fields["classes"].array()]
    frame = Frame(problem, (1 / lo + 1 / hi) / 2, (1 / lo - 1 / hi) / 2)
    alpha = [entry.vector(len(s)) for entry in fields["weights"].array(len(classes))]
    R, *_ = tube(frame, S, classes, alpha, fields["weights"])
    inverse = [row.vector(problem.n) for row in fields["inverse"].array(len(classes))]
    lengths = tuple(root_above(square(row)) for row in inverse)
    beta = row_sum(S, classes, inverse, lengths, R)
    return Piece(lo, hi, frame, ball, S, alpha, classes, R, lengths, beta, fields["classes"].array())


def row_sum(S: fmpq_mat, classes: list[Class], inverse: list[Vector], lengths: Vector, R: Fraction) -> Fraction:
    """The largest row sum of |W Q(s) - I| for s within R of the path."""
    W = matrix(inverse, S.nrows())
    products = [(W * (a.B * (a.B.transpose() * S))).tolist() for a in classes]
    largest = Fraction(0)
    for i, length in enumerate(lengths):
        total = length * R * sum((a.bound for a in classes), Fraction(0))
        for a, product in enumerate(products):
            entry = [fraction(x) for x in product[i]]
            entry[0] -= i == a
            total += max(at_most(entry), -at_least(entry))
        largest = max(largest, total)
    return largest


def missing(problem: Problem, lam: Fraction, s: fmpq_mat, alpha: Vector, classes: list[Class]) -> fmpq_mat:
    """E = eta y - s - sum alpha_a G_a s"""
    E = column(problem.y) * rational(1 / lam) - s
    for a, x in zip(classes, alpha, strict=True):
        E -= a.B * (a.B.transpose() * s) * rational(x)
    return E


def squares(classes: list[Class], s: fmpq_mat) -> list[Fraction]:
    """|v_a|^2 at s."""
    return [square(vector(a.B.transpose() * s)) for a in classes]
