"""What the pictures are drawn from: the exact facts as floats, and the plane or line that the data live in.

Rounding here is for the eye only. Numbers far outside the range of floats make no picture.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from relu_cert.data.model import Dataset
from relu_cert.patterns.model import PatternSet
from relu_cert.prove.facts import ExactNeuron, Facts

Floats = NDArray[np.float64]
SMALLEST, LARGEST = 1e-100, 1e100
Space = Literal["line", "plane", "none"]


@dataclass(frozen=True)
class View:
    """A network model as floats: f(x) = sum over neurons with gate.x > 0 of slope.x.

    For ReLU gate = w and slope = xi w. For gated ReLU the slope is w and the gate is the listed witness of the
    neuron's pattern. `features` are the d - 1 or d columns that are not the bias.
    """

    Z: Floats
    y: Floats
    fit: Floats
    theta: Floats
    lam: float
    gates: Floats
    slopes: Floats
    names: tuple[str, ...]
    target: str
    bias: bool
    gated: bool

    @property
    def features(self) -> int:
        """How many columns are not the bias."""
        return int(self.Z.shape[1]) - self.bias

    @property
    def space(self) -> Space:
        """Where the inputs live, as far as that can be drawn."""
        return {1: "line", 2: "plane"}.get(self.features, "none")  # type: ignore[return-value]

    def inputs(self) -> Floats:
        """The data points without the bias."""
        return self.Z[:, : self.features]

    def affine(self, rows: Floats) -> tuple[Floats, Floats]:
        """Rows of weights as (linear part, constant part) on the features."""
        constant = rows[:, -1] if self.bias else np.zeros(len(rows))
        return rows[:, : self.features], constant


def view(facts: Facts, data: Dataset | None) -> View | None:
    """The floats of a network model; None for direct problems and for numbers too large or small to draw."""
    network = facts.problem.network
    if network is None or data is None:
        return None
    try:
        neurons = facts.primal.neurons
        d, gated = len(network.Z[0]), facts.problem.model == "gated"
        gates = [_gate(neuron, network.patterns, gated) for neuron in neurons]
        return View(
            floats(network.Z).reshape(-1, d),
            floats([facts.problem.y])[0],
            floats([facts.fit.center])[0],
            floats([facts.dual.theta])[0],
            float(floats([[facts.lam]])[0, 0]),
            floats(gates).reshape(-1, d),
            floats([[neuron.sign * x for x in neuron.w] for neuron in neurons]).reshape(-1, d),
            data.names,
            data.target,
            data.source.bias,
            gated,
        )
    except OverflowError:
        return None


def floats(rows: Iterable[Iterable[Fraction | int]]) -> Floats:
    """The rows as floats. OverflowError if a number is too large, or not zero and too small."""
    return np.array([[drawable(x) for x in row] for row in rows], dtype=np.float64)


def drawable(x: Fraction | int) -> float:
    """The nearest float; OverflowError outside 1e-100 to 1e100. (Below 1e-100 times that is zero: rounding dust.)"""
    value = float(x)
    if abs(value) > LARGEST:
        raise OverflowError("too large to draw")
    return value if abs(value) >= SMALLEST else 0.0


def _gate(neuron: ExactNeuron, patterns: PatternSet, gated: bool) -> tuple[Fraction | int, ...]:
    if not gated or neuron.pattern is None:
        return neuron.w
    wanted = np.packbits(np.array([c == "1" for c in neuron.pattern]))
    found = np.flatnonzero((patterns.bits() == wanted).all(axis=1))
    return patterns.witness(int(found[0]))
