"""The exact objective of a network, in its own weights and as a point of the convex program.

    J = 1/2 |f(Z) - y|^2 + lambda/2 (|W1|^2 + |w2|^2) + lambda |b2|             rational
    P = 1/2 |f(Z) - y|^2 + lambda sum_i |w_i|,     w_i = |w2_i| W1_i            enclosed (square roots)

(several outputs: lambda sum |w2_i||W1_i|).

Terms that are free (relu_cert.free) are in neither penalty: no lambda |b2|, norms without the biases.

P <= J, because |w2| |W1| <= (|w2|^2 + |W1|^2)/2, with equality iff |W1_i| = |w2_i| for all i (lemma:scaling-unique). P
is what J becomes when every neuron is balanced, which changes no prediction. An output bias b2 is the balanced neuron
sign(b2), |b2| e on the column of ones (`relu_cert.network.trained`).

How far a network is from being Clarke stationary for J, exactly.

J is differentiable except where z_k.W1_i = 0 for some z_k != 0 with w2_i r_k != 0 (a kink). With r = y - f(Z), its
Clarke subdifferential, the convex hull of the limits of gradients at points nearby, is a product over the neurons of

    d/dw2_i:  lambda w2_i - r.(Z W1_i)_+                                                     one number, and
    d/dW1_i:  lambda W1_i - w2_i conv { sum_{z_k.W1_i > 0} r_k z_k + sum_{kinks k, D_k = 1} r_k z_k }

over the patterns D of the open cells that the kinks cut out of R^d (with several outputs r_k and w2_i are vectors, and
w2_i r_k is the number w2_i.r_k): neurons move independently, and around W1_i all those cells are met, and no others.
The distance from stationarity is the norm of the shortest element. It is zero iff the network is Clarke stationary. A
network may be stationary without being in the set of prop:stationary-points, and in it without being stationary: the
two agree where no neuron is at a kink.

A float that should be at a kink misses it by its last bit, and then the gradient on one side is all there is. So a
tolerance can be given: rows with |z_k.W1_i| <= tolerance |z_k| |W1_i| count as kinks too. That is a statement about
the cells around the network (Goldstein's subdifferential), no longer about the point itself.

The optimum over some patterns beside the global one: how much the patterns that were left out would bring.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from flint import fmpq_mat

from relu_cert.bags import EACH, Each
from relu_cert.clock import require_time
from relu_cert.errors import TooManyPatterns
from relu_cert.exact import Matrix, Vector, dot, matrix_of, norm_squared, products, sqrt_lower, sqrt_upper, to_vector
from relu_cert.free import Free, free_constant, weights_of
from relu_cert.network.trained import TrainedNetwork, square_root
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem.loss import SQUARES, Loss
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import ExactNeuron, Facts
from relu_cert.prove.projection import shortest_mean

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


Cell = tuple[frozenset[int], Fraction]
MAX_CELLS = 4096


@dataclass(frozen=True)
class NeuronStationarity:
    """One neuron: the squared distance of zero from d/dW1_i, d/dw2_i, and the rows where it is at a kink.

    `first` is exact but where the kinks cut out more than MAX_CELLS cells. `cells` are the means of gradients that are
    as short as its upper end: the kinks that are on, and a weight > 0; none where there is no kink.
    """

    first: Interval
    second: Vector
    kinks: tuple[int, ...]
    cells: tuple[Cell, ...] = ()

    @property
    def distance_squared(self) -> Interval:
        """The neuron's part of the squared distance."""
        return self.first.shift(norm_squared(self.second))


@dataclass(frozen=True)
class Stationarity:
    """The squared distance of zero from the Clarke subdifferential: the neurons of W1, and the output bias."""

    neurons: tuple[NeuronStationarity, ...]
    bias: Fraction = _ZERO
    meant: str = ""  # where b2 is in the penalty: b2 != 0 is a neuron, which can turn, and 0 is none

    @property
    def distance_squared(self) -> Interval:
        """The sum over the neurons."""
        return sum((neuron.distance_squared for neuron in self.neurons), Interval(self.bias, self.bias))

    @property
    def stationary(self) -> bool | None:
        """Whether the network is Clarke stationary; None where the enclosure does not say."""
        distance = self.distance_squared
        return False if distance.lower > 0 else True if distance.upper == 0 else None


def stationarity(
    network: TrainedNetwork,
    Z: Matrix,
    y: Vector,
    lam: Fraction,
    tolerance: Fraction = _ZERO,
    bags: Each = EACH,
) -> Stationarity:
    """The distance from Clarke stationarity for J at lambda; with a tolerance, for the cells around the network."""
    r, C, rows = residual(network, Z, y, bags), network.targets, matrix_of(Z)
    T = tuple(zip(*(bags.spread(r[c::C]) for c in range(C)), strict=True))
    lengths = [tolerance**2 * norm_squared(z) for z in Z]
    found = []
    for w, v, inner in zip(network.W1, network.V, products(network.W1, Z), strict=True):
        require_time()
        up = to_vector(matrix_of([[max(a, _ZERO) for a in inner]]) * matrix_of(T))
        second = tuple(lam * v_c - a for v_c, a in zip(v, up, strict=True))
        size, pulls = norm_squared(w), products((v,), T)[0]
        kinks = tuple(k for k, a in enumerate(inner) if pulls[k] and any(Z[k]) and a * a <= size * lengths[k])
        first, cells = _first(_penalised(network, w), inner, kinks, Z, Pull(pulls, rows), lam)
        found.append(NeuronStationarity(first, second, kinks, cells))
    pull = Pull(tuple(t[0] for t in T), rows)
    total = pull.over(range(len(Z)))
    on = [k for k, z in enumerate(Z) if z[-1] > 0]  # all, but with a slope
    of_bias = _of_bias(network.b2, r, pull.over(on), lam) if network.bias_neuron else _ZERO
    held = not network.b2 and not free_constant(network.free) and C == 1 and abs(sum(r, _ZERO)) > lam
    held = held and all(abs(z[-1]) == 1 for z in Z) and set(bags.pooled([max(z[-1], _ZERO) for z in Z])) == {1}
    meant = ", b2 counted as a neuron" if network.bias_neuron else ", b2 held at 0" if held else ""
    return Stationarity(tuple(found), of_bias + _of_free(network, r, total), meant)


