"""From CSV text to records: fields without surrounding blanks, each record with its line in the file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

from relu_cert.data.messages import shown
from relu_cert.data.numbers import is_value
from relu_cert.errors import DataError, UsageError

_TAB = ("tab", "\\t")


@dataclass(frozen=True)
class Record:
    """One record and the line (from 1) that it starts on. A blank line has no fields."""

    line: int
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """The records of a file, all of the same width, at least one: the names if there are any, then the rows."""

    names: tuple[str, ...] | None
    rows: tuple[Record, ...]
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


def read_table(text: str, delimiter: str, name: str, apart: int | None = None) -> Table:
    """The table of a CSV text (quotes as in Python's csv, strictly). The name is for messages.

    The first record holds names iff one of its fields, not empty, does not stand for a value; the column `apart` has
    texts in all records, and does not count. Blank lines at the
    end are ignored; elsewhere they are refused, as are records of different widths and an empty file.
    """
    records: list[Record] = []
    blank = None
    for record in _records(text, delimiter, name):
        if not record.fields:
            blank = blank or record.line
            continue
        if blank is not None:
            raise DataError(f"{name}, row {blank}: a blank line; only the end of the file may have some, remove it.")
        if records and len(record.fields) != len(records[0].fields):
            width, found = len(records[0].fields), len(record.fields)
            expected = f"{width} field{'s' * (width != 1)} as in row {records[0].line}"
            raise DataError(f"{name}, row {record.line}: expected {expected}, found {found}; mend the row.")
        records.append(record)
    if not records:
        raise DataError(f"{name}: the file is empty; expected rows of numbers.")
    first = records[0].fields
    texts = None if apart is None or not -len(first) <= apart < len(first) else apart % len(first)
    header = any(field != "" and not is_value(field) for j, field in enumerate(first) if j != texts)
    return Table(first if header else None, tuple(records[header:]), len(first))


def _records(text: str, delimiter: str, name: str) -> Iterator[Record]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
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
