"""The active neurons at one lambda, proved on the ground of a piece: a point s near s(eta), and weights.

The piece says which neurons can be active at all, and that the network is unique; a point of many digits says which of
them are. It is dual feasible, because it lies in the tube and has |v| <= 1 for the classes; so its duality gap bounds
its distance R from s(eta). A class is active if its weight is above its possible error, and out if |v| + |X| R < 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from relu_cert.exact import Vector, column, norm_squared, sqrt_upper
from relu_cert.path.bounds import Bounds, missing
from relu_cert.problem.networks import parallel_classes
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import Ball, class_map, face_conditions, is_stable
from relu_cert.prove.facts import NeuronClass
from relu_cert.prove.multipliers import solve_piece
from relu_cert.prove.projection import exact_face


@dataclass(frozen=True)
class End:
    """`piece` is the number of the piece; the classes stand in its order, `weights` are 0 for those that are out."""

    piece: int
    s: Vector
    weights: Vector
    classes: tuple[NeuronClass, ...]


def proved_end(
    number: int, piece: Bounds, lam: Fraction, s: Vector, active: Sequence[NeuronClass], masses: Vector
) -> End | None:
    """The end at a lambda of the piece, from a point and its active neurons; None if it is not proved."""
    problem = piece.problem
    matched = _matched(problem, piece, s, active)
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


def _matched(
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
