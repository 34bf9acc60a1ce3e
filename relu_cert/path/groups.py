"""Superclasses along a path: classes that tie on all s orthogonal to a subspace L, with outputs that differ by L."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq_mat

from relu_cert.errors import Unsettled
from relu_cert.exact import Matrix, Vector, column, dot, to_fraction
from relu_cert.path.candidates import fine, region
from relu_cert.path.pieces import Lifted, Piece, path_ends
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import ClassMap, class_map, independent
from relu_cert.prove.facts import NeuronClass
from relu_cert.prove.optimal_set import project_away, superclasses


def columns_seen(problem: Problem) -> Matrix:
    """The columns of P Z."""
    network = problem.relu
    return tuple(network.bags.pooled(column) for column in zip(*network.Z, strict=True))


def path_groups(
    problem: Problem, s: Sequence[Vector], rho: Fraction, classes: Sequence[NeuronClass], lift: Matrix
) -> tuple[tuple[int, ...], ...]:
    """The superclasses with respect to L, by their first class.

    ReLU: where L holds the range of Z, u and -u have the same value on s orthogonal to L; so two classes of one sign
    whose regions are antipodal. Else classes with equal Pi G Pi, if they have no constraints.
    """
    if not lift:
        return tuple((a,) for a in range(len(classes)))
    if problem.network is None:
        if any(problem.blocks[one.block or 0].K is not None for one in classes):
            raise Unsettled("neurons in cones that tie on a whole piece")
        maps = [class_map(problem, neuron) for neuron in classes]
        return superclasses(maps, lift)
    if len(independent((*lift, *columns_seen(problem)))) > len(lift):
        return tuple((a,) for a in range(len(classes)))
    rows = {xi: fine(problem.network.bags, path_ends(s), xi, rho) for xi in (1, -1)}
    regions = [region(problem.network.Z, neuron, rows[neuron.sign]) for neuron in classes]
    groups: list[tuple[int, ...]] = []
    for a, one in enumerate(regions):
        if any(a in group for group in groups):
            continue
        other = {k: not on for k, on in one.items()}
        pair = [b for b in range(a + 1, len(classes)) if classes[b].sign == classes[a].sign and regions[b] == other]
        groups.append((a, *pair[:1]))
    return tuple(groups)


def is_ray(one: ClassMap, lift: Matrix) -> bool:
    """Whether v = B's has one direction for all s orthogonal to the lift."""
    return bool(project_away(lift, one.B()).rank() <= 1)


def kernel(one: ClassMap, lift: Matrix) -> fmpq_mat:
    """G Pi"""
    B = one.B()
    return B * project_away(lift, B).transpose()


def moving_classes(maps: Sequence[ClassMap], rays: Sequence[int], pinned: Sequence[int], lift: Matrix) -> list[int]:
    """The places of the classes whose G Pi is no combination of those before it; rays are left out."""
    chosen: list[int] = []
    known: Matrix = ()
    for a, one in enumerate(maps):
        if a in rays:
            continue
        if a in pinned:
            more = independent((*known, tuple(map(to_fraction, kernel(one, lift).entries()))))
            if len(more) == len(known):
                continue
            known = more
        chosen.append(a)
    return chosen


def require_even(problem: Problem, maps: Sequence[ClassMap], groups: Sequence[Sequence[int]], lift: Matrix) -> None:
    """Unsettled unless y and the sums of outputs of every superclass are orthogonal to L, for s orthogonal to L."""
    if any(dot(l, problem.y) for l in lift):
        raise Unsettled("y is not orthogonal to the lift")
    for group in groups if lift else ():
        total = sum((kernel(maps[a], lift) for a in group[1:]), kernel(maps[group[0]], lift))
        if project_away(lift, total) != total:
            raise Unsettled("neurons that tie on a whole piece have no even weights")


def active_classes(piece: Piece, lifted: Lifted) -> tuple[list[int], list[int]]:
    """The numbers of the superclasses with weight, and their classes that are not forced, ascending."""
    core = [s for s, group in enumerate(lifted.groups) if any(any(piece.weights[a]) for a in group)]
    active = sorted(a for s in core for a in lifted.groups[s] if a not in lifted.forced)
    return core, active


def void_rows(problem: Problem, lifted: Lifted, maps: Sequence[ClassMap]) -> list[int]:
    """The rows l of the lift with l.y = 0 and B_a'l = 0 for all classes that are not forced."""
    if problem.network is not None:
        return []
    free = [one for a, one in enumerate(maps) if a not in lifted.forced]
    return [i for i, l in enumerate(lifted.lift) if not dot(l, problem.y) and all(silent(one, l) for one in free)]


def silent(one: ClassMap, l: Vector) -> bool:
    """B'l = 0, so that l.q = 0 whatever the residual."""
    return not any((one.B().transpose() * column(l)).entries())
