"""The network that was found, ready to predict: exact weights, with floats for speed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.data.arrays import exact_matrix
from relu_cert.data.dataset import Architecture, Dataset, Source
from relu_cert.errors import DataError, UsageError
from relu_cert.exact import Matrix, Vector, dot, norm_squared
from relu_cert.free import Free, free_parts
from relu_cert.network.formats import write_network
from relu_cert.network.objective import balanced_outputs, network_of
from relu_cert.network.trained import TrainedNetwork, open_gates
from relu_cert.prove.facts import ExactNeuron, Facts

Floats = NDArray[np.float64]
_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, repr=False)
class FittedNetwork:
    """A two-layer network with exact weights.

    ReLU:   f(x) = sum_i xi_i (w_i.x)_+                  `gates` is None
    gated:  f(x) = sum_i 1(g_i.x >= 0) w_i.x             `gates` are the witnesses g_i of the neurons' patterns

    `features` is the number of inputs without the 1 of a bias. What is not penalised (`free`) adds the constant b2 and
    skip.x. By the `architecture` data points are windows of signals or images, or sets of rows, and the outputs at
    these are pooled; and (t)_+ is max(t, s t).
    """

    neurons: tuple[ExactNeuron, ...]
    gates: Matrix | None
    features: int
    architecture: Architecture
    free: Free = ()
    b2: Fraction = _ZERO
    skip: Vector = ()

    def __repr__(self) -> str:
        kind = f"{'gated ' * (self.gates is not None)}{self.architecture.activation}"
        kind = f"convolutional {kind}" if self.architecture.conv else kind
        inputs = f"{self.features} features{' and a bias' * self.bias}"
        return f"<FittedNetwork: {kind}, width {self.width}, {inputs}>"

    @property
    def bias(self) -> bool:
        """Whether a 1 is appended to inputs."""
        return self.architecture.bias

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

    @property
    def second(self) -> tuple[Floats, Floats]:
        """The second layer, neurons x outputs, and its constants."""
        return self.w2[:, None], np.array([float(self.b2)])

    def exact(self) -> TrainedNetwork:
        """The balanced ReLU network, every weight a rational; its inputs include the bias column."""
        if self.gates is not None:
            raise UsageError("a gated network is not a ReLU network: it has gates; use neurons and gates.")
        found = network_of(self.neurons, self._inputs, self.free, self.b2, self.skip)
        return replace(found, slope=self.architecture.s or None)

    def predict(self, X: Any) -> Floats:
        """f(x) for every row of X, in floats; gates are decided by the numbers as they are given ("0.1" is 1/10). For
        filters X has the signals or images, as `certify` takes them, and for sets a list of tables."""
        if self.architecture.pool:
            alone = replace(self, architecture=replace(self.architecture, pool=""), b2=_ZERO)
            pooled = np.mean if self.architecture.pool == "mean" else np.sum
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
            return np.asarray(start + self.architecture.bent(heights) @ signs, dtype=np.float64)

        def exact(k: int) -> Vector:
            (row,) = exact_matrix(np.asarray(X, dtype=object)[k : k + 1], "X")
            return (*row, _ONE) if self.bias else row

        return np.asarray((heights * open_gates(inputs, self.gates, exact)).sum(axis=1), dtype=np.float64)

    def predict_exactly(self, X: Any) -> Vector:
        """f(x) for every row of X, exactly; X is taken as `certify` takes its data."""
        if self.architecture.pool:
            alone = replace(self, architecture=replace(self.architecture, pool=""), b2=_ZERO)
            parts = [alone.predict_exactly(self._members(one, object)) for one in self._points(X)]
            sums = (sum(part, _ZERO) / (len(part) if self.architecture.pool == "mean" else 1) for part in parts)
            return tuple(self.b2 + total for total in sums)
        rows = [(*row, _ONE) if self.bias else row for row in exact_matrix(X, "X")]
        if any(len(row) != self._inputs for row in rows):
            raise DataError(f"X has {len(rows[0]) - self.bias} columns; expected {self.features}.")
        return tuple(self._value(row) for row in rows)

    def score(self, X: Any, y: Any) -> float:
        """R^2, as scikit-learn has it: 1 - |f(X) - y|^2 / |y - mean|^2."""
        return _r_squared(self.predict(X), np.asarray(y, dtype=np.float64))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ReLU network as .npz, .json, .safetensors, .onnx or .pt; its inputs include the bias column."""
        if self.architecture.pool:
            raise UsageError("networks over windows or sets are not written; their weights are W1 and w2.")
        write_network(self.exact(), path)

    def _points(self, X: Any) -> Sequence[Any]:
        """The signals, images or sets, one by one."""
        if self.architecture.windows is None:
            return list(X)
        images = np.asarray(X)
        return list(images.reshape(len(images), 1, -1))

    def _members(self, one: Any, kind: type) -> Any:
        """The windows of a signal or image, or the rows of a set."""
        rows: NDArray[Any] = np.array(exact_matrix(one, "X"), dtype=kind)
        return rows if self.architecture.windows is None else self.architecture.windows.of(rows, 0)[0]

    @property
    def _inputs(self) -> int:
        return self.features + self.bias

    def _value(self, x: Vector) -> Fraction:
        if self.gates is None:
            start = self.b2 + (dot(self.skip, x) if self.skip else _ZERO)
            heights = [dot(n.w, x) for n in self.neurons]
            return sum((n.sign * self.architecture.bent(h) for n, h in zip(self.neurons, heights, strict=True)), start)
        pairs = zip(self.neurons, self.gates, strict=True)
        return sum((dot(n.w, x) for n, g in pairs if dot(g, x) >= 0), _ZERO)


