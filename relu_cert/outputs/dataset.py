"""From a CSV file, or from arrays, to Z and Y: several columns to predict, or one of classes."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from relu_cert.bags import EACH, Each
from relu_cert.data.arrays import exact_matrix
from relu_cert.data.dataset import Numbers, Source
from relu_cert.data.numbers import NumberError, is_value, parse_number
from relu_cert.data.raw import decode, digest, read_bytes
from relu_cert.data.read import _column_name, _target
from relu_cert.data.table import Record, Table, delimiter_character, read_table
from relu_cert.errors import DataError, UsageError
from relu_cert.exact import Matrix, Vector, rational
from relu_cert.messages import file_name, shown
from relu_cert.written import OPTIONAL, UNWRITTEN

MOST_CLASSES = 100
_INDEX = re.compile(r"[+-]?[0-9]{1,9}")


@dataclass(frozen=True)
class OutputsSource(Source):
    """How a file with several outputs was read: their columns; or that of the classes, with the labels."""

    target: Annotated[int, UNWRITTEN] = -1
    targets: tuple[int, ...] = ()
    center: bool = False
    labels: Annotated[tuple[str, ...] | None, OPTIONAL] = None


@dataclass(frozen=True)
class OutputsData:
    """Z (N x d) and Y (n x C), exactly; `means` are what was taken from the columns of Y. A data point is a
    bag of rows of Z."""

    Z: Matrix
    Y: Matrix
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    means: Vector
    source: OutputsSource
    bags: Each = EACH

    @property
    def classes(self) -> list[int] | None:
        """The class of each row, if the outputs are classes."""
        return None if self.source.labels is None else [max(range(len(y)), key=y.__getitem__) for y in self.Y]


def read_outputs(
    path: str | os.PathLike[str],
    *,
    targets: str | Sequence[str | int] | None = None,
    classes: str | int | None = None,
    center: bool = False,
    numbers: Numbers = "decimal",
    bias: bool = False,
    delimiter: str | None = None,
) -> OutputsData:
    """The data of a CSV file: the columns `targets` (a text with commas, or a list), or the column of `classes`."""
    raw = read_bytes(path)
    return outputs_of_bytes(raw, os.fspath(path), targets, classes, center, numbers, bias, delimiter)


def outputs_of_bytes(
    raw: bytes,
    path: str,
    targets: str | Sequence[str | int] | None,
    classes: str | int | None,
    center: bool = False,
    numbers: Numbers = "decimal",
    bias: bool = False,
    delimiter: str | None = None,
) -> OutputsData:
    """The same for the bytes of a file; the path is for messages."""
    if (targets is None) == (classes is None):
        raise UsageError("give the columns to predict (--target A,B), or one column of classes (--classes A).")
    name, separator = file_name(path), delimiter_character(delimiter)
    apart = int(str(classes)) if classes is not None and _INDEX.fullmatch(str(classes).strip()) else None
    table, records = _table(decode(raw, path), separator, name, apart)
    if classes is not None:
        columns: tuple[int, ...] = (_target(table, classes, name, "classes"),)
        if apart is None and _table(decode(raw, path), separator, name, columns[0])[0].names is None:
            raise DataError(f"{name}: only the column {shown(str(classes))} has a name; name another one, too.")
        labels: tuple[str, ...] | None = _labels(table, records, columns[0], name)
    else:
        asked = targets.split(",") if isinstance(targets, str) else targets or ()
        columns, labels = tuple(_target(table, one, name) for one in asked), None
        if len({*columns}) != len(columns) or len(columns) < 2:
            raise UsageError(f"--target {targets}: expected at least two different columns.")
    kept = [j for j in range(table.width) if j not in columns]
    if not kept and not bias:
        raise DataError(f"{name}: no feature, all columns are targets; add columns, or a bias (--bias).")
    Z = tuple((*row, Fraction(1)) if bias else row for row in _numbers(table, records, kept, numbers, name))
    if labels is None:
        Y: Matrix = tuple(_numbers(table, records, columns, numbers, name))
        outputs = tuple(_column_name(table, j) for j in columns)
    else:
        Y = tuple(tuple(Fraction(row.fields[columns[0]] == label) for label in labels) for row in records)
        outputs = labels
    means = tuple(sum(column) / len(Y) if center else Fraction(0) for column in zip(*Y, strict=True))
    Y = tuple(tuple(x - mean for x, mean in zip(row, means, strict=True)) for row in Y)
    names = tuple(_column_name(table, j) for j in kept) + ("bias",) * bias
    source = OutputsSource(
        path=path,
        sha256=digest(raw),
        kind="csv",
        numbers=numbers,
        bias=bias,
        delimiter=separator,
        header=table.names is not None,
        targets=columns,
        center=center,
        labels=labels,
    )
    return OutputsData(Z, Y, names, outputs, means, source)


def _table(text: str, separator: str, name: str, apart: int | None) -> tuple[Table, list[Record]]:
    """The table and its records, at least one."""
    table = read_table(text, separator, name, apart)
    records = [*table.rows]
    if not records:
        raise DataError(f"{name}: no rows, only a header; add rows of numbers.")
    return table, records


def _labels(table: Table, records: Sequence[Record], column: int, name: str) -> tuple[str, ...]:
    """The labels of the classes: as numbers in order if they are numbers, else as texts."""
    found = {record.fields[column] for record in records}
    if not 2 <= len(found) <= MOST_CLASSES:
        few = f"{len(found)} different texts; classes need from 2 to {MOST_CLASSES}"
        raise DataError(f"{name}, {table.place(column)}: {few}.")
    if "" in found:
        raise DataError(f"{name}, {table.place(column)}: a row without a class; give every row one.")
    try:
        return tuple(sorted(found, key=lambda text: (parse_number(text, "decimal"), text)))
    except NumberError:
        return tuple(sorted(found))


def _numbers(
    table: Table, records: Sequence[Record], columns: Sequence[int], numbers: Numbers, name: str
) -> list[Vector]:
    """Some columns of the table."""
    rows = []
    for record in records:
        row = []
        for j in columns:
            try:
                row.append(parse_number(record.fields[j], numbers))
            except NumberError as error:
                place = f"{name}, row {record.line}, {table.place(j)}"
                raise DataError(f"{place}: found {shown(record.fields[j])}, {error}.") from None
        rows.append(tuple(row))
    return rows


def several(y: Any) -> bool:
    """Whether targets from Python are several outputs: a table of two columns or more, or texts that are no numbers."""
    entries = np.asarray(y, dtype=object)
    if entries.ndim == 2:
        return bool(entries.shape[1] > 1)
    return entries.ndim == 1 and any(isinstance(x, str) and not is_value(x.strip()) for x in entries.tolist())


def outputs_of_arrays(
    Z: Any, y: Any, *, bias: bool = False, center: bool = False, names: Sequence[str] | None = None
) -> tuple[OutputsData, bytes]:
    """The data of a table Z and a table Y, or labels, and the bytes of the canonical CSV file that stands for them."""
    rows, entries = exact_matrix(Z, "Z"), np.asarray(y, dtype=object)
    if len(rows) != len(entries):
        raise DataError(f"Z has {len(rows)} rows and y has {len(entries)}; they must be as many.")
    if not rows or not rows[0]:
        raise DataError("Z has no rows or no columns; give at least one data point with one feature.")
    head = [f"x{j}" for j in range(len(rows[0]))] if names is None else [str(one) for one in names]
    if len(head) != len(rows[0]):
        raise DataError(f"{len(head)} names for {len(rows[0])} features; give one name for each column of Z.")
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    first = len(head)
    if entries.ndim == 2:
        table = exact_matrix(y, "Y")
        writer.writerow([*head, *(f"y{c}" for c in range(len(table[0])))])
        writer.writerows([*map(rational, z), *map(rational, row)] for z, row in zip(rows, table, strict=True))
        targets, classes = [first + c for c in range(len(table[0]))], None
    else:
        labels = [str(x).strip() for x in entries.tolist()]
        writer.writerow([*head, "class"])
        writer.writerows([*map(rational, z), label] for z, label in zip(rows, labels, strict=True))
        targets, classes = None, first
    raw = stream.getvalue().encode()
    return outputs_of_bytes(raw, "data.csv", targets, classes, center, bias=bias), raw
