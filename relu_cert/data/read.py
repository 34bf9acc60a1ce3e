"""From a CSV file to Z and y, exactly."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from relu_cert.bags import EACH, Each, with_slope
from relu_cert.data.dataset import Dataset, Numbers, Source
from relu_cert.data.numbers import NumberError, parse_number
from relu_cert.data.raw import decode, digest, read_bytes
from relu_cert.data.table import Table, delimiter_character, read_table
from relu_cert.data.windows import bags_of, numbered, read_pool, read_windows
from relu_cert.errors import DataError, UsageError
from relu_cert.exact import Vector, rational
from relu_cert.messages import file_name, shown

Label = tuple[str, int]  # the text in the column of bags, and its line
MOST_KNOWN = 2**17  # texts whose numbers are kept: a number that is written often is one in memory
_INDEX = re.compile(r"[+-]?[0-9]{1,9}")
_OTHER_DELIMITERS = {";": "';'", "\t": "tab", "|": "'|'"}


def read_csv(
    path: str | os.PathLike[str],
    *,
    numbers: Numbers = "decimal",
    target: str | int | None = None,
    bias: bool = False,
    delimiter: str | None = None,
    conv: str | None = None,
    bags: str | int | None = None,
    pool: str | None = None,
    slope: Fraction | None = None,
) -> Dataset:
    """The data set of a CSV file, plain or gzip. DataError names file, row, column and what was found there.

    `numbers`    "decimal": the exact rational of the text; "binary64": the nearest double, exactly.
    `target`     the column that becomes y: a name of the header, or else an index from 0 (negative: from the end);
                 the last column by default. The other columns, in order, are Z.
    `bias`       appends a column of ones to Z.
    `delimiter`  one character, or "tab"; a comma by default.
    `conv`       a rule: each row is a signal or an image, and its windows are the rows of Z (relu_cert.data.windows).
    `bags`       a column: rows with the same text there are one data point; it is no feature.
    `pool`       "mean" (by default) or "sum" of the outputs of the rows of a data point.
    `slope`      s of the activation max(t, s t): each row z of Z is there as z, and with the weight -s as -z.
    """
    return read_csv_bytes(
        read_bytes(path),
        os.fspath(path),
        numbers=numbers,
        target=target,
        bias=bias,
        delimiter=delimiter,
        conv=conv,
        bags=bags,
        pool=pool,
        slope=slope,
    )


def read_csv_bytes(
    raw: bytes,
    name: str,
    *,
    numbers: Numbers = "decimal",
    target: str | int | None = None,
    bias: bool = False,
    delimiter: str | None = None,
    conv: str | None = None,
    bags: str | int | None = None,
    pool: str | None = None,
    slope: Fraction | None = None,
) -> Dataset:
    """The same for the bytes of a file; the name is for messages and for `Source.path`."""
    if numbers not in ("decimal", "binary64"):
        raise UsageError(f"numbers are read as decimal or as binary64, not as {shown(str(numbers))}.")
    text = decode(raw, name)
    separator = delimiter_character(_guessed(text) if delimiter is None else delimiter)
    if conv is not None and bags is not None:
        raise UsageError("--conv makes bags of windows; --bags names bags of rows: give one of them.")
    if pool is not None and conv is None and bags is None:
        raise UsageError("--pool is for --conv and --bags.")
    windows, pooling = None if conv is None else read_windows(conv), read_pool(pool)
    try:
        apart = int(str(bags)) if bags is not None and _INDEX.fullmatch(str(bags).strip()) else None
        table = read_table(text, separator, file_name(name), apart)
        chosen = _target(table, target, file_name(name))
        label = None if bags is None else _bag_column(table, bags, chosen, file_name(name))
        Z, y, labels = _split(table, chosen, label, numbers, bias, file_name(name))
        names = tuple(_column_name(table, j) for j in range(table.width) if j not in (chosen, label))
        P: Each = EACH
        if windows is not None:
            rows, values = numbered(Z)
            seen = windows.of(rows, 0)
            bag = np.repeat(np.arange(len(seen)), seen.shape[1])
            Z, P = bags_of(seen.reshape(-1, windows.entries), bag, values, bias, pooling)
            names = windows.names
        elif label is not None:
            rows, values = numbered(Z)
            bag, y = _bags(labels, y, table.place(label), file_name(name))
            Z, P = bags_of(rows, bag, values, bias, pooling)
        elif bias:
            Z = tuple((*z, Fraction(1)) for z in Z)
        if slope:
            Z, P = with_slope(Z, P, require_slope(slope))
        if not Z:
            raise DataError(
                f"{file_name(name)}: all rows that a neuron sees are zero; nothing can be learnt from them."
            )
    except DataError as error:
        raise DataError(f"{error}{_delimiter_advice(text, separator)}") from None
    source = Source(
        path=name,
        sha256=digest(raw),
        kind="csv",
        numbers=numbers,
        bias=bias,
        target=chosen,
        delimiter=separator,
        header=table.names is not None,
        conv="" if windows is None else windows.text,
        bags="" if label is None else _said(table, label),
        pool="" if windows is None and label is None else pooling,
        slope=rational(slope) if slope else "",
    )
    return Dataset(Z, y, names + ("bias",) * bias, _column_name(table, chosen), source, P)


def require_slope(slope: Fraction) -> Fraction:
    """The slope of an activation max(t, s t), s < 1."""
    if slope < 1:
        return slope
    what = "is no activation, and the network linear" if slope == 1 else "bends the other way, min(t, s t)"
    raise UsageError(f"--slope takes a number below 1, as 1/100 for a leaky ReLU or -1 for |t|; {slope} {what}.")


def _bag_column(table: Table, bags: str | int, target: int, name: str) -> int:
    """The column of the names of the bags."""
    index = _INDEX.fullmatch(str(bags).strip())
    found = _target(table, int(index[0]) if index else bags, name, "bags")
    if found == target:
        column = table.place(found)
        raise DataError(f"{name}: {column} cannot be both the target and the names of the bags; choose --target.")
    return found


def _said(table: Table, column: int) -> str:
    """A column as it is found again: by its name, or by its index where that is not its own, or a number."""
    names = table.names or ("",) * table.width
    own = names[column] and names.count(names[column]) == 1 and not _INDEX.fullmatch(names[column])
    return names[column] if own else str(column)


def _bags(labels: Sequence[Label], y: Vector, column: str, name: str) -> tuple[NDArray[np.int64], Vector]:
    """The number of each row's bag, in the order of their first rows, and the targets of the bags."""
    numbers: dict[str, int] = {}
    targets: list[tuple[Fraction, int]] = []
    bag = []
    for (text, at), target in zip(labels, y, strict=True):
        i = numbers.setdefault(text, len(numbers))
        if i == len(targets):
            targets.append((target, at))
        elif targets[i][0] != target:
            first, line = targets[i]
            raise DataError(
                f"{name}: the target differs within the bag {shown(text)}: it is {first} in row {line} and {target} in "
                f"row {at}; a bag has one target."
            )
        bag.append(i)
    if len(targets) == 1:
        raise DataError(f"{name}: all rows have {shown(text)} in {column}, so that there is one bag only.")
    return np.array(bag), tuple(target for target, _ in targets)


