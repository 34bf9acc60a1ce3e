"""Strict reading of a certificate's text: bytes to JSON within limits, JSON to exact values, each with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from verify.errors import Declined, Rejected, VerifyError, bounded

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]

NUMBER = re.compile(r"(0|-?[1-9][0-9]*)(?:/([1-9][0-9]*))?")
# An escape that stands for a printable ASCII character: what the limits count must not be hidden.
PATTERN = rb'(?!(?<=")[01]*")'  # a text of 0 and 1: whether it is a number is seen where it is read
HIDDEN = re.compile(rb"\\u00(?:[2-6]|7[0-9a-eA-E])")


@dataclass(frozen=True)
class Limits:
    """What is declined unread. `values` counts commas and opening brackets; there may be twice as many spaces, which
    stand between numbers. So memory stays bounded."""

    size: int = 256 * 2**20
    digits: int = 20_000
    values: int = 16_000_000


def integer(digits: str) -> int:
    """The integer written by `-?[0-9]+`, however long numbers may be (`int` refuses more than 4,300 digits of a text).
    Patterns are longer, and no numbers."""
    if len(digits) <= 4000:
        return int(digits)
    bounded(len(digits.lstrip("-")), Limits.digits, "digits a number", "a number")
    return int(Decimal(digits))


def show(x: Fraction | int) -> str:
    """A number for a reader: exact where it is short, else its first twelve digits."""
    p, q = abs(int(x.numerator)), int(x.denominator)
    if max(p.bit_length(), q.bit_length()) <= 80:
        return str(x)
    shift = (q.bit_length() - p.bit_length()) * 30103 // 100000 + 14
    digits = str(p * 10 ** max(0, shift) // (q * 10 ** max(0, -shift)))
    return f"about {'-' if x < 0 else ''}{digits[0]}.{digits[1:12]}e{len(digits) - 1 - shift}"


def describe(value: Any) -> str:
    """A JSON value for a message: short, ASCII, whatever it is."""
    if isinstance(value, str):
        return ascii(value) if len(value) <= 60 else f"{value[:60]!a}... ({len(value)} characters)"
    if isinstance(value, list | dict):
        return f"an array of {len(value)}" if isinstance(value, list) else "an object"
    return json.dumps(value)


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """A JSON value that knows its place; the methods read it as what the format wants there, or reject it."""

    value: Any
    parent: Node | None = None
    key: str | int = "certificate"

    @property
    def place(self) -> str:
        """The path from the top, e.g. `certificate.facts.dual.theta`."""
        if self.parent is None:
            return str(self.key)
        return f"{self.parent.place}[{self.key}]" if isinstance(self.key, int) else f"{self.parent.place}.{self.key}"

    def reject(self, expected: str, found: str | None = None) -> Rejected:
        """The error that this value is not what was expected."""
        return Rejected(self.place, expected, describe(self.value) if found is None else found)

    def require(self, holds: object, expected: str, found: str | None = None) -> None:
        """Reject unless it holds."""
        if not holds:
            raise self.reject(expected, found)

    def record(self, *keys: str, optional: tuple[str, ...] = ()) -> dict[str, Node]:
        """An object with all of `keys`, perhaps some of `optional`, and nothing else."""
        self.require(isinstance(self.value, dict), "an object")
        for key in self.value:
            if key not in keys and key not in optional:
                raise self.reject(f"only the keys {', '.join(keys + optional)}", f"the unknown key {describe(key)}")
        for key in keys:
            if key not in self.value:
                raise self.reject(f"the key {key}", f"only {', '.join(map(ascii, self.value)) or 'nothing'}")
        return {key: Node(value, self, key) for key, value in self.value.items()}

    def array(self, length: int | None = None) -> list[Node]:
        """An array, of the given length if there is one."""
        self.require(length in (None, self.length()), f"an array of {length}")
        return [Node(value, self, k) for k, value in enumerate(self.value)]

    def length(self) -> int:
        """The length of an array."""
        self.require(isinstance(self.value, list), "an array")
        return len(self.value)

    def item(self, k: int) -> Node:
        """One entry of an array."""
        return Node(self.value[k], self, k)

    def text(self, *choices: str) -> str:
        """A string, one of `choices` if there are any."""
        if not isinstance(self.value, str) or (choices and self.value not in choices):
            raise self.reject(" or ".join(f'"{c}"' for c in choices) or "a string")
        return self.value

    def flag(self) -> bool:
        """true or false."""
        self.require(isinstance(self.value, bool), "true or false")
        return bool(self.value)

    def index(self, below: int) -> int:
        """A JSON integer in range(below)."""
        self.require(type(self.value) is int and 0 <= self.value < below, f"an index below {below}")
        return int(self.value)

    def ascending(self, below: int) -> tuple[int, ...]:
        """An array of indices, strictly ascending."""
        indices = tuple(entry.index(below) for entry in self.array())
        self.require(all(a < b for a, b in pairwise(indices)), "indices in ascending order")
        return indices

    def number(self) -> Fraction:
        """A number in canonical form."""
        return self._number(self.text())

    def vector(self, length: int | None = None) -> Vector:
        """A vector: canonical numbers with one space between them."""
        text = self.text()
        numbers = text.split(" ") if text else []
        if length not in (None, len(numbers)):
            raise self.reject(f"{length} numbers", f"{len(numbers)} in {describe(text)}")
        return tuple(map(self._number, numbers))

    def integers(self, length: int | None = None) -> list[int]:
        """A vector of integers."""
        numbers = self.vector(length)
        self.require(all(x.denominator == 1 for x in numbers), "integers")
        return [x.numerator for x in numbers]

    def matrix(self) -> Matrix:
        """An array of vectors of one length."""
        rows = tuple(row.vector() for row in self.array())
        self.require(len({len(row) for row in rows}) <= 1, "rows of one length")
        return rows

    def pattern(self, n: int) -> int:
        """A pattern as a bit mask: bit k belongs to row k."""
        text = self.value
        if not isinstance(text, str) or len(text) != n or text.strip("01"):
            raise self.reject(f"a pattern of {n} characters 0 or 1")
        return int(text[::-1], 2)

    def _number(self, text: str) -> Fraction:
        match = NUMBER.fullmatch(text)
        if match is None:
            raise self.reject("a number -?(0|[1-9][0-9]*)(/[1-9][0-9]*)? other than -0", describe(text))
        if match[2] is None:
            return Fraction(integer(match[1]))
        q = integer(match[2])
        value = Fraction(integer(match[1]), q)
        self.require(value.denominator == q > 1, "lowest terms and no denominator 1", describe(text))
        return value


Fields = dict[str, Node]


def mask_of(rows: Iterable[int]) -> int:
    """A set of rows as a bit mask."""
    there = set(rows)
    return int("".join("01"[k in there] for k in range(max(there, default=0), -1, -1)), 2)


def bit_text(mask: int, n: int) -> str:
    """A bit mask as the pattern's text."""
    return format(mask, f"0{n}b")[::-1]