@dataclass(frozen=True, repr=False, kw_only=True)
class FittedOutputs(FittedNetwork):
    """The same with several outputs: f(x) = means + sum_j (w_j.x)_+ v_j, with what is not penalised `constants` and
    `linear`.x more; `labels` of classes, each with an output."""

    means: Vector
    constants: Vector
    linear: Matrix
    labels: tuple[str, ...] | None

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, {len(self.means)} outputs>"

    @property
    def W1(self) -> Floats:
        """First-layer weights, a row for each neuron, the bias in the last column; balanced: |W1_j| = |W2_j|."""
        return _floats([n.w for n in self.neurons], self._inputs) / self._balance

    @property
    def W2(self) -> Floats:
        """Second-layer weights, a row for each neuron."""
        return _floats([n.v for n in self.neurons], len(self.means)) * self._balance

    @property
    def w2(self) -> Floats:
        """The second-layer weights of the only output: there is none."""
        raise UsageError("a network with several outputs has W2.")

    @property
    def second(self) -> tuple[Floats, Floats]:
        """The second layer, neurons x outputs, and its constants, the means included."""
        return self.W2, np.array([float(a + b) for a, b in zip(self.means, self.constants, strict=True)])

    def exact(self) -> TrainedNetwork:
        """The same function, every weight a rational, balanced to 53 bits; its inputs include the bias column, and its
        output biases the means."""
        if self.linear:
            raise UsageError("a network with several outputs and a skip connection is not written.")
        constants = tuple(a + b for a, b in zip_longest(self.means, self.constants, fillvalue=_ZERO))
        found = balanced_outputs(self.neurons, self._inputs, constants, len(constants))
        return replace(found, slope=self.architecture.s or None)

    def outputs(self, X: Any) -> Floats:
        """f(x) for every row of X, or signal, image or set, in floats, the means included."""
        if self.architecture.pool:
            pooled = np.mean if self.architecture.pool == "mean" else np.sum
            parts = [pooled(self._neurons(self._members(one, float)), axis=0) for one in self._points(X)]
            found = np.array(parts).reshape(len(parts), len(self.means))
        else:
            found = self._neurons(np.asarray(X, dtype=np.float64))
        found += self.second[1]
        return found

    def _neurons(self, rows: Floats) -> Floats:
        """The neurons and the skip connection at every row."""
        if rows.ndim != 2 or rows.shape[1] != self.features:
            raise DataError(f"X has shape {rows.shape}; expected rows of {self.features} features.")
        inputs = np.hstack([rows, np.ones((len(rows), 1))]) if self.bias else rows
        C = len(self.means)
        first, second = (_floats([part(n) for n in self.neurons], k) for part, k in ((_w, self._inputs), (_v, C)))
        heights = inputs @ first.T
        found: Floats = self.architecture.bent(heights) @ second
        if self.linear:
            found += inputs @ _floats(self.linear, self._inputs).T
        return found

    def exact_outputs(self, X: Any) -> Matrix:
        """f(x) for every row of X, exactly."""
        points = [self._members(one, object) for one in self._points(X)] if self.architecture.pool else [[x] for x in X]
        return tuple(self._exact(exact_matrix(rows, "X")) for rows in points)

    def _exact(self, rows: Matrix) -> Vector:
        """f at a data point that has these rows."""
        total = [_ZERO] * len(self.means)
        for x in rows:
            z = (*x, _ONE) if self.bias else x
            for neuron in self.neurons:
                height = self.architecture.bent(dot(neuron.w, z))
                total = [a + height * b for a, b in zip(total, neuron.v, strict=True)]
            if self.linear:
                total = [a + dot(s, z) for a, s in zip(total, self.linear, strict=True)]
        scale = Fraction(1, len(rows) if self.architecture.pool == "mean" else 1)
        parts = zip(self.means, self.constants, total, strict=True)
        return tuple(mean + constant + scale * x for mean, constant, x in parts)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the largest output for every row of X; the outputs themselves where there are no classes."""
        found = self.outputs(X)
        return found if self.labels is None else np.array(self.labels)[found.argmax(axis=1)]

    def predict_exactly(self, X: Any) -> Vector:
        """The outputs of one output only."""
        raise UsageError("a network with several outputs has exact_outputs.")

    def score(self, X: Any, y: Any) -> float:
        """The part of rows that are put into their class; without classes R^2, the mean over the outputs."""
        found = self.predict(X)
        if self.labels is None:
            Y = np.asarray(y, dtype=np.float64)
            return float(np.mean([_r_squared(found[:, c], Y[:, c]) for c in range(Y.shape[1])]))
        return float(np.mean(found == np.array([str(label).strip() for label in y])))

    @property
    def _balance(self) -> Floats:
        """(|w| / |v|)^(1/2) for every neuron."""
        sizes = [float(norm_squared(n.w) / norm_squared(n.v)) ** 0.25 for n in self.neurons]
        return np.array(sizes).reshape(-1, 1)


def _w(neuron: ExactNeuron) -> Vector:
    return neuron.w


def _v(neuron: ExactNeuron) -> Vector:
    return neuron.v


def _r_squared(found: Floats, y: Floats) -> float:
    away, all_ = float(((y - found) ** 2).sum()), float(((y - y.mean()) ** 2).sum())
    return 1.0 - away / all_ if all_ else float(away == 0.0)


def fitted_outputs(facts: Facts, data: Dataset) -> FittedOutputs:
    """The network with several outputs that the facts speak of."""
    one, C = fitted_network(facts, data.source), data.targets
    free = [free_parts(facts.problem, facts.primal.free[c::C]) for c in range(C)]
    linear = tuple(skip for _, skip in free) if "skip" in facts.problem.free else ()
    given = {field.name: getattr(one, field.name) for field in fields(one)} | {"b2": _ZERO, "skip": ()}
    constants = tuple(b for b, _ in free)
    return FittedOutputs(**given, means=data.means, constants=constants, linear=linear, labels=data.source.labels)


def fitted_network(facts: Facts, source: Source) -> FittedNetwork:
    """The network that the facts speak of, on data of that source."""
    problem = facts.problem
    known = problem.source
    if known is None:
        raise UsageError("a problem that was given directly has no network.")
    gates = _gates(facts) if problem.kind == "gated" else None
    b2, skip = free_parts(problem, facts.primal.free if problem.targets == 1 else ())
    features = len(known.Z[0]) - source.bias
    return FittedNetwork(facts.primal.neurons, gates, features, source.architecture, problem.free, b2, skip)


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
