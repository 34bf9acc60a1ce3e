"""From CSV text to records: fields without surrounding blanks, each record with its line in the file."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from relu_cert.data.numbers import is_value, with_point
from relu_cert.errors import DataError, UsageError
from relu_cert.messages import shown

_TAB = ("tab", "\\t")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True)
class Record:
    """One record and the line (from 1) that it starts on. A blank line has no fields."""

    line: int
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """The records of a file, all of the same width, at least one: the names if there are any, then the rows, which are
    read once, one after the other, so that a large file is never in memory as texts."""

    names: tuple[str, ...] | None
    rows: Iterator[Record]
    width: int

    def place(self, column: int) -> str:
        """A column as messages call it: its number from 1, and its name."""
        return f"column {column + 1}" + (f" ({shown(self.names[column])})" if self.names else "")


def delimiter_character(delimiter: str | None) -> str:
    """The one character that separates fields: a comma unless told otherwise; "tab" and "\\t" are the tab."""
    if delimiter is None:
        return ","
    character = "\t" if delimiter.lower() in _TAB else delimiter
    if len(character) != 1:
        raise UsageError(f"the delimiter {shown(delimiter)} must be one character, or tab.")
    if character in '"\r\n\0+-./' or character.isalnum():
        raise UsageError(f"the delimiter {shown(delimiter)} can be part of a number or a line end; use another.")
    return character


def read_table(text: str, delimiter: str, name: str, apart: Sequence[int] = (), *, comma: bool = False) -> Table:
    """The table of a CSV text (quotes as in Python's csv, strictly). The name is for messages.

    The first record holds names iff one of its fields, not empty, does not stand for a value; columns `apart` have
    texts in all records, and do not count. With `comma` numbers have a decimal comma. Blank lines at the end are
    ignored; elsewhere they are refused, as are records of different widths and an empty file.
    """
    records = _checked(_records(text, delimiter, name), name)
    if comma:
        records = (Record(record.line, tuple(map(with_point, record.fields))) for record in records)
    head = next(records, None)
    if head is None:
        raise DataError(f"{name}: the file is empty; expected rows of numbers.")
    first = head.fields
    texts = [j % len(first) for j in apart if -len(first) <= j < len(first)]
    header = any(field != "" and not is_value(field) for j, field in enumerate(first) if j not in texts)
    return Table(first if header else None, records if header else chain([head], records), len(first))


def _checked(records: Iterator[Record], name: str) -> Iterator[Record]:
    """The records, without blank lines at the end; others, and records of another width than the first, are refused."""
    head = blank = None
    for record in records:
        if not record.fields:
            blank = blank or record.line
            continue
        if blank is not None:
            raise DataError(f"{name}, row {blank}: a blank line; only the end of the file may have some, remove it.")
        head = head or record
        if len(record.fields) != len(head.fields):
            width, found = len(head.fields), len(record.fields)
            expected = f"{width} field{'s' * (width != 1)} as in row {head.line}"
            raise DataError(f"{name}, row {record.line}: expected {expected}, found {found}; mend the row.")
        yield record


def _records(text: str, delimiter: str, name: str) -> Iterator[Record]:
    lines = (line[0] for line in _LINE.finditer(text))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 1
    try:
        for fields in reader:
            stripped = tuple(field.strip() for field in fields)
            # csv makes one field of a line of blanks, and one empty field of a line that is an empty pair of quotes.
            blank = stripped == ("",) and fields != [""]
            yield Record(line, () if blank else stripped)
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{name}, row {line}: not well-formed CSV ({error}); check the row's quotes.") from None
