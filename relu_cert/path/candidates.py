"""The neurons of a tube: at both ends of a piece every block is out over a ball, or it has a class.

What is out at s(-1) and at s(1), for all s within rho, is out within rho of the chord between them: the largest
xi s.(Zu)_+ over a piece is convex in s.

Superclasses along a path: classes that tie on all s orthogonal to a subspace L, with outputs that differ by L.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from flint import fmpq, fmpq_mat

from relu_cert.bags import EACH, Each
from relu_cert.errors import Unsettled
from relu_cert.exact import Matrix, Vector, column, columns_of, dot, norm_squared, to_fraction
from relu_cert.path.pieces import Lifted, Piece, path_ends, pinned_of
from relu_cert.path.tube import Refused, least, pinned_where_needed, room
from relu_cert.patterns.pattern_set import Bits
from relu_cert.problem.networks import correlation, parallel_classes
from relu_cert.problem.problem import Problem
from relu_cert.prove.candidates import block_face, fine_rows, not_out, out_threshold_squared, solved_pieces
from relu_cert.prove.classes import ClassMap, class_map, frobenius_squared, independent
from relu_cert.prove.facts import BlockMultipliers, Multipliers, NeuronClass, PieceMultiplier, PieceMultipliers
from relu_cert.prove.multipliers import binary_grid, project, round_to_grid, solve_piece
from relu_cert.prove.optimal_set import project_away, superclasses
from relu_cert.prove.projection import SMALL, deepest, exact_face
from relu_cert.prove.split import null_space
from relu_cert.serialize import Sign
from relu_cert.solve import FloatProblem, multipliers
from relu_cert.solve.prepare import FloatMultipliers

ONE = Fraction(1)
SHORT = 2**20  # denominators of coordinates of shares
THOROUGH = 0.9  # pieces below this need no sharper multiplier
SURELY = 1e-9  # what floats need to tell two lengths apart, here


@dataclass(frozen=True)
class FoundClasses:
    """The classes, the multipliers at the ends that show the other blocks to be out, and those of fine pieces."""

    near: list[NeuronClass]
    multipliers: tuple[Multipliers, ...]
    out: tuple[PieceMultipliers | None, ...]


@dataclass(frozen=True)
class _OneSign:
    """The same for the pieces of one sign."""

    classes: list[NeuronClass]
    multipliers: list[tuple[PieceMultiplier, ...]]
    out: list[tuple[PieceMultiplier, ...]]


def candidates(problem: Problem, floats: FloatProblem, s: Sequence[Vector], rho: Fraction) -> FoundClasses:
    """The classes within rho of the ends for lambda = 1, with the faces that they have at s_0."""
    s_0, ends = s[0], path_ends(s)
    if problem.network is None:
        return _direct(problem, s_0, ends, rho)
    proposals = [_proposed(floats, end) for end in ends]
    for xi in (1, -1):
        _require_no_entry(problem, xi, s, [proposal[xi] for proposal in proposals])
    plus, minus = (_relu(problem, xi, s_0, ends, [one[xi] for one in proposals], rho) for xi in (1, -1))
    known = tuple(PieceMultipliers(*both) for both in zip(plus.multipliers, minus.multipliers, strict=True))
    outs = tuple(PieceMultipliers(*both) for both in zip(plus.out, minus.out, strict=True))
    return FoundClasses([*plus.classes, *minus.classes], known, outs)


def _proposed(floats: FloatProblem, end: Vector) -> dict[int, FloatMultipliers]:
    """Float multipliers at an end, for both signs."""
    found = multipliers(floats, np.array([float(x) for x in end]), THOROUGH)
    if found is None:
        raise ValueError("a ReLU problem has pieces")
    return found


def _require_no_entry(problem: Problem, xi: Sign, s: Sequence[Vector], proposals: Sequence[FloatMultipliers]) -> None:
    """Refused where floats see a neuron with |v| > 1 at an end, and exact arithmetic on the way there: it enters."""
    Z = problem.relu.Z
    t = tuple(xi * x for x in s[0])
    signs = []
    for proposal in proposals:
        for i in np.nonzero(proposal.norm > 1.0 + SURELY)[0].tolist():
            best = solve_piece(Z, t, proposal.base[i], [x > 0 for x in t])
            left = room(class_map(problem, exact_face(Z, xi, t, best)).v(columns_of(s)))
            if least(left) < 0:
                signs.append(left)
    if signs:
        raise Refused("a neuron enters or leaves on the piece", signs)


def _direct(problem: Problem, s_0: Vector, ends: Sequence[Vector], rho: Fraction) -> FoundClasses:
    """A block with a cone that only its projection shows to be out gets the multiplier of that projection."""
    blocks = problem.blocks
    written: list[dict[int, Vector]] = [{} for _ in ends]
    near = set()
    for end, shown in zip(ends, written, strict=True):
        for b, block, c, limit in not_out(problem, ONE, end, rho**2):
            if block.K is None:
                near.add(b)
                continue
            shown[b], v = project(c, block.K)
            if norm_squared(v) >= limit:
                near.add(b)
    found = [block_face(problem, b, blocks[b], correlation(blocks, b, s_0))[0] for b in sorted(near)]
    return FoundClasses(found, tuple(BlockMultipliers.of(blocks, one) for one in written), (None,) * len(ends))


def fine(bags: Each, s: Sequence[Vector], xi: int, rho: Fraction) -> Bits:
    """P', the rows whose t_k is not certainly negative within rho of the chord between these points."""
    if bags is EACH:
        found: Bits = np.any([fine_rows(tuple(xi * x for x in end), rho**2) for end in s], axis=0)
        return found
    rows = zip(*(bags.spread(end) for end in s), strict=True)
    sure = ([xi * t < 0 and t * t > bags.moved_squared({k: ONE}) * rho**2 for t in row] for k, row in enumerate(rows))
    return np.array([not all(row) for row in sure])


