"""The file of a network, given again: hashed, read again and compared, weight by weight. JSON and numpy archives only.

What cannot be read is never compared by its hash alone: the certificate states the hash, but what is proved is about
its weights, and only these can be compared with the file's.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from math import prod
from typing import Any

from verify.errors import BadData, Rejected, Usage
from verify.facts import NETWORK, SOLUTION, Facts
from verify.network.check import Network
from verify.problem.data import number
from verify.problem.input import Input
from verify.text import Limits, Matrix, Vector, describe, parsed, within_limits

PLACE = "certificate.facts.network"
NAMES = ("W1", "b1", "w2", "b2", "skip", "slope")
STATED = {"format": "relu_cert network", "version": "1"}
FLOATS = {"f2": (5, 10), "f4": (8, 23), "f8": (11, 52)}  # bits of the exponent and of the fraction
# What numpy writes before the numbers: the text of a dictionary.
HEADER = re.compile(
    rb"\{'descr': '([<>|])([fiu][1248])', 'fortran_order': (False|True), "
    rb"'shape': \(((?:[0-9]{1,9}, ?)*(?:[0-9]{1,9})?)\), \} *\n"
)
LONGEST_HEADER = 256
# What Python's readers of zip files and JSON raise for bytes that are none.
DAMAGED = (
    *(ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, EOFError, OSError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)


@dataclass(frozen=True)
class Array:
    """Numbers in the order of rows."""

    shape: tuple[int, ...]
    entries: Vector


def compare_given(facts: Facts, raw: bytes, limits: Limits, input_: Input) -> None:
    """Reject unless the file of the network, or of the coefficients, is the one that the certificate speaks of."""
    if (given := facts.get(SOLUTION)) is None:
        return compare_file(facts.get(NETWORK), raw, limits, input_.bias, input_.slope)
    from verify.network.solution import compare_coefficients

    return compare_coefficients(given, raw)


def compare_file(
    network: Network | None, raw: bytes, limits: Limits, bias: bool, slope: Fraction = Fraction(0)
) -> None:
    """Reject unless the file has the hash that the certificate states, and exactly the weights that it speaks of, and
    the slope if it names one: a file that names none does not tell its activation."""
    if network is None:
        raise Usage("--network", "a certificate with the fact network", "none")
    if (digest := sha256(raw).hexdigest()) != network.sha256:
        found = network.sha256 or "no file"
        raise Rejected(f"{PLACE}.file.sha256", f"{digest} (the hash of the network given)", found)
    weights = network.weights
    most = 8 * ((len(weights.W1) + 1) * len(weights.W1[0]) + len(weights.w2) + weights.targets)
    try:
        arrays = read_npz(raw, most) if raw[:2] == b"PK" else read_json(raw, limits)
        stated = arrays.pop("slope", Array((), (slope,)))
        found_weights = folded(arrays, width := len(weights.W1[0]), bias, weights.targets)
    except DAMAGED as error:
        expected = "W1, w2 and perhaps b1, b2 as JSON or a numpy archive"
        raise Rejected("network file", expected, describe(str(error))) from None
    if stated.entries != (slope,):
        raise Rejected("certificate.input.slope", f"{describe(str(stated.entries[:1]))} of the file given", str(slope))
    offsets = weights.constants or (weights.b2,)
    if found_weights != (weights.W1, weights.w2, offsets, weights.skip or (Fraction(0),) * width):
        raise Rejected(PLACE, "the weights of the file given", "others")


def folded(arrays: dict[str, Array], width: int, bias: bool, C: int) -> tuple[Matrix, Vector, Vector, Vector]:
    """W1 on the columns of Z, w2, b2 and the skip connection, on the columns of Z: the first layer's biases are the
    weights of the column of ones, which the data must have been given; b2 stands for itself. With C > 1 outputs w2 has
    a row for each of them, and b2 a number; here w2 is written neuron by neuron."""
    if not {"W1", "w2"} <= arrays.keys() <= set(NAMES):
        raise ValueError(f"the arrays {', '.join(arrays)[:60]}")
    W1, w2, b1, b2, s = arrays["W1"], arrays["w2"], arrays.get("b1"), arrays.get("b2"), arrays.get("skip")
    m, d = W1.shape if len(W1.shape) == 2 else (0, 0)
    if not m or not d or w2.shape not in (((m,), (1, m), (m, 1)) if C == 1 else ((C, m),)):
        raise ValueError(f"shapes {W1.shape} and {w2.shape}")
    single = ((), (1,), (1, 1)) if C == 1 else ((C,),)
    if (b1 and b1.shape not in ((m,), (1, m), (m, 1))) or (b2 and b2.shape not in single):
        raise ValueError("biases of other shapes")
    if s and s.shape not in ((d,), (1, d), (d, 1)):
        raise ValueError("a skip connection of another shape")
    rows = tuple(W1.entries[i * d : (i + 1) * d] for i in range(m))
    first = b1.entries if b1 else (Fraction(0),) * m
    skip = s.entries if s else (Fraction(0),) * d
    if width == d + 1 and bias:
        rows, skip = tuple((*row, b) for row, b in zip(rows, first, strict=True)), (*skip, Fraction(0))
    elif width != d or any(first):
        raise ValueError(f"{d} inputs{' and biases' if any(first) else ''} on {width} columns without one for biases")
    second = tuple(w2.entries[i + m * c] for i in range(m) for c in range(C))
    return rows, second, b2.entries if b2 else (Fraction(0),) * C, skip


def read_npz(raw: bytes, most: int) -> dict[str, Array]:
    """A zip file of .npy members, stored or deflated, of at most so many bytes of numbers in all."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = archive.infolist()
        names = [member.filename.removesuffix(".npy") for member in members]
        if len(set(names)) < len(names) or not set(names) <= set(NAMES):
            raise ValueError(f"{len(names)} members, other than {', '.join(NAMES)}, each once")
        if sum(member.file_size for member in members) > most + LONGEST_HEADER * len(NAMES):
            raise ValueError("more numbers than the certificate has weights")
        if any(member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members):
            raise ValueError("a member that is neither stored nor deflated")
        # no more than a member says that it is
        parts = [archive.open(member).read(member.file_size + 1) for member in members]
        return dict(zip(names, map(read_npy, parts), strict=True))


