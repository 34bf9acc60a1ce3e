"""What a piece says at a single lambda: how near its weights and directions are to the true ones.

At a point s within R of s(eta), with weights that miss eta y - s by E, the true weights are within

    max |W_i| (|E| + R (1 + sum_a g_a alpha_a)) / (1 - beta),    W Q(s(eta)) = I up to row sums beta < 1,

because outputs are g_a-Lipschitz in s, and directions sqrt(g_a)-Lipschitz (`tube`).

The active neurons at one lambda, proved on the ground of a piece: a point s near s(eta), and weights.

The piece says which neurons can be active at all, and that the network is unique; a point of many digits says which of
them are. It is dual feasible, because it lies in the tube and has |v| <= 1 for the classes; so its duality gap bounds
its distance R from s(eta). A class is active if its weight is above its possible error, and out if |v| + |X| R < 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import fmpq_mat

from relu_cert.bags import EACH
from relu_cert.exact import Vector, column, matrix_of, norm_squared, recent, sqrt_upper, to_fmpq, to_fraction, to_vector
from relu_cert.path.candidates import fine
from relu_cert.path.pieces import PathPieces, Piece
from relu_cert.path.sharpen import Fixed, exactly_fixed
from relu_cert.path.tube import dependence, enclose, least, most, square
from relu_cert.patterns.pattern_set import Bits
from relu_cert.problem.networks import parallel_classes
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import Ball, ClassMap, class_map, face_conditions, is_stable
from relu_cert.prove.facts import NeuronClass
from relu_cert.prove.multipliers import solve_piece
from relu_cert.prove.projection import exact_face
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


@dataclass(frozen=True)
class End:
    """`piece` is the number of the piece; the classes stand in its order, `weights` are 0 for those that are out."""

    piece: int
    s: Vector
    weights: Vector
    classes: tuple[NeuronClass, ...]


def proved_end(
    number: int, piece: Bounds, lam: Fraction, s: Vector, active: Sequence[NeuronClass], masses: Sequence[Fraction]
) -> End | None:
    """The end at a lambda of the piece, from a point and its active neurons; None if it is not proved."""
    problem = piece.problem
    matched = match_classes(problem, piece, s, active)
    if matched is None:
        return None
    weights = tuple(Fraction(0) if a is None else masses[a] for _, a in matched)
    end = End(number, s, weights, tuple(neuron for neuron, _ in matched))
    judged = judge_end(problem, piece, lam, end)
    if judged is None:
        return None
    ball = Ball(s, judged.R**2)
    faces = (neuron for neuron, weight in zip(end.classes, weights, strict=True) if weight)
    return end if all(is_stable(problem, neuron, ball) for neuron in faces) else None


def match_classes(
    problem: Problem, piece: Bounds, s: Vector, active: Sequence[NeuronClass]
) -> list[tuple[NeuronClass, int | None]] | None:
    """For each class of the piece the class at s that has its region, and its number among the active ones."""
    left = dict(enumerate(active))
    result: list[tuple[NeuronClass, int | None]] = []
    for known in piece.piece.classes:
        number = next((a for a, neuron in left.items() if _same_region(problem, piece, neuron, known)), None)
        if number is not None:
            result.append((left.pop(number), number))
            continue
        idle = _at(problem, piece, s, known)
        if idle is None:
            return None
        result.append((idle, None))
    return None if left else result


def _same_region(problem: Problem, piece: Bounds, neuron: NeuronClass, known: NeuronClass) -> bool:
    """Whether the neuron is the maximiser of the known class's region, wherever it has its own face."""
    if problem.network is None:
        return neuron.block == known.block
    Z = problem.network.Z
    inside, planes = piece.fine[known.sign], parallel_classes(Z)
    mine, theirs = ({k for c in one.kinks for k in planes[c]} for one in (neuron, known))
    rows = [k for k, z in enumerate(Z) if any(z) and inside[k] and k not in mine]
    mine_on, theirs_on = neuron.pattern or "", known.pattern or ""
    return neuron.sign == known.sign and all(k not in theirs and mine_on[k] == theirs_on[k] for k in rows)


def _at(problem: Problem, piece: Bounds, s: Vector, known: NeuronClass) -> NeuronClass | None:
    """The class at s of a region whose neuron is not active: on the same face, or as the exact maximiser says."""
    if _keeps(problem, known, s):
        return known
    if problem.network is None:
        return None
    Z = problem.network.Z
    t = tuple(known.sign * x for x in problem.network.bags.spread(s))
    best = solve_piece(Z, t, [c == "1" for c in known.pattern or ""], piece.fine[known.sign])
    neuron = exact_face(Z, known.sign, t, best)
    return neuron if _same_region(problem, piece, neuron, known) and _keeps(problem, neuron, s) else None


def _keeps(problem: Problem, neuron: NeuronClass, s: Vector) -> bool:
    """Whether the class has its face at s."""
    return all(x >= 0 for (x,), _ in face_conditions(problem, neuron, column(s)))


@dataclass(frozen=True)
class Judged:
    """s(eta) is within R of the point, and the true weights within `error` of its weights."""

    R: Fraction
    error: Fraction


def judge_end(problem: Problem, piece: Bounds, lam: Fraction, end: End) -> Judged | None:
    """What the point proves; None unless it is in the tube, dual feasible, and every class is active or out."""
    near = piece.point(lam)
    if sqrt_upper(norm_squared(tuple(a - b for a, b in zip(end.s, near, strict=True))), 128) > piece.R:
        return None
    maps, point = [class_map(problem, neuron) for neuron in end.classes], column(end.s)
    sizes = [one.length_squared(point) for one in maps]
    if any(size > 1 for size in sizes):
        return None
    if not all(_keeps(problem, neuron, end.s) for neuron in end.classes):
        return None
    missed = missing(problem, lam, end.s, end.weights, maps)
    slack = sum((x * (1 - size) for x, size in zip(end.weights, sizes, strict=True)), Fraction(0))
    R = sqrt_upper(missed**2 + slack, 128)
    error = piece.error(missed, R, end.weights)
    for a, weight in enumerate(end.weights):
        if weight <= error and (weight or not piece.out(a, sizes[a], R)):
            return None
    return Judged(R, error)
