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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import Any, overload

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from relu_cert.data.dataset import NumberError, Source, parse_number
from relu_cert.data.raw import decode, digest, read_bytes
from relu_cert.errors import DataError, file_name, quote
from relu_cert.exact import Matrix, Scaled, Vector, rational
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
            raise _Refused("", f"unknown key {quote(key)}; the keys are X, groups, K and y")
    for key in _REQUIRED:
        if key not in top:
            raise _Refused("", f"the key {key!r} is missing; the keys are X, groups, K (optional) and y")
    return top


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Refused("", f"the key {quote(key)} is given twice; keep one")
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
        raise _Refused(place, f"found {quote(text)}, {error}") from None


def _index(place: str, value: Any, width: int) -> int:
    if isinstance(value, _Literal) and _INDEX.fullmatch(value.text) and int(value.text) < width:
        return int(value.text)
    found = quote(value.text)[1:-1] if isinstance(value, _Literal) else _kind(value)
    raise _Refused(place, f"expected a column index from 0 to {width - 1}, found {found}")


def _list(place: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _Refused(place, f"expected an array, found {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    """What a JSON value is, for messages."""
    if isinstance(value, str):
        return f"the string {quote(value)}"
    if isinstance(value, _Literal):
        return f"the number {quote(value.text)}"
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


Floats = NDArray[np.float64]
_MANTISSA = 53
_MOST_LIMBS = 24  # of numbers of very different sizes; beyond, Python's integers are as fast


class Doubles:
    """A (p x n), finite doubles: A = 2^-shift sum_a limbs[a] 2^(width a)."""

    def __init__(self, A: Floats) -> None:
        self.width = (_MANTISSA - max(A.shape).bit_length()) // 2
        exponent = np.frexp(A)[1][A != 0]
        self.shift = _MANTISSA - int(exponent.min(initial=_MANTISSA))
        count = max(1, -(-(int(exponent.max(initial=0)) + self.shift) // self.width))
        if count > _MOST_LIMBS:
            raise OverflowError
        limbs, rest = [], np.ldexp(A, self.shift - self.width * (count - 1))
        for _ in range(count):
            limbs.append(np.trunc(rest))
            rest = np.ldexp(rest - limbs[-1], self.width)
        self.limbs = limbs[::-1]

    def times(self, r: Sequence[int]) -> list[int]:
        """2^shift A r"""
        return self._product(self.limbs, r)

    def transposed_times(self, w: Sequence[int]) -> list[int]:
        """2^shift A'w"""
        return self._product([limb.T for limb in self.limbs], w)

    def _product(self, limbs: Sequence[Floats], r: Sequence[int]) -> list[int]:
        size = max(x.bit_length() for x in r)
        parts = np.array([self._cut(x, size) for x in r], dtype=np.float64).reshape(len(r), -1)
        found = [(limb @ parts).astype(np.int64) for limb in limbs]
        return self._joined([(a + b, one[:, b]) for a, one in enumerate(found) for b in range(parts.shape[1])])

    def squares(self) -> list[int]:
        """4^shift |A_i|^2 for every row i."""
        pairs = [(a, b) for a in range(len(self.limbs)) for b in range(a + 1)]
        dots = [(a, b, np.einsum("ij,ij->i", self.limbs[a], self.limbs[b]).astype(np.int64)) for a, b in pairs]
        return self._joined([(a + b, one if a == b else 2 * one) for a, b, one in dots])

    def _cut(self, x: int, size: int) -> list[int]:
        """The limbs of x, with its sign."""
        sign, x, mask = (-1 if x < 0 else 1), abs(x), (1 << self.width) - 1
        return [sign * ((x >> at) & mask) for at in range(0, max(size, 1), self.width)]

    def _joined(self, parts: list[tuple[int, NDArray[np.int64]]]) -> list[int]:
        """sum 2^(width a) part over the pairs (a, part)."""
        total = [0] * len(parts[0][1])
        for place, same in groupby(sorted(parts, key=lambda part: part[0]), key=lambda part: part[0]):
            columns = [one.tolist() for _, one in same]
            total = [t + (sum(xs) << (place * self.width)) for t, *xs in zip(total, *columns, strict=True)]
        return total


def odd_parts(A: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """p and k with A = p 2^k, every p odd (or 0, with k = 0)."""
    mantissa, exponent = np.frexp(A)
    m = np.ldexp(mantissa, _MANTISSA).astype(np.int64)
    zeros = np.frexp((m & -m).astype(np.float64))[1] - 1  # at the end of m; -1 for m = 0
    zeros[m == 0] = 0
    return m >> zeros, np.where(m == 0, 0, exponent - _MANTISSA + zeros)


def texts(A: Floats) -> list[str]:
    """The rows, every entry as p or p/q in lowest terms, with one space between them."""
    p, power = odd_parts(A)
    low = int(power.min(initial=0))
    forms = np.array([f"%d/{1 << -k}" for k in range(low, 0)] + ["%d"], dtype=object)
    p = np.where(power > 0, p.astype(object) << np.maximum(power, 0), p) if power.max(initial=0) > 0 else p
    rows = zip(forms[np.minimum(power, 0) - low].tolist(), p.tolist(), strict=True)
    return [" ".join(form) % tuple(row) for form, row in rows]


class FloatBlock(Block):
    """A free group whose X_b is an array of doubles; Fractions are made of them only where they are wanted."""

    def __init__(self, array: Floats, size_squared: Fraction | None = None) -> None:
        object.__setattr__(self, "K", None)
        self.__dict__["floats"] = np.ascontiguousarray(array)
        if size_squared is not None:
            self.__dict__["size_squared"] = size_squared

    @cached_property
    def X(self) -> Matrix:
        """X_b, exactly."""
        return tuple(tuple(Fraction(*x.as_integer_ratio()) for x in row) for row in self.floats.tolist())

    @cached_property
    def matrix(self) -> fmpq_mat:
        """X_b for flint."""
        n, size = self.floats.shape
        p, power = (part.ravel().tolist() for part in odd_parts(self.floats))
        units = {k: fmpq(1 << k) if k >= 0 else fmpq(1, 1 << -k) for k in set(power)}
        return fmpq_mat(n, size, [x * units[k] for x, k in zip(p, power, strict=True)])

    @cached_property
    def columns(self) -> tuple[list[list[int]], int]:
        """X_b' as integers over one power of two: x = m 2^(e - 53) with |m| < 2^53."""
        mantissa, exponent = np.frexp(self.floats.T)
        low = int(exponent.min(initial=_MANTISSA))
        m, shift = np.ldexp(mantissa, _MANTISSA).astype(np.int64), exponent - low
        rows = zip(m.tolist(), shift.tolist(), strict=True)
        return [[a << s for a, s in zip(*row, strict=True)] for row in rows], 1 << (_MANTISSA - low)

    @cached_property
    def largest(self) -> Fraction:
        """max |x| over the entries x of X_b."""
        return Fraction(float(np.abs(self.floats).max(initial=0.0)))


class FloatBlocks(Sequence[Block]):
    """The free groups of an array X of doubles (n x d)."""

    def __init__(self, X: Floats, groups: Sequence[Sequence[int]]) -> None:
        order = [j for group in groups for j in group]
        self._ends = np.cumsum([0, *map(len, groups)]).tolist()
        self._doubles = Doubles(np.ascontiguousarray(X[:, order].T))
        unit = 4**self._doubles.shift
        squares = [Fraction(sum(part), unit) for part in self._parts(self._doubles.squares())]
        self._last: tuple[Vector, list[Vector]] | None = None
        self._blocks = tuple(FloatBlock(X[:, list(g)], size) for g, size in zip(groups, squares, strict=True))

    def __len__(self) -> int:
        return len(self._blocks)

    @overload
    def __getitem__(self, b: int) -> Block: ...
    @overload
    def __getitem__(self, b: slice) -> Sequence[Block]: ...
    def __getitem__(self, b: int | slice) -> Block | Sequence[Block]:
        return self._blocks[b]

    def correlations(self, r: Vector) -> list[Vector]:
        """X_b'r of every group."""
        if self._last is None or self._last[0] is not r:
            scaled = Scaled.of(r)
            unit, products = scaled.denominator << self._doubles.shift, self._doubles.times(scaled.entries)
            self._last = r, [tuple(Fraction(x, unit) for x in part) for part in self._parts(products)]
        return self._last[1]

    def fit(self, weights: Iterable[tuple[int, Vector]]) -> Vector:
        """sum X_b w_b over the pairs (b, w_b)."""
        w = [Fraction(0)] * self._ends[-1]
        for b, part in weights:
            for j, x in enumerate(part, self._ends[b]):
                w[j] += x
        scaled = Scaled.of(w)
        unit = scaled.denominator << self._doubles.shift
        return tuple(Fraction(x, unit) for x in self._doubles.transposed_times(scaled.entries))

    def _parts(self, entries: list[int]) -> list[list[int]]:
        return [entries[i:j] for i, j in zip(self._ends, self._ends[1:], strict=False)]