def _relu(
    problem: Problem,
    xi: Sign,
    s_0: Vector,
    ends: Sequence[Vector],
    proposals: Sequence[FloatMultipliers],
    rho: Fraction,
) -> _OneSign:
    network, Z = problem.relu, problem.relu.Z
    limit = out_threshold_squared(ONE, frobenius_squared(Z), rho**2)
    rows = fine(network.bags, ends, xi, rho)
    bases: dict[bytes, list[bool]] = {}
    multipliers: list[tuple[PieceMultiplier, ...]] = []
    outs: list[list[PieceMultiplier]] = []
    for end, proposal in zip(ends, proposals, strict=True):
        t = end if xi > 0 else tuple(-x for x in end)
        pieces = round_to_grid(t, lcm(*(x.denominator for x in t)) * binary_grid(t), proposal)
        multipliers.append(pieces)
        close = proposal.norm >= float(limit) ** 0.5 - SURELY
        if (rows == np.array([x > 0 for x in t])).all():  # its pieces are fine, and floats know the longer ones
            surely = proposal.norm > float(limit) ** 0.5 + SURELY
            bases.update({(base & rows).tobytes(): base.tolist() for base in proposal.base[surely]})
            close &= ~surely
        near, out = solved_pieces(network, t, rows, [pieces[i] for i in np.nonzero(close)[0].tolist()], limit)
        outs.append(out)
        for base, _ in near:
            bases.setdefault((np.array(base) & rows).tobytes(), base)
    classes = _classes(problem, xi, s_0, rows, bases.values())
    regions = [region(Z, one, rows) for one in classes]
    kept = [
        tuple(
            one
            for one in out
            if not any(all((one.base[k] == "1") == on for k, on in known.items()) for known in regions)
        )
        for out in outs
    ]
    return _OneSign(classes, multipliers, kept)


def _classes(problem: Problem, xi: Sign, s_0: Vector, rows: Bits, bases: Iterable[Sequence[bool]]) -> list[NeuronClass]:
    """The classes of fine pieces; a pinned one is that of all pieces around it, which are not solved."""
    Z, t = problem.relu.Z, s_0 if xi > 0 else tuple(-x for x in s_0)
    known: dict[tuple[str | None, tuple[int, ...]], tuple[NeuronClass, Sequence[bool]]] = {}
    regions: list[dict[int, bool]] = []
    for base in bases:
        if any(_inside(base, around) for around in regions):
            continue
        one = pinned_where_needed(problem, exact_face(Z, xi, t, solve_piece(Z, t, base, rows)), s_0)
        if one.ray:
            around = region(Z, one, rows)
            known = {key: both for key, both in known.items() if not _inside(both[1], around)}
            regions.append(around)
        known[one.pattern, one.kinks] = one, base
    return [one for one, _ in known.values()]


