"""The losses: what outputs f cost, what a dual point theta is worth, and exact bounds of both.

    squares     1/2 |f - y|^2                             D(theta) = y.theta - 1/2 |theta|^2
    logistic    sum_k log(1 + exp(-y_k f_k)), y_k = +-1    D(theta) = sum_k H(y_k theta_k),  0 <= y_k theta_k <= 1
    softmax     sum_k log sum_c exp(f_kc) - y_kc f_kc      D(theta) = sum_k H(y_k - theta_k),  y_k 0 but for one 1

with H(a) = -a log a - (1-a) log(1-a) = min over s of log(1 + exp(-s)) + a s (app:general-losses; the paper's
1/2 L(f, y) is the sum here). theta is minus the gradient of the loss; weak duality is loss(f) >= D(theta) - theta.f.
The logarithms are enclosed by Arb and rounded outwards. There is one object of each loss, also after pickling.

With the logistic loss a row with the target 0, which no label is, costs 1/2 f^2: a decayed output bias has such rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Literal, Protocol

import numpy as np
from flint import arb, ctx
from scipy.special import expit

from relu_cert.exact import Vector, scaled_rows, to_fmpq

LossName = Literal["squares", "logistic", "softmax"]
HALF = Fraction(1, 2)
MOST_BITS = 340  # the independent checker encloses logarithms to about 2^-380
ENTROPY_BITS = 300  # of the bounds of the softmax
WORKING_BITS = 480
ABOUT_BITS = 128  # of a dual value that only compares


class Loss(Protocol):
    """What the stages ask of a loss; y are the targets."""

    name: ClassVar[LossName]
    unsettled: ClassVar[str]  # why the optimal set is not looked for; empty where it is

    def pull(self, y: Vector) -> Vector:
        """theta of the zero network."""

    def theta(self, y: Vector, fit: Vector) -> Vector:
        """theta of a fit: exactly, or as floats have it."""

    def allows(self, y: Vector, theta: Vector) -> bool:
        """Whether theta has a dual value."""

    def clip(self, y: Vector, theta: Vector) -> Vector:
        """theta, moved to where it has a dual value."""

    def widest(self, y: Vector, theta: Vector) -> Sequence[int]:
        """The rows, first those at which theta may move farthest."""

    def upper(self, y: Vector, fit: Vector, more: Fraction, gap: Fraction) -> Fraction:
        """At least the loss of the fit plus `more`, as sharp as the gap asks for."""

    def lower(self, y: Vector, theta: Vector, gap: Fraction) -> Fraction:
        """At most D(theta), as sharp as the gap asks for."""

    def dual_value(self, y: Vector, theta: Vector) -> Fraction:
        """About D(theta), and not above it."""

    def radius_squared(self, gap: Fraction) -> Fraction:
        """How far, squared, the fit is from that of a network whose objective is at most `gap` above a lower bound:
        the fit itself, or its probabilities."""


class _InOrder:
    """What losses share that treat all rows alike."""

    def widest(self, y: Vector, theta: Vector) -> Sequence[int]:
        """In order."""
        return range(len(theta))


class Squares(_InOrder):
    """1/2 |f - y|^2"""

    name: ClassVar[LossName] = "squares"
    unsettled: ClassVar[str] = ""

    def __reduce__(self) -> str:
        return "SQUARES"

    def pull(self, y: Vector) -> Vector:
        """y"""
        return y

    def theta(self, y: Vector, fit: Vector) -> Vector:
        """y - f"""
        return tuple(a - b for a, b in zip(y, fit, strict=True))

    def allows(self, y: Vector, theta: Vector) -> bool:
        """Always."""
        return True

    def clip(self, y: Vector, theta: Vector) -> Vector:
        """theta"""
        return theta

    def upper(self, y: Vector, fit: Vector, more: Fraction, gap: Fraction) -> Fraction:
        """1/2 |f - y|^2 + more"""
        return HALF * squares(self.theta(y, fit)) + more

    def lower(self, y: Vector, theta: Vector, gap: Fraction) -> Fraction:
        """D(theta)"""
        return self.dual_value(y, theta)

    def dual_value(self, y: Vector, theta: Vector) -> Fraction:
        """D(theta)"""
        (T,), q = scaled_rows([theta])
        (Y,), p = scaled_rows([y])
        return Fraction(sum(a * b for a, b in zip(Y, T, strict=True)), p * q) - HALF * squares(theta)

    def radius_squared(self, gap: Fraction) -> Fraction:
        """2 gap: the loss is strongly convex (lemma:unique-fit-cgl, with a radius)."""
        return 2 * gap


class Logistic:
    """sum_k log(1 + exp(-y_k f_k)) for labels +-1."""

    name: ClassVar[LossName] = "logistic"
    unsettled: ClassVar[str] = "uniqueness is not examined for the logistic loss"

    def __reduce__(self) -> str:
        return "LOGISTIC"

    def pull(self, y: Vector) -> Vector:
        """y / 2"""
        return tuple(HALF * label for label in y)

    def theta(self, y: Vector, fit: Vector) -> Vector:
        """y_k / (1 + exp(y_k f_k)), as floats have it."""
        labels, outputs = (np.array([float(x) for x in v]) for v in (y, fit))
        return tuple(Fraction(float(x)) for x in np.where(labels, labels * expit(-labels * outputs), -outputs))

    def allows(self, y: Vector, theta: Vector) -> bool:
        """0 <= y_k theta_k <= 1"""
        return all(0 <= label * t <= 1 for label, t in zip(y, theta, strict=True))

    def clip(self, y: Vector, theta: Vector) -> Vector:
        """The nearest theta with 0 <= y_k theta_k <= 1."""
        pairs = zip(y, theta, strict=True)
        return tuple(label * min(max(label * t, Fraction(0)), Fraction(1)) if label else t for label, t in pairs)

    def widest(self, y: Vector, theta: Vector) -> Sequence[int]:
        """First those without a label, then those at which y_k theta_k is nearest to 1/2."""
        return sorted(range(len(theta)), key=lambda k: abs(y[k] * theta[k] - HALF) if y[k] else -HALF)

    def upper(self, y: Vector, fit: Vector, more: Fraction, gap: Fraction) -> Fraction:
        """The loss plus more, rounded up."""
        with ctx.workprec(WORKING_BITS):
            loss = _total([_softplus(-_ball(label * f)) for label, f in zip(y, fit, strict=True) if label])
            return -_below(-(loss + _ball(more + _unlabelled(y, fit))), _bits(gap))

    def lower(self, y: Vector, theta: Vector, gap: Fraction) -> Fraction:
        """sum H(y_k theta_k), rounded down."""
        with ctx.workprec(WORKING_BITS):
            return _below(_entropy(y, theta), _bits(gap))

    def dual_value(self, y: Vector, theta: Vector) -> Fraction:
        """sum H(y_k theta_k), a little less."""
        with ctx.workprec(2 * ABOUT_BITS):
            return _below(_entropy(y, theta), ABOUT_BITS)

    def radius_squared(self, gap: Fraction) -> Fraction:
        """gap / 2, of the probabilities (Pinsker)."""
        return gap / 2


class Softmax(_InOrder):
    """sum_k log sum_c exp(f_kc) - y_k.f_k; y, f and theta row by row, y_k is 1 for its class, else 0."""

    name: ClassVar[LossName] = "softmax"
    unsettled: ClassVar[str] = ""

    def __reduce__(self) -> str:
        return "SOFTMAX"

    def pull(self, y: Vector) -> Vector:
        """y - 1/C"""
        return tuple(label - Fraction(1, classes(y)) for label in y)

    def theta(self, y: Vector, fit: Vector) -> Vector:
        """y - softmax(f), as floats have it."""
        f = np.array([float(x) for x in fit]).reshape(-1, classes(y))
        P = np.exp(f - f.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        return tuple(a - Fraction(float(b)) for a, b in zip(y, P.ravel(), strict=True))

    def allows(self, y: Vector, theta: Vector) -> bool:
        """The rows of y - theta are probabilities."""
        return all(min(p) >= 0 and sum(p) == 1 for p in chances(y, theta))

    def clip(self, y: Vector, theta: Vector) -> Vector:
        """The point of the simplex that has the same parts of what is positive; theta of it."""
        found: list[Fraction] = []
        for p in chances(y, theta):
            part = [max(x, Fraction(0)) for x in p]
            found += [x / sum(part) for x in part]
        return tuple(a - b for a, b in zip(y, found, strict=True))

    def upper(self, y: Vector, fit: Vector, more: Fraction, gap: Fraction) -> Fraction:
        """The loss plus more, rounded up."""
        with ctx.workprec(WORKING_BITS):
            total = _ball(more)
            for label, f in zip(rows(y, classes(y)), rows(fit, classes(y)), strict=True):
                top = max(f)
                total += _total([_ball(x - top).exp() for x in f]).log() + _ball(top - f[label.index(Fraction(1))])
            return -_below(-total, ENTROPY_BITS)

    def lower(self, y: Vector, theta: Vector, gap: Fraction) -> Fraction:
        """The entropies, rounded down."""
        with ctx.workprec(WORKING_BITS):
            return _below(_entropies(y, theta), ENTROPY_BITS)

    def dual_value(self, y: Vector, theta: Vector) -> Fraction:
        """The entropies, a little less."""
        with ctx.workprec(2 * ABOUT_BITS):
            return _below(_entropies(y, theta), ABOUT_BITS)

    def radius_squared(self, gap: Fraction) -> Fraction:
        """gap, of the probabilities (Pinsker, and |x|^2 <= |x|_1^2 / 2 for numbers of sum 0)."""
        return gap


SQUARES: Loss = Squares()
LOGISTIC: Loss = Logistic()
SOFTMAX: Loss = Softmax()
LOSSES: dict[LossName, Loss] = {loss.name: loss for loss in (SQUARES, LOGISTIC, SOFTMAX)}


def classes(y: Vector) -> int:
    """How many classes there are: every row has a single 1."""
    return int(len(y) / sum(y))


def rows(v: Vector, C: int) -> list[Vector]:
    """C numbers at a time."""
    return [v[k : k + C] for k in range(0, len(v), C)]


def chances(y: Vector, theta: Vector) -> list[Vector]:
    """The rows of y - theta."""
    return rows(tuple(a - b for a, b in zip(y, theta, strict=True)), classes(y))


def _entropies(y: Vector, theta: Vector) -> arb:
    """sum_k H(y_k - theta_k)"""
    parts = [_ball(a - b) for a, b in zip(y, theta, strict=True) if a != b]
    return _total([-x * x.log() for x in parts])


def squares(v: Sequence[Fraction]) -> Fraction:
    """|v|^2"""
    (p,), q = scaled_rows([tuple(v)])
    return Fraction(sum(x * x for x in p), q * q)


def _bits(gap: Fraction) -> int:
    return min(MOST_BITS, 80 + (gap.denominator // gap.numerator).bit_length())


def _ball(x: Fraction) -> arb:
    return arb(to_fmpq(x))


def _total(balls: Sequence[arb]) -> arb:
    total = arb(0)
    for ball in balls:
        total += ball
    return total


def _softplus(s: arb) -> arb:
    """log(1 + exp(s)) without overflow"""
    if s > 0:
        return s + (-s).exp().log1p()
    return s.exp().log1p()


def _entropy(y: Vector, theta: Vector) -> arb:
    """sum_k H(y_k theta_k), less 1/2 theta_k^2 where there is no label"""
    chances = (label * t for label, t in zip(y, theta, strict=True))
    parts = [_ball(x) for a in chances for x in (a, 1 - a) if x]
    return _total([-x * x.log() for x in parts]) - _ball(_unlabelled(y, theta))


def _unlabelled(y: Vector, v: Vector) -> Fraction:
    """1/2 sum v_k^2 over the rows with the target 0"""
    return HALF * sum((x * x for label, x in zip(y, v, strict=True) if not label), Fraction(0))


def _below(x: arb, bits: int) -> Fraction:
    """A multiple of 2^-bits at or below the ball, less one unit for the checker's own rounding."""
    mantissa, exponent = (x * arb(2) ** bits).lower().mid().man_exp()  # `lower` is one number, man 2^exp
    whole = int(mantissa) << int(exponent) if exponent >= 0 else int(mantissa) >> -int(exponent)
    return Fraction(whole - 1, 1 << bits)
