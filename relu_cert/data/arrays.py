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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from relu_cert.data.dataset import Dataset, NumberError, exact_number, is_value
from relu_cert.data.read import read_csv_bytes
from relu_cert.data.windows import read_windows
from relu_cert.errors import DataError, quote
from relu_cert.exact import Matrix, Vector, rational


@dataclass(frozen=True)
class _Targets:
    """The fields of the targets of each row, their names, and whether they are classes."""

    fields: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    classes: bool = False

    def columns(self, first: int) -> dict[str, Any]:
        """How they are read, the first of them from this column on."""
        if self.classes:
            return {"classes": first}
        return {"target": [first + c for c in range(len(self.names))]} if len(self.names) > 1 else {}


def dataset_from_arrays(
    Z: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    target: str = "y",
    name: str = "data.csv",
    bags: Any = None,
    outputs: bool = False,
    classes: bool = False,
    center: bool = False,
    **parts: Any,
) -> tuple[Dataset, bytes]:
    """The data set of a table Z (n x d) and targets y (n), and the bytes of its canonical CSV file.

    `names` are the names of the features: those of a data frame, or x0, x1, ..., unless they are given.
    `parts` are those of the architecture; of `conv` Z has n signals or images (n x l, n x c x l, n x c x h x w).
    `bags`: a label for each row of Z, equal for the rows of one bag (y has one target for each row); without labels Z
    may be a list of n tables, the bags (y has one target for each).
    Several `outputs`: y may be a table (n x C); or labels, texts, or with `classes` of any kind. `center`: less their
    means.
    """
    one = not outputs or not (classes or several(y))
    targets = _one_target(y, target) if one else _several_targets(y, target, classes)
    told: dict[str, Any] = {"center": center} | parts
    if told.get("conv") is not None:
        flat, rule = _images(Z, told["conv"])
        return _read(flat, targets, names, name, told | {"conv": rule})
    if bags is None and _is_list_of_tables(Z):
        Z, targets, bags = _long(Z, targets)
    if bags is not None:
        return _labelled(Z, targets, bags, names, name, told)
    return _read(Z, targets, names, name, told)


def _one_target(y: Any, target: str) -> _Targets:
    """One number for each row."""
    return _Targets(tuple((rational(x),) for x in exact_vector(y, "y")), (_printable(target),))


def _several_targets(y: Any, target: str, classes: bool) -> _Targets:
    """Several numbers for each row, or a label."""
    entries = _entries(y, "y")
    if entries.ndim == 2 and entries.shape[1] > 1 and not classes:
        table = exact_matrix(y, "y")
        own = getattr(y, "columns", None)
        texts = [f"{target}{c}" for c in range(len(table[0]))] if own is None else [_printable(str(one)) for one in own]
        return _Targets(tuple(tuple(map(rational, row)) for row in table), tuple(texts))
    flat = entries[:, 0] if entries.ndim == 2 and entries.shape[1] == 1 else entries
    if flat.ndim != 1:
        raise DataError(f"y has shape {entries.shape}; expected one label for each row.")
    return _Targets(tuple((str(x).strip(),) for x in flat.tolist()), (_printable(target),), True)


def several(y: Any) -> bool:
    """Whether targets are several outputs: a table of two columns or more, or texts that are no numbers."""
    entries = _entries(y, "y")
    if entries.ndim == 2 and entries.shape[1] > 1:
        return True
    flat = entries[:, 0] if entries.ndim == 2 else entries
    return flat.ndim == 1 and any(isinstance(x, str) and not is_value(x.strip()) for x in flat.tolist())


def _read(
    Z: Any, targets: _Targets, names: Sequence[str] | None, name: str, told: dict[str, Any]
) -> tuple[Dataset, bytes]:
    """The data set of a table, through its canonical CSV file."""
    rows = exact_matrix(Z, "Z")
    if len(rows) != len(targets.fields):
        raise DataError(f"Z has {len(rows)} rows and y has {len(targets.fields)} entries; they must be as many.")
    if not rows:
        raise DataError("Z has no rows; give at least one data point.")
    if not rows[0]:
        raise DataError("Z has no columns; give at least one feature.")
    header = [_printable(text) for text in _feature_names(Z, len(rows[0]), names)]
    both = header if targets.classes else [*header, *targets.names]
    if all(is_value(text.strip()) or not text.strip() for text in both):
        header = [f"x{text}" for text in header]  # a header must not look like data
        targets = replace(targets, names=tuple(f"x{text}" for text in targets.names))
    raw = _csv([*header, *targets.names], ((*map(rational, z), *t) for z, t in zip(rows, targets.fields, strict=True)))
    return read_csv_bytes(raw, name, **told, **targets.columns(len(header))), raw