def _inside(base: Sequence[bool], around: dict[int, bool]) -> bool:
    return all(base[k] == on for k, on in around.items())


def region(Z: Matrix, neuron: NeuronClass, rows: Bits) -> dict[int, bool]:
    """The rows of P' on which the class fixes the sign, with that sign."""
    planes = parallel_classes(Z)
    zeros = {k for c in neuron.kinks for k in planes[c]}
    on = neuron.pattern or ""
    return {k: on[k] == "1" for k, z in enumerate(Z) if rows[k] and any(z) and k not in zeros}


def columns_seen(problem: Problem) -> Matrix:
    """The columns of P Z."""
    network = problem.relu
    return tuple(network.bags.pooled(column) for column in zip(*network.Z, strict=True))


def path_groups(
    problem: Problem, s: Sequence[Vector], rho: Fraction, classes: Sequence[NeuronClass], lift: Matrix
) -> tuple[tuple[int, ...], ...]:
    """The superclasses with respect to L, by their first class.

    ReLU: pinned classes with equal Pi G Pi. Else, where L holds the range of Z, u and -u have the same value on s
    orthogonal to L; so two classes of one sign whose regions are antipodal. Other models: classes with equal Pi G Pi,
    if they have no constraints.
    """
    if not lift:
        return tuple((a,) for a in range(len(classes)))
    if problem.network is None:
        if any(problem.blocks[one.block or 0].K is not None for one in classes):
            raise Unsettled("neurons in cones that tie on a whole piece")
        maps = [class_map(problem, neuron) for neuron in classes]
        return superclasses(maps, lift)
    if classes and len(pinned_of(classes)) == len(classes):
        return superclasses([class_map(problem, neuron) for neuron in classes], lift)
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


def even_shares(problem: Problem, maps: Sequence[ClassMap], groups: Sequence[Sequence[int]], lift: Matrix) -> Vector:
    """Shares of the classes of every superclass, with the sum 1, for which the sum of their outputs is orthogonal to L
    for s orthogonal to L: equal ones if they do. Unsettled unless there are some, and y is orthogonal to L."""
    if any(dot(l, problem.y) for l in lift):
        raise Unsettled("y is not orthogonal to the lift")
    shares = [Fraction(1)] * len(maps)
    for group in groups:
        kernels = [kernel(maps[a], lift) for a in group]
        parts = fmpq_mat([(K - project_away(lift, K)).entries() for K in kernels]).transpose() if lift else None
        equal = fmpq_mat(len(group), 1, [1] * len(group))
        found = equal if parts is None or not any((parts * equal).entries()) else positive_kernel(parts)
        if found is None:
            raise Unsettled("neurons that tie on a whole piece have no weights that balance each other")
        total = sum(found.entries(), fmpq(0))
        for a, share in zip(group, found.entries(), strict=True):
            shares[a] = to_fraction(share / total)
    return tuple(shares)


def positive_kernel(A: fmpq_mat) -> fmpq_mat | None:
    """Some x > 0 with Ax = 0, far inside in floats, and exact; None if floats see none."""
    columns = null_space(A)
    if not columns:
        return None
    N = np.array([[float(to_fraction(x)) for x in column.entries()] for column in columns]).T
    N = N / np.abs(N).max(axis=0)
    found = deepest(-N, np.zeros(len(N)), [(-1.0, 1.0)] * len(columns))
    if found is None or found[1] <= SMALL:
        return None
    scales = [max(map(abs, column.entries())) for column in columns]
    parts = (
        column * (fmpq(round(SHORT * float(x)), SHORT) / scale)
        for column, x, scale in zip(columns, found[0], scales, strict=True)
    )
    x = sum(parts, fmpq_mat(A.ncols(), 1))
    return x if min(x.entries()) > 0 else None


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
