"""Every small change of a certificate: each number, sign, index, string and flag; each part dropped, repeated, swapped.

`mutants(certificate)` works on any certificate; `spread` bounds how many entries of a long array or vector are changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Path = tuple[str | int, ...]

TINY = Fraction(1, 10**30)
NUMBERS = re.compile(r"-?[0-9]+(/[0-9]+)?( -?[0-9]+(/[0-9]+)?)*")
ALTERNATIVES = (
    ("PROVED", "REFUTED", "UNDECIDED"),
    ("patterns-complete", "optimal", "fit"),
    ("+", "-"),
    ("decimal", "binary64"),
    ("relu", "gated", "cgl"),
    ("csv", "json"),
    (",", ";", "\t"),
)


@dataclass(frozen=True)
class Mutant:
    """A changed certificate: where, how, and the file's text."""

    place: str
    change: str
    text: str

    @property
    def name(self) -> str:
        """Where and how."""
        return f"{self.place}: {self.change}"


class Raw(str):
    """Text that is written into the JSON as it stands."""


class Pairs(list[tuple[str, Any]]):
    """An object given by its pairs, which may repeat a key."""


def dump(value: Any) -> str:
    """JSON text, also of Raw and Pairs."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict | Pairs):
        pairs = value.items() if isinstance(value, dict) else value
        return "{" + ", ".join(f"{json.dumps(key)}: {dump(entry)}" for key, entry in pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"
    return json.dumps(value)


def place_text(path: Path) -> str:
    """A path as the checker writes it, without the top."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".") or "top"


def mutants(certificate: dict[str, Any], spread: int | None = None) -> Iterator[Mutant]:
    """All small changes of a certificate (of at most `spread` entries in each array and vector)."""
    for path, value in walk(certificate, (), spread):
        for change, new in edits(value, spread):
            yield Mutant(place_text(path), change, dump(replaced(certificate, path, new)))


def walk(value: Any, path: Path, spread: int | None) -> Iterator[tuple[Path, Any]]:
    """Every value of the tree with its path."""
    yield path, value
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from walk(entry, (*path, key), spread)
    elif isinstance(value, list):
        for k in chosen(len(value), spread):
            yield from walk(value[k], (*path, k), spread)


