"""Instances as text: exact numbers as strings, dataclasses of this package by name. What was written replays.

>>> from fractions import Fraction
>>> decode_text(encode_text((Fraction(1, 2), True, 3, "a")))
(Fraction(1, 2), True, 3, 'a')
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

from relu_cert.errors import DataError


def encode(value: Any) -> Any:
    """A JSON value for an instance: tuples become lists, Fractions {"q": "p/q"}, dataclasses {"type", fields}."""
    if isinstance(value, Fraction):
        return {"q": str(value)}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple | list):
        return [encode(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        content = {f.name: encode(getattr(value, f.name)) for f in fields(value)}
        return {"type": f"{kind.__module__}:{kind.__qualname__}", "fields": content}
    raise TypeError(f"an instance holds a {type(value).__name__}, which cannot be stored exactly")


def decode(value: Any) -> Any:
    """The inverse of `encode` (lists come back as tuples). Only dataclasses of `properties` are made."""
    if isinstance(value, list):
        return tuple(decode(v) for v in value)
    if isinstance(value, float):
        raise DataError(f"expected exact numbers, found the float {value!r}")
    if not isinstance(value, dict):
        return value
    if set(value) == {"q"}:
        return _fraction(value["q"])
    if set(value) == {"type", "fields"} and isinstance(value["fields"], dict):
        return _class(str(value["type"]))(**{k: decode(v) for k, v in value["fields"].items()})
    raise DataError(f"expected a number or a named value, found keys {sorted(value)}")


def _fraction(text: Any) -> Fraction:
    try:
        return Fraction(text) if isinstance(text, str) else Fraction("")
    except (ValueError, ZeroDivisionError) as error:
        raise DataError(f"expected a rational number such as '-3/4', found {text!r}") from error


def _class(name: str) -> type:
    module, _, qualname = name.partition(":")
    if not module.startswith("properties."):
        raise DataError(f"the type {name!r} does not belong to properties")
    try:
        found = getattr(import_module(module), qualname, None)
    except ImportError as error:
        raise DataError(f"the type {name!r} is unknown") from error
    if not isinstance(found, type) or not is_dataclass(found):
        raise DataError(f"the type {name!r} is unknown")
    return found


def encode_text(value: Any) -> str:
    """One line of JSON."""
    return json.dumps(encode(value), sort_keys=True, separators=(",", ":"))


def decode_text(text: str) -> Any:
    """The instance that `encode_text` wrote."""
    return decode(json.loads(text))
