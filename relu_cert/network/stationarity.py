"""How far a network is from being Clarke stationary for J, exactly.

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
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from relu_cert.bags import EACH, Each
from relu_cert.clock import require_time
from relu_cert.errors import TooManyPatterns
from relu_cert.exact import Matrix, Vector, dot, matrix_of, norm_squared, products, to_vector
from relu_cert.free import free_constant
from relu_cert.network.objective import HALF, Interval, residual
from relu_cert.network.trained import TrainedNetwork
from relu_cert.patterns import enumerate_patterns
from relu_cert.prove.projection import shortest_mean

_ZERO = Fraction(0)
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
    network: TrainedNetwork, Z: Matrix, y: Vector, lam: Fraction, tolerance: Fraction = _ZERO, bags: Each = EACH
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
