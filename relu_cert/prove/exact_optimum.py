"""Optima that are known exactly: r* in rationals or in a field of algebraic numbers, so that nothing is left to a ball.

Planted, symmetric and integer data often have a rational residual. It is guessed from the float one (continued
fractions; `algebraic.guess` for fields); the guess is then proved or dropped: r must be dual feasible, and y - r must
be a non-negative combination of the outputs of the neurons that are tied at lambda. Then r = r*, whatever proposed it,
and if it is the dual point, primal and dual value are equal.

A rational dual point near r, with its multipliers, proves most pieces (patterns, blocks) out for every residual as near
to it as r is; only the others are looked at in the numbers of r.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, lcm

from relu_cert.exact import Matrix, Vector, norm_squared, to_fmpq, to_fraction
from relu_cert.patterns.pattern_set import bit_string
from relu_cert.problem.problem import Patterned, Problem
from relu_cert.prove.candidates import not_out, out_threshold_squared
from relu_cert.prove.classes import frobenius_squared
from relu_cert.prove.facts import (
    AlgebraicSet,
    BlockMultipliers,
    Dual,
    ExactNeuron,
    ExactSet,
    Facts,
    FieldMultiplier,
    FieldMultipliers,
    FieldShares,
    LambdaMax,
    Multipliers,
    PieceMultiplier,
    PieceMultipliers,
    Tied,
)
from relu_cert.prove.field import Exact, Number, product
from relu_cert.prove.multipliers import (
    Parts,
    Proposals,
    binary_grid,
    parts_of,
    piece_lengths,
    project,
    round_to_grid,
    scale,
    solve_piece,
)
from relu_cert.prove.prove import facts_of, primal
from relu_cert.prove.split import one_or_two, vertex
from relu_cert.serialize import Sign

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


class NotOptimal(Exception):
    """The guess is not the optimal residual."""


@dataclass(frozen=True)
class _Guess:
    """r, in Fractions or numbers of a field, and a dual point so near to it."""

    problem: Problem
    lam: Fraction
    r: Exact
    dual: Dual
    radius_squared: Fraction

    def ties(self, v: Exact) -> bool:
        """Whether |v| = lambda; NotOptimal if it is longer."""
        over = product(v, v) - self.lam**2
        if over > 0:
            raise NotOptimal
        return not over


@dataclass(frozen=True)
class _Found:
    """The tied neurons, each once, in the order of the evidence, and the multipliers at r of what the dual point does
    not prove out: pieces of both signs by their numbers, or blocks with cones."""

    tied: list[Tied]
    pieces: dict[Sign, dict[int, Parts]] = field(default_factory=dict)
    rhos: dict[int, Exact] = field(default_factory=dict)


def exact_facts(
    problem: Problem, lam: Fraction, largest: LambdaMax, gap: Fraction, r: Vector, proposals: Proposals | None
) -> Facts | None:
    """The facts at r* = r with equal primal and dual value, or None if r is not the optimal residual."""
    proposed = _propose_multipliers(problem, r, proposals)
    try:
        found = _tied_neurons(_Guess(problem, lam, r, Dual(r, proposed), Fraction(0)))
    except NotOptimal:
        return None
    return facts_at(problem, lam, largest, gap, Dual(r, _with_exact(problem, proposed, found)), found.tied)


def facts_at(
    problem: Problem, lam: Fraction, largest: LambdaMax, gap: Fraction, dual: Dual, tied: Sequence[Tied]
) -> Facts | None:
    """The facts where theta of the dual point is the optimal residual, with these neurons tied; None if it is not."""
    r = dual.theta
    target = tuple(to_fmpq(a - b) for a, b in zip(problem.y, r, strict=True))
    outputs = [tuple(map(to_fmpq, t.q)) for t in tied]
    first = vertex(outputs, target)
    if first is None:
        return None
    alpha = _fractions(first)
    point = primal(problem, [_scale_neuron(t, a, lam) for t, a in zip(tied, alpha, strict=True) if a])
    facts = facts_of(problem, lam, largest, point, dual, gap)
    if facts.value.lower != facts.value.upper:
        return None
    known = one_or_two(outputs, target, first) if outputs else None
    if known is None:
        return facts
    return replace(facts, optimal_set=ExactSet(r, tuple(tied), tuple(map(_fractions, known[0])), _fractions(known[1])))


def algebraic_set(facts: Facts, r: Sequence[Number]) -> AlgebraicSet | None:
    """The optimal set at r* = r, or None if r is not the optimal residual or the set was not settled."""
    problem, theta = facts.problem, facts.dual.theta
    if any(r_k and (r_k * t_k).sign() <= 0 for r_k, t_k in zip(r, theta, strict=True)):
        return None
    off = [r_k - t_k for r_k, t_k in zip(r, theta, strict=True)]
    try:
        found = _tied_neurons(_Guess(problem, facts.lam, tuple(r), facts.dual, above(product(off, off).near(1024))))
    except NotOptimal:
        return None
    sides = [tuple(FieldMultiplier(*one) for one in pieces.values()) for pieces in found.pieces.values()]
    multipliers = FieldMultipliers(*sides) if sides else tuple(found.rhos.items()) if problem.model == "cgl" else None
    return set_in_field(problem, r, found.tied, multipliers)


def set_in_field(
    problem: Problem,
    r: Sequence[Number],
    tied: Sequence[Tied],
    multipliers: FieldMultipliers | FieldShares | tuple[tuple[int, Exact], ...] | None,
) -> AlgebraicSet | None:
    """The optimal set where these neurons tie at r; None if r is not the optimal residual or the set is not settled."""
    target = tuple(y_k - r_k for y_k, r_k in zip(problem.y, r, strict=True))
    outputs = [a.q for a in tied]
    first = vertex(outputs, target) if outputs else None
    known = None if first is None else one_or_two(outputs, target, first)
    return None if known is None else AlgebraicSet(tuple(tied), r[0].field, tuple(r), multipliers, *known)


def _tied_neurons(guess: _Guess) -> _Found:
    """All neurons with |v| = lambda at r; NotOptimal if one is longer."""
    problem, multipliers = guess.problem, guess.dual.multipliers
    if isinstance(multipliers, BlockMultipliers):
        return _tied_blocks(guess, multipliers)
    if not isinstance(multipliers, PieceMultipliers):
        raise NotOptimal
    Z, tied = problem.relu.Z, list[Tied]()
    solved: dict[Sign, dict[int, Parts]] = {}
    limit = out_threshold_squared(guess.lam, frobenius_squared(Z), guess.radius_squared)
    for xi, pieces in ((1, multipliers.plus), (-1, multipliers.minus)):
        t, near = tuple(xi * x for x in guess.r), scale(Fraction(xi), guess.dual.theta)
        solved[xi], vectors = {}, list[Exact]()
        for i, length in enumerate(piece_lengths(Z, near, pieces)):
            if length >= limit:
                base = [c == "1" for c in pieces[i].base]
                best = solve_piece(Z, t, base, [x > 0 for x in near], pieces[i].rows)
                solved[xi][i] = parts_of(t, base, best)
                vectors.append(best.v)
        tied += tied_neurons(Z, xi, [v for v in vectors if guess.ties(v)])
    return _Found(tied, pieces=solved)


def _tied_blocks(guess: _Guess, multipliers: BlockMultipliers) -> _Found:
    problem, tied = guess.problem, list[Tied]()
    rhos: dict[int, Exact] = {}
    for b, block, near, limit in not_out(problem, guess.lam, guess.dual.theta, guess.radius_squared):
        if norm_squared(multipliers.left(b, near, block.K)) < limit:
            continue
        v = near if guess.r is guess.dual.theta else _through(zip(*block.X, strict=True), guess.r)
        if block.K is not None:
            stated = multipliers.rho[b] or ()
            rhos[b], v = project(v, block.K, [k for k, x in enumerate(stated) if x])
        if guess.ties(v):
            tied.append(Tied(1, v, _through(block.X, v), False, problem.pattern(b), b))
    return _Found(merge_blocks(problem.patterned, tied), rhos=rhos)


def _through(A: Iterable[Vector], v: Exact) -> Exact:
    """A v"""
    return tuple(product(row, v) for row in A)


def tied_neurons(Z: Matrix, xi: Sign, vectors: Sequence[Exact]) -> Iterator[Tied]:
    """The ReLU neurons of one sign with these v, each once; numbers are Fractions, or those of a field."""
    for v in dict.fromkeys(vectors):
        heights = [product(z, v) for z in Z]
        q = tuple(xi * h if h > 0 else h * 0 for h in heights)
        kinks = any(not h and any(z) for h, z in zip(heights, Z, strict=True))
        yield Tied(xi, v, q, kinks, bit_string([h >= 0 for h in heights]))


def merge_blocks(patterned: Patterned | None, found: list[Tied]) -> list[Tied]:
    """A ReLU neuron that lies in several of the given blocks once, in the first of them."""
    if patterned is None or patterned.model != "relu":
        return found
    first: dict[tuple[Sign, Exact], Tied] = {}
    for tied in found:
        key = (patterned.sign(tied.block or 0), tied.v)
        first[key] = replace(first[key], kinks=True) if key in first else tied
    return list(first.values())


def _propose_multipliers(problem: Problem, r: Vector, proposals: Proposals | None) -> Multipliers:
    """Multipliers at r for every piece, as they are proposed; none for blocks."""
    if problem.network is None or proposals is None:
        return BlockMultipliers.of(problem.blocks, {})
    q = lcm(*(x.denominator for x in r)) * binary_grid(r)
    return PieceMultipliers(*(round_to_grid(scale(Fraction(xi), r), q, proposals[xi]) for xi in (1, -1)))


def _with_exact(problem: Problem, proposed: Multipliers, found: _Found) -> Multipliers:
    """The same with those that were found in their places."""
    if not isinstance(proposed, PieceMultipliers):
        return BlockMultipliers.of(problem.blocks, {b: rho for b, rho in found.rhos.items() if any(rho)})
    sides = ((proposed.plus, found.pieces[1]), (proposed.minus, found.pieces[-1]))
    return PieceMultipliers(
        *(tuple(PieceMultiplier(*new[i]) if i in new else old for i, old in enumerate(side)) for side, new in sides)
    )


def _scale_neuron(tied: Tied, alpha: Fraction, lam: Fraction) -> ExactNeuron:
    """w = alpha v, of norm alpha lambda."""
    w, norm = scale(alpha, tied.v), alpha * lam
    return ExactNeuron(sign=tied.sign, pattern=tied.pattern, block=tied.block, w=w, norm=norm)


def _fractions(entries: Exact) -> Vector:
    return tuple(to_fraction(x) for x in entries)


def above(x: Fraction) -> Fraction:
    """A short number above x >= 0, by little."""
    unit = Fraction(1, 1 << 900)
    return (ceil(x / unit) + 1) * unit
