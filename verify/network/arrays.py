"""Network files as named arrays of exact numbers: JSON, numpy archives, safetensors; floats are read bit by bit."""

from __future__ import annotations

import ast
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from verify.data import number
from verify.errors import BadData, Rejected
from verify.text import Limits, Vector, describe, within_limits

FLOATS = {"f2": (5, 10), "f4": (8, 23), "f8": (11, 52)}  # bits of the exponent and of the fraction
SAFE = {"F16": "f2", "F32": "f4", "F64": "f8", "I8": "i1", "I16": "i2", "I32": "i4", "I64": "i8", "U8": "u1"}


# What Python's own readers of zip files, literals and JSON raise for bytes that are none.
DAMAGED = (
    *(ValueError, LookupError, TypeError, AttributeError, SyntaxError, RuntimeError, EOFError, OSError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)


@dataclass(frozen=True)
class Array:
    """Numbers in the order of rows."""

    shape: tuple[int, ...]
    entries: Vector


def read_arrays(raw: bytes, kind: str, limits: Limits) -> dict[str, Array] | None:
    """The arrays of a file by their names; None for a kind of file that is not read."""
    reader = READERS.get(kind)
    if reader is None:
        return None
    try:
        return reader(raw, limits)
    except DAMAGED as error:
        raise Rejected("network file", f"arrays of numbers as {kind}", describe(str(error))) from None


def read_npz(raw: bytes, limits: Limits) -> dict[str, Array]:
    """A zip file of .npy members."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > limits.size:
            raise BadData("network file", f"at most {limits.size} bytes when unpacked", "more")
        found = {member.filename.removesuffix(".npy"): read_npy(archive.read(member)) for member in members}
    if len(found) < len(members):
        raise Rejected("network file", "each array once", "an array twice")
    return found


def read_npy(raw: bytes) -> Array:
    """A header, which is the text of a dictionary, and the numbers."""
    if raw[:6] != b"\x93NUMPY" or raw[6] not in (1, 2, 3):
        raise ValueError("not an .npy member")
    start = 10 if raw[6] == 1 else 12
    end = start + int.from_bytes(raw[8:start], "little")
    header = ast.literal_eval(raw[start:end].decode("latin-1").strip())
    shape, descr = tuple(map(int, header["shape"])), header["descr"]
    order = "big" if descr[0] == ">" else "little"
    entries = decoded(raw[end:], descr[1:], prod(shape), order)
    if header["fortran_order"] and len(shape) == 2:
        rows, columns = shape
        entries = tuple(entries[i + rows * j] for i in range(rows) for j in range(columns))
    return Array(shape, entries)


def read_safetensors(raw: bytes, limits: Limits) -> dict[str, Array]:
    """The length of a header, the header, which is JSON, and the numbers."""
    end = 8 + int.from_bytes(raw[:8], "little")
    within_limits(raw[8:end], limits, lambda expected, found: BadData("network file", expected, found))
    found = {}
    for name, entry in json.loads(raw[8:end], object_pairs_hook=once).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            shape = tuple(map(int, entry["shape"]))
            found[name] = Array(
                shape, decoded(raw[end + first : end + last], SAFE[entry["dtype"]], prod(shape), "little")
            )
    return found


def decoded(raw: bytes, kind: str, count: int, order: Any) -> Vector:
    """So many numbers of one kind: f and i or u with their size in bytes."""
    size = int(kind[1:])
    if kind[0] not in "fiu" or len(raw) != size * count:
        raise ValueError(f"{count} numbers of kind {kind} in {len(raw)} bytes")
    words = [int.from_bytes(raw[k : k + size], order) for k in range(0, len(raw), size)]
    if kind[0] == "f":
        return tuple(from_bits(word, *FLOATS[kind]) for word in words)
    top = 1 << (8 * size - 1)
    return tuple(Fraction(word - 2 * top if kind[0] == "i" and word >= top else word) for word in words)


def from_bits(word: int, exponent_bits: int, fraction_bits: int) -> Fraction:
    """An IEEE 754 number: (-1)^s 2^(e - bias) 1.f, subnormals 2^(1 - bias) 0.f."""
    f = word & ((1 << fraction_bits) - 1)
    e = word >> fraction_bits & ((1 << exponent_bits) - 1)
    if e == (1 << exponent_bits) - 1:
        raise ValueError("a number that is not finite")
    bias = (1 << (exponent_bits - 1)) - 1 + fraction_bits
    size = Fraction(f + (1 << fraction_bits) if e else f) * Fraction(2) ** (max(e, 1) - bias)
    return -size if word >> (exponent_bits + fraction_bits) else size


class Real(str):
    """A JSON number with a fraction or an exponent, as it was written."""


class Whole(str):
    """A JSON integer, as it was written."""


def read_json(raw: bytes, limits: Limits) -> dict[str, Array]:
    """W1, w2 and perhaps b1, b2: integers and strings are exact, other numbers are the nearest doubles."""
    within_limits(raw, limits, lambda expected, found: BadData("network file", expected, found))
    top = json.loads(raw.decode("utf-8-sig"), parse_int=Whole, parse_float=Real, object_pairs_hook=once)
    return {name: nested(top[name]) for name in ("W1", "b1", "w2", "b2") if top.get(name) is not None}


def nested(value: Any) -> Array:
    """A number, an array of numbers or an array of rows."""
    if not isinstance(value, list):
        exact = "binary64" if isinstance(value, Real) else "decimal"
        if not isinstance(value, str):
            raise TypeError("a number is a JSON number or a string")
        return Array((), (number(value.strip(), exact, "network file"),))
    parts = [nested(entry) for entry in value]
    inner = {part.shape for part in parts}
    if len(inner) > 1:
        raise ValueError("rows of different lengths")
    return Array((len(parts), *(inner.pop() if inner else ())), tuple(x for part in parts for x in part.entries))


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without a key twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


READERS: dict[str, Callable[[bytes, Limits], dict[str, Array]]] = {
    "npz": read_npz,
    "safetensors": read_safetensors,
    "json": read_json,
}
