"""Optima that are rational: r* found exactly, so that nothing is left to a ball.

Planted, symmetric and integer data often have a rational residual. It is guessed from the float one (continued
fractions); the guess is then proved or dropped: theta = r* must be dual feasible, and y - r* must be a non-negative
combination of the outputs of the neurons that are tied at lambda. Then primal and dual value are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm

from relu_cert.exact import Matrix, Vector, dot, norm_squared
from relu_cert.patterns.pattern_set import bit_string
from relu_cert.problem.blocks import correlation, reaching
from relu_cert.problem.problem import Patterned, Problem
from relu_cert.prove.algebraic.linear import product
from relu_cert.prove.facts import (
    BlockMultipliers,
    Dual,
    Exact,
    ExactNeuron,
    ExactSet,
    Facts,
    LambdaMax,
    OptimalSet,
    PieceMultiplier,
    PieceMultipliers,
    Tied,
    Unknown,
)
from relu_cert.prove.grid import binary_grid
from relu_cert.prove.multipliers import (
    Proposals,
    block_multipliers,
    project,
    rounded_pieces,
    scale,
)
from relu_cert.prove.pieces import exact_multiplier
from relu_cert.prove.value import fit, primal, value
from relu_cert.prove.weights import one_or_two, vertex
from relu_cert.rationals import to_fmpq, to_fraction
from relu_cert.written import Sign

DENOMINATORS = (10**2, 10**4, 10**6, 10**8, 10**12, 10**18, 10**27)


def guesses(theta: Sequence[float | Fraction], digits: int) -> list[Vector]:
    """Rational points near theta with small denominators, simplest first; theta is right to about so many digits."""
    size = max((abs(Fraction(x)) for x in theta), default=Fraction(0))
    near = size / 10 ** (digits - 3)
    found: list[Vector] = []
    for bound in DENOMINATORS:
        if bound * bound > 10 ** (digits - 5):  # beyond that every number is near to some fraction
            break
        guess = _near_fractions(theta, bound, near)
        if guess is not None and guess not in found:
            found.append(guess)
    return found


def _near_fractions(theta: Sequence[float | Fraction], bound: int, near: Fraction) -> Vector | None:
    """The fractions next to theta with denominators up to the bound; None as soon as one of them is not near."""
    guess = []
    for entry in theta:
        x = Fraction(entry)
        guess.append(x.limit_denominator(bound))
        if abs(guess[-1] - x) > near:
            return None
    return tuple(guess)


def exact_facts(
    problem: Problem, lam: Fraction, largest: LambdaMax, gap: Fraction, r: Vector, proposals: Proposals | None
) -> Facts | None:
    """The facts at r* = r with equal primal and dual value, or None if r is not the optimal residual."""
    dual = _exact_dual(problem, r, lam, proposals)
    if dual is None:
        return None
    tied = _tied_neurons(problem, dual, lam)
    target = tuple(to_fmpq(a - b) for a, b in zip(problem.y, r, strict=True))
    outputs = [tuple(map(to_fmpq, t.q)) for t in tied]
    first = vertex(outputs, target)
    if first is None:
        return None
    alpha = _fractions(first)
    point = primal(problem, [_weighted(t, a, lam) for t, a in zip(tied, alpha, strict=True) if a])
    bounds = value(problem, lam, point, dual, gap)
    if bounds.lower != bounds.upper:
        return None
    found = one_or_two(outputs, target, first)
    exact: OptimalSet = Unknown()
    if found is not None:
        exact = ExactSet(r, tuple(tied), tuple(map(_fractions, found[0])), _fractions(found[1]))
    return Facts(problem, lam, largest, point, dual, bounds, fit(point, bounds), optimal_set=exact)


def _tied_neurons(problem: Problem, dual: Dual, lam: Fraction) -> list[Tied]:
    """All neurons with |v| = lambda at r* = theta, each once, in the order of the evidence."""
    theta, square = dual.theta, lam * lam
    found: list[Tied] = []
    if isinstance(dual.multipliers, BlockMultipliers):
        for b, block, c in reaching(problem.blocks, theta, square):
            v = dual.multipliers.left(b, c, block.K)
            if norm_squared(v) == square:
                found.append(Tied(1, v, tuple(dot(row, v) for row in block.X), False, problem.pattern(b), b))
        return merged(problem.patterned, found)
    if not isinstance(dual.multipliers, PieceMultipliers):
        return found
    Z = problem.relu.Z
    for xi, pieces in ((1, dual.multipliers.plus), (-1, dual.multipliers.minus)):
        t = scale(Fraction(xi), theta)
        vectors = [_piece_vector(Z, t, piece) for piece in pieces]
        found += tied_neurons(Z, xi, [v for v in vectors if norm_squared(v) == square])
    return found


def tied_neurons(Z: Matrix, xi: Sign, vectors: Sequence[Exact]) -> Iterator[Tied]:
    """The ReLU neurons of one sign with these v, each once; numbers are Fractions, or those of a field."""
    for v in dict.fromkeys(vectors):
        heights = [product(z, v) for z in Z]
        q = tuple(xi * h if h > 0 else h * 0 for h in heights)
        kinks = any(not h and any(z) for h, z in zip(heights, Z, strict=True))
        yield Tied(xi, v, q, kinks, bit_string([h >= 0 for h in heights]))


def merged(patterned: Patterned | None, found: list[Tied]) -> list[Tied]:
    """A ReLU neuron that lies in several of the given blocks once, in the first of them."""
    if patterned is None or patterned.model != "relu":
        return found
    first: dict[tuple[Sign, Exact], Tied] = {}
    for tied in found:
        key = (patterned.sign(tied.block or 0), tied.v)
        first[key] = replace(first[key], kinks=True) if key in first else tied
    return list(first.values())


def _piece_vector(Z: Matrix, t: Vector, piece: PieceMultiplier) -> Vector:
    m = [t_k if c == "1" else Fraction(0) for t_k, c in zip(t, piece.base, strict=True)]
    for k, x in zip(piece.rows, piece.values, strict=True):
        m[k] = x
    return tuple(dot(m, col) for col in zip(*Z, strict=True))


def _exact_dual(problem: Problem, r: Vector, lam: Fraction, proposals: Proposals | None) -> Dual | None:
    """theta = r with multipliers that are exact where they must be; None if r is not dual feasible."""
    network, square = problem.network, lam * lam
    if network is None or proposals is None:
        multipliers, longest = block_multipliers(problem, r, square)
        return Dual(r, _all_tied_projected(problem, r, multipliers)) if longest <= square else None
    q = lcm(*(x.denominator for x in r)) * binary_grid(r)
    parts = []
    for xi in (1, -1):
        t = scale(Fraction(xi), r)
        part = []
        for piece in rounded_pieces(network, t, q, proposals[xi]):
            if piece.length_squared < square:
                part.append(piece.multiplier)
                continue
            exact, v = exact_multiplier(network.Z, t, piece.base, piece.multiplier.rows)
            if norm_squared(v) > square:
                return None
            part.append(exact)
        parts.append(tuple(part))
    return Dual(r, PieceMultipliers(*parts))


def _all_tied_projected(problem: Problem, r: Vector, multipliers: BlockMultipliers) -> BlockMultipliers:
    """Exact projections for every block with a cone, so that ties show."""
    rhos = list(multipliers.rho)
    for b, rho in enumerate(rhos):
        if rho is None and (K := problem.blocks[b].K) is not None:
            exact = project(correlation(problem.blocks, b, r), K)[0]
            rhos[b] = exact if any(exact) else None
    return BlockMultipliers(tuple(rhos))


def _weighted(tied: Tied, alpha: Fraction, lam: Fraction) -> ExactNeuron:
    """w = alpha v, of norm alpha lambda."""
    w, norm = scale(alpha, tied.v), alpha * lam
    return ExactNeuron(sign=tied.sign, pattern=tied.pattern, block=tied.block, w=w, norm=norm)


def _fractions(entries: Exact) -> Vector:
    return tuple(to_fraction(x) for x in entries)
