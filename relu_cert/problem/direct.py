"""Constrained group lasso problems that are given directly, as JSON.

    {"X": rows, "groups": [[column indices], ...], "K": [null or rows, ...], "y": [...]}

The groups partition the columns of X. K has, for each group b, null (w_b is free) or a |b| x a matrix whose columns
are the constraints K_j.w_b <= 0; it may be left out. A number is a JSON integer or a string, "3/7" or "-0.25",
read exactly. JSON floats are refused: 0.1 might mean 1/10 or the double nearest to it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.data.dataset import Source
from relu_cert.data.numbers import NumberError, parse_number
from relu_cert.data.raw import decode, digest, read_bytes
from relu_cert.errors import DataError
from relu_cert.exact import Matrix, Vector, rational
from relu_cert.messages import file_name, shown
from relu_cert.problem.problem import Block, Problem

_REQUIRED = ("X", "groups", "y")
_KEYS = ("X", "groups", "K", "y")
_FLOAT = re.compile(r"[.eE].*[0-9]$")
_INDEX = re.compile(r"[0-9]{1,9}")
_MAX_SAFE = 2**53

Columns = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class _Literal:
    """A JSON number as it is written, so that nothing is rounded before it is judged."""

    text: str


class _Refused(Exception):
    """A place in the JSON text, and what is wrong there."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"{place}: {what}." if place else f"{what}.")


def read_problem_json(path: str | os.PathLike[str]) -> tuple[Problem, Source]:
    """The problem of a JSON file, plain or gzip, and where it came from."""
    raw, name = read_bytes(path), os.fspath(path)
    return problem_from_json(decode(raw, name), name), Source(name, digest(raw), "json")


def problem_from_json(text: str, name: str = "problem") -> Problem:
    """The problem of a JSON text; the name is for messages. DataError names the key, the index and what was found."""
    try:
        return _problem(_parse(text))
    except _Refused as refused:
        raise DataError(f"{file_name(name)}: {refused}") from None


def problem_text(
    X: Matrix | NDArray[np.float64], groups: Any, y: Vector, K: Sequence[Matrix | None] | None = None
) -> str:
    """The JSON text of a problem that is given in parts; `problem_from_json` reads it, and judges the groups."""
    rows = [[_written(x) for x in row] for row in X] if isinstance(X, tuple) else _doubles(X)
    parts = {
        "X": _lines(rows),
        "groups": json.dumps(groups),
        "y": json.dumps([_written(x) for x in y]),
    }
    if K is not None:
        parts["K"] = _lines([None if one is None else [[_written(x) for x in row] for row in one] for one in K])
    return "{\n" + ",\n".join(f' "{key}": {value}' for key, value in parts.items()) + "\n}\n"


def _parse(text: str) -> dict[str, Any]:
    """The JSON object of the text, with its numbers still as written."""
    try:
        top = json.loads(
            text, object_pairs_hook=_object, parse_int=_Literal, parse_float=_Literal, parse_constant=_Literal
        )
    except json.JSONDecodeError as error:
        raise _Refused(f"line {error.lineno}, column {error.colno}", f"not JSON ({error.msg})") from None
    except RecursionError:
        raise _Refused("", "the JSON is nested too deeply; expected the keys X, groups, K and y") from None
    if not isinstance(top, dict):
        raise _Refused("", f"expected an object with the keys X, groups, K and y, found {_kind(top)}")
    for key in top:
        if key not in _KEYS:
            raise _Refused("", f"unknown key {shown(key)}; the keys are X, groups, K and y")
    for key in _REQUIRED:
        if key not in top:
            raise _Refused("", f"the key {key!r} is missing; the keys are X, groups, K (optional) and y")
    return top


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Refused("", f"the key {shown(key)} is given twice; keep one")
        found[key] = value
    return found


def _problem(top: dict[str, Any]) -> Problem:
    X = _matrix("X", top["X"])
    if not X or not X[0]:
        raise _Refused("X", "no numbers; expected at least one row and one column")
    y = _vector("y", top["y"])
    if len(y) != len(X):
        raise _Refused("y", f"expected {len(X)} numbers, one for each row of X, found {len(y)}")
    columns = _groups(top["groups"], len(X[0]))
    cones = _cones(top["K"], columns) if "K" in top else (None,) * len(columns)
    blocks = tuple(
        Block(tuple(tuple(row[j] for j in group) for row in X), K) for group, K in zip(columns, cones, strict=True)
    )
    return Problem("cgl", y, blocks, columns=columns)


