"""From a float solution to facts: the solution is refined, and what it shows is proved.

A refined point proposes a dual point and neurons. A rational optimum near it is guessed and proved exactly; else the
optimal set is proved over the ball that the duality gap leaves, plainly or with one of the proposed lifts. More digits
make the ball smaller; they never change what is true. Where ties are exact no ball settles them: then an optimum in a
field of algebraic numbers is guessed, from many digits, and proved exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from relu_cert.errors import Unsettled
from relu_cert.exact import Vector, sqrt_upper
from relu_cert.problem.blocks import widest_squared
from relu_cert.problem.problem import Problem
from relu_cert.prove.algebraic.guess import guessed_residual
from relu_cert.prove.exact_optimum import algebraic_set, exact_facts, guesses
from relu_cert.prove.facts import ExactNeuron, Facts, LambdaMax, Unknown
from relu_cert.prove.lifts import proposed_lifts
from relu_cert.prove.multipliers import Proposals
from relu_cert.prove.optimal_set import optimal_set
from relu_cert.prove.polytope.listing import shortest_weights, with_vertices
from relu_cert.prove.prove import exact_neuron, prove
from relu_cert.refine import refine
from relu_cert.solve import FloatProblem, Solution, multipliers

FLOAT_BITS, FLOAT_DIGITS = 52, 14
REFINED_DIGITS = 40
MOST_DIGITS = 150
FIELD_DIGITS = (250, 800, 2400)  # a field of large degree, or with long coefficients, needs many
SPARE_MOVES = 1 << 6  # units of the grid, for what Newton's method leaves
HALF = Fraction(1, 2)
THOROUGH = 0.99  # pieces below this part of lambda need no sharper multiplier


@dataclass(frozen=True)
class Point:
    """A proposal: a dual point and neurons, right to about so many digits."""

    theta: Vector
    neurons: tuple[ExactNeuron, ...]
    digits: int
    bits: int


@dataclass(frozen=True)
class Question:
    """What is to be settled."""

    problem: Problem
    floats: FloatProblem
    lam: Fraction
    largest: LambdaMax
    gap: Fraction


def refine_and_prove(question: Question, solution: Solution) -> Facts:
    """The facts of the first point that settles everything, or the best there are, with the reason."""
    best: Facts | None = None
    for point in _points(question, solution):
        exact = _exact_facts(question, point)
        facts, final = with_vertices(exact) if exact is not None else _ball_facts(question, point)
        if facts.value.reached and not facts.unsettled and final:
            return facts
        if best is None:  # ties that are exact stay so, whatever the number of digits
            algebraic = _algebraic_facts(question, solution, facts)
            if algebraic is not None and algebraic.value.reached and algebraic.polytope is not None:
                return algebraic
            best = algebraic if algebraic is not None and _rank(algebraic) > _rank(facts) else facts
        elif _rank(facts) > _rank(best):
            best = facts
    if best is None:
        raise ValueError("the float point is always tried")
    return best


def propose(floats: FloatProblem, theta: NDArray[np.float64], lam: float) -> Proposals | None:
    """Float multipliers for the pieces of a ReLU problem; the others need none."""
    found = multipliers(floats, theta, lam)
    return None if found is None else {xi: found[xi] for xi in (1, -1)}


def _points(question: Question, solution: Solution) -> Iterator[Point]:
    """Refined points of more and more digits; the float point where refining fails."""
    wanted = _digits_for(question.gap)
    for digits in sorted({max(REFINED_DIGITS, min(wanted, MOST_DIGITS)), MOST_DIGITS}):
        refined = refine(question.problem, solution, question.lam, digits, question.floats)
        correct = digits if not refined.reason else FLOAT_DIGITS
        neurons = [(n.sign, n.block, n.w) for n in refined.neurons]
        yield _point(question.problem, refined.theta, neurons, correct)
        if refined.reason:
            return


def _point(problem: Problem, theta: Vector, neurons: list[tuple[int, int | None, Vector]], digits: int) -> Point:
    bits = FLOAT_BITS if digits == FLOAT_DIGITS else ceil(digits * log2(10)) + 16
    return Point(theta, tuple(exact_neuron(problem, *neuron, bits) for neuron in neurons), digits, bits)


def _digits_for(gap: Fraction) -> int:
    """Digits of a point whose gap will be below the one asked for (a few to spare)."""
    return len(str(gap.denominator // gap.numerator)) + 4


def _exact_facts(question: Question, point: Point) -> Facts | None:
    """The facts of a rational optimum near the point, if there is one."""
    q = question
    for guess in guesses(point.theta, point.digits):
        proposals = propose(q.floats, np.array([float(x) for x in guess]), float(q.lam))
        facts = exact_facts(q.problem, q.lam, q.largest, q.gap, guess, proposals)
        if facts is not None:
            return facts
    return None


def _algebraic_facts(question: Question, solution: Solution, facts: Facts) -> Facts | None:
    """The facts of an optimum in a field of algebraic numbers, near the dual point of the facts, if there is one."""
    q = question
    for digits in FIELD_DIGITS:
        refined = refine(q.problem, solution, q.lam, digits, q.floats)
        if refined.reason:
            return None
        residual = guessed_residual(q.problem.y, q.lam, refined.theta, digits)
        if residual is None:
            continue
        try:
            found = algebraic_set(facts, residual)
        except Unsettled:
            continue
        if found is not None:
            exact = replace(facts, optimal_set=found)
            return replace(with_vertices(exact)[0], shortest=shortest_weights(exact))
    return None


def _ball_facts(question: Question, point: Point) -> tuple[Facts, bool]:
    """The facts of the point, with the optimal set if a lift settles it; else those of the plain proof."""
    q = question
    plain: Facts | None = None
    unlisted: Facts | None = None
    reason = ""
    theta = _inside(q, point)
    for lift in proposed_lifts(q.problem, np.array([float(x) for x in point.theta])):
        facts = prove(
            q.problem,
            q.lam,
            q.largest,
            q.gap,
            point.neurons,
            theta,
            lambda theta: propose(q.floats, theta, THOROUGH * float(q.lam)),
            point.bits,
            lift,
        )
        plain = plain or facts
        try:
            found, final = with_vertices(replace(facts, optimal_set=optimal_set(facts, lift)))
        except Unsettled as why:
            reason = str(why)
            continue
        if final:
            return found, True
        unlisted = unlisted or found  # another lift may list its vertices
    if unlisted is not None:
        return unlisted, False
    if plain is None:
        raise ValueError("the plain proof is always tried")
    return replace(plain, optimal_set=Unknown(reason)), False


def _inside(question: Question, point: Point) -> Vector:
    """The point's theta. For blocks that are given directly it is drawn in by what rounding to its grid may move
    |X_b'theta|: then the rounded point is feasible as it stands, and need not be shrunk, which doubles its digits."""
    problem, size = question.problem, max(map(abs, point.theta), default=Fraction(0))
    if problem.network is not None or point.digits == FLOAT_DIGITS or not problem.blocks or not size:
        return point.theta
    moved = sqrt_upper(widest_squared(problem.blocks) * problem.n, 8) * size / question.lam
    margin = (moved + SPARE_MOVES) / (1 << point.bits)
    return tuple((1 - margin) * x for x in point.theta) if margin < HALF else point.theta


def _rank(facts: Facts) -> tuple[bool, bool, bool, Fraction]:
    """More settled, then a smaller gap."""
    return not facts.unsettled, facts.value.reached, facts.polytope is not None, -facts.value.relative_gap
