"""What the pictures are drawn from: the exact facts as floats, and the plane or line that the data live in.

Rounding here is for the eye only. Numbers far outside the range of floats make no picture.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from relu_cert.bags import EACH
from relu_cert.data.dataset import Dataset
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import ExactNeuron, Facts

Floats = NDArray[np.float64]
SMALLEST, LARGEST = 1e-100, 1e100
Space = Literal["line", "plane", "none"]


@dataclass(frozen=True)
class View:
    """A network model as floats: f(x) = sum over neurons with gate.x > 0 of slope.x.

    For ReLU gate = w and slope = xi w. For gated ReLU the slope is w and the gate is the listed witness of the
    neuron's pattern. `features` are the d - 1 or d columns that are not the bias. `everywhere`: theta is feasible for
    every direction of a neuron, as it is over all patterns and without delta.
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
    gated: bool = False
    everywhere: bool = True

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
    """The floats of a network; None for direct problems, for numbers too large or small to draw, for gated networks on
    patterns that no gate has, for networks with free terms, which are more than their neurons, and for bags of rows,
    whose data points are no places."""
    problem = facts.problem
    known = problem.source
    if known is None or data is None or problem.free or data.bags is not EACH or data.targets > 1:
        return None
    try:
        neurons = facts.primal.neurons
        d, gated = len(known.Z[0]), problem.kind == "gated"
        gates = [_gate(problem, neuron) for neuron in neurons] if gated else [neuron.w for neuron in neurons]
        if any(gate is None for gate in gates):
            return None
        network = view_of(
            data,
            floats([facts.fit.center])[0],
            floats([gate for gate in gates if gate is not None]).reshape(-1, d),
            floats([[neuron.sign * x for x in neuron.w] for neuron in neurons]).reshape(-1, d),
            gated=gated,
        )
        y, theta = floats([problem.y, facts.dual.theta])
        return replace(network, y=y, theta=theta, lam=drawable(facts.lam), everywhere=problem.model != "cgl")
    except OverflowError:
        return None


def view_of(data: Dataset, fit: Floats, gates: Floats, slopes: Floats, *, gated: bool = False) -> View:
    """A network on its data, without a dual point; OverflowError if a number of these is too large, or not zero and too
    small."""
    Z, y = floats(data.Z).reshape(-1, data.d), floats([data.y])[0]
    named = (data.names, data.target, data.source.bias, gated)
    return View(Z, y, fit, np.zeros(data.n), 0.0, gates, slopes, *named)


def floats(rows: Iterable[Iterable[Fraction | int]]) -> Floats:
    """The rows as floats. OverflowError if a number is too large, or not zero and too small."""
    return np.array([[drawable(x) for x in row] for row in rows], dtype=np.float64)


def drawable(x: Fraction | int) -> float:
    """The nearest float; OverflowError outside 1e-100 to 1e100. (Below 1e-100 times that is zero: rounding dust.)"""
    value = float(x)
    if abs(value) > LARGEST:
        raise OverflowError("too large to draw")
    return value if abs(value) >= SMALLEST else 0.0


def _gate(problem: Problem, neuron: ExactNeuron) -> tuple[Fraction | int, ...] | None:
    """A vector that has the neuron's pattern: its witness, the gate that was given, or none."""
    return None if problem.patterned is None else problem.patterned.gate(neuron.pattern or "")
