"""Breakpoints: where a neuron enters, leaves, or changes its face, each in an interval of proved ends.

At both ends the optimal network is settled as at a single lambda, from points of many digits: which neurons are active
is then decided, and it differs. So the change happens in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from relu_cert.path.build import branch, build, events
from relu_cert.path.model import Cover, Piece
from relu_cert.path.tube import Refused
from relu_cert.problem.model import Problem
from relu_cert.prove.candidates import Unsettled
from relu_cert.prove.facts import Facts, LambdaMax
from relu_cert.settle import Question, settle
from relu_cert.solve import FloatProblem, solve

WIDTH = Fraction(1, 10**12)  # relative width of an enclosure
FIRST = Fraction(1, 10**14)  # half width at which the search begins
GROWTH = 7
AWAY = Fraction(1, 10**6)
FINE = Fraction(1, 10**28)  # relative gap of the points that settle the ends

Support = frozenset[tuple[int, str | None, int | None, tuple[int, ...]]]  # sign, pattern, block, kinks


@dataclass(frozen=True)
class Breakpoint:
    """lo < lambda < hi for some change of the active neurons: `above` (larger lambda) and `below` are their numbers.

    `kind` is "enters" or "leaves" (as lambda falls) or "turns" (the same number; a face changes).
    """

    lo: Fraction
    hi: Fraction
    kind: str
    above: int
    below: int


def breakpoints(
    problem: Problem, floats: FloatProblem, largest: LambdaMax, found: Cover
) -> Iterator[Breakpoint | None]:
    """For each still piece, from large lambda to small, its event; None where the ends of an event were not settled."""
    for still in (piece for piece in reversed(found.pieces) if len(piece.s) == 1):
        eta = _event(problem, floats, still)
        if eta is not None:
            yield _enclosed(problem, floats, largest, eta)


def _event(problem: Problem, floats: FloatProblem, still: Piece) -> Fraction | None:
    """The eta of the event in a still piece, in floats, from the branch on its left or on its right."""
    for side in (-1, 1):
        edge = still.center + side * still.half_width
        h = 3 * still.half_width
        try:
            near = branch(floats, edge, h, None)
            build(problem, floats, 1 / (edge + h), 1 / (edge - h), near)
        except Refused as why:
            inside = [tau for tau in events(why) if abs(edge + h * Fraction(tau) - still.center) <= still.half_width]
            if inside:
                return edge + h * Fraction(inside[0])
        except Unsettled:
            continue
    return None


def _enclosed(problem: Problem, floats: FloatProblem, largest: LambdaMax, eta: Fraction) -> Breakpoint | None:
    lam = 1 / eta
    half = FIRST
    while 2 * half <= WIDTH:
        lo, hi = _short(lam * (1 - half)), _short(lam * (1 + half))
        above = _support(problem, floats, largest, hi, 1 + AWAY)
        below = _support(problem, floats, largest, lo, 1 - AWAY)
        if above is not None and below is not None and above != below:
            kind = "turns" if len(above) == len(below) else "enters" if len(above) < len(below) else "leaves"
            return Breakpoint(lo, hi, kind, len(above), len(below))
        half *= GROWTH
    return None


def _support(
    problem: Problem, floats: FloatProblem, largest: LambdaMax, lam: Fraction, away: Fraction
) -> Support | None:
    """The active neurons at lambda, proved; None if they are not settled.

    Beside an event floats cannot tell the faces of both sides apart: they are read off a little further away.
    """
    if lam * lam >= largest.squared:
        return frozenset()
    question = Question(problem, floats, lam, largest, FINE)
    for at in (lam * away, lam):
        found = _active(settle(question, solve(floats, float(at))))
        if found is not None:
            return found
    return None


def _active(facts: Facts) -> Support | None:
    found = facts.optimal_set
    if found is None or found.dimension or found.split:
        return None
    if any(abs(mass) <= found.mass_error for mass in found.masses):
        return None
    return frozenset((one.sign, one.pattern, one.block, one.kinks) for one in found.classes)


def _short(lam: Fraction) -> Fraction:
    """lambda to about sixty bits."""
    exponent = lam.numerator.bit_length() - lam.denominator.bit_length()
    unit = Fraction(2) ** (exponent - 60)
    return round(lam / unit) * unit
