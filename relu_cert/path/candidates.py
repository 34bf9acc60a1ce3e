"""The neurons of a tube: every block is out over the ball, or its maximiser at the centre becomes a class."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from relu_cert.exact import Vector, dot, norm_squared
from relu_cert.path.model import Aside
from relu_cert.problem.model import Network, Problem
from relu_cert.prove.candidates import (
    as_multiplier,
    fine_pieces,
    fine_rows,
    frobenius_squared,
    out_threshold_squared,
    piece_lengths,
    solve_piece,
)
from relu_cert.prove.classes import spans
from relu_cert.prove.faces import exact_face
from relu_cert.prove.facts import BlockMultipliers, Multipliers, NeuronClass, PieceMultiplier, PieceMultipliers, Sign
from relu_cert.prove.multipliers import gated_lengths_squared, project
from relu_cert.prove.pieces import Bits, bit_string
from relu_cert.prove.projection import Shortest

ONE = Fraction(1)
NOTHING = PieceMultipliers((), ())


@dataclass(frozen=True)
class Candidate:
    """A neuron that is not out over the ball, and the fine pieces (ReLU; one block otherwise) that it belongs to."""

    neuron: NeuronClass
    aside: tuple[Aside | NeuronClass, ...]


@dataclass(frozen=True)
class Found:
    """The candidates, the multipliers at s_0 that show the other blocks to be out, and those of fine pieces."""

    near: list[Candidate]
    multipliers: Multipliers
    out: PieceMultipliers = NOTHING


def candidates(problem: Problem, s_0: Vector, multipliers: Multipliers, rho: Fraction) -> Found:
    """The classes over the ball |s - s_0| <= rho for lambda = 1, with the faces that they have at s_0."""
    if problem.network is None:
        return _direct(problem, s_0, multipliers, rho)
    if problem.model == "gated":
        limit = out_threshold_squared(ONE, frobenius_squared(problem.network.Z), rho**2)
        lengths = gated_lengths_squared(problem.network.Z, problem.network.patterns, s_0)
        patterns = problem.network.patterns
        near = [b for b, length in enumerate(lengths) if length >= limit]
        return Found([_alone(NeuronClass(pattern=bit_string(patterns.pattern(b)))) for b in near], multipliers)
    if not isinstance(multipliers, PieceMultipliers):
        raise ValueError("a ReLU problem has multipliers for its pieces")
    plus = _relu(problem.network, 1, multipliers.plus, s_0, rho)
    minus = _relu(problem.network, -1, multipliers.minus, tuple(-x for x in s_0), rho)
    return Found([*plus[0], *minus[0]], multipliers, PieceMultipliers(tuple(plus[1]), tuple(minus[1])))


def _direct(problem: Problem, s_0: Vector, known: Multipliers, rho: Fraction) -> Found:
    """A block with a cone that only its projection shows to be out gets the multiplier of that projection."""
    if not isinstance(known, BlockMultipliers):
        raise ValueError("a direct problem has multipliers for its blocks")
    found, written = [], list(known.rho)
    for b, block in enumerate(problem.blocks):
        c = tuple(dot(column, s_0) for column in zip(*block.X, strict=True))
        limit = out_threshold_squared(ONE, frobenius_squared(block.X), rho**2)
        if norm_squared(c) < limit:
            continue
        if block.K is None:
            found.append(_alone(NeuronClass(block=b)))
            continue
        multipliers, v = project(c, block.K)
        written[b] = multipliers
        if norm_squared(v) < limit:
            continue
        columns = list(zip(*block.K, strict=True))
        kinks = tuple(j for j, k in enumerate(columns) if any(k) and dot(k, v) == 0)
        basis = tuple(j for j in kinks if multipliers[j] > 0)
        chosen = [columns[j] for j in basis]
        idle = tuple(j for j in kinks if j not in basis and not spans(chosen, [columns[j]]))
        fixed = tuple(multipliers[j] for j in kinks if j not in basis and j not in idle)
        found.append(_alone(NeuronClass(block=b, kinks=kinks, basis=basis, idle=idle, fixed=fixed)))
    return Found(found, BlockMultipliers(tuple(written)))


def _relu(
    network: Network, xi: Sign, pieces: tuple[PieceMultiplier, ...], t: Vector, rho: Fraction
) -> tuple[list[Candidate], list[PieceMultiplier]]:
    limit = out_threshold_squared(ONE, frobenius_squared(network.Z), rho**2)
    lengths = piece_lengths(network.Z, t, pieces)
    near = [piece for piece, length in zip(pieces, lengths, strict=True) if length >= limit]
    fine = fine_rows(t, rho**2)
    found: dict[tuple[str | None, tuple[int, ...]], Candidate] = {}
    out: list[PieceMultiplier] = []
    for base in fine_pieces(network, t, fine, near):
        best = solve_piece(network.Z, t, base, fine)
        if norm_squared(best.v) < limit:
            out.append(as_multiplier(t, base, best))
            continue
        neuron = exact_face(network.Z, xi, t, best)
        side = _aside(xi, t, base, fine, best)
        known = found.get((neuron.pattern, neuron.kinks))
        found[neuron.pattern, neuron.kinks] = Candidate(neuron, (*(known.aside if known else ()), side))
    return list(found.values()), out


def _aside(xi: Sign, t: Vector, base: list[bool], fine: Bits, best: Shortest) -> Aside:
    """The multiplier of a fine piece as a rule: which rows are free, and where the others rest."""
    on = [b if fixed else m == t_k for b, fixed, m, t_k in zip(base, fine, best.m, t, strict=True)]
    return Aside(xi, bit_string(on), tuple(sorted(best.free)))


def _alone(neuron: NeuronClass) -> Candidate:
    return Candidate(neuron, (neuron,))