def _target(table: Table, target: str | int | None, name: str, what: str = "target") -> int:
    """The zero-based column of y, or of something else. A name has priority over an index."""
    if target is None:
        return table.width - 1
    asked = str(target).strip()
    named = [j for j, column in enumerate(table.names or ()) if column == asked]
    if asked and isinstance(target, str) and named:
        if len(named) > 1:
            places = " and ".join(str(j) for j in named)
            raise DataError(
                f"{name}: the {what} {shown(asked)} names {len(named)} columns; choose one by its index ({places})."
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
    raise DataError(f"{name}: there is no {what} column {shown(asked)}; the file has {there}.")


def _split(
    table: Table, target: int, label: int | None, numbers: Numbers, bias: bool, name: str
) -> tuple[tuple[Vector, ...], Vector, list[Label]]:
    """The features and targets of the table's rows; the column of labels, with the lines of its rows, is none."""
    if table.width - (label is not None) == 1 and not bias:
        raise DataError(f"{name}: no feature, the only column is the target; add columns, or a bias (--bias).")
    known: dict[str, Fraction] = {}
    Z, y, labels = [], [], []
    for record in table.rows:
        row = []
        for j, field in enumerate(record.fields):
            if j == label:
                labels.append((field, record.line))
                continue
            number = known.get(field)
            if number is None:
                try:
                    number = parse_number(field, numbers)
                except NumberError as error:
                    place = f"{name}, row {record.line}, {table.place(j)}"
                    raise DataError(f"{place}: found {shown(field)}, {error}.") from None
                if len(known) < MOST_KNOWN:
                    known[field] = number
            if j == target:
                y.append(number)
            else:
                row.append(number)
        Z.append(tuple(row))
    if not Z:
        raise DataError(f"{name}: no rows, only a header; add rows of numbers.")
    return tuple(Z), tuple(y), labels


def _column_name(table: Table, column: int) -> str:
    """The column's name in the header, or x and its index where it has none."""
    return (table.names[column] if table.names else "") or f"x{column}"


def _guessed(text: str) -> str | None:
    """The delimiter of a file whose first line has no comma, but one of the others."""
    first_line = text.partition("\n")[0]
    found = [one for one in _OTHER_DELIMITERS if one in first_line]
    return found[0] if len(found) == 1 and "," not in first_line else None


def _delimiter_advice(text: str, separator: str) -> str:
    """A hint for a file that seems to be separated by something else."""
    first_line = re.split(r"[\r\n]", text, maxsplit=1)[0]
    if separator in first_line:
        return ""
    for other, spelling in _OTHER_DELIMITERS.items():
        if other in first_line:
            return f" If the fields are separated by {spelling}, say --delimiter {spelling}."
    return ""
