"""The exact objective of a network, in its own weights and as a point of the convex program.

    J = 1/2 |f(Z) - y|^2 + lambda/2 (|W1|^2 + |w2|^2) + lambda |b2|             rational
    P = 1/2 |f(Z) - y|^2 + lambda sum_i |w_i|,     w_i = |w2_i| W1_i            enclosed (square roots)

(several outputs: lambda sum |w2_i||W1_i|).

Terms that are free (relu_cert.free) are in neither penalty: no lambda |b2|, norms without the biases.

P <= J, because |w2| |W1| <= (|w2|^2 + |W1|^2)/2, with equality iff |W1_i| = |w2_i| for all i (lemma:scaling-unique). P
is what J becomes when every neuron is balanced, which changes no prediction. An output bias b2 is the balanced neuron
sign(b2), |b2| e on the column of ones (`relu_cert.network.trained`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from relu_cert.bags import EACH, Each
from relu_cert.exact import Matrix, Vector, dot, norm_squared, products, sqrt_lower, sqrt_upper
from relu_cert.free import Free, weights_of
from relu_cert.network.trained import TrainedNetwork, square_root
from relu_cert.problem.loss import SQUARES, Loss
from relu_cert.prove.facts import ExactNeuron

_ZERO, _ONE, HALF, FINE = Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 2**256)
_FARTHEST, _STEPS = 2**20, 40  # of the multiples of a dual point


@dataclass(frozen=True)
class Interval:
    """lower <= the number <= upper; exact where they are equal."""

    lower: Fraction
    upper: Fraction

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.lower + other.lower, self.upper + other.upper)

    def shift(self, by: Fraction) -> Interval:
        """The number plus a rational."""
        return Interval(self.lower + by, self.upper + by)

    def scale(self, by: Fraction) -> Interval:
        """The number times a rational."""
        return Interval(*sorted((by * self.lower, by * self.upper)))


@dataclass(frozen=True)
class ConvexNeuron:
    """The neuron x -> xi (w.x)_+ as a block of the convex program; w is not zero. `free`: see relu_cert.free."""

    sign: int
    w: Vector
    free: Free = ()

    @property
    def norm_squared(self) -> Fraction:
        """|w|^2, without a free bias."""
        return norm_squared(weights_of(self.free, self.w))


def root(square: Fraction, bits: int = 128) -> Interval:
    """sqrt(square), enclosed to a relative 2^-bits; exact where it is rational."""
    return outward(Interval(sqrt_lower(square, bits + 1), sqrt_upper(square, bits + 1)), bits + 2)


def outward(interval: Interval, bits: int) -> Interval:
    """The interval with its ends rounded away from each other, to numbers of so many bits; an exact one stays."""
    if interval.lower == interval.upper:
        return interval
    return Interval(-_ceiling(-interval.lower, bits), _ceiling(interval.upper, bits))


def _ceiling(x: Fraction, bits: int) -> Fraction:
    """The smallest number >= x of about so many bits."""
    grid = Fraction(2) ** (bits + x.denominator.bit_length() - x.numerator.bit_length())
    return ceil(x * grid) / grid if x else x


def bias_free(network: TrainedNetwork) -> TrainedNetwork:
    """The network itself; ValueError where its first layer still has biases (fold them first)."""
    if any(network.b1 or ()):
        raise ValueError("the network has biases; fold them into the data's column of ones first")
    return network


def residual(network: TrainedNetwork, Z: Matrix, y: Vector, bags: Each = EACH) -> Vector:
    """r = y - f(Z); with bags y - P f(Z), b2 as it is."""
    return tuple(a - b for a, b in zip(y, bias_free(network).on(Z, bags), strict=True))


def enclosed_loss(loss: Loss, y: Vector, f: Vector) -> Interval:
    """The loss of outputs f: exactly with the squares, to 2^-256 with the logistic one."""
    high = loss.upper(y, f, _ZERO, FINE)
    return Interval(high if loss is SQUARES else high - 8 * FINE, high)


def penalty(network: TrainedNetwork, lam: Fraction) -> Fraction:
    """lambda/2 (|W1|^2 + |w2|^2), and lambda |b2| where the output bias is a neuron."""
    weights = sum((norm_squared(weights_of(network.free, w)) for w in network.W1), norm_squared(network.w2))
    bias = 2 * abs(network.b2) if network.bias_neuron else _ZERO
    return HALF * lam * (weights + bias)


def objective(network: TrainedNetwork, Z: Matrix, y: Vector, lam: Fraction, bags: Each = EACH) -> Fraction:
    """J with the squares, exactly."""
    return HALF * norm_squared(residual(network, Z, y, bags)) + penalty(network, lam)


def least_loss(theta: Vector, y: Vector, penalty: Fraction, loss: Loss = SQUARES) -> Fraction:
    """No network with at most this penalty, lambda and a decayed bias included, has a smaller loss.

    t theta is feasible at t lambda: loss + t penalty >= D(t theta) for all t >= 0 (of squares: t theta.y - t^2/2
    |theta|^2); a decayed bias, which is counted with the loss there, costs no more in the penalty where t >= 1. The
    best t is taken, or, of a loss with logarithms, the best of some.
    """
    if loss is not SQUARES:
        return max(_ZERO, *(value - t * penalty for t, value in _scaled(theta, y, loss)))
    reach, size = dot(theta, y) - penalty, norm_squared(theta)
    t = max(_ONE, reach / size) if size else _ONE
    return max(_ZERO, t * reach - t * t * size / 2)


def least_penalty(theta: Vector, y: Vector, lost: Fraction, loss: Loss = SQUARES) -> Fraction:
    """No network that loses at most this has a smaller penalty: the same with t near sqrt(2 lost) / |theta|."""
    if loss is not SQUARES:
        return max(_ZERO, *((value - lost) / t for t, value in _scaled(theta, y, loss)))
    size = norm_squared(theta)
    t = max(_ONE, sqrt_upper(2 * lost / size, 40)) if size else _ONE
    return max(_ZERO, dot(theta, y) - t * size / 2 - lost / t)


def _scaled(theta: Vector, y: Vector, loss: Loss) -> list[tuple[Fraction, Fraction]]:
    """Some t >= 1 for which t theta has a dual value, and that value."""

    def at(t: Fraction) -> Vector:
        return tuple(t * x for x in theta)

    most = _ONE
    while most < _FARTHEST and loss.allows(y, at(2 * most)):
        most *= 2
    steps = sorted({_ONE, *(Fraction(round(64 * float(2 * most) ** (k / _STEPS)), 64) for k in range(_STEPS))})
    return [(t, loss.dual_value(y, at(t))) for t in steps if t == 1 or loss.allows(y, at(t))]


def left_of(network: TrainedNetwork, Z: Matrix, y: Vector, bags: Each = EACH) -> Vector:
    """What the free terms of the network leave of y for its neurons."""
    if network.bias_neuron:
        network = replace(network, b2=_ZERO)
    rest = bags.pooled(replace(network, b2=_ZERO).without_neurons(Z))
    constant = network.ones(len(y))
    return tuple(a - network.b2 * e - b for a, e, b in zip(y, constant, rest, strict=True))


def convex_form(network: TrainedNetwork) -> tuple[ConvexNeuron, ...]:
    """The neurons xi_i = sign(w2_i), w_i = |w2_i| W1_i that are not zero, in order, and the output bias."""
    ones = (*(_ZERO,) * (network.d - 1), Fraction(1))
    constant = network.b2 if network.bias_neuron else _ZERO
    pairs = zip((*bias_free(network).W1, ones), (*network.w2, constant), strict=True)
    return tuple(
        ConvexNeuron(1 if v > 0 else -1, tuple(abs(v) * x for x in w), network.free) for w, v in pairs if v and any(w)
    )


def outputs(neurons: Sequence[ConvexNeuron], Z: Matrix, bags: Each = EACH) -> Matrix:
    """q_i = xi_i P (Zw_i)_+, a row for every neuron."""
    inner = products([neuron.w for neuron in neurons], Z)
    return tuple(
        bags.pooled([neuron.sign * max(_ZERO, a) for a in row]) for neuron, row in zip(neurons, inner, strict=True)
    )


def fit(neurons: Sequence[ConvexNeuron], Z: Matrix, bags: Each = EACH) -> Vector:
    """sum_i xi_i P (Zw_i)_+"""
    found = outputs(neurons, Z, bags)
    none = bags.pooled((_ZERO,) * len(Z))
    return tuple(sum((q[k] for q in found), x) for k, x in enumerate(none))


def penalty_sum(neurons: Iterable[ConvexNeuron], bits: int = 128) -> Interval:
    """sum_i |w_i|, enclosed."""
    return sum((root(neuron.norm_squared, bits) for neuron in neurons), Interval(_ZERO, _ZERO))


def norms_sum(network: TrainedNetwork) -> Interval:
    """sum_i |w2_i||W1_i|, enclosed: what is left of the penalty when the neurons are balanced."""
    parts = zip(bias_free(network).W1, network.V, strict=True)
    squares = [norm_squared(weights_of(network.free, w)) * norm_squared(v) for w, v in parts]
    return sum((root(square) for square in squares if square), Interval(_ZERO, _ZERO))


def convex_objective(
    neurons: Sequence[ConvexNeuron], Z: Matrix, y: Vector, lam: Fraction, bits: int = 128, bags: Each = EACH
) -> Interval:
    """P, enclosed; exact where every |w_i| is rational."""
    miss = [a - b for a, b in zip(y, fit(neurons, Z, bags), strict=True)]
    return penalty_sum(neurons, bits).scale(lam).shift(HALF * norm_squared(miss))


def balanced_outputs(neurons: Iterable[ExactNeuron], d: int, constants: Vector, C: int) -> TrainedNetwork:
    """The network of neurons w, v with W1 = w s, w2 = v / s, s = (|v| / |w|)^(1/2) to 53 bits: the same function."""
    rows, tops = [], []
    for neuron in neurons:
        s = square_root(square_root(norm_squared(neuron.v) / norm_squared(neuron.w)))
        rows.append(tuple(x * s for x in neuron.w))
        tops += [x / s for x in neuron.v]
    if not rows:
        rows, tops = [(_ZERO,) * d], [_ZERO] * C
    return TrainedNetwork(tuple(rows), tuple(tops), targets=C, constants=constants)


def network_of(
    neurons: Iterable[ConvexNeuron | ExactNeuron], d: int, free: Free = (), b2: Fraction = _ZERO, skip: Vector = ()
) -> TrainedNetwork:
    """Balanced weights W1 = w / s, w2 = xi s with s = sqrt(|w|) (eq:convex-to-relu), for neurons on d features.

    s is exact where sqrt(|w|) is rational, else it is sqrt(|w|) to 53 bits. The function is exactly the same, because
    |w2| W1 = w. No neurons make one zero neuron. Free terms are as they are given.
    """
    rows, tops = [], []
    for neuron in neurons:
        size = norm_squared(weights_of(free, neuron.w))
        s = square_root(square_root(size)) if size else Fraction(1)
        rows.append(tuple(x / s for x in neuron.w))
        tops.append(neuron.sign * s)
    if not rows:
        rows, tops = [(_ZERO,) * d], [_ZERO]
    return TrainedNetwork(tuple(rows), tuple(tops), b2=b2, skip=skip, free=free)
