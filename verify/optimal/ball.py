"""The ball of residuals |r - theta| <= R, the hyperplanes of the data, and classes, the same for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from flint import fmpq_mat

from verify.numbers.bounds import column, matrix, root_above, rows
from verify.problem.problem import Problem, square
from verify.text import Matrix, Node, Vector, bit_text, mask_of, show


@dataclass(frozen=True)
class Ball:
    """|r - theta| <= R. Each perturbation below is at most a length |X| times R; `zeta_squared` is |P D Z|^2 or
    more. More balls of this radius are around `beside`: what is said of all of them is said of their convex hull."""

    problem: Problem
    theta: Vector
    R_squared: Fraction
    beside: tuple[Vector, ...] = ()

    @cached_property
    def fine(self) -> dict[int, int]:
        """For each sign P', the rows whose t_k is not surely negative over the balls."""
        each = list(enumerate(zip(*map(self.problem.spread, (self.theta, *self.beside)), strict=True)))
        moved = [self.problem.reach({k: Fraction(1)}) * self.R_squared for k, _ in each]
        sure = {xi: [k for k, x in each if all(xi * t < 0 and t * t > moved[k] for t in x)] for xi in (1, -1)}
        return {xi: mask_of(k for k, _ in each) & ~mask_of(sure[xi]) for xi in sure}

    @cached_property
    def residuals(self) -> fmpq_mat:
        """The coefficients of a polynomial, one column each: theta alone."""
        return column(self.theta)

    @cached_property
    def R(self) -> Fraction:
        """The radius, or a little more."""
        return root_above(self.R_squared)

    def holds(self, x: Sequence[Any], moved_squared: Any, node: Node, k: int) -> None:
        """Reject unless the number is positive, also after it has moved: x > 0 and x^2 > moved_squared."""
        if x[0] <= 0 or x[0] * x[0] <= moved_squared:
            expected = f"strictness that the ball cannot end at {k}: x > 0 and x^2 > {show(moved_squared)}"
            raise node.reject(expected, f"{show(x[0])}, its square {show(x[0] * x[0])}")

    @cached_property
    def Z(self) -> fmpq_mat:
        """Z as a matrix."""
        return matrix_of(self.problem.seen)

    def pooled(self, A: fmpq_mat) -> fmpq_mat:
        """P A"""
        return self.problem.P.pooled_columns(A) if self.problem.bags else A

    @cached_property
    def powers(self) -> list[Vector]:
        """P'r for the coefficients of the residual, a row for each."""
        return [self.problem.spread(r) for r in rows(self.residuals.transpose())]

    @cached_property
    def zeta_squared(self) -> Fraction:
        """Zeta^2 >= |P D Z|^2 for every D; with free biases times the largest |z_k|^4."""
        return self.problem.zeta_squared * (max(map(square, self.problem.seen)) ** 2 if self.problem.biases else 1)

    @cached_property
    def planes(self) -> dict[int, Plane]:
        """The hyperplanes z_k.u = 0 of the non-zero rows, by their names."""
        return planes_of(self.problem.seen)

    def bends(self, c: int) -> Vector:
        """How far r - theta of length 1 can move p_c, l_c and l_c - p_c, squared: |P a|^2 with the a_k > 0, with those
        below, and with all |a_k|, which is the most of the three (two rows of one line may be in one bag)."""
        a = self.planes[c].a
        parts = ({k: x for k, x in a.items() if x > 0}, {k: x for k, x in a.items() if x < 0})
        return tuple(map(self.problem.reach, (*parts, {k: abs(x) for k, x in a.items()})))

    @cached_property
    def nonzero(self) -> int:
        """The rows that are not zero."""
        return mask_of(k for plane in self.planes.values() for k in plane.a)

    @cached_property
    def out_below(self) -> Fraction:
        """`threshold` for the pieces and patterns of networks."""
        return self.threshold(self.zeta_squared)

    def threshold(self, X_squared: Fraction) -> Fraction:
        """(lambda - |X| R)^2, or less: a block is out, for all r, if its bound is shorter than the root of this."""
        return max(self.problem.lam - root_above(X_squared * self.R_squared), Fraction(0)) ** 2


@dataclass(frozen=True)
class Plane:
    """Rows z_k = a_k z_c: with h = z_c.u, the sum of their t_k (z_k.u)_+ is p_c h for h > 0 and l_c h for h < 0."""

    a: dict[int, Fraction]

    def slopes(self, t: Vector) -> tuple[Fraction, Fraction]:
        """p_c = sum of a_k t_k over a_k > 0, and l_c, over a_k < 0."""
        p = sum((a_k * t[k] for k, a_k in self.a.items() if a_k > 0), Fraction(0))
        return p, sum((a_k * t[k] for k, a_k in self.a.items() if a_k < 0), Fraction(0))


@lru_cache(maxsize=4)
def planes_of(Z: Matrix) -> dict[int, Plane]:
    """The hyperplanes z_k.u = 0 of the non-zero rows, by their names."""
    named: dict[Vector, dict[int, Fraction]] = {}
    for k, row in enumerate(Z):
        if lead := next((x for x in row if x), None):
            named.setdefault(tuple(x / lead for x in row), {})[k] = lead
    groups = ({k: lead / leads[min(leads)] for k, lead in leads.items()} for leads in named.values())
    return {min(a): Plane(a) for a in groups}


@lru_cache(maxsize=4)
def matrix_of(Z: Matrix) -> fmpq_mat:
    """Z as a matrix, which nobody changes."""
    return matrix(Z, len(Z[0]))


@dataclass(frozen=True)
class Class:
    """A neuron that can be active: v(r) = B'r (times the sign), output q(r) = B B'r with B = X P, |B|^2 <= bound.

    `key` is (the sign, D), (0, the pattern) or (0, the block), D and patterns as bit masks; `kinks` are the hyperplanes
    or constraints on which v vanishes, `zeros` the rows of these hyperplanes, `face` what was read of them.
    """

    key: tuple[int, int]
    kinks: tuple[int, ...]
    zeros: int
    B: fmpq_mat
    bound: Fraction
    face: Face | None = None


@dataclass(frozen=True)
class Face:
    """P, the projector on the complement of the basis; W with its row for each vector of the basis; `loose` kinks are
    in the span of the basis, each with its fixed part; `idle` ones need no multiplier."""

    kinks: tuple[int, ...]
    basis: tuple[int, ...]
    idle: tuple[int, ...]
    loose: dict[int, Fraction]
    P: fmpq_mat
    W: fmpq_mat


def on_rows(Z: fmpq_mat, D: int) -> fmpq_mat:
    """D Z"""
    columns, bits = Z.ncols(), bit_text(D, Z.nrows())
    return fmpq_mat(Z.nrows(), columns, [z if bits[i // columns] == "1" else 0 for i, z in enumerate(Z.entries())])
