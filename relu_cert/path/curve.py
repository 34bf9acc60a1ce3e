"""The curve: lambda, objective and neurons at points of the smooth pieces, each within a proved radius."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Annotated

import numpy as np

from relu_cert.exact import Vector, dot, norm_squared, sqrt_upper
from relu_cert.path.bounds import Bounds, bounds_of
from relu_cert.path.breakpoints import Breakpoint
from relu_cert.path.ends import End, judge_end
from relu_cert.path.pieces import PathPieces, Piece
from relu_cert.path.sharp import sharpened
from relu_cert.problem.problem import Problem
from relu_cert.rationals import column, to_vector
from relu_cert.serialize import UNWRITTEN, Key

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
            radius = _grid(max(lam * judged.error, turned), 1, 12)
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
    lower, upper = _grid(value, -1), _grid(value + (lam * R) ** 2 / 2, 1)
    return Sample(number, lam, s, alpha, None, lower, upper, radius, tuple(neurons))


def _grid(x: Fraction, side: int, bits: int = BITS) -> Fraction:
    """x rounded down (side -1) or up (side 1) to so many bits."""
    if not x:
        return x
    unit = Fraction(2) ** (abs(x).numerator.bit_length() - x.denominator.bit_length() - bits)
    return (x // unit if side < 0 else -(-x // unit)) * unit
