"""A two-layer ReLU network that somebody trained, with every weight an exact rational.

    f(x) = sum_i w2_i phi(W1_i.x + b1_i) + b2 + s.x,     phi(t) = max(t, slope t)

Floats are taken as what they are: dyadic rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from relu_cert.bags import Each
from relu_cert.errors import UsageError
from relu_cert.exact import Matrix, Vector, column, matrix_of, rows_of, to_fmpq, to_vector
from relu_cert.free.terms import Free, free_constant

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
    `roots`: b2 is decayed, on rows of zeros that the data have more (relu_cert.free.terms).
    `before`: the layers of a deeper network whose outputs are the data of this one. `kernel`: the shape of its filters,
    channels first, where it is a convolution whose outputs are pooled; `slides`: its stride and padding, if known.
    `slope`: None where its file names no activation; a network on the data has none, for its rows are there as z and
    as -z (relu_cert.bags)."""

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

    def __post_init__(self) -> None:
        if not self.W1 or not self.W1[0] or any(len(row) != len(self.W1[0]) for row in self.W1):
            raise ValueError("W1 is a matrix with at least one row and one column")
        if len(self.w2) != len(self.W1) or (self.b1 is not None and len(self.b1) != len(self.W1)):
            raise ValueError("W1, w2 and b1 have one entry for each neuron")
        if self.skip and len(self.skip) != len(self.W1[0]):
            raise ValueError("a skip connection has one entry for each input")

    def features(self, X: Any) -> NDArray[np.float64]:
        """What the layers before this network make of the rows of X, in floats."""
        found = np.asarray(X, dtype=np.float64)
        for W, b in self.before:
            found = found @ np.asarray(W, dtype=np.float64).T + (0.0 if b is None else b)
            found = np.maximum(found, float(self.slope or 0) * found)
        return found

    def bent(self, asked: Fraction | None) -> Fraction | None:
        """The slope, known or asked for; UsageError where these are two."""
        if asked is None or self.slope in (None, asked):
            return self.slope if asked is None else asked
        own, other = map(slope_text, (self.slope, asked))
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
        return len(self.w2)

    @property
    def d(self) -> int:
        """The number of inputs."""
        return len(self.W1[0])

    def __call__(self, Z: Sequence[Sequence[Fraction]]) -> Vector:
        """f(z) for every row z of Z, exactly."""
        b1, slope = [to_fmpq(b) for b in self.b1 or (_ZERO,) * self.m], to_fmpq(self.slope or _ZERO)
        heights = (rows_of(Z) * matrix_of(self.W1).transpose()).tolist()
        sums = ([a + b for a, b in zip(row, b1, strict=True)] for row in heights)
        bent = fmpq_mat([[h if h > 0 else slope * h for h in row] for row in sums])
        neurons = to_vector(bent * column(self.w2))
        return tuple(a + b for a, b in zip(self.without_neurons(Z), neurons, strict=True))

    def on(self, Z: Sequence[Sequence[Fraction]], bags: Each) -> Vector:
        """f for every bag of rows, exactly: the mean or sum of what the neurons and the skip connection say, and b2."""
        pooled = bags.pooled(replace(self, b2=_ZERO)(Z))
        return tuple(self.b2 * e + x for e, x in zip(self.ones(len(pooled)), pooled, strict=True))

    def without_neurons(self, Z: Sequence[Sequence[Fraction]]) -> Vector:
        """b2 + s.z for every row z of Z."""
        constant = tuple(self.b2 * e for e in self.ones(len(Z)))
        if not self.skip:
            return constant
        linear = (sum((a * b for a, b in zip(self.skip, z, strict=True)), _ZERO) for z in Z)
        return tuple(a + b for a, b in zip(constant, linear, strict=True))

    def ones(self, n: int) -> Vector:
        """The column of the output bias on n rows."""
        return (Fraction(1),) * (n - len(self.roots)) + self.roots

    @property
    def bias_neuron(self) -> bool:
        """Whether the output bias is a neuron on the column of ones."""
        return bool(self.b2) and not free_constant(self.free)


def slope_text(x: Fraction | None) -> str:
    """A slope in words: a double such as that of 0.01 is said to be one."""
    x = x or _ZERO
    power = x.denominator.bit_length() - 1
    if len(str(x)) < 20 or x.denominator != 1 << power:
        return str(x)
    return f"{float(x):.6g}, in binary {x.numerator}/2^{power}"


def alive(network: TrainedNetwork) -> list[int]:
    """The numbers of the neurons that are not zero, in the order of the convex form; the output bias comes last."""
    numbers = [i for i, (w, v) in enumerate(zip(network.W1, network.w2, strict=True)) if v and any(w)]
    return [*numbers, network.m] if network.bias_neuron else numbers
