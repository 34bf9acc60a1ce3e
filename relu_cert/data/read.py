"""From a CSV file to Z and y, exactly."""

from __future__ import annotations

import os
import re
from fractions import Fraction

from relu_cert.data.dataset import Dataset, Numbers, Source
from relu_cert.data.messages import file_name, shown
from relu_cert.data.numbers import NumberError, parse_number
from relu_cert.data.raw import decode, digest, read_bytes
from relu_cert.data.table import Table, delimiter_character, read_table
from relu_cert.errors import DataError, UsageError
from relu_cert.exact import Vector

_INDEX = re.compile(r"[+-]?[0-9]{1,9}")
_OTHER_DELIMITERS = {";": "';'", "\t": "tab", "|": "'|'"}


def read_csv(
    path: str | os.PathLike[str],
    *,
    numbers: Numbers = "decimal",
    target: str | int | None = None,
    bias: bool = False,
    delimiter: str | None = None,
) -> Dataset:
    """The data set of a CSV file, plain or gzip. DataError names file, row, column and what was found there.

    `numbers`    "decimal": the exact rational of the text; "binary64": the nearest double, exactly.
    `target`     the column that becomes y: a name of the header, or else an index from 0 (negative: from the end);
                 the last column by default. The other columns, in order, are Z.
    `bias`       appends a column of ones to Z.
    `delimiter`  one character, or "tab"; a comma by default.
    """
    raw = read_bytes(path)
    return read_csv_bytes(raw, os.fspath(path), numbers=numbers, target=target, bias=bias, delimiter=delimiter)


def read_csv_bytes(
    raw: bytes,
    name: str,
    *,
    numbers: Numbers = "decimal",
    target: str | int | None = None,
    bias: bool = False,
    delimiter: str | None = None,
) -> Dataset:
    """The same for the bytes of a file; the name is for messages and for `Source.path`."""
    if numbers not in ("decimal", "binary64"):
        raise UsageError(f"numbers are read as decimal or as binary64, not as {shown(str(numbers))}.")
    separator = delimiter_character(delimiter)
    text = decode(raw, name)
    try:
        table = read_table(text, separator, file_name(name))
        chosen = _target(table, target, file_name(name))
        Z, y = _split(table, chosen, numbers, bias, file_name(name))
    except DataError as error:
        raise DataError(f"{error}{_delimiter_advice(text, separator)}") from None
    names = tuple(_column_name(table, j) for j in range(table.width) if j != chosen)
    source = Source(
        path=name,
        sha256=digest(raw),
        kind="csv",
        numbers=numbers,
        bias=bias,
        target=chosen,
        delimiter=separator,
        header=table.names is not None,
    )
    return Dataset(Z, y, names + ("bias",) * bias, _column_name(table, chosen), source)


def _target(table: Table, target: str | int | None, name: str) -> int:
    """The zero-based column of y. A name has priority over an index."""
    if target is None:
        return table.width - 1
    asked = str(target).strip()
    named = [j for j, column in enumerate(table.names or ()) if column == asked]
    if asked and isinstance(target, str) and named:
        if len(named) > 1:
            places = " and ".join(str(j) for j in named)
            raise DataError(
                f"{name}: the target {shown(asked)} names {len(named)} columns; choose one by its index ({places})."
            )
        return named[0]
    if _INDEX.fullmatch(asked):
        index = int(asked)
        if -table.width <= index < table.width:
            return index % table.width
    there = f"columns 0 to {table.width - 1}"
    if table.names:
        listed = ", ".join(shown(column) for column in table.names[:8])
        there += f", named {listed}" + (", ..." if table.width > 8 else "")
    else:
        there += ", and no header"
    raise DataError(f"{name}: there is no target column {shown(asked)}; the file has {there}.")


def _split(table: Table, target: int, numbers: Numbers, bias: bool, name: str) -> tuple[tuple[Vector, ...], Vector]:
    """Z and y of the table's rows."""
    if table.width == 1 and not bias:
        raise DataError(f"{name}: no feature, the only column is the target; add columns, or a bias (--bias).")
    if not table.rows:
        raise DataError(f"{name}: no rows, only a header; add rows of numbers.")
    ones = (Fraction(1),) * bias
    Z, y = [], []
    for record in table.rows:
        row = []
        for j, field in enumerate(record.fields):
            try:
                row.append(parse_number(field, numbers))
            except NumberError as error:
                place = f"{name}, row {record.line}, {table.place(j)}"
                raise DataError(f"{place}: found {shown(field)}, {error}.") from None
        y.append(row.pop(target))
        Z.append((*row, *ones))
    return tuple(Z), tuple(y)


def _column_name(table: Table, column: int) -> str:
    """The column's name in the header, or x and its index where it has none."""
    return (table.names[column] if table.names else "") or f"x{column}"


def _delimiter_advice(text: str, separator: str) -> str:
    """A hint for a file that seems to be separated by something else."""
    first_line = re.split(r"[\r\n]", text, maxsplit=1)[0]
    if separator in first_line:
        return ""
    for other, spelling in _OTHER_DELIMITERS.items():
        if other in first_line:
            return f" If the fields are separated by {spelling}, say --delimiter {spelling}."
    return ""