def _csv(header: Sequence[str], records: Iterable[Sequence[str]]) -> bytes:
    """A CSV file."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(records)
    return stream.getvalue().encode()


def _images(Z: Any, conv: str) -> tuple[Any, str]:
    """Signals or images as rows, and the whole rule; of images the rule may leave out what their shape says."""
    array = _entries(Z, "Z")
    if array.ndim not in (2, 3, 4):
        raise DataError(
            f"Z has {array.ndim} dimensions; conv takes signals (n x l, n x c x l) or images (n x c x h x w)."
        )
    flat = array.reshape(len(array), -1)
    if array.ndim == 2:
        return flat, conv
    told = conv if conv[:3] in ("1d:", "2d:") else _whole_rule(conv, array.shape[1:])
    rule = read_windows(told)
    if (rule.channels, *rule.sizes(flat.shape[1])) != array.shape[1:]:
        raise DataError(f"Z has shape {array.shape}, which is not that of conv={told!r}.")
    return flat, told


def _whole_rule(conv: str, shape: tuple[int, ...]) -> str:
    """The rule of "K" or "KxL" with its options for arrays of a shape (channels, sizes)."""
    kernel, *options = conv.split(":")
    head = f"1d:{kernel}" if len(shape) == 2 else f"2d:{shape[1]}x{shape[2]}:{kernel}"
    return ":".join([head, *options, *([f"channels={shape[0]}"] if shape[0] > 1 else [])])


def _is_list_of_tables(Z: Any) -> bool:
    """Whether Z is a list of tables, and no table."""
    return isinstance(Z, list | tuple) and bool(Z) and all(np.ndim(_entries(one, "Z")) == 2 for one in Z)


def _long(tables: Sequence[Any], targets: _Targets) -> tuple[Matrix, _Targets, list[int]]:
    """The rows of all tables, with the target of their table and its number."""
    if len(targets.fields) != len(tables):
        raise DataError(f"Z has {len(tables)} bags and y has {len(targets.fields)} entries; they must be as many.")
    exact = [exact_matrix(table, f"Z[{i}]") for i, table in enumerate(tables)]
    for i, table in enumerate(exact):
        if not table:
            raise DataError(f"Z[{i}] is an empty bag; a bag has at least one row.")
        if len(table[0]) != len(exact[0][0]):
            raise DataError(
                f"Z[{i}] has {len(table[0])} columns and Z[0] has {len(exact[0][0])}; they must be as many."
            )
    labels = [i for i, table in enumerate(exact) for _ in table]
    fields = tuple(targets.fields[i] for i in labels)
    return tuple(row for table in exact for row in table), replace(targets, fields=fields), labels


def _labelled(
    Z: Any, targets: _Targets, bags: Any, names: Sequence[str] | None, name: str, told: dict[str, Any]
) -> tuple[Dataset, bytes]:
    """The data set of rows with the labels of their bags; the first column of its file has these."""
    rows, fields, labels = exact_matrix(Z, "Z"), targets.fields, [str(x).strip() for x in bags]
    if not len(rows) == len(fields) == len(labels):
        raise DataError(
            f"Z has {len(rows)} rows, y {len(fields)} entries and bags {len(labels)} labels; they must be as many."
        )
    features = [_printable(text) for text in _feature_names(Z, len(rows[0]) if rows else 0, names)]
    header = ["bag", *(f"x{text}" if text in ("bag", "") or is_value(text) else text for text in features)]
    parts = zip(labels, rows, fields, strict=True)
    raw = _csv([*header, *targets.names], ((label, *map(rational, row), *t) for label, row, t in parts))
    return read_csv_bytes(raw, name, bags="0", **told, **targets.columns(len(header))), raw


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


def _entry(x: Any, place: str) -> Fraction:
    try:
        return exact_number(x)
    except NumberError as error:
        found = quote(x) if isinstance(x, str) else f"{x!r:.40}"
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
