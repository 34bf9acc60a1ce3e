"""A two-layer ReLU network that somebody trained, with every weight an exact rational.

    f(x) = sum_i w2_i phi(W1_i.x + b1_i) + b2 + s.x,     phi(t) = max(t, slope t)

With C outputs w2_i and b2 are in R^C, and what is said of all data points is written row by row, C numbers each.

Floats are taken as what they are: dyadic rationals.

Which gates are open: 1(g.x >= 0), with rounding kept out.

The witness of a lower face's pattern vanishes on data points, so that the sign of a float product says nothing there.

Biases as weights: the program that is proved about has none.

The first layer's bias is the weight of a column of ones: W1_i.x + b1_i = (W1_i, b1_i).(x, 1). The output bias has no
variable of its own in the convex program. It is refused unless it is zero, or taken on request (`output_bias="neuron"`)
for one more neuron on the column of ones, b2 = sign(b2) s (s * 1)_+ with s^2 = |b2|, which is the same function
everywhere. That neuron is balanced, so that it costs lambda |b2|; the folded network keeps b2, which says all of it.
Where it is free (relu_cert.free) it costs nothing, and is no neuron.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isqrt
from typing import Any, Literal

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from relu_cert.bags import Each
from relu_cert.data.dataset import Number, read_slope
from relu_cert.errors import UsageError
from relu_cert.exact import Matrix, Vector, dot, matrix_of, rows_of, sqrt_lower, to_fmpq, to_vector
from relu_cert.free import Free, free_constant

_ZERO = Fraction(0)
Layer = tuple[NDArray[Any], NDArray[Any] | None]  # weights (outputs x inputs) and biases


@dataclass(frozen=True)
class Origin:
    """Where a network comes from: a file (with the SHA-256 of its bytes), a library's model, or this program; `layer`:
    from which of its linear layers on; `folded`: its batch normalisations, which are part of the weights here."""

    format: str
    path: str = ""
    sha256: str = ""
    layer: int = 1
    folded: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrainedNetwork:
    """W1 (m x d), b1 (m, or None without biases), w2 (m), b2 and s (d, or empty without a skip connection). The zero
    network has one zero neuron. `free`: which terms are not penalised, known once the network is on the data, and
    so is whether its last input was `appended` to them: ones, for the biases, and none of the file's own inputs.
    `roots`: b2 is decayed, on rows of zeros that the data have more (relu_cert.free).
    `before`: the layers of a deeper network whose outputs are the data of this one. `kernel`: the shape of its filters,
    channels first, where it is a convolution whose outputs are pooled; `slides`: its stride and padding, if known.
    `slope`: None where its file names no activation; a network on the data has none, for its rows are there as z and
    as -z (relu_cert.bags). `targets`: the number C of outputs; where there are several w2 has C numbers for each
    neuron, neuron by neuron, `constants` are their biases, b2 is 0, and there is no skip connection."""

    W1: Matrix
    w2: Vector
    b1: Vector | None = None
    b2: Fraction = _ZERO
    origin: Origin = Origin("relu_cert")
    skip: Vector = ()
    free: Free = ()
    appended: bool = False
    roots: Vector = ()
    before: tuple[Layer, ...] = field(default=(), compare=False)
    kernel: tuple[int, ...] = ()
    slope: Fraction | None = None
    slides: tuple[int, int] | None = None
    targets: int = 1
    constants: Vector = ()

    def __post_init__(self) -> None:
        if not self.W1 or not self.W1[0] or any(len(row) != len(self.W1[0]) for row in self.W1):
            raise ValueError("W1 is a matrix with at least one row and one column")
        if len(self.w2) != len(self.W1) * self.targets or (self.b1 is not None and len(self.b1) != len(self.W1)):
            raise ValueError("W1, w2 and b1 have one entry for each neuron, w2 one for each output")
        if self.targets > 1 and (self.b2 or any(self.skip) or len(self.constants) not in (0, self.targets)):
            raise ValueError("several outputs have a constant each, and no skip connection")
        if self.skip and len(self.skip) != len(self.W1[0]):
            raise ValueError("a skip connection has one entry for each input")

    def features(self, X: Any) -> NDArray[np.float64]:
        """What the layers before this network make of the rows of X, in floats."""
        found = np.asarray(X, dtype=np.float64)
        for W, b in self.before:
            found = found @ np.asarray(W, dtype=np.float64).T + (0.0 if b is None else b)
            found = np.maximum(found, float(self.slope or 0) * found)
        return found

    def bent(self, asked: Number | None) -> Fraction | None:
        """The slope, known or asked for; UsageError where these are two."""
        s = read_slope(asked)
        if s is None or self.slope in (None, s):
            return self.slope if s is None else s
        own, other = map(slope_text, (self.slope, s))
        raise UsageError(f"the network's own slope is {own}, and --slope {other} is asked for; leave it out.")

    @property
    def rule(self) -> str | None:
        """How it slides, as far as it says so itself: the rule for arrays of images or signals."""
        if not self.kernel or self.slides is None:
            return None
        stride, padding = self.slides
        options = [*[f"stride={stride}"] * (stride != 1), *[f"padding={padding}"] * (padding != 0)]
        return ":".join(["x".join(map(str, self.kernel[1:])), *options])

    @property
    def m(self) -> int:
        """The number of neurons."""
        return len(self.W1)

    @property
    def V(self) -> Matrix:
        """The second layer, a row for each neuron."""
        C = self.targets
        return tuple(self.w2[C * i : C * (i + 1)] for i in range(self.m))

    @property
    def offsets(self) -> Vector:
        """The output bias of each output."""
        return (self.b2,) if self.targets == 1 else self.constants or (_ZERO,) * self.targets

    @property
    def d(self) -> int:
        """The number of inputs."""
        return len(self.W1[0])

    def __call__(self, Z: Sequence[Sequence[Fraction]]) -> Vector:
        """f(z) for every row z of Z, exactly; row by row."""
        b1, slope = [to_fmpq(b) for b in self.b1 or (_ZERO,) * self.m], to_fmpq(self.slope or _ZERO)
        heights = (rows_of(Z) * matrix_of(self.W1).transpose()).tolist()
        sums = ([a + b for a, b in zip(row, b1, strict=True)] for row in heights)
        bent = fmpq_mat([[h if h > 0 else slope * h for h in row] for row in sums])
        neurons = to_vector(bent * matrix_of(self.V))
        return tuple(a + b for a, b in zip(self.without_neurons(Z), neurons, strict=True))

    def on(self, Z: Sequence[Sequence[Fraction]], bags: Each) -> Vector:
        """f for every bag of rows, exactly: the mean or sum of what the neurons and the skip connection say, and b2."""
        pooled = by_output(bags.pooled, replace(self, b2=_ZERO, constants=())(Z), self.targets)
        return tuple(a + x for a, x in zip(self._constant(len(pooled) // self.targets), pooled, strict=True))

    def without_neurons(self, Z: Sequence[Sequence[Fraction]]) -> Vector:
        """b2 + s.z for every row z of Z."""
        constant = self._constant(len(Z))
        if not self.skip:
            return constant
        linear = (sum((a * b for a, b in zip(self.skip, z, strict=True)), _ZERO) for z in Z)
        return tuple(a + b for a, b in zip(constant, linear, strict=True))

    def _constant(self, n: int) -> Vector:
        """What the output biases add to n rows."""
        return tuple(b * e for e in self.ones(n) for b in self.offsets)

    def ones(self, n: int) -> Vector:
        """The column of the output bias on n rows."""
        return (Fraction(1),) * (n - len(self.roots)) + self.roots

    @property
    def bias_neuron(self) -> bool:
        """Whether the output bias is a neuron on the column of ones."""
        return bool(self.b2) and not free_constant(self.free)


def by_output(made: Callable[[Vector], Sequence[Fraction]], x: Vector, C: int) -> Vector:
    """What is made of the numbers of each output, row by row again."""
    return (
        tuple(made(x))
        if C == 1
        else tuple(a for row in zip(*(made(x[c::C]) for c in range(C)), strict=True) for a in row)
    )


def slope_text(x: Fraction | None) -> str:
    """A slope in words: a double such as that of 0.01 is said to be one."""
    x = x or _ZERO
    power = x.denominator.bit_length() - 1
    if x.denominator < 1000 or x.denominator != 1 << power:
        return str(x)
    return f"{float(x):.6g}, in binary {x.numerator}/2^{power}"


def alive(network: TrainedNetwork) -> list[int]:
    """The numbers of the neurons that are not zero, in the order of the convex form; the output bias comes last."""
    numbers = [i for i, (w, v) in enumerate(zip(network.W1, network.V, strict=True)) if any(v) and any(w)]
    return [*numbers, network.m] if network.bias_neuron else numbers


Floats = NDArray[np.float64]
NEAR = 1e-9  # a gate this near to its hyperplane, relative to its terms, is decided exactly


def open_gates(inputs: Floats, gates: Matrix, exact: Callable[[int], Vector]) -> NDArray[np.bool_]:
    """1(g.x >= 0) for every row x and every gate g; exact(k) is row k itself, of which `inputs` has the floats."""
    G = np.array([[float(x) for x in gate] for gate in gates]).reshape(len(gates), inputs.shape[1])
    heights = inputs @ G.T
    found = np.asarray(heights >= 0)
    for k, i in np.argwhere(np.abs(heights) <= NEAR * (np.abs(inputs) @ np.abs(G).T)):
        found[k, i] = dot(gates[i], exact(int(k))) >= 0
    return found


OutputBias = Literal["refuse", "neuron"]


def fold(
    network: TrainedNetwork, d: int, *, ones: bool, output_bias: OutputBias = "refuse", free: Free = ()
) -> TrainedNetwork:
    """The same function on data of d features, without b1; `ones`: the last feature is the constant 1, on which b2 is a
    neuron unless it is free."""
    folded = replace(_fold_first(network, d, ones), free=free, slope=None)
    if any(network.skip) and "skip" not in free:
        raise UsageError("the network has a skip connection, which the program knows as a free term; say --free skip.")
    if "skip" in free:
        skip = network.skip or (_ZERO,) * network.d
        if ones and network.d == d and skip[-1]:
            raise UsageError("the skip connection has a weight for the column of ones; give it as the output bias.")
        folded = replace(folded, skip=(*skip, _ZERO) if network.d < d else skip, appended=ones)
    if free_constant(free) and output_bias == "neuron":
        raise UsageError("an output bias is free or a neuron that is penalised; give --free or --output-bias neuron.")
    if not any(folded.offsets) or free_constant(free):
        return folded
    if network.targets > 1:
        raise UsageError(
            f"the network has output biases ({network.targets} outputs); say --free output-bias if they had no "
            "penalty, or --penalty pytorch (squares) if weight_decay was on all parameters, or train without them."
        )
    if output_bias == "refuse":
        way = "say --output-bias neuron" if ones else "say --bias and --output-bias neuron"
        raise UsageError(
            f"the network has the output bias {float(network.b2):.6g}; say --free output-bias if there was no penalty "
            f"on it, or train without it, or {way}, which makes it a neuron that costs lambda |b2|."
        )
    if not ones:
        raise UsageError("an output bias becomes a neuron on the column of ones; read the data with --bias.")
    return folded


def square_root(x: Fraction) -> Fraction:
    """sqrt(x) where it is rational, else a rational of 53 bits near to it; x > 0."""
    p, q = isqrt(x.numerator), isqrt(x.denominator)
    if p * p == x.numerator and q * q == x.denominator:
        return Fraction(p, q)
    root = sqrt_lower(x, 80)
    grid = Fraction(2) ** (53 - root.numerator.bit_length() + root.denominator.bit_length())
    return Fraction(round(root * grid)) / grid


def _fold_first(network: TrainedNetwork, d: int, ones: bool) -> TrainedNetwork:
    if network.d == d and not any(network.b1 or ()):
        return replace(network, b1=None, skip=())
    if network.d == d - 1 and ones:
        b1 = network.b1 or (_ZERO,) * network.m
        return replace(network, W1=tuple((*w, b) for w, b in zip(network.W1, b1, strict=True)), b1=None, skip=())
    if network.d == d and not ones:
        raise UsageError("the network's first layer has biases; read the data with --bias, a column of ones for them.")
    of_data = f"{d - 1} features and a column of ones" if ones else f"{d} features"
    raise UsageError(f"the network has {network.d} inputs, the data has {of_data}; they must be the same.")