def chosen(length: int, spread: int | None) -> list[int]:
    """All indices, or `spread` of them from the first to the last."""
    if spread is None or length <= spread:
        return list(range(length))
    return sorted({k * (length - 1) // (spread - 1) for k in range(spread)})


def replaced(value: Any, path: Path, new: Any) -> Any:
    """The tree with another value at one path."""
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def edits(value: Any, spread: int | None) -> Iterator[tuple[str, Any]]:
    """Every changed form of one value (its children are visited on their own)."""
    if isinstance(value, dict):
        yield from object_edits(value)
    elif isinstance(value, list):
        yield from array_edits(value, spread)
    elif isinstance(value, str):
        yield from string_edits(value, spread)
    elif isinstance(value, bool):
        yield from (("flipped", not value), ("as integer", int(value)), ("as string", str(value).lower()))
    elif isinstance(value, int):
        yield from (("plus 1", value + 1), ("minus 1", value - 1), ("as string", str(value)), ("null", None))
        yield from (("as float", Raw(f"{value}.0")), ("as exponent", Raw(f"{value}e0")), ("huge", 10**9 + value))
        if value in (0, 1):
            yield "as flag", bool(value)
    else:
        yield from (("0 for null", 0), ("empty string for null", ""), ("empty array for null", []), ("false", False))


def object_edits(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keys dropped, repeated, renamed, added and moved."""
    pairs = list(value.items())
    for i, (key, entry) in enumerate(pairs):
        rest = pairs[:i] + pairs[i + 1 :]
        yield f"without {key}", dict(rest)
        yield f"{key} twice", Pairs([*pairs, (key, entry)])
        yield f"{key} twice, null first", Pairs([*pairs[:i], (key, None), *pairs[i:]])
        yield f"{key} renamed", dict([*pairs[:i], (f"{key}_", entry), *pairs[i + 1 :]])
        yield f"{key} first", dict([(key, entry), *rest])
        yield f"{key} last", dict([*rest, (key, entry)])
    yield "with an unknown key", {"unknown": 0, **value}
    yield "as array of its values", list(value.values())
    yield "null", None


def array_edits(value: list[Any], spread: int | None) -> Iterator[tuple[str, Any]]:
    """Entries dropped, repeated and swapped."""
    for k in chosen(len(value), spread):
        yield f"without [{k}]", value[:k] + value[k + 1 :]
        yield f"[{k}] twice", [*value[: k + 1], *value[k:]]
        yield f"[{k}] again at the end", [*value, value[k]]
        if k + 1 < len(value) and value[k] != value[k + 1]:
            yield f"[{k}] and [{k + 1}] swapped", [*value[:k], value[k + 1], value[k], *value[k + 2 :]]
    if value:
        yield "empty", []
    if value != value[::-1]:
        yield "reversed", value[::-1]
    yield "in another array", [value]
    yield "with null at the end", [*value, None]
    yield "with 0 at the end", [*value, 0]
    yield "null", None


def string_edits(value: str, spread: int | None) -> Iterator[tuple[str, Any]]:
    """Numbers, bits, digits, words."""
    if NUMBERS.fullmatch(value):
        yield from vector_edits(value.split(" "), spread)
    if re.fullmatch("[01]{2,}", value):
        for k in chosen(len(value), spread):
            yield f"bit {k} flipped", value[:k] + "01"[value[k] == "0"] + value[k + 1 :]
            yield f"bit {k} dropped", value[:k] + value[k + 1 :]
            yield f"bit {k} twice", value[: k + 1] + value[k:]
    if re.fullmatch("[0-9a-f]{64}", value):
        for k in chosen(len(value), 4):
            yield f"digit {k} changed", value[:k] + "01"[value[k] == "0"] + value[k + 1 :]
        yield "in capitals", value.upper()
    for words in ALTERNATIVES:
        if value in words:
            yield from ((f"{word!r} instead", word) for word in words if word != value)
    yield from (("empty", ""), ("with a letter more", value + "x"), ("null", None), ("in an array", [value]))
    if value:
        yield "one character shorter", value[:-1]
        yield "two spaces", value + "  "
    if value.swapcase() != value:
        yield "in the other case", value.swapcase()


def vector_edits(tokens: list[str], spread: int | None) -> Iterator[tuple[str, Any]]:
    """Every number changed, dropped, repeated, swapped, and written in a form that is not canonical."""
    for k in chosen(len(tokens), spread):
        before, x, after = tokens[:k], Fraction(tokens[k]), tokens[k + 1 :]
        changed = {
            "plus 1": x + 1,
            "negated": -x,
            "halved": x / 2,
            "plus a little": x + TINY,
            "minus a little": x - TINY,
        }
        for change, new in changed.items():
            if new != x:
                yield f"number {k} {change}", " ".join([*before, str(new), *after])
        p, q = x.numerator, x.denominator
        spelled = {
            "with a plus": f"+{p}/{q}" if q > 1 else f"+{p}",
            "with a zero": f"-0{-p}" if p < 0 else f"0{p}",
            "not in lowest terms": f"{2 * p}/{2 * q}",
            "over 1": f"{p}/1",
            "as decimal": f"{p}.0",
            "with exponent": f"{p}e0",
            "in other digits": tokens[k].translate({48 + i: 0x660 + i for i in range(10)}),
            "with a line end": f"{tokens[k]}\n",
        }
        if p == 0:
            spelled["negative zero"] = "-0"
        for change, text in spelled.items():
            yield f"number {k} {change}", " ".join([*before, text, *after])
        yield f"number {k} dropped", " ".join([*before, *after])
        yield f"number {k} twice", " ".join([*before, tokens[k], tokens[k], *after])
        if after and after[0] != tokens[k]:
            yield f"numbers {k} and {k + 1} swapped", " ".join([*before, after[0], tokens[k], *after[1:]])
    if len(tokens) == 1 and Fraction(tokens[0]).denominator == 1:
        yield "as JSON integer", int(tokens[0])
    yield "a space before", " " + " ".join(tokens)
    yield "two spaces between", "  ".join(tokens) + " " * (len(tokens) == 1)