def _penalised(network: TrainedNetwork, w: Vector) -> Vector:
    """w with 0 in the place of a free bias."""
    return (*w[:-1], _ZERO) if "biases" in network.free else w


def _of_free(network: TrainedNetwork, r: Vector, pull: Vector) -> Fraction:
    """The squared gradient in the coefficients of the free terms."""
    C = network.targets
    sums = (dot(network.ones(len(r) // C), r[c::C]) for c in range(C * free_constant(network.free)))
    constant = sum((x * x for x in sums), _ZERO)
    inputs = pull[: len(pull) - network.appended]
    return constant + (norm_squared(inputs) if "skip" in network.free else _ZERO)


def _of_bias(b2: Fraction, r: Vector, pull: Vector, lam: Fraction) -> Fraction:
    """The squared gradient in the neuron sqrt|b2| e, sign(b2) sqrt|b2| on the column of ones: |b2| times the squares of
    lambda - xi sum r and of lambda e - xi Z'r."""
    xi = 1 if b2 > 0 else -1
    first = norm_squared((*pull[:-1], lam - xi * pull[-1]))
    return abs(b2) * (first + (lam - xi * sum(r, _ZERO)) ** 2)


def _first(
    w: Vector, inner: Vector, kinks: tuple[int, ...], Z: Matrix, pull: Pull, lam: Fraction
) -> tuple[Interval, tuple[Cell, ...]]:
    """The squared distance of zero from d/dW1_i, and the cells of its shortest element."""
    on = [k for k, a in enumerate(inner) if a > 0 and k not in kinks]
    smooth = tuple(lam * x - s for x, s in zip(w, pull.over(on), strict=True))
    if not kinks:
        return _exactly(norm_squared(smooth)), ()
    try:
        patterns = enumerate_patterns(tuple(Z[k] for k in kinks), max_patterns=MAX_CELLS)
    except TooManyPatterns:
        # Half of every kink is the middle of two opposite cells, so it is in the subdifferential.
        middle = tuple(a - HALF * s for a, s in zip(smooth, pull.over(kinks), strict=True))
        return Interval(_ZERO, norm_squared(middle)), _opposite_cells(kinks, Z)
    cells = [
        frozenset(k for k, bit in zip(kinks, pattern, strict=True) if bit)
        for pattern in patterns.array()[: patterns.open_cells]
    ]
    corners = [tuple(a - s for a, s in zip(smooth, pull.over(on), strict=True)) for on in cells]
    x, mean = shortest_mean(corners)
    return _exactly(norm_squared(x)), tuple((cells[i], t) for i, t in mean.items())


def _opposite_cells(kinks: tuple[int, ...], Z: Matrix) -> tuple[Cell, ...]:
    """An open cell of the kinks' hyperplanes and the one opposite, half each: u = (1, b, b^2, ...) for a large b."""
    b = 1
    while True:
        b *= 16
        u = tuple(Fraction(b) ** j for j in range(len(Z[0])))
        heights = {k: dot(Z[k], u) for k in kinks}
        if all(heights.values()):
            return tuple((frozenset(k for k, h in heights.items() if xi * h > 0), HALF) for xi in (1, -1))


def _exactly(x: Fraction) -> Interval:
    return Interval(x, x)


@dataclass(frozen=True)
class Pull:
    """The numbers that the rows of Z are taken with: r_k.w2_i, or r_k."""

    weights: Vector
    Z: fmpq_mat

    def over(self, rows: Collection[int]) -> Vector:
        """Their sum over some of the rows."""
        kept = {*rows}
        return to_vector(matrix_of([[x if k in kept else _ZERO for k, x in enumerate(self.weights)]]) * self.Z)


def distance(some: Facts, whole: Facts) -> Interval:
    """p* over some patterns - p* over all patterns, enclosed.

    It is at least 0 where every block is one of the whole problem, or a part of one: always for ReLU without an l2
    penalty, whose blocks are neurons whatever their pattern is; else where all patterns are in D_Z. (With the penalty a
    neuron gains by being split over blocks, and patterns outside D_Z are more of them.)
    """
    a, b = some.value, whole.value
    lower = a.lower - b.upper
    return Interval(max(lower, Fraction(0)) if _is_part(some.problem, whole.problem) else lower, a.upper - b.lower)


def _is_part(some: Problem, whole: Problem) -> bool:
    if some.kind == "relu" and not some.delta:
        return True
    patterns = whole.listed
    if some.patterned is None or patterns is None:
        return False
    return set(some.patterned.patterns) <= set(patterns.texts())