def within_limits(
    raw: bytes, limits: Limits, place: str = "file", over: type[VerifyError] = Declined, patterns: bytes = b""
) -> None:
    """Raise `over` if the text is too large or too full to be parsed; digits that `patterns` matches may be more."""
    bounded(len(raw), limits.size, "bytes", place, over)
    values = raw.count(b",") + raw.count(b"[") + raw.count(b"{")
    bounded(values, limits.values, "commas and opening brackets", place, over)
    bounded(raw.count(b" "), 2 * limits.values, "spaces", place, over)
    if run := re.search(rb"(?<![0-9])%b[0-9]{%d}" % (patterns, limits.digits + 1), raw):
        raise over(place, f"at most {limits.digits} digits a number", f"more at byte {run.start()}")


def load(raw: bytes, limits: Limits) -> Node:
    """The top of the certificate's JSON tree. Declines what is over a limit, rejects what is not strict JSON."""
    within_limits(raw, limits, patterns=PATTERN)
    if hidden := HIDDEN.search(raw):
        raise Rejected("file", "ASCII characters written as themselves", f"an escape at byte {hidden.start()}")
    try:
        return Node(parsed(raw.decode("utf-8"), small, no_real))
    except (ValueError, RecursionError) as error:
        raise Rejected("file", "one JSON value", str(error)) from None


def parsed(text: str, integers: Callable[[str], Any], reals: Callable[[str], Any]) -> Any:
    """A JSON value with each key of an object once, whose numbers are read by these; ValueError if it is none, or
    RecursionError."""
    return json.loads(text, object_pairs_hook=once, parse_int=integers, parse_float=reals, parse_constant=no_real)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without a key twice."""
    if len(record := dict(pairs)) != len(pairs):
        raise ValueError(f"a key twice among {describe(', '.join(key for key, _ in pairs))}")
    return record


def small(digits: str) -> int:
    """A JSON integer from 0 to 10^15."""
    if digits.startswith("-") or len(digits) > 15:
        raise ValueError(f"other than JSON integers from 0 to 10^15: {describe(digits)}")
    return int(digits)


def no_real(text: str) -> Any:
    """No other JSON number, and no NaN."""
    raise ValueError(f"a JSON number with a fraction or an exponent, or NaN: {describe(text)}")