def read_npy(raw: bytes) -> Array:
    """A header and the numbers."""
    header = HEADER.fullmatch(raw, 10, end := 10 + int.from_bytes(raw[8:10], "little"))
    if raw[:8] != b"\x93NUMPY\x01\x00" or header is None:
        raise ValueError("a member that is not as numpy.savez writes it")
    shape = tuple(map(int, re.findall(rb"[0-9]+", header[4])))
    entries = decoded(raw[end:], header[2].decode(), prod(shape), header[1] == b">")
    if header[3] == b"True" and len(shape) == 2:
        rows, columns = shape
        entries = tuple(entries[i + rows * j] for i in range(rows) for j in range(columns))
    return Array(shape, entries)


def decoded(raw: bytes, kind: str, count: int, big: bool) -> Vector:
    """So many numbers of one kind: f and i or u with their size in bytes."""
    size = int(kind[1])
    if len(raw) != size * count or (kind[0] == "f" and kind not in FLOATS):
        raise ValueError(f"{count} numbers of kind {kind} in {len(raw)} bytes")
    words = [int.from_bytes(raw[k : k + size], "big" if big else "little") for k in range(0, len(raw), size)]
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


def read_json(raw: bytes, limits: Limits) -> dict[str, Array]:
    """W1, w2 and perhaps b1, b2: integers and strings are exact, other numbers are the nearest doubles."""
    within_limits(raw, limits, "network file", BadData)
    top = parsed(raw.decode("utf-8-sig"), str, Real)
    if not isinstance(top, dict) or any(top.pop(key, value) != value for key, value in STATED.items()):
        raise ValueError("no object with W1 and w2, or of another format or version")
    return {name: nested(value) for name, value in top.items() if value is not None or name not in NAMES}


def nested(value: Any) -> Array:
    """A number, an array of numbers or an array of rows."""
    if isinstance(value, str):
        return Array((), (number(value.strip(), "binary64" if isinstance(value, Real) else "decimal", "network file"),))
    if not isinstance(value, list):
        raise TypeError("a number is a JSON number or a string")
    parts = [nested(entry) for entry in value]
    inner = {part.shape for part in parts}
    if len(inner) > 1:
        raise ValueError("rows of different lengths")
    return Array((len(parts), *(inner.pop() if inner else ())), tuple(x for part in parts for x in part.entries))
