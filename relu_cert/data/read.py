"""From a CSV file to Z and y, exactly: one column to predict, or several, or one of classes."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from relu_cert.data.dataset import (
    Architecture,
    Dataset,
    NumberError,
    Numbers,
    Parts,
    Source,
    is_value,
    parse_number,
    with_point,
)
from relu_cert.data.raw import Table, decode, delimiter_character, digest, read_bytes, read_table
from relu_cert.errors import DataError, UsageError, file_name, quote
from relu_cert.exact import Matrix, Vector

Target = str | int | Sequence[str | int]  # one column, or several
Texts = tuple[tuple[str, ...], int]  # of a record: those in columns that are no numbers, and its line
MOST_CLASSES = 100
MOST_KNOWN = 2**17  # texts whose numbers are kept: a number that is written often is one in memory
_INDEX = re.compile(r"[+-]?[0-9]{1,9}")
_OTHER_DELIMITERS = {";": "';'", "\t": "tab", "|": "'|'"}


def read_csv(
    path: str | os.PathLike[str],
    *,
    numbers: Numbers = "decimal",
    target: Target | None = None,
    classes: str | int | None = None,
    center: bool = False,
    delimiter: str | None = None,
    **parts: Unpack[Parts],
) -> Dataset:
    """The data set of a CSV file, plain or gzip. DataError names file, row, column and what was found there.

    `numbers`    "decimal": the exact rational of the text; "binary64": the nearest double, exactly.
    `target`     the column that becomes y: a name of the header, or else an index from 0 (negative: from the end);
                 the last column by default. Several columns, as a list or with commas, are several outputs.
    `classes`    a column of texts instead: there is an output for each, 1 for rows of this class and 0 for others.
    `center`     with several outputs: less their means.
                 The other columns, in order, are Z.
    `delimiter`  one character, or "tab"; a comma by default.
    `parts`      those of the architecture; the column of the bags is no feature.
    """
    return read_csv_bytes(
        read_bytes(path),
        os.fspath(path),
        numbers=numbers,
        target=target,
        classes=classes,
        center=center,
        delimiter=delimiter,
        **parts,
    )


def read_csv_bytes(
    raw: bytes,
    name: str,
    *,
    numbers: Numbers = "decimal",
    target: Target | None = None,
    classes: str | int | None = None,
    center: bool = False,
    delimiter: str | None = None,
    **parts: Unpack[Parts],
) -> Dataset:
    """The same for the bytes of a file; the name is for messages and for `Source.path`."""
    if numbers not in ("decimal", "decimal-comma", "binary64"):
        raise UsageError(f"numbers are read as decimal, decimal-comma or binary64, not as {quote(str(numbers))}.")
    text = decode(raw, name)
    separator = delimiter_character(_guessed(text) if delimiter is None else delimiter)
    if numbers == "decimal" and separator != "," and _has_commas(text, separator):
        numbers = "decimal-comma"
    made, file = Architecture.of(**parts), file_name(name)
    bags = made.bags or None
    if classes is not None and target is not None:
        raise UsageError("give --target A,B or --classes A, not both.")
    try:
        again = partial(read_table, text, separator, file, comma=numbers == "decimal-comma")
        table = again([x for x in map(_index, (bags, classes)) if x is not None])
        columns = _columns(table, target, file) if classes is None else (_text_column(table, classes, file, "classes"),)
        label = None if bags is None else _bag_column(table, bags, columns, file)
        if classes is not None and _index(classes) is None and (bags is None or _index(bags) is not None):
            _require_header(table, (columns[0], label), classes, file)
        alone = classes is None and bags is None and len(columns) == 1
        two = _two_labels(again(columns), columns[0], file) if alone else None
        table = table if two is None else again(columns)
        Z, Y, texts = _split(table, columns, label, classes is not None or two is not None, numbers, made.bias, file)
        labels = two if classes is None else _labels([own[0] for own, _ in texts], table.place(columns[0]), file)
        if labels is not None:
            own_outputs = labels[1:] if classes is None else labels
            Y = tuple(tuple(Fraction(own[0] == one) for one in own_outputs) for own, _ in texts)
        names = tuple(_column_name(table, j) for j in range(table.width) if j not in (*columns, label))
        bag, Y = (None, Y) if label is None else _bagged(texts, Y, labels, table.place(label), file)
        samples = _two(Z, Y) if made.conv else ()
        Z, P, names = made.rows(Z, names, bag)
        if not Z:
            raise DataError(f"{file}: all rows that a neuron sees are zero; nothing can be learnt from them.")
    except DataError as error:
        raise DataError(f"{error}{_delimiter_advice(text, separator)}") from None
    several = classes is not None or len(columns) > 1
    if center and not several:
        raise UsageError("--center is for several outputs, --classes or --target A,B.")
    means: Vector = tuple(sum(column) / len(Y) * center for column in zip(*Y, strict=True)) if several else ()
    if center:
        Y = tuple(tuple(x - mean for x, mean in zip(row, means, strict=True)) for row in Y)
    source = Source(
        path=name,
        sha256=digest(raw),
        kind="csv",
        numbers=numbers,
        target=-1 if several else columns[0],
        delimiter=separator,
        header=table.names is not None,
        targets=columns if several else (),
        labels=labels,
        center=center,
        **made.stated | ({} if label is None else {"bags": _said(table, label)}),
    )
    outputs = labels or tuple(_column_name(table, j) for j in columns)
    y = tuple(x for row in Y for x in row)
    told = ", ".join(_column_name(table, j) for j in columns)
    return Dataset(Z, y, names, told, source, P, outputs if several else (), means, samples)


def _bagged(
    texts: Sequence[Texts], Y: Matrix, labels: tuple[str, ...] | None, place: str, file: str
) -> tuple[NDArray[np.int64], Matrix]:
    """The bag of each row, by the last of its texts, and the targets of the bags."""
    return _bags([(own[-1], line) for own, line in texts], Y, labels, place, file)


def _two(Z: Matrix, Y: Sequence[Vector]) -> tuple[tuple[int, Vector], ...]:
    """The first row, and the first one with another target, each with its place."""
    other = next((k for k, own in enumerate(Y) if own != Y[0]), 0)
    return tuple((k, Z[k]) for k in sorted({0, other}))


def _two_labels(table: Table, target: int, name: str) -> tuple[str, ...] | None:
    """The two texts of the target's column, in order, where none of its fields is a number: the second one is 1. None
    where the first is a number; DataError where there are more than two."""
    first = next(table.rows, None)
    if first is None or first.fields[target] == "" or is_value(first.fields[target]):
        return None
    found = sorted({record.fields[target] for record in chain([first], table.rows)})
    if len(found) == 1 or any(map(is_value, found)) or "" in found:
        return None  # a wrong entry, which is named with its row
    if len(found) == 2:
        return tuple(found)
    texts = ", ".join(map(quote, found[:5])) + ", ..." * (len(found) > 5)
    place = f"{name}, {table.place(target)}: {len(found)} different texts ({texts})"
    column = (table.names or [""] * table.width)[target] or str(target)
    raise DataError(f"{place}; a network with an output for each class is asked for with --classes {column}.")


def _has_commas(text: str, separator: str) -> bool:
    """Whether the first lines hold a number with a decimal comma and none with a point."""
    fields = [field.strip() for line in text[:100_000].splitlines()[:50] for field in line.split(separator)]
    points = any("." in field and is_value(field) for field in fields)
    return not points and any(with_point(field) != field for field in fields)


def _index(column: str | int | None) -> int | None:
    """The index of a column that is not named."""
    return int(str(column)) if column is not None and _INDEX.fullmatch(str(column).strip()) else None


def _columns(table: Table, target: Target | None, name: str) -> tuple[int, ...]:
    """The columns to predict: the last one, one, or several different ones."""
    if isinstance(target, str) and "," in target and target.strip() not in (table.names or ()):
        target = target.split(",")
    if target is None or isinstance(target, str | int):
        return (_target(table, target, name),)
    found = tuple(_target(table, one, name) for one in target)
    if len({*found}) != len(found) or len(found) < 2:
        told = ",".join(map(str, target))
        raise UsageError(f"--target {told}: expected at least two different columns.")
    return found


def _text_column(table: Table, column: str | int, name: str, what: str) -> int:
    """A column of texts; what looks like an index is one."""
    index = _index(column)
    return _target(table, column if index is None else index, name, what)


def _require_header(table: Table, apart: Sequence[int | None], classes: str | int, name: str) -> None:
    """DataError where a header has no name but that of the classes: nothing tells then that it is one."""
    rest = [text for j, text in enumerate(table.names or ()) if j not in apart]
    if not any(text and not is_value(text) for text in rest):
        raise DataError(f"{name}: only the column {quote(str(classes))} has a name; name another one, too.")


def _labels(texts: Sequence[str], place: str, name: str) -> tuple[str, ...]:
    """The labels of the classes: as numbers in order if they are numbers, else as texts."""
    found = {*texts}
    if not 2 <= len(found) <= MOST_CLASSES:
        few = f"{len(found)} different texts; classes need from 2 to {MOST_CLASSES}"
        raise DataError(f"{name}, {place}: {few}.")
    if "" in found:
        raise DataError(f"{name}, {place}: a row without a class; give every row one.")
    try:
        return tuple(sorted(found, key=lambda text: (parse_number(text, "decimal"), text)))
    except NumberError:
        return tuple(sorted(found))


def _bag_column(table: Table, bags: str | int, targets: Sequence[int], name: str) -> int:
    """The column of the names of the bags."""
    found = _text_column(table, bags, name, "bags")
    if found in targets:
        column = table.place(found)
        raise DataError(f"{name}: {column} cannot be both the target and the names of the bags; choose --target.")
    return found


def _said(table: Table, column: int) -> str:
    """A column as it is found again: by its name, or by its index where that is not its own, or a number."""
    names = table.names or ("",) * table.width
    own = names[column] and names.count(names[column]) == 1 and not _INDEX.fullmatch(names[column])
    return names[column] if own else str(column)


def _bags(
    bags: Sequence[tuple[str, int]], Y: Matrix, labels: Sequence[str] | None, column: str, name: str
) -> tuple[NDArray[np.int64], Matrix]:
    """The number of each row's bag, in the order of their first rows, and the targets of the bags."""
    numbers: dict[str, int] = {}
    targets: list[tuple[Vector, int]] = []
    bag = []

    def said(row: Vector) -> str:
        return " ".join(map(str, row)) if labels is None else quote(labels[row.index(Fraction(1))])

    for (text, at), target in zip(bags, Y, strict=True):
        if not text.strip():
            raise DataError(f"{name}: row {at} names no bag in {column}; give every row the name of its bag.")
        i = numbers.setdefault(text, len(numbers))
        if i == len(targets):
            targets.append((target, at))
        elif targets[i][0] != target:
            first, line = targets[i]
            raise DataError(
                f"{name}: the target differs within the bag {quote(text)}: it is {said(first)} in row {line} and "
                f"{said(target)} in row {at}; a bag has one target."
            )
        bag.append(i)
    if len(targets) == 1:
        raise DataError(f"{name}: all rows have {quote(text)} in {column}, so that there is one bag only.")
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
                f"{name}: the {what} {quote(asked)} names {len(named)} columns; choose one by its index ({places})."
            )
        return named[0]
    if _INDEX.fullmatch(asked):
        index = int(asked)
        if -table.width <= index < table.width:
            return index % table.width
    there = f"columns 0 to {table.width - 1}"
    if table.names:
        listed = ", ".join(quote(column) for column in table.names[:8])
        there += f", named {listed}" + (", ..." if table.width > 8 else "")
    else:
        there += ", and no header"
    raise DataError(f"{name}: there is no {what} column {quote(asked)}; the file has {there}.")


