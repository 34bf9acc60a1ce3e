"""Exact data from Python: arrays, lists and data frames, and the canonical CSV file that stands for them.

Numbers are taken as what they are: a float is the binary64 number it holds (0.1 is 3602879701896397/36028797018963968),
integers, Fractions and Decimals are exact, and a text is read like a field of a CSV file ("0.1" is 1/10).

A certificate names the bytes it speaks of. For arrays they are the canonical CSV: UTF-8, a header with the names of the
features and then of the target, one record for each row, commas, line feeds, every number as p or p/q in lowest terms.
The file is read by the ordinary reader, so that data from Python and from files go the same way.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import numpy as np

from relu_cert.data.dataset import Dataset
from relu_cert.data.messages import shown
from relu_cert.data.numbers import NumberError, is_value, parse_number
from relu_cert.data.read import read_csv_bytes
from relu_cert.errors import DataError
from relu_cert.exact import Matrix, Vector, rational


def dataset_from_arrays(
    Z: Any, y: Any, *, bias: bool = False, names: Sequence[str] | None = None, target: str = "y", name: str = "data.csv"
) -> tuple[Dataset, bytes]:
    """The data set of a table Z (n x d) and targets y (n), and the bytes of its canonical CSV file.

    `names` are the names of the features: those of a data frame, or x0, x1, ..., unless they are given.
    """
    rows, targets = exact_matrix(Z, "Z"), exact_vector(y, "y")
    if len(rows) != len(targets):
        raise DataError(f"Z has {len(rows)} rows and y has {len(targets)} entries; they must be as many.")
    if not rows:
        raise DataError("Z has no rows; give at least one data point.")
    if not rows[0]:
        raise DataError("Z has no columns; give at least one feature.")
    raw = canonical_csv(rows, targets, _feature_names(Z, len(rows[0]), names), target)
    return read_csv_bytes(raw, name, bias=bias), raw


def canonical_csv(Z: Matrix, y: Vector, names: Sequence[str], target: str) -> bytes:
    """The canonical CSV file of exact data."""
    header = [_printable(text) for text in (*names, target)]
    if all(is_value(text.strip()) or not text.strip() for text in header):
        header = [f"x{text}" for text in header]  # a header must not look like data
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([*map(rational, row), rational(t)] for row, t in zip(Z, y, strict=True))
    return stream.getvalue().encode()


def exact_matrix(table: Any, what: str) -> Matrix:
    """The rows of a two-dimensional array-like, exactly. DataError names the entry that is no finite number."""
    entries = _entries(table, what)
    if entries.ndim == 1 and any(hasattr(row, "__len__") and not isinstance(row, str) for row in entries):
        raise DataError(f"{what} is not a table; give rows of the same length.")
    if entries.ndim != 2:
        hint = f"{what}.reshape(-1, 1) makes one column of it" if entries.ndim == 1 else "give rows of numbers"
        raise DataError(f"{what} has {entries.ndim} dimension{'s' * (entries.ndim != 1)}; expected 2: {hint}.")
    return tuple(
        tuple(_entry(x, f"{what}[{i}, {j}]") for j, x in enumerate(row)) for i, row in enumerate(entries.tolist())
    )


def exact_vector(entries: Any, what: str) -> Vector:
    """The entries of a one-dimensional array-like, or of a single column, exactly."""
    array = _entries(entries, what)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"{what} has shape {array.shape}; expected one number for each row.")
    return tuple(_entry(x, f"{what}[{i}]") for i, x in enumerate(array.tolist()))


def exact_number(x: Any) -> Fraction:
    """The number itself, as a rational; NumberError says why there is none."""
    if isinstance(x, str):
        return parse_number(x.strip(), "decimal")
    if isinstance(x, Integral):
        return Fraction(int(x))
    if isinstance(x, Rational):
        return Fraction(int(x.numerator), int(x.denominator))
    if isinstance(x, float | np.floating | Decimal):
        if not math.isfinite(x):
            raise NumberError("which is not finite; give a finite number")
        return Fraction(*x.as_integer_ratio())
    raise NumberError("not a real number; give integers, floats, Fractions, Decimals or texts")


def _entry(x: Any, place: str) -> Fraction:
    try:
        return exact_number(x)
    except NumberError as error:
        found = shown(x) if isinstance(x, str) else f"{x!r:.40}"
        raise DataError(f"{place}: found {found}, {error}.") from None


def _entries(table: Any, what: str) -> np.ndarray[Any, np.dtype[Any]]:
    """The entries as an array, numbers untouched: only arrays keep a machine type, everything else stays Python."""
    if hasattr(table, "toarray"):
        raise DataError(f"{what} is a sparse matrix; give a dense one, {what}.toarray().")
    try:
        return table if isinstance(table, np.ndarray) else np.asarray(table, dtype=object)
    except ValueError as error:
        raise DataError(f"{what} is not a table ({error}); give rows of the same length.") from None


def _feature_names(Z: Any, d: int, names: Sequence[str] | None) -> tuple[str, ...]:
    found = names if names is not None else getattr(Z, "columns", None)
    if found is None:
        return tuple(f"x{j}" for j in range(d))
    texts = tuple(str(name) for name in found)
    if len(texts) != d:
        raise DataError(f"{len(texts)} names for {d} features; give one name for each column of Z.")
    return texts


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "�" for c in text)
