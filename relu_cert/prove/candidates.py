"""Which classes there are: every block is proved out, or belongs to a stable class.

A block is *out* if |Proj_{C_b}(X_b'theta)| + |X_b| R < lambda: then it is zero in every solution. What is not out is
solved exactly at theta; its face is read off the exact solution and must be stable over the ball.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from relu_cert.errors import Unsettled
from relu_cert.exact import Vector, dot, norm_squared, sqrt_upper
from relu_cert.patterns.pattern_set import Bits
from relu_cert.problem.networks import reaching, widest_squared
from relu_cert.problem.problem import Block, Network, Problem
from relu_cert.prove.classes import Ball, frobenius_squared, is_stable, spans
from relu_cert.prove.facts import (
    BlockMultipliers,
    Dual,
    ExactNeuron,
    NeuronClass,
    PieceMultiplier,
    PieceMultipliers,
)
from relu_cert.prove.multipliers import parts_of, piece_lengths, project, solve_piece, unique_rows
from relu_cert.prove.projection import ShortestVector, exact_face, near_face
from relu_cert.serialize import Sign


@dataclass(frozen=True)
class Candidates:
    """All classes that may be active, the multipliers that prove finer pieces out (ReLU), or, over a cover, the class
    of every tie."""

    classes: tuple[NeuronClass, ...]
    out: PieceMultipliers | None = None
    ties: tuple[NeuronClass | None, ...] = ()


Finder = Callable[[Problem, Fraction, Dual, Ball, Sequence[ExactNeuron]], Candidates]


def find_candidates(
    problem: Problem, lam: Fraction, dual: Dual, ball: Ball, network: Sequence[ExactNeuron] = ()
) -> Candidates:
    """Every block is out or in a stable class, else Unsettled. The network proposes patterns where any will do."""
    match dual.multipliers:
        case BlockMultipliers():
            return Candidates(_direct(problem, lam, dual.multipliers, ball))
        case PieceMultipliers():
            plus = _relu(problem, 1, dual.multipliers.plus, lam, ball)
            minus = _relu(problem, -1, dual.multipliers.minus, lam, ball)
            return Candidates((*plus[0], *minus[0]), PieceMultipliers(tuple(plus[1]), tuple(minus[1])))
        case _:
            raise Unsettled("the proof of the bound says nothing about single neurons")


def distinct(found: Iterable[NeuronClass | None]) -> tuple[NeuronClass, ...]:
    """One class for each sign and pattern, in the place of the first: of the faces of one neuron the one with idle
    kinks, which proves less. With and without kinks it is not one neuron: with free biases only a kink fixes its bias.
    """
    classes: dict[tuple[Sign, str | None, int | None], NeuronClass] = {}
    for one in found:
        if one is None:
            continue
        if bool(classes.setdefault(one.key, one).kinks) != bool(one.kinks):
            raise Unsettled("a neuron that is zero at no row has the pattern of one that is zero at some")
        if one.idle:
            classes[one.key] = one
    return tuple(classes.values())


def out_threshold_squared(lam: Fraction, size_squared: Fraction, radius_squared: Fraction) -> Fraction:
    """(lambda - |X| R)^2, rounded down; 0 where nothing can be proved out."""
    room = lam - sqrt_upper(size_squared * radius_squared, 64)
    return room * room if room > 0 else Fraction(0)


def fine_rows(t: Vector, radius_squared: Fraction) -> Bits:
    """P' = the rows on which t is not certainly negative over the ball: their sign is fixed on a fine piece."""
    p, q = radius_squared.as_integer_ratio()
    return np.array([not (x < 0 and x.numerator**2 * q > p * x.denominator**2) for x in t])


def not_out(
    problem: Problem, lam: Fraction, theta: Vector, radius_squared: Fraction
) -> Iterator[tuple[int, Block, Vector, Fraction]]:
    """The blocks that are not out without a multiplier: number, block, X_b'theta, and the square that they reach."""
    lowest = out_threshold_squared(lam, widest_squared(problem.blocks), radius_squared)
    for b, block, c in reaching(problem.blocks, theta, lowest):
        limit = out_threshold_squared(lam, block.size_squared, radius_squared)
        if norm_squared(c) >= limit:
            yield b, block, c, limit


def _direct(problem: Problem, lam: Fraction, stated: BlockMultipliers, ball: Ball) -> tuple[NeuronClass, ...]:
    found = []
    for b, block, c, limit in not_out(problem, lam, ball.center, ball.radius_squared):
        neuron, v = block_face(problem, b, block, c)
        if norm_squared(v) < limit:
            if norm_squared(stated.left(b, c, block.K)) >= limit:
                raise Unsettled(f"block {b} is out, but its multiplier does not show it")
            continue
        if not is_stable(problem, neuron, ball):
            raise Unsettled(f"the face of block {b} is not settled")
        found.append(neuron)
    return tuple(found)


