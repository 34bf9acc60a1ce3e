"""The lift L, and the classes with their outputs in superclasses: those that only L tells apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from flint import fmpq_mat

from verify.bounds import alike, column, dual_basis, identity, matrix, rational, root_above, vector
from verify.classes import Ball, Class
from verify.problem import dot, square
from verify.text import Matrix, Node, Vector, show


@dataclass(frozen=True)
class Candidates:
    """The classes, and L by its basis `lift`; Pi is the projector on the complement of L."""

    ball: Ball
    classes: Sequence[Class]
    lift: Matrix
    Pi: fmpq_mat
    mixed: Mapping[int, Vector] = field(default_factory=dict)

    def kernel(self, a: int) -> fmpq_mat:
        """Pi G Pi = (Pi B)(Pi B)' of a class."""
        B = self.classes[a].B
        seen = self.Pi * B if self.lift else B
        return seen * seen.transpose()

    @cached_property
    def members(self) -> list[list[int]]:
        """The superclasses: classes that are not mixed with the same matrix Pi G Pi, in the order of their first."""
        plain = [a for a in range(len(self.classes)) if a not in self.mixed]
        return [[plain[i] for i in group] for group in alike(map(self.kernel, plain))]

    @cached_property
    def outputs(self) -> list[fmpq_mat]:
        """q_a = B_a B_a'theta as columns."""
        theta = column(self.ball.theta)
        return [a.B * (a.B.transpose() * theta) for a in self.classes]

    @cached_property
    def moved(self) -> Fraction:
        """g R: what the ball can change in an output, where g is at least |G_a| for every class a."""
        return max((a.bound for a in self.classes), default=Fraction(0)) * root_above(self.ball.R_squared)


def read_mixed(found: Candidates, node: Node) -> Candidates:
    """Mixed classes have Pi G Pi = sum_s beta_s Pi G_s Pi over the superclasses of the others, sum beta_s = 1."""
    mixed: dict[int, Vector] = {}
    entries = node.array()
    if not entries:
        raise node.reject("at least one mixed class")
    for entry in entries:
        number, beta = entry.array(2)
        a = number.index(len(found.classes))
        if mixed and a <= max(mixed):
            raise number.reject("classes in ascending order")
        mixed[a] = beta.vector()
    mixing = replace(found, mixed=mixed)
    firsts = [mixing.kernel(group[0]) for group in mixing.members]
    for entry, (a, shares) in zip(entries, mixed.items(), strict=True):
        if len(shares) != len(firsts) or sum(shares) != 1:
            raise entry.reject(f"{len(firsts)} numbers that add up to 1")
        total = found.kernel(a)
        for share, kernel in zip(shares, firsts, strict=True):
            total -= rational(share) * kernel
        if any(total.entries()):
            raise entry.reject("the mixture of the superclasses that is the kernel of the class", "another matrix")
    return mixing


def read_lift(ball: Ball, classes: Sequence[Class], node: Node) -> Candidates:
    """The basis of L has independent rows, each orthogonal to theta."""
    n = ball.problem.n
    rows = tuple(row.vector(n) for row in node.array())
    basis = matrix(rows, n)
    W = dual_basis(basis)
    if W is None:
        raise node.reject("independent rows")
    for k, row in enumerate(rows):
        if off := dot(row, ball.theta):
            raise node.item(k).reject("a row orthogonal to theta", f"row.theta = {show(off)}")
    return Candidates(ball, classes, rows, identity(n) - basis.transpose() * W)


def side_by_side(columns: Sequence[fmpq_mat], n: int) -> fmpq_mat:
    """The n x len(columns) matrix with these columns."""
    entries = [column.entries() for column in columns]
    return fmpq_mat(n, len(entries), [entry[i] for i in range(n) for entry in entries])


def length(A: fmpq_mat) -> Fraction:
    """A rational >= the length of a vector."""
    return root_above(square(vector(A)))
