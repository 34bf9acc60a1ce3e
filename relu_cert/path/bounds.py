"""What a piece says at a single lambda: how near its weights and directions are to the true ones.

At a point s within R of s(eta), with weights that miss eta y - s by E, the true weights are within

    max |W_i| (|E| + R (1 + sum_a g_a alpha_a)) / (1 - beta),    W Q(s(eta)) = I up to row sums beta < 1,

because outputs are g_a-Lipschitz in s, and directions sqrt(g_a)-Lipschitz (`tube`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import fmpq_mat

from relu_cert.bags import EACH
from relu_cert.exact import Vector, column, matrix_of, norm_squared, sqrt_upper, to_fmpq, to_fraction, to_vector
from relu_cert.identity_cache import recent
from relu_cert.path.candidates import fine
from relu_cert.path.pieces import PathPieces, Piece
from relu_cert.path.polynomial import least, most, square
from relu_cert.path.sharpen import Fixed, exactly_fixed
from relu_cert.path.tube import dependence, enclose
from relu_cert.patterns.pattern_set import Bits
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import ClassMap, class_map
from relu_cert.prove.projection import floats as to_floats
from relu_cert.solve.prepare import Floats


@dataclass(frozen=True)
class Bounds:
    """The numbers above for one piece on which the network is unique: g_a for each class, max |W_i|, beta and R."""

    problem: Problem
    piece: Piece
    maps: tuple[ClassMap, ...]
    g: Vector
    longest: Fraction
    beta: Fraction
    R: Fraction

    @cached_property
    def fixed(self) -> list[Fixed]:
        """X P and its transpose, for each class: G = B B'."""
        return [(B, B.transpose()) for B in (exactly_fixed(one.B()) for one in self.maps)]

    @cached_property
    def alpha(self) -> fmpq_mat:
        """The coefficients of the weights, a row for each class."""
        return matrix_of(self.piece.weights)

    @cached_property
    def fine(self) -> dict[int, Bits]:
        """P' for both signs."""
        network = self.problem.network
        bags = EACH if network is None else network.bags
        return {xi: fine(bags, self.piece.ends, xi, self.piece.radius) for xi in (1, -1)}

    @cached_property
    def floats(self) -> list[Floats]:
        """The same B in floats."""
        return [to_floats(one.B()) for one in self.maps]

    def powers(self, lam: Fraction) -> Vector:
        """1, tau, tau^2, ..."""
        h = self.piece.half_width
        tau = (1 / lam - self.piece.center) / h if h else Fraction(0)
        return tuple(tau**j for j in range(len(self.piece.s)))

    def point(self, lam: Fraction) -> Vector:
        """s(tau)"""
        return to_vector(self.piece.S * column(self.powers(lam)))

    def weights(self, lam: Fraction) -> Vector:
        """alpha(tau)"""
        return to_vector(self.alpha * column(self.powers(lam))) if self.piece.weights else ()

    def error(self, missed: Fraction, R: Fraction, alpha: Sequence[Fraction]) -> Fraction:
        """The bound above."""
        moved = R * (1 + sum((g * abs(x) for g, x in zip(self.g, alpha, strict=True)), Fraction(0)))
        return self.longest * (missed + moved) / (1 - self.beta)

    def out(self, a: int, longest_squared: Fraction, R: Fraction) -> bool:
        """Whether |v_a| + |X| R < 1."""
        room = 1 - sqrt_upper(self.g[a], 128) * R
        return room > 0 and longest_squared < room**2

    def active(self) -> tuple[int, ...] | None:
        """The classes that are active on the whole piece, the others being out; None if that is not so."""
        highest = [to_fraction(most([to_fmpq(x) for x in row])) for row in self.piece.weights]
        error = self.error(self.R, self.R, highest)
        S = self.piece.S
        found = []
        for a, (one, row) in enumerate(zip(self.maps, self.piece.weights, strict=True)):
            if to_fraction(least([to_fmpq(x) for x in row])) > error:
                found.append(a)
            elif not self.out(a, to_fraction(most(square(one.v(S)))), self.R):
                return None
        return tuple(found)


@recent
def _known(found: PathPieces) -> dict[int, Bounds]:
    """What was asked of the pieces."""
    return {}


def bounds_of(problem: Problem, found: PathPieces, i: int) -> Bounds:
    """What piece i of a cover says; each is asked once."""
    known = _known(found)
    if i not in known:
        known[i] = bounds(problem, found.pieces[i])
    return known[i]


def bounds(problem: Problem, piece: Piece) -> Bounds:
    """The numbers of a piece that is a proof."""
    maps = tuple(class_map(problem, neuron) for neuron in piece.classes)
    R = enclose(problem, piece, maps).R
    if problem.network is not None:
        g = (problem.network.size_squared,) * len(maps)
    else:
        g = tuple(problem.blocks[neuron.block or 0].size_squared for neuron in piece.classes)
    lengths = [sqrt_upper(norm_squared(row), 128) for row in piece.inverse]
    beta = dependence(piece, maps, [length * R * sum(g, Fraction(0)) for length in lengths])
    return Bounds(problem, piece, maps, g, max(lengths, default=Fraction(0)), beta, R)


def missing(
    problem: Problem, lam: Fraction, s: Vector, alpha: Sequence[Fraction], maps: Sequence[ClassMap]
) -> Fraction:
    """An upper bound of |eta y - s - sum alpha_a G_a s|."""
    point = column(s)
    E = column(problem.y) * to_fmpq(1 / lam) - point
    for one, x in zip(maps, alpha, strict=True):
        E -= one.output(point) * to_fmpq(x)
    return sqrt_upper(norm_squared(to_vector(E)), 128)