def block_face(problem: Problem, b: int, block: Block, c: Vector) -> tuple[NeuronClass, Vector]:
    """The class of a block with the face that the projection v of c has, and v."""
    pattern = problem.pattern(b)
    if block.K is None:
        return NeuronClass(pattern=pattern, block=b), c
    rho, v = project(c, block.K)
    columns = list(zip(*block.K, strict=True))
    kinks = tuple(j for j, k in enumerate(columns) if any(k) and dot(k, v) == 0)
    basis = tuple(j for j in kinks if rho[j] > 0)
    chosen = [columns[j] for j in basis]
    idle = tuple(j for j in kinks if j not in basis and not spans(chosen, [columns[j]]))
    fixed = tuple(rho[j] for j in kinks if j not in basis and j not in idle)
    return NeuronClass(pattern=pattern, block=b, kinks=kinks, basis=basis, idle=idle, fixed=fixed), v


def _relu(
    problem: Problem, xi: Sign, pieces: tuple[PieceMultiplier, ...], lam: Fraction, ball: Ball
) -> tuple[list[NeuronClass], list[PieceMultiplier]]:
    network = problem.relu
    t = ball.center if xi > 0 else tuple(-x for x in ball.center)
    limit = out_threshold_squared(lam, frobenius_squared(network.Z), ball.radius_squared)
    classes: list[NeuronClass] = []
    near, out = solved_pieces(network, t, fine_rows(t, ball.radius_squared), pieces, limit)
    for _, best in near:
        neuron = _stable_face(problem, xi, t, best, ball, classes)
        if neuron is None:
            continue  # a kink between two fine pieces: the same neuron
        classes.append(neuron)
    return classes, out


def solved_pieces(
    network: Network, t: Vector, fine: Bits, pieces: Sequence[PieceMultiplier], limit: Fraction
) -> tuple[list[tuple[list[bool], ShortestVector]], list[PieceMultiplier]]:
    """The fine pieces that reach the limit, a squared length, with their bases, inside those of the given pieces that
    reach it, and multipliers of the other fine pieces there."""
    Z, near, out = network.Z, list[tuple[list[bool], ShortestVector]](), list[PieceMultiplier]()
    coarse = [p for p, length in zip(pieces, piece_lengths(Z, t, pieces), strict=True) if length >= limit]
    for base in fine_pieces(network, t, fine, coarse):
        best = solve_piece(Z, t, base, fine)
        if norm_squared(best.v) < limit:
            out.append(PieceMultiplier(*parts_of(t, base, best)))
        else:
            near.append((base, best))
    return near, out


def _stable_face(
    problem: Problem, xi: Sign, t: Vector, best: ShortestVector, ball: Ball, known: list[NeuronClass]
) -> NeuronClass | None:
    """The class at the maximiser; None if it is known already, Unsettled if no proposed face is stable."""
    Z = problem.relu.Z
    for face in (exact_face, near_face):
        neuron = face(Z, xi, t, best)
        if any((one.pattern, one.kinks) == (neuron.pattern, neuron.kinks) for one in known):
            return None
        if is_stable(problem, neuron, ball):
            return neuron
    raise Unsettled(f"the face of the neuron in direction {_about(best.v)} is not settled")


def fine_pieces(network: Network, t: Vector, fine: Bits, near: list[PieceMultiplier]) -> list[list[bool]]:
    """The fine pieces (patterns of open cells restricted to P') inside the given pieces, each once.

    Off P' a fine piece has the bits of the given multiplier's base: a good start for solving it.
    """
    if not near:
        return []
    coarse = np.packbits(np.array([x > 0 for x in t]))
    bits = network.patterns.groups[0].bits
    bases = [np.array([c == "1" for c in p.base]) for p in near]
    wanted = {(np.packbits(base) & coarse).tobytes(): base for base in bases}
    inside = np.array([row.tobytes() in wanted for row in bits & coarse])
    packed = unique_rows(bits[inside] & np.packbits(fine))
    found = np.unpackbits(packed, axis=1, count=network.patterns.n).astype(np.bool_)
    keys = [row.tobytes() for row in packed & coarse]
    return [np.where(fine, row, wanted[key]).tolist() for row, key in zip(found, keys, strict=True)]


def _about(v: Vector) -> str:
    size = max((abs(x) for x in v), default=Fraction(1)) or Fraction(1)
    return "(" + ", ".join(f"{float(x / size):.4g}" for x in v) + ")"
