"""Breakpoints: where a neuron enters, leaves, or changes its face, each in an interval of proved ends.

A still piece across an event lies between two smooth ones. Their branches go on beyond the event, where a weight, a
height, a multiplier or 1 - |v|^2 changes its sign; many digits of both branches on either side of that zero are points
from which the pieces prove which neurons are active, on which faces. These differ, so the change happens in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from relu_cert.exact import Vector, sqrt_upper
from relu_cert.path.bounds import Bounds, bounds_of
from relu_cert.path.ends import End, proved_end
from relu_cert.path.pieces import PathPieces
from relu_cert.path.sharp import followed, within
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import face_conditions
from relu_cert.prove.facts import LambdaMax, NeuronClass
from relu_cert.rationals import column, to_fraction
from relu_cert.serialize import UNWRITTEN, Key

WIDTH = Fraction(1, 10**12)  # relative width of an enclosure, at most
FIRST = Fraction(1, 10**14)  # half width at which the search begins
GROWTH = 7
SECANTS = 12
NEAR = Fraction(1, 2**70)  # a step of the secants, relative, after which nothing is gained

Support = frozenset[tuple[int, str | None, int | None, tuple[int, ...]]]  # sign, pattern, block, kinks


@dataclass(frozen=True)
class Breakpoint:
    """lo < lambda < hi for some change of the active neurons: `above` (larger lambda) and `below` are their numbers.

    `kind` is "enters" or "leaves" (as lambda falls) or "turns" (the same number; a face changes). `at_lo` and `at_hi`
    are the proofs on the ground of the pieces (None at hi: lambda_max).
    """

    lo: Fraction
    hi: Fraction
    kind: Annotated[str, UNWRITTEN]
    above: Annotated[int, UNWRITTEN]
    below: Annotated[int, UNWRITTEN]
    at_lo: Annotated[End, Key("below")]
    at_hi: Annotated[End | None, Key("above")]


def breakpoints(problem: Problem, largest: LambdaMax, found: PathPieces) -> Iterator[Breakpoint | None]:
    """For each still piece between smooth ones, from large lambda to small, the change in it, if there is one; None
    where it was not enclosed. A smooth piece that goes beyond lambda_max has the change there."""
    setting = _Setting(problem, largest, found)
    plain = [i for i, piece in enumerate(found.pieces) if piece.plain]
    last = len(found.pieces) - 1
    beyond = found.pieces[last].hi ** 2 > largest.squared if found.pieces else False
    if last in plain and beyond and (below := setting.side(last)):
        yield _enclosed(setting, last, below, None)
    for i in reversed(plain):
        still = found.pieces[i]
        if len(still.s) > 1 or i - 1 not in plain:
            continue
        top = i + 1 == len(found.pieces) and setting.zero(still.hi)
        if not top and i + 1 not in plain:
            continue
        below, above = setting.side(i - 1), None if top else setting.side(i + 1)
        if below is None or (above is None and not top):
            yield None
        elif above is None or _support(below.active) != _support(above.active):
            yield _enclosed(setting, i, below, above)


@dataclass(frozen=True)
class _Side:
    """A smooth piece beside a still one: what it says at a lambda, and its active classes."""

    known: Bounds

    @property
    def numbers(self) -> list[int]:
        """The classes with weight."""
        return [a for a, row in enumerate(self.known.piece.weights) if any(row)]

    @property
    def active(self) -> list[NeuronClass]:
        """The same."""
        return [self.known.piece.classes[a] for a in self.numbers]

    def at(self, lam: Fraction) -> tuple[Vector, Vector] | None:
        """s and the weights of the active classes on the branch, which may have ended before."""
        return followed(self.known, lam)


@dataclass(frozen=True)
class _Setting:
    """The problem with its cover."""

    problem: Problem
    largest: LambdaMax
    cover: PathPieces

    def known(self, i: int) -> Bounds:
        """What piece i says."""
        return bounds_of(self.problem, self.cover, i)

    def zero(self, lam: Fraction) -> bool:
        """Whether lambda >= lambda_max."""
        return lam * lam >= self.largest.squared

    def side(self, i: int) -> _Side | None:
        """Piece i, if it is smooth."""
        return _Side(self.known(i)) if len(self.cover.pieces[i].s) > 1 else None


def _support(neurons: Sequence[NeuronClass]) -> Support:
    return frozenset((one.sign, one.pattern, one.block, one.kinks) for one in neurons)


def _enclosed(setting: _Setting, i: int, below: _Side, above: _Side | None) -> Breakpoint | None:
    """The narrowest interval around the event of piece i whose ends are proved."""
    still = setting.cover.pieces[i]
    ways = ((below, still.hi), (above, still.lo))
    events = (lam for side, far in ways if side is not None for lam in _events(setting, i, side, far))
    for lam in events if above is not None else (sqrt_upper(setting.largest.squared, 128),):
        half = FIRST
        while 2 * half <= WIDTH:
            lo, hi = _short(lam * (1 - half)), _short(lam * (1 + half))
            half *= GROWTH
            low = _end(setting, i, below, lo)
            if low is None:
                continue
            high = None if above is None else _end(setting, i, above, hi)
            if high is not None or (above is None and setting.zero(hi)):
                more, fewer = 0 if above is None else len(above.active), len(below.active)
                kind = "turns" if more == fewer else "enters" if more < fewer else "leaves"
                return Breakpoint(lo, hi, kind, more, fewer, low, high)
    return None


def _end(setting: _Setting, i: int, side: _Side, lam: Fraction) -> End | None:
    """The point of the branch at lambda, proved by piece i, or by the side's own where lambda is in it."""
    found = side.at(lam)
    if found is None or any(x <= 0 for x in found[1]):
        return None
    piece = setting.cover.pieces[i]
    if not piece.lo <= lam <= piece.hi:
        return None
    s = within(setting.known(i), found[0])
    return proved_end(i, setting.known(i), lam, s, side.active, found[1])


