"""The network that was found, ready to predict: exact weights, with floats for speed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.data.arrays import exact_matrix
from relu_cert.data.dataset import Source
from relu_cert.data.windows import Windows, read_windows
from relu_cert.errors import DataError, UsageError
from relu_cert.exact import Matrix, Vector, dot
from relu_cert.free.terms import Free, free_parts
from relu_cert.network.formats import write_network
from relu_cert.network.gates import open_gates
from relu_cert.network.objective import network_of
from relu_cert.network.trained import TrainedNetwork
from relu_cert.prove.facts import ExactNeuron, Facts

Floats = NDArray[np.float64]
_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, repr=False)
class FittedNetwork:
    """A two-layer network with exact weights.

    ReLU:   f(x) = sum_i xi_i (w_i.x)_+                  `gates` is None
    gated:  f(x) = sum_i 1(g_i.x >= 0) w_i.x             `gates` are the witnesses g_i of the neurons' patterns

    With `bias`, x has a 1 appended. `features` is the number of inputs without it. What is not penalised (`free`) adds
    the constant b2 and skip.x. With a `pool` ("mean" or "sum") data points are the windows of signals or images, by the
    rule `conv`, or sets of rows, and the outputs at these are pooled. `slope`: (t)_+ is max(t, slope t).
    """

    neurons: tuple[ExactNeuron, ...]
    gates: Matrix | None
    features: int
    bias: bool
    free: Free = ()
    b2: Fraction = _ZERO
    skip: Vector = ()
    conv: Windows | None = None
    pool: str = ""
    slope: Fraction = _ZERO

    def __repr__(self) -> str:
        kind = "ReLU" if self.gates is None else "gated ReLU"
        kind = f"leaky ReLU (slope {self.slope})" if self.slope else kind
        kind = f"convolutional {kind}" if self.conv is not None else kind
        inputs = f"{self.features} features{' and a bias' * self.bias}"
        return f"<FittedNetwork: {kind}, width {self.width}, {inputs}>"

    @property
    def width(self) -> int:
        """The number of neurons."""
        return len(self.neurons)

    @property
    def W1(self) -> Floats:
        """First-layer weights, a row for each neuron, the bias in the last column; balanced: |W1_i| = |w2_i|."""
        return _floats(self.exact().W1, self._inputs) if self.neurons else np.zeros((0, self._inputs))

    @property
    def w2(self) -> Floats:
        """Second-layer weights."""
        return np.array([float(x) for x in self.exact().w2]) if self.neurons else np.zeros(0)

    def exact(self) -> TrainedNetwork:
        """The balanced ReLU network, every weight a rational; its inputs include the bias column."""
        if self.gates is not None:
            raise UsageError("a gated network is not a ReLU network: it has gates; use neurons and gates.")
        found = network_of(self.neurons, self._inputs, self.free, self.b2, self.skip)
        return replace(found, slope=self.slope or None)

    def predict(self, X: Any) -> Floats:
        """f(x) for every row of X, in floats; gates are decided by the numbers as they are given ("0.1" is 1/10). For
        filters X has the signals or images, as `certify` takes them, and for sets a list of tables."""
        if self.pool:
            alone = replace(self, pool="", b2=_ZERO)
            pooled = np.mean if self.pool == "mean" else np.sum
            parts = (self._members(one, float) for one in self._points(X))
            return np.array([float(self.b2) + float(pooled(alone.predict(rows))) for rows in parts])
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.features:
            raise DataError(f"X has shape {rows.shape}; expected rows of {self.features} features.")
        inputs = np.hstack([rows, np.ones((len(rows), 1))]) if self.bias else rows
        start = np.full(len(rows), float(self.b2))
        if self.skip:
            start += inputs @ np.array([float(x) for x in self.skip])
        if not self.neurons:
            return start
        slopes = _floats([neuron.w for neuron in self.neurons], self._inputs)
        heights: Floats = inputs @ slopes.T
        if self.gates is None:
            signs = np.array([float(neuron.sign) for neuron in self.neurons])
            return np.asarray(start + np.maximum(heights, float(self.slope) * heights) @ signs, dtype=np.float64)

        def exact(k: int) -> Vector:
            (row,) = exact_matrix(np.asarray(X, dtype=object)[k : k + 1], "X")
            return (*row, _ONE) if self.bias else row

        return np.asarray((heights * open_gates(inputs, self.gates, exact)).sum(axis=1), dtype=np.float64)

    def predict_exactly(self, X: Any) -> Vector:
        """f(x) for every row of X, exactly; X is taken as `certify` takes its data."""
        if self.pool:
            alone = replace(self, pool="", b2=_ZERO)
            parts = [alone.predict_exactly(self._members(one, object)) for one in self._points(X)]
            sums = (sum(part, _ZERO) / (len(part) if self.pool == "mean" else 1) for part in parts)
            return tuple(self.b2 + total for total in sums)
        rows = [(*row, _ONE) if self.bias else row for row in exact_matrix(X, "X")]
        if any(len(row) != self._inputs for row in rows):
            raise DataError(f"X has {len(rows[0]) - self.bias} columns; expected {self.features}.")
        return tuple(self._value(row) for row in rows)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ReLU network as .npz, .json, .safetensors, .onnx or .pt; its inputs include the bias column."""
        if self.pool:
            raise UsageError("networks over windows or sets are not written; their weights are W1 and w2.")
        write_network(self.exact(), path)

    def _points(self, X: Any) -> Sequence[Any]:
        """The signals, images or sets, one by one."""
        if self.conv is None:
            return list(X)
        images = np.asarray(X)
        return list(images.reshape(len(images), 1, -1))

    def _members(self, one: Any, kind: type) -> Any:
        """The windows of a signal or image, or the rows of a set."""
        rows: NDArray[Any] = np.array(exact_matrix(one, "X"), dtype=kind)
        return rows if self.conv is None else self.conv.of(rows, 0)[0]

    @property
    def _inputs(self) -> int:
        return self.features + self.bias

    def _value(self, x: Vector) -> Fraction:
        if self.gates is None:
            start = self.b2 + (dot(self.skip, x) if self.skip else _ZERO)
            heights = [dot(n.w, x) for n in self.neurons]
            return sum((n.sign * max(h, self.slope * h) for n, h in zip(self.neurons, heights, strict=True)), start)
        pairs = zip(self.neurons, self.gates, strict=True)
        return sum((dot(n.w, x) for n, g in pairs if dot(g, x) >= 0), _ZERO)


