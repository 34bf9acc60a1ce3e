"""An exact optimum in a field Q(t), proved: r is dual feasible, and y - r is a non-negative combination of the outputs
of the neurons that are tied at lambda. Then r = r*, whatever proposed it.

The rational dual point theta near r, with its multipliers, proves most pieces (patterns, blocks) out for every residual
within |r - theta| of it; only the others are looked at in the field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from relu_cert.exact import Matrix, Vector, norm_squared
from relu_cert.problem.problem import Block, Problem
from relu_cert.prove.algebraic.field import Field, Number, Numbers
from relu_cert.prove.algebraic.linear import product
from relu_cert.prove.candidates import not_out, out_threshold_squared, piece_lengths
from relu_cert.prove.classes import frobenius_squared
from relu_cert.prove.exact_optimum import merged, tied_neurons
from relu_cert.prove.facts import (
    AlgebraicSet,
    BlockMultipliers,
    Facts,
    FieldMultiplier,
    FieldMultipliers,
    PieceMultiplier,
    PieceMultipliers,
    Tied,
)
from relu_cert.prove.projection import Bounds, shortest_of
from relu_cert.prove.weights import one_or_two, vertex
from relu_cert.rationals import rows_of
from relu_cert.written import Sign


class NotOptimal(Exception):
    """The guess is not the optimal residual."""


@dataclass(frozen=True)
class _Guess:
    """r in its field, and how far theta is from it."""

    field: Field
    r: Numbers
    theta: Vector
    radius_squared: Fraction
    lam: Fraction

    @property
    def zero(self) -> Number:
        """0"""
        return self.field.rational(0)

    def through(self, A: Sequence[Sequence[Fraction]], v: Sequence[Number]) -> Numbers:
        """A v"""
        return tuple(product(row, v) for row in A)

    def ties(self, v: Sequence[Number]) -> bool:
        """Whether |v| = lambda; NotOptimal if it is longer."""
        over: int = (product(v, v) - self.lam**2).sign()
        if over > 0:
            raise NotOptimal
        return over == 0


def algebraic_set(facts: Facts, r: Sequence[Number]) -> AlgebraicSet | None:
    """The optimal set at r* = r, or None if r is not the optimal residual or the set was not settled."""
    field, theta = r[0].field, facts.dual.theta
    off = [r_k - t_k for r_k, t_k in zip(r, theta, strict=True)]
    distance = product(off, off).near(1024)
    guess = _Guess(field, tuple(r), theta, _above(distance), facts.lam)
    if any(r_k and (r_k * t_k).sign() <= 0 for r_k, t_k in zip(r, theta, strict=True)):
        return None
    try:
        found = _tied(facts, guess)
    except NotOptimal:
        return None
    target = tuple(y_k - r_k for y_k, r_k in zip(facts.problem.y, r, strict=True))
    outputs = [a.q for a in found.tied]
    first = vertex(outputs, target) if outputs else None
    known = None if first is None else one_or_two(outputs, target, first)
    if known is None:
        return None
    solutions, farkas = known
    return AlgebraicSet(tuple(found.tied), field, tuple(r), found.multipliers, solutions, farkas)


@dataclass(frozen=True)
class _Found:
    tied: list[Tied]
    multipliers: FieldMultipliers | tuple[tuple[int, Numbers], ...] | None


def _tied(facts: Facts, guess: _Guess) -> _Found:
    problem, multipliers = facts.problem, facts.dual.multipliers
    if isinstance(multipliers, BlockMultipliers):
        return _direct(problem, guess, multipliers)
    if not isinstance(multipliers, PieceMultipliers):
        raise NotOptimal
    sides, Z = [], problem.relu.Z
    tied: list[Tied] = []
    for xi, pieces in ((1, multipliers.plus), (-1, multipliers.minus)):
        solved = [_solved(Z, guess, xi, piece) for piece in _near(Z, guess, xi, pieces)]
        sides.append(tuple(m for m, _ in solved))
        tied += tied_neurons(Z, xi, [tuple(v) for _, v in solved if guess.ties(v)])
    return _Found(tied, FieldMultipliers(*sides))


def _near(Z: Matrix, guess: _Guess, xi: Sign, pieces: tuple[PieceMultiplier, ...]) -> Iterator[PieceMultiplier]:
    """The pieces that theta does not prove out."""
    limit = out_threshold_squared(guess.lam, frobenius_squared(Z), guess.radius_squared)
    t = tuple(xi * x for x in guess.theta)
    return (p for p, length in zip(pieces, piece_lengths(Z, t, pieces), strict=True) if length >= limit)


def _solved(Z: Matrix, guess: _Guess, xi: Sign, piece: PieceMultiplier) -> tuple[FieldMultiplier, list[Number]]:
    """The best multiplier of a piece at r, and v = Z'm."""
    t = [xi * x for x in guess.r]
    base = [c == "1" for c in piece.base]
    box = [
        (Bounds(t_k, None) if on else Bounds(None, guess.zero)) if xi * theta_k > 0 else Bounds(t_k, guess.zero)
        for t_k, on, theta_k in zip(t, base, guess.theta, strict=True)
    ]
    start = [t_k if on else guess.zero for t_k, on in zip(t, base, strict=True)]
    m, v, _ = shortest_of(rows_of(Z), box, start, piece.rows)
    rows = tuple(k for k, (a, b) in enumerate(zip(m, start, strict=True)) if a != b)
    return FieldMultiplier(piece.base, rows, tuple(m[k] for k in rows)), v


def _direct(problem: Problem, guess: _Guess, multipliers: BlockMultipliers) -> _Found:
    tied: list[Tied] = []
    rhos: list[tuple[int, Numbers]] = []
    for b, block, c, limit in not_out(problem, guess.lam, guess.theta, guess.radius_squared):
        if norm_squared(multipliers.left(b, c, block.K)) < limit:
            continue
        if block.K is None:
            v = guess.through(tuple(zip(*block.X, strict=True)), guess.r)
        else:
            rho, v = _projected(guess, block, block.K, multipliers.rho[b])
            rhos.append((b, rho))
        if guess.ties(v):
            tied.append(Tied(1, v, guess.through(block.X, v), False, problem.pattern(b), b))
    return _Found(merged(problem.patterned, tied), tuple(rhos) if problem.model == "cgl" else None)


def _projected(guess: _Guess, block: Block, K: Matrix, stated: Vector | None) -> tuple[Numbers, Numbers]:
    """rho >= 0 and v = X'r - K rho, the projection of X'r on {w : K'w <= 0}: the shortest sum of the rows of X, times
    r, and of multiples of the columns of -K."""
    n, columns = len(guess.r), tuple(tuple(-x for x in column) for column in zip(*K, strict=True))
    box = [*(Bounds(x, x) for x in guess.r), *[Bounds(guess.zero, None)] * len(columns)]
    free = [n + k for k, x in enumerate(stated or ()) if x]
    m, v, _ = shortest_of(rows_of((*block.X, *columns)), box, [*guess.r, *[guess.zero] * len(columns)], free)
    return tuple(m[n:]), tuple(v)


def _above(x: Fraction) -> Fraction:
    """A short number above x >= 0, by little."""
    unit = Fraction(1, 1 << 900)
    return (ceil(x / unit) + 1) * unit