def _split(
    table: Table, targets: Sequence[int], label: int | None, classes: bool, numbers: Numbers, bias: bool, name: str
) -> tuple[Matrix, Matrix, list[Texts]]:
    """The features and targets of the table's rows; the columns of classes and of labels of bags are texts."""
    if table.width - (label is not None) == len(targets) and not bias:
        only = "the only column is the target" if len(targets) == 1 else "all columns are targets"
        raise DataError(f"{name}: no feature, {only}; add columns, or a bias (--bias).")
    apart = (*(targets if classes else ()), *(() if label is None else (label,)))
    place = {j: c for c, j in enumerate(() if classes else targets)}
    known: dict[str, Fraction] = {}
    Z, Y, texts = [], [], []
    for record in table.rows:
        row, y = [], [Fraction(0)] * len(place)
        for j, field in enumerate(record.fields):
            if j in apart:
                continue
            number = known.get(field)
            if number is None:
                try:
                    number = parse_number(field, numbers)
                except NumberError as error:
                    at = f"{name}, row {record.line}, {table.place(j)}"
                    raise DataError(f"{at}: found {quote(field)}, {error}.") from None
                if len(known) < MOST_KNOWN:
                    known[field] = number
            if j in place:
                y[place[j]] = number
            else:
                row.append(number)
        Z.append(tuple(row))
        Y.append(tuple(y))
        if apart:
            texts.append((tuple(record.fields[j] for j in apart), record.line))
    if not Z:
        raise DataError(f"{name}: no rows, only a header; add rows of numbers.")
    return tuple(Z), tuple(Y), texts


def _column_name(table: Table, column: int) -> str:
    """The column's name in the header, or x and its index where it has none."""
    return (table.names[column] if table.names else "") or f"x{column}"


def _guessed(text: str) -> str | None:
    """The delimiter of a file whose first two lines have no comma, but in numbers with a decimal comma, and one of the
    others."""
    lines = [line for line in text[:100_000].splitlines()[:2] if line.strip()]
    found = [one for one in _OTHER_DELIMITERS if lines and all(one in line for line in lines)]
    if len(found) != 1:
        return None
    fields = [field.strip() for line in lines for field in line.split(found[0])]
    return found[0] if all("," not in with_point(field) for field in fields) else None


def _delimiter_advice(text: str, separator: str) -> str:
    """A hint for a file that seems to be separated by something else."""
    first_line = re.split(r"[\r\n]", text, maxsplit=1)[0]
    if separator in first_line:
        return ""
    for other, spelling in _OTHER_DELIMITERS.items():
        if other in first_line:
            return f" If the fields are separated by {spelling}, say --delimiter {spelling}."
    return ""