def _groups(value: Any, width: int) -> Columns:
    """The columns of each group: a partition of 0, ..., width - 1 into parts that are not empty."""
    owner: dict[int, int] = {}
    groups = []
    for b, entries in enumerate(_list("groups", value)):
        group = []
        for i, entry in enumerate(_list(f"groups[{b}]", entries)):
            place = f"groups[{b}][{i}]"
            j = _index(place, entry, width)
            if j in owner:
                raise _Refused(place, f"column {j} is already in groups[{owner[j]}]; a column belongs to one group")
            owner[j] = b
            group.append(j)
        if not group:
            raise _Refused(f"groups[{b}]", "an empty group; remove it, or give it columns")
        groups.append(tuple(group))
    if missing := [j for j in range(width) if j not in owner]:
        raise _Refused("groups", f"column {missing[0]} of X is in no group; every column belongs to one")
    return tuple(groups)


def _cones(value: Any, columns: Columns) -> tuple[Matrix | None, ...]:
    """K_b for each group, None where it has no constraint."""
    entries = _list("K", value)
    if len(entries) != len(columns):
        raise _Refused("K", f"expected {len(columns)} entries, one for each group, found {len(entries)}")
    cones: list[Matrix | None] = []
    for b, (entry, group) in enumerate(zip(entries, columns, strict=True)):
        K = () if entry is None else _matrix(f"K[{b}]", entry)
        if K and len(K) != len(group):
            expected = f"{len(group)} row{'s' * (len(group) != 1)}, one for each column of groups[{b}]"
            raise _Refused(f"K[{b}]", f"expected {expected}, found {len(K)}")
        cones.append(K if K and K[0] else None)
    return tuple(cones)


def _matrix(place: str, value: Any) -> Matrix:
    rows = tuple(_vector(f"{place}[{k}]", row) for k, row in enumerate(_list(place, value)))
    for k, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise _Refused(f"{place}[{k}]", f"expected {len(rows[0])} numbers as in {place}[0], found {len(row)}")
    return rows


def _vector(place: str, value: Any) -> Vector:
    return tuple(_number(f"{place}[{j}]", entry) for j, entry in enumerate(_list(place, value)))


def _number(place: str, value: Any) -> Fraction:
    text = value.text if isinstance(value, _Literal) else value
    if not isinstance(text, str):
        raise _Refused(place, f'expected an integer or a string such as "3/7", found {_kind(value)}')
    if isinstance(value, _Literal) and _FLOAT.search(text):
        found = text if len(text) <= 40 else f"{text[:40]}..."
        raise _Refused(place, f'found {found}, a float, whose exact value is ambiguous; quote it: "{found}"')
    try:
        return parse_number(text)
    except NumberError as error:
        raise _Refused(place, f"found {shown(text)}, {error}") from None


def _index(place: str, value: Any, width: int) -> int:
    if isinstance(value, _Literal) and _INDEX.fullmatch(value.text) and int(value.text) < width:
        return int(value.text)
    found = shown(value.text)[1:-1] if isinstance(value, _Literal) else _kind(value)
    raise _Refused(place, f"expected a column index from 0 to {width - 1}, found {found}")


def _list(place: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _Refused(place, f"expected an array, found {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    """What a JSON value is, for messages."""
    if isinstance(value, str):
        return f"the string {shown(value)}"
    if isinstance(value, _Literal):
        return f"the number {shown(value.text)}"
    return {dict: "an object", list: "an array", bool: "true or false"}.get(type(value), "null")


def _written(x: Fraction) -> int | str:
    """A small integer as itself, everything else as a string (other programs would round large integers)."""
    if x.denominator == 1 and abs(x) < _MAX_SAFE:
        return x.numerator
    return rational(x)


def _doubles(X: NDArray[np.float64]) -> list[list[int | str]]:
    """The rows of an array of doubles, written like `_written` writes Fractions."""
    ratios = ([x.as_integer_ratio() for x in row] for row in X.tolist())
    return [[f"{p}/{q}" if q > 1 else _written(Fraction(p)) for p, q in row] for row in ratios]


def _lines(entries: list[Any]) -> str:
    return "[\n  " + ",\n  ".join(json.dumps(entry) for entry in entries) + "\n ]"
