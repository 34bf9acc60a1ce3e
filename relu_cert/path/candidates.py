"""The neurons of a tube: at both ends of a piece every block is out over a ball, or it has a class.

What is out at s(-1) and at s(1), for all s within rho, is out within rho of the chord between them: the largest
xi s.(Zu)_+ over a piece is convex in s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from relu_cert.bags import EACH, Each
from relu_cert.exact import Matrix, Vector, columns_of, norm_squared
from relu_cert.path.faces import pinned_where_needed
from relu_cert.path.pieces import path_ends
from relu_cert.path.polynomial import least, room
from relu_cert.path.tube import Refused
from relu_cert.patterns.pattern_set import Bits
from relu_cert.problem.networks import correlation, parallel_classes
from relu_cert.problem.problem import Problem
from relu_cert.prove.candidates import (
    block_face,
    fine_rows,
    not_out,
    out_threshold_squared,
    solved_pieces,
)
from relu_cert.prove.classes import class_map, frobenius_squared
from relu_cert.prove.facts import (
    BlockMultipliers,
    Multipliers,
    NeuronClass,
    PieceMultiplier,
    PieceMultipliers,
)
from relu_cert.prove.multipliers import binary_grid, project, round_to_grid, solve_piece
from relu_cert.prove.projection import exact_face
from relu_cert.serialize import Sign
from relu_cert.solve import FloatProblem, multipliers
from relu_cert.solve.prepare import FloatMultipliers

ONE = Fraction(1)
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
