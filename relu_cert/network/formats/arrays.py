"""From arrays of floats to exact weights, and back. Every refusal of a shape or a number is worded here."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relu_cert.errors import DataError, UsageError
from relu_cert.exact import Vector
from relu_cert.network.trained import Origin, TrainedNetwork

Array = NDArray[Any]
Floats = NDArray[np.float64]


class Weights(NamedTuple):
    """The nearest doubles to a network's weights: W1 (m x d), b1 (m), w2 (m; several outputs: C x m), b2 (C) and a skip
    connection (d), and to the slope of its activation."""

    W1: Floats
    b1: Floats | None
    w2: Floats
    b2: Floats
    skip: Floats | None = None
    slope: float = 0.0

    def require_relu(self, what: str) -> Weights:
        """The weights themselves; UsageError where the file could not say their activation."""
        if self.slope:
            raise UsageError(f"{what} does not name the slope of an activation; write the network as .json or .npz.")
        return self


def optional(module: str, extra: str, what: str) -> Any:
    """A package that only one format needs."""
    try:
        return import_module(module)
    except ImportError:
        raise UsageError(f"{what} needs the package {module.partition('.')[0]}; install relu_cert[{extra}].") from None


def assemble(
    name: str,
    origin: Origin,
    W1: Array,
    w2: Array,
    b1: Array | None,
    b2: Array | None,
    skip: Array | None = None,
    slope: Array | None = None,
) -> TrainedNetwork:
    """The network of arrays W1 (m x d), w2 (m, or C x m), b1 (m), b2 (C numbers), skip (d) and slope, exactly."""
    if W1.ndim != 2 or 0 in W1.shape:
        raise DataError(f"{name}: W1 has shape {W1.shape}; expected neurons x inputs.")
    m, d = W1.shape
    C = w2.shape[0] if w2.ndim == 2 and w2.shape[1] == m else 1
    if w2.ndim not in (1, 2) or w2.size != m * C:
        turned = " (W1 seems to be transposed)" if w2.size == d else ""
        raise DataError(
            f"{name}: W1 has shape {W1.shape} and w2 has shape {w2.shape}; expected one entry of w2 for each of the "
            f"{m} rows of W1, with several outputs a row of these for each{turned}."
        )
    if b1 is not None and b1.size != m:
        raise DataError(f"{name}: b1 has shape {b1.shape}; expected one entry for each of the {m} rows of W1.")
    if b2 is not None and b2.size != C:
        each = "one number, for one output" if C == 1 else f"one number for each of the {C} outputs"
        raise DataError(f"{name}: b2 has shape {b2.shape}; expected {each}.")
    if skip is not None and C > 1:
        raise DataError(f"{name}: a skip connection beside {C} outputs is not understood; expected one output.")
    if skip is not None and skip.size != d:
        raise DataError(f"{name}: skip has shape {skip.shape}; expected one entry for each of the {d} columns of W1.")
    if slope is not None and slope.size != 1:
        raise DataError(f"{name}: slope has shape {slope.shape}; expected one number.")
    constants = (Fraction(0),) * C if b2 is None else exact(b2.reshape(-1), name, "b2")
    return TrainedNetwork(
        W1=tuple(exact(row, name, f"W1[{i}]") for i, row in enumerate(W1)),
        w2=exact((w2.T if C > 1 else w2).reshape(-1), name, "w2"),
        b1=None if b1 is None else exact(b1.reshape(-1), name, "b1"),
        b2=constants[0] if C == 1 else Fraction(0),
        origin=origin,
        skip=() if skip is None else exact(skip.reshape(-1), name, "skip"),
        slope=None if slope is None else exact(slope.reshape(-1), name, "slope")[0],
        targets=C,
        constants=constants if C > 1 else (),
    )


def exact(array: Array, name: str, place: str) -> Vector:
    """The entries of a vector of floats or integers as exact rationals; NaN and infinity are refused."""
    if array.dtype == object:
        return tuple(_fraction(entry, name, place) for entry in array)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise DataError(f"{name}: {place} holds numbers of type {array.dtype}; expected floats of 16, 32 or 64 bits.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        j = int(np.flatnonzero(~np.isfinite(array))[0])
        raise DataError(
            f"{name}: {place}[{j}] is {float(array[j])}; weights must be finite (did the training diverge?)."
        )
    return tuple(Fraction(entry) for entry in array.tolist())


def _fraction(entry: object, name: str, place: str) -> Fraction:
    if not isinstance(entry, Fraction):
        raise DataError(f"{name}: {place} holds {type(entry).__name__}; expected numbers.")
    return entry


def weights(network: TrainedNetwork, name: str) -> Weights:
    """The nearest doubles (they are the weights themselves where those are doubles)."""
    return Weights(
        np.array([_doubles(row, name) for row in network.W1]),
        None if network.b1 is None else np.array(_doubles(network.b1, name)),
        np.array(_doubles(network.w2, name))
        if network.targets == 1
        else np.array([_doubles(row, name) for row in zip(*network.V, strict=True)]),
        np.array(_doubles(network.offsets, name)),
        np.array(_doubles(network.skip, name)) if any(network.skip) else None,
        _doubles((network.slope or Fraction(0),), name)[0],
    )


def rounded(network: TrainedNetwork, name: str = "the network") -> TrainedNetwork:
    """The network whose weights are the nearest doubles: what a file of floats holds."""
    W1, b1, w2, b2, skip, slope = weights(network, name)
    bent = None if network.slope is None else np.array(slope)
    return assemble(name, network.origin, W1, w2, b1, b2, skip, bent)


def _doubles(entries: Sequence[Fraction], name: str) -> list[float]:
    try:
        return [x.numerator / x.denominator for x in entries]  # correctly rounded, whatever the size
    except OverflowError:
        raise DataError(f"{name}: a weight is too large for a double; write JSON, which is exact.") from None
