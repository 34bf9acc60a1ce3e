"""The curve: lambda, objective and neurons at points of the smooth pieces, each within a proved radius.

A point of many digits on the branch of a piece: the kernel equations at one lambda, corrected as in `sharpen`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Annotated

import numpy as np
from flint import fmpz

from relu_cert.clock import stopped
from relu_cert.exact import Vector, column, dot, norm_squared, sqrt_upper, to_fmpq, to_fraction, to_vector
from relu_cert.path.bounds import Bounds, End, bounds_of, judge_end, proved_end
from relu_cert.path.pieces import PathPieces, Piece
from relu_cert.path.sharpen import ONE, exactly_fixed, sweep
from relu_cert.path.tube import jacobian
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import face_conditions
from relu_cert.prove.facts import LambdaMax, NeuronClass
from relu_cert.prove.multipliers import on_grid
from relu_cert.serialize import UNWRITTEN, Key

KEPT = 128  # bits of the point
STEPS = 9
CLOSE = 2.0**-96  # a step so small, relative, is the last: the next one would be far smaller


def sharpened(known: Bounds, lam: Fraction) -> tuple[Vector, Vector] | None:
    """s and alpha at lambda, rounded so that |v_a| <= 1 for all classes; None where Newton fails."""
    found = followed(known, lam)
    if found is None or any(x <= 0 for x in found[1]):
        return None
    left = iter(found[1])
    return within(known, found[0]), tuple(next(left) if any(row) else Fraction(0) for row in known.piece.weights)


def followed(known: Bounds, lam: Fraction) -> tuple[Vector, Vector] | None:
    """s and the weights of the active classes on the branch of a piece, which may have ended before this lambda."""
    active = [a for a, row in enumerate(known.piece.weights) if any(row)]
    weights = known.weights(lam)
    s = exactly_fixed(column(known.point(lam)))
    alpha = [[int(weights[a] * ONE)] for a in active]
    halves, B = [known.fixed[a] for a in active], [known.floats[a] for a in active]
    right = exactly_fixed(column(known.problem.y) * to_fmpq(1 / lam))
    for _ in range(STEPS):
        now = np.array([int(x) / ONE for x in s.entries()])
        try:
            J = np.asarray(np.linalg.inv(jacobian(B, now, np.array([x / ONE for (x,) in alpha]))), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        s, moved = sweep(J, B, halves, right, s, alpha)
        if moved <= CLOSE * float(np.abs(now).max()):
            return _grid(s.entries()), _grid([x for (x,) in alpha])
    return None


def within(known: Bounds, s: Vector) -> Vector:
    """s, a little shorter if that is needed for |v_a| <= 1."""
    point = column(s)
    if any(one.length_squared(point) > 1 for one in known.maps):
        return tuple(x * (1 - Fraction(1, 1 << KEPT - 8)) for x in s)
    return s


def _grid(entries: Sequence[int | fmpz]) -> Vector:
    return on_grid([[Fraction(int(x), ONE) for x in entries]], KEPT)[0]


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
    where it was not enclosed, or time is over. A smooth piece that goes beyond lambda_max has the change there."""
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
        if stopped():
            yield None
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


INSIDE = Fraction(1, 1024)  # of the way to the middle of a piece
DENSE = 40  # samples for each factor of e between the ends of a piece
BITS = 100  # of the bounds on the objective


@dataclass(frozen=True)
class CurveNeuron:
    """A neuron at one lambda: |w| = alpha lambda and its unit direction, about; `block` for direct problems."""

    sign: int
    pattern: str | None
    block: int | None
    weight: float
    direction: tuple[float, ...]


@dataclass(frozen=True)
class Sample:
    """One lambda of a piece: lower <= p* <= upper; the neurons v_a(s), with a weight for each class of the piece, have
    |w| and directions within `radius` of the true ones, and there are no others. None: that is not proved."""

    piece: int
    lam: Annotated[Fraction, Key("lambda")]
    s: Vector
    weights: Vector
    classes: None  # those of the piece
    lower: Fraction
    upper: Fraction
    radius: Fraction | None
    neurons: Annotated[tuple[CurveNeuron, ...], UNWRITTEN]


@dataclass(frozen=True)
class Constant:
    """A smooth piece on the whole of which these classes are active, and no others."""

    piece: int
    active: tuple[int, ...]


@dataclass(frozen=True)
class Curve:
    """What is proved beside the pieces: breakpoints, pieces without one, and samples; `all` has also those samples that
    are only near the truth."""

    breakpoints: tuple[Breakpoint, ...]
    branches: tuple[Constant, ...]
    samples: tuple[Sample, ...]
    all: Annotated[tuple[Sample, ...], UNWRITTEN]


