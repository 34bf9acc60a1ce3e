"""Networks as JSON, exactly.

    {"format": "relu_cert network", "version": 1, "W1": [[...], ...], "b1": [...], "w2": [...], "b2": 0,
     "skip": [...], "slope": 0}

`b1`, `b2`, `skip` and `slope`, s of the activation max(t, s t), may be left out, and so may `format` and `version`.
With several outputs `w2` has a row for each of them, and `b2` a number; there is no `skip` then. A
number is a JSON integer; a JSON float, which is the nearest double (0.1 is 3602879701896397/36028797018963968, as for
every other reader of JSON); or a string, which is exact: "1/10", "0.1".

From arrays of floats to exact weights, and back. Every refusal of a shape or a number is worded here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from relu_cert.data.dataset import NumberError, parse_number
from relu_cert.data.raw import decode
from relu_cert.errors import DataError, UsageError, quote
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


FORMAT, VERSION = "relu_cert network", 1
_KEYS = ("format", "version", "W1", "b1", "w2", "b2", "skip", "slope")


def read(raw: bytes, name: str, origin: Origin) -> TrainedNetwork:
    """The network of a JSON text."""
    try:
        top = json.loads(decode(raw, name), object_pairs_hook=_object, parse_constant=_no_constant)
    except _Refused as error:
        raise DataError(f"{name}: {error}.") from None
    except json.JSONDecodeError as error:
        raise DataError(f"{name}, line {error.lineno}, column {error.colno}: not JSON ({error.msg}).") from None
    except DataError:
        raise
    except (RecursionError, ValueError):
        raise DataError(f"{name}: nested too deeply, or a number of too many digits; expected a network.") from None
    try:
        return _network(top, name, origin)
    except _Refused as error:
        raise DataError(f"{name}: {error}.") from None


def write(network: TrainedNetwork, name: str) -> bytes:
    """The JSON text; doubles as JSON numbers, other rationals as strings."""
    del name
    content: dict[str, Any] = {"format": FORMAT, "version": VERSION, "W1": [_written(row) for row in network.W1]}
    if network.b1 is not None:
        content["b1"] = _written(network.b1)
    one = network.targets == 1
    content["w2"] = _written(network.w2) if one else [_written(row) for row in zip(*network.V, strict=True)]
    if any(network.offsets):
        content["b2"] = _written(network.offsets)[0] if one else _written(network.offsets)
    if any(network.skip):
        content["skip"] = _written(network.skip)
    if network.slope is not None:
        content["slope"] = _written((network.slope,))[0]
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii")


class _Refused(Exception):
    """Why the text is not a network, as a sentence without its end."""


def _network(top: object, name: str, origin: Origin) -> TrainedNetwork:
    if not isinstance(top, dict):
        raise _Refused("expected an object with the keys W1 and w2")
    for key in top:
        if key not in _KEYS:
            raise _Refused(f"unknown key {quote(key)}; the keys are {', '.join(_KEYS)}")
    for key, expected in (("format", FORMAT), ("version", VERSION)):
        if top.get(key, expected) != expected or isinstance(top.get(key), bool):
            raise _Refused(f"{key} is {quote(str(top[key]))}; expected {expected!r}")
    for key in ("W1", "w2"):
        if key not in top:
            raise _Refused(f"the key {key} is missing; expected W1, w2 and perhaps b1, b2")
    rows = [_vector(f"W1[{i}]", row) for i, row in enumerate(_list("W1", top["W1"]))]
    if any(len(row) != len(rows[0]) for row in rows):
        raise _Refused("the rows of W1 have different lengths; expected neurons x inputs")
    W1 = np.array(rows, dtype=object).reshape(len(rows), len(rows[0]) if rows else 0)
    w2 = _second(top["w2"])
    b1 = _array(_vector("b1", top["b1"])) if top.get("b1") is not None else None
    b2 = _array(_vector("b2", top["b2"] if isinstance(top["b2"], list) else [top["b2"]])) if "b2" in top else None
    skip = _array(_vector("skip", top["skip"])) if top.get("skip") is not None else None
    slope = _array([_number("slope", top["slope"])]) if top.get("slope") is not None else None
    return assemble(name, origin, W1, w2, b1, b2, skip, slope)


def _second(value: object) -> Array:
    """w2: numbers, or a row of these for each output."""
    if not (isinstance(value, list) and value and isinstance(value[0], list)):
        return _array(_vector("w2", value))
    rows = [_vector(f"w2[{c}]", row) for c, row in enumerate(value)]
    if any(len(row) != len(rows[0]) for row in rows):
        raise _Refused("the rows of w2 have different lengths; expected outputs x neurons")
    return np.array(rows, dtype=object).reshape(len(rows), len(rows[0]))


def _array(entries: list[Fraction]) -> Array:
    return np.array(entries, dtype=object)


def _vector(place: str, value: object) -> list[Fraction]:
    return [_number(f"{place}[{j}]", entry) for j, entry in enumerate(_list(place, value))]


def _number(place: str, value: object) -> Fraction:
    match value:
        case bool() | None:
            raise _Refused(f"{place} is {json.dumps(value)}; expected a number")
        case int():
            return Fraction(value)
        case float():
            if value in (float("inf"), float("-inf")):
                raise _Refused(f"{place} is too large for a double; write it as a string")
            return Fraction(value)
        case str():
            try:
                return parse_number(value)
            except NumberError as error:
                raise _Refused(f"{place}: found {quote(value)}, {error}") from None
        case _:
            raise _Refused(f"{place} is an array or an object; expected a number")


def _list(place: str, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise _Refused(f"{place}: expected an array of numbers, found {quote(str(value))}")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Refused("a key is given twice; keep one")
    return found


def _no_constant(text: str) -> NoReturn:
    raise _Refused(f"found {text}; weights must be finite (did the training diverge?)")


def _written(entries: tuple[Fraction, ...]) -> list[int | float | str]:
    return [_entry(x) for x in entries]


def _entry(x: Fraction) -> int | float | str:
    """A JSON number where a double is exactly x, else a string."""
    try:
        nearest = x.numerator / x.denominator
    except OverflowError:
        nearest = 0.0
    if Fraction(nearest) == x:
        return nearest
    return f"{Decimal(x.numerator):f}" + ("" if x.denominator == 1 else f"/{Decimal(x.denominator):f}")
