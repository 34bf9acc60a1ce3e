"""Breakpoints: where a neuron enters, leaves, or changes its face, each in an interval of proved ends.

At both ends the optimal network is settled as at a single lambda, from points of many digits: which neurons are active
is then decided, and it differs. So the change happens in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from relu_cert.path.bounds import Bounds, bounds
from relu_cert.path.build import branch, build, events
from relu_cert.path.ends import End, proved_end
from relu_cert.path.model import Cover, Piece
from relu_cert.path.tube import Refused
from relu_cert.problem.model import Problem
from relu_cert.prove.candidates import Unsettled
from relu_cert.prove.facts import Facts, LambdaMax
from relu_cert.settle import Question, settle_ball
from relu_cert.solve import FloatProblem, solve

WIDTH = Fraction(1, 10**12)  # relative width of an enclosure, at most
FIRST = Fraction(1, 10**14)  # half width at which the search begins
GROWTH = 7
PARTS = tuple(Fraction(part) for part in ("1/2", "1/4", "3/4", "1/8", "7/8"))  # where a bisection may cut
AWAY = Fraction(1, 10**6)
FINE = Fraction(1, 10**28)  # relative gap of the points that settle the ends

Support = frozenset[tuple[int, str | None, int | None, tuple[int, ...]]]  # sign, pattern, block, kinks


@dataclass(frozen=True)
class Breakpoint:
    """lo < lambda < hi for some change of the active neurons: `above` (larger lambda) and `below` are their numbers.

    `kind` is "enters" or "leaves" (as lambda falls) or "turns" (the same number; a face changes). `ends` are the proofs
    at lo and hi on the ground of the pieces (None at hi: lambda_max); None if the pieces do not carry them.
    """

    lo: Fraction
    hi: Fraction
    kind: str
    above: int
    below: int
    ends: tuple[End, End | None] | None = None


def breakpoints(
    problem: Problem, floats: FloatProblem, largest: LambdaMax, found: Cover
) -> Iterator[Breakpoint | None]:
    """For each still piece, from large lambda to small, the change in it, if there is one; None where its ends were not
    settled."""
    known: dict[int, Bounds] = {}
    for still in (piece for piece in reversed(found.pieces) if len(piece.s) == 1 and piece.lifted is None):
        setting = _Setting(problem, floats, largest, found, known)
        eta = _event(problem, floats, still)
        one = None if eta is None else _enclosed(setting, eta)
        if one is not None and one.ends is not None:
            yield one
            continue
        other = _bisected(setting, still.lo, still.hi)
        if other is not None or one is not None:
            yield one or (None if isinstance(other, str) else other)


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


@dataclass(frozen=True)
class _Setting:
    """The problem with its cover, and the bounds of the pieces that were met."""

    problem: Problem
    floats: FloatProblem
    largest: LambdaMax
    cover: Cover
    known: dict[int, Bounds]

    def zero(self, lam: Fraction) -> bool:
        """Whether lambda >= lambda_max."""
        return lam * lam >= self.largest.squared

    def support(self, lam: Fraction) -> Support | None:
        """The active neurons at lambda; None if they are not settled."""
        return frozenset() if self.zero(lam) else _active(_settled(self, lam, 1 + AWAY, 1 - AWAY))

    def end(self, facts: Facts) -> End | None:
        """The end at the facts' lambda by a piece that has it, still pieces first."""
        plain = [(i, piece) for i, piece in enumerate(self.cover.pieces) if piece.lifted is None]
        have = [i for i, piece in plain if piece.lo <= facts.lam <= piece.hi]
        for i in sorted(have, key=lambda i: len(self.cover.pieces[i].s)):
            if i not in self.known:
                self.known[i] = bounds(self.problem, self.cover.pieces[i])
            end = proved_end(i, self.known[i], facts)
            if end is not None:
                return end
        return None


def _enclosed(setting: _Setting, eta: Fraction) -> Breakpoint | None:
    """The narrowest interval whose ends are settled; if the pieces do not carry its ends, one that is not so narrow."""
    lam, half = 1 / eta, FIRST
    best: Breakpoint | None = None
    while 2 * half <= WIDTH:
        lo, hi = _short(lam * (1 - half)), _short(lam * (1 + half))
        found = _between(setting, lo, hi)
        best = best or found
        if found is not None and found.ends is not None:
            return found
        half *= GROWTH
    return best


def _bisected(setting: _Setting, lo: Fraction, hi: Fraction) -> Breakpoint | str | None:
    """A change between lo and hi by bisection; None if both ends have the same neurons, a reason if they are not
    settled."""
    first, last = setting.support(lo), setting.support(hi)
    if first is None or last is None:
        return "an end is not settled"
    if first == last:
        return None
    while hi - lo > WIDTH * lo:
        tried = ((at, setting.support(at)) for at in (_short(lo + (hi - lo) * part) for part in PARTS))
        at, found = next(((at, one) for at, one in tried if one is not None), (lo, None))
        if found is None:
            return "no point between is settled"
        lo, hi = (at, hi) if found == first else (lo, at)
    return _between(setting, lo, hi) or "the ends are not settled"


def _between(setting: _Setting, lo: Fraction, hi: Fraction) -> Breakpoint | None:
    """A change between lo and hi, if both ends are settled and differ."""
    over = None if setting.zero(hi) else _settled(setting, hi, 1 + AWAY)
    under = None if setting.zero(lo) else _settled(setting, lo, 1 - AWAY)
    above: Support | None = frozenset() if setting.zero(hi) else _active(over)
    below = _active(under)
    if above is None or below is None or under is None or above == below:
        return None
    kind = "turns" if len(above) == len(below) else "enters" if len(above) < len(below) else "leaves"
    low, high = setting.end(under), None if over is None else setting.end(over)
    ends = (low, high) if low is not None and (high is not None or over is None) else None
    return Breakpoint(lo, hi, kind, len(above), len(below), ends)


def _settled(setting: _Setting, lam: Fraction, *away: Fraction) -> Facts | None:
    """The facts at lambda, if they say which neurons are active.

    Beside an event floats cannot tell the faces of both sides apart: they are read off a little further away.
    """
    question = Question(setting.problem, setting.floats, lam, setting.largest, FINE)
    for at in (*(lam * factor for factor in away), lam):
        facts = settle_ball(question, solve(setting.floats, float(at)))
        if _active(facts) is not None:
            return facts
    return None


def _active(facts: Facts | None) -> Support | None:
    found = None if facts is None else facts.optimal_set
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