def curve(problem: Problem, found: PathPieces, enclosed: Sequence[Breakpoint]) -> Curve:
    """The curve of a cover; breakpoints and samples that the pieces do not carry are left out, and so are breakpoints
    that overlap others."""
    known = {i: bounds_of(problem, found, i) for i in _smooth(found)}
    active = ((i, one.active()) for i, one in known.items())
    branches = [Constant(i, numbers) for i, numbers in active if numbers is not None]
    every = tuple(_samples(known))
    proved = tuple(sample for sample in every if sample.radius is not None)
    return Curve(_apart(enclosed), tuple(branches), proved, every)


def _apart(enclosed: Sequence[Breakpoint]) -> tuple[Breakpoint, ...]:
    """The proved ones, from large lambda to small; of those that overlap, which may hold the same change, the first."""
    kept: list[Breakpoint] = []
    for one in sorted(enclosed, key=lambda one: -one.hi):
        if not kept or one.hi <= kept[-1].lo:
            kept.append(one)
    return tuple(kept)


def samples(problem: Problem, found: PathPieces) -> list[Sample]:
    """Samples of all smooth pieces that are not lifted, lambda ascending, each lambda once."""
    return _samples({i: bounds_of(problem, found, i) for i in _smooth(found)})


def _samples(known: dict[int, Bounds]) -> list[Sample]:
    result: list[Sample] = []
    for i, one in known.items():
        for lam in _lambdas(one.piece):
            if stopped():
                return result
            if not result or lam > result[-1].lam:
                result.append(_beside(one, i, lam))
    return result


def _beside(known: Bounds, number: int, lam: Fraction) -> Sample:
    """The sample at lambda, or a little inside the piece where only that is proved: at an event weights are 0."""
    found = _at(known, number, lam)
    if found.radius is not None:
        return found
    inside = _at(known, number, lam + ((known.piece.lo + known.piece.hi) / 2 - lam) * INSIDE)
    return found if inside.radius is None else inside


def _smooth(found: PathPieces) -> list[int]:
    return [i for i, piece in enumerate(found.pieces) if len(piece.s) > 1 and piece.plain]


def _lambdas(piece: Piece) -> list[Fraction]:
    """The ends of a piece and, if it is wide, lambdas between them."""
    parts = ceil(DENSE * log(piece.hi / piece.lo))
    return [1 / (1 / piece.lo - 2 * piece.half_width * Fraction(k, parts)) for k in range(parts + 1)]


def _at(known: Bounds, number: int, lam: Fraction) -> Sample:
    """The sharp point, if it is proved; else that of the piece. The value of s for lambda is
    lambda^2 (eta y.s - |s|^2/2), at most lambda^2 R^2/2 below p*."""
    sharp = sharpened(known, lam)
    if sharp is not None:
        end = End(number, *sharp, known.piece.classes)
        judged = judge_end(known.problem, known, lam, end)
        if judged is not None:
            turned = max((sqrt_upper(g, 128) * judged.R for g in known.g), default=Fraction(0))
            radius = _rounded(max(lam * judged.error, turned), 1, 12)
            return _sample(known, number, lam, end.s, end.weights, judged.R, radius)
    return _sample(known, number, lam, known.point(lam), known.weights(lam), known.R, None)


def _sample(
    known: Bounds, number: int, lam: Fraction, s: Vector, alpha: Vector, R: Fraction, radius: Fraction | None
) -> Sample:
    value = lam * dot(known.problem.y, s) - lam**2 * norm_squared(s) / 2
    neurons = []
    for neuron, weight, one in zip(known.piece.classes, alpha, known.maps, strict=True):
        if weight:
            v = np.array([neuron.sign * float(x) for x in to_vector(one.v(column(s)))])
            unit = v / max(float(np.linalg.norm(v)), 1e-300)
            place = (neuron.sign, neuron.pattern, neuron.block if neuron.pattern is None else None)
            neurons.append(CurveNeuron(*place, float(weight * lam), tuple(unit.tolist())))
    lower, upper = _rounded(value, -1), _rounded(value + (lam * R) ** 2 / 2, 1)
    return Sample(number, lam, s, alpha, None, lower, upper, radius, tuple(neurons))


def _rounded(x: Fraction, side: int, bits: int = BITS) -> Fraction:
    """x rounded down (side -1) or up (side 1) to so many bits."""
    if not x:
        return x
    unit = Fraction(2) ** (abs(x).numerator.bit_length() - x.denominator.bit_length() - bits)
    return (x // unit if side < 0 else -(-x // unit)) * unit
