"""Networks as JSON, exactly.

    {"format": "relu_cert network", "version": 1, "W1": [[...], ...], "b1": [...], "w2": [...], "b2": 0,
     "skip": [...], "slope": 0}

`b1`, `b2`, `skip` and `slope`, s of the activation max(t, s t), may be left out, and so may `format` and `version`.
With several outputs `w2` has a row for each of them, and `b2` a number; there is no `skip` then. A
number is a JSON integer; a JSON float, which is the nearest double (0.1 is 3602879701896397/36028797018963968, as for
every other reader of JSON); or a string, which is exact: "1/10", "0.1".
"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from relu_cert.data.dataset import NumberError, parse_number
from relu_cert.data.raw import decode
from relu_cert.errors import DataError, quote
from relu_cert.network.formats.arrays import Array, assemble
from relu_cert.network.trained import Origin, TrainedNetwork

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