def _events(setting: _Setting, i: int, side: _Side, far: Fraction) -> Iterator[Fraction]:
    """The lambdas at which a branch stops being optimal on its way through a still piece, in many digits."""
    still = setting.cover.pieces[i]
    near = still.lo if far == still.hi else still.hi
    first, last = _signs(setting, i, side, near), _signs(setting, i, side, far)
    if first is None or last is None:
        return
    for k, (a, b) in enumerate(zip(first, last, strict=True)):
        if a > 0 >= b and (lam := _zero(setting, i, side, k, (near, a), (far, b))) is not None:
            yield lam


def _zero(
    setting: _Setting, i: int, side: _Side, k: int, one: tuple[Fraction, Fraction], two: tuple[Fraction, Fraction]
) -> Fraction | None:
    """The zero of the k-th sign between two lambdas, by secants."""
    still = setting.cover.pieces[i]
    for _ in range(SECANTS):
        (x, a), (z, b) = one, two
        if a == b:
            return None
        lam = _short(z - b * (z - x) / (b - a), 120)
        if not still.lo <= lam <= still.hi:
            return None
        if abs(lam - z) <= NEAR * z:
            return lam
        signs = _signs(setting, i, side, lam)
        if signs is None:
            return None
        one, two = two, (lam, signs[k])
    return None


def _signs(setting: _Setting, i: int, side: _Side, lam: Fraction) -> list[Fraction] | None:
    """What is positive where the branch of a side is optimal: weights, what faces need, and 1 - |v|^2 of the others."""
    found = side.at(lam)
    if found is None:
        return None
    s, alpha = found
    known, point = setting.known(i), column(s)
    active = _support(side.active)
    rest = [
        1 - one.length_squared(point)
        for neuron, one in zip(known.piece.classes, known.maps, strict=True)
        if not _support([neuron]) <= active
    ]
    faces = [x for neuron in side.active for (x,), _ in face_conditions(setting.problem, neuron, point)]
    return [*alpha, *map(to_fraction, faces), *rest]


def _short(lam: Fraction, bits: int = 60) -> Fraction:
    """lambda to about so many bits."""
    exponent = lam.numerator.bit_length() - lam.denominator.bit_length()
    unit = Fraction(2) ** (exponent - bits)
    return round(lam / unit) * unit