def fitted_network(facts: Facts, source: Source) -> FittedNetwork:
    """The network that the facts speak of, on data of that source."""
    bias = source.bias
    problem = facts.problem
    known = problem.source
    if known is None:
        raise UsageError("a problem that was given directly has no network.")
    gates = _gates(facts) if problem.kind == "gated" else None
    b2, skip = free_parts(problem, facts.primal.free)
    conv = read_windows(source.conv) if source.conv else None
    features, free = len(known.Z[0]) - bias, (problem.free, b2, skip)
    return FittedNetwork(
        facts.primal.neurons, gates, features, bias, *free, conv, source.pool, Fraction(source.slope or 0)
    )


def _gates(facts: Facts) -> Matrix:
    """A gate for every neuron: the witness of its pattern, or the gate that was drawn or given."""
    patterned = facts.problem.patterned
    patterns = [neuron.pattern or "" for neuron in facts.primal.neurons]
    found = [None if patterned is None else patterned.gate(one) for one in patterns]
    for pattern, gate in zip(patterns, found, strict=True):
        if gate is None:
            raise UsageError(f"the pattern {pattern} was given without a gate, so the network cannot predict.")
    return tuple(gate for gate in found if gate is not None)


def _floats(rows: Any, width: int) -> Floats:
    return np.array([[float(x) for x in row] for row in rows], dtype=np.float64).reshape(-1, width)
