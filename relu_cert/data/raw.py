"""From a path to bytes, from bytes to text, and from text to records: size limits, gzip, UTF-8, fields with quotes."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path

from relu_cert.clock import require_time
from relu_cert.data.dataset import is_value, with_point
from relu_cert.errors import DataError, UsageError, file_name, quote
from relu_cert.memory import room

MAX_BYTES = 2**32
"""The largest file that is read, and the largest text that a compressed file may hold."""

OFTEN = 4096  # rows between two looks at the clock
GROWS = 16  # bytes of memory for a byte of text, once its numbers are exact
STANDARD_INPUT = "-"
_GZIP = b"\x1f\x8b"
_KNOWN = {
    b"PK\x03\x04": "a spreadsheet or a zip archive",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a zstandard file",
    b"\x93NUMPY": "a numpy file",
    b"PAR1": "a parquet file",
}
_ADVICE = "save it as UTF-8 text, plain or gzip"


def digest(raw: bytes) -> str:
    """The SHA-256 of the bytes as they are (compressed ones if the file is compressed), in hexadecimal."""
    return sha256(raw).hexdigest()


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file of at most MAX_BYTES; DataError says why it cannot be read."""
    name = file_name(os.fspath(path))
    if os.fspath(path) == STANDARD_INPUT:
        return _standard_input()
    try:
        with Path(path).open("rb") as file:
            require_room(os.fstat(file.fileno()).st_size, name)
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise DataError(f"{name}: there is no such file; check the path.") from None
    except IsADirectoryError:
        raise DataError(f"{name}: this is a directory; name a file in it.") from None
    except PermissionError:
        raise DataError(f"{name}: permission denied; make the file readable.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise DataError(f"{name}: cannot be read ({reason or error}); check the path.") from None
    if len(raw) > MAX_BYTES:
        limit = MAX_BYTES // 2**20
        raise DataError(f"{name}: larger than {limit} MiB; that is the largest file that is read.")
    return raw


def require_room(size: int, name: str) -> None:
    """DataError if the numbers of a text of so many bytes would not be in memory."""
    if GROWS * size > room():
        need, there = GROWS * size / 2**30, room() / 2**30
        raise DataError(
            f"{name}: its numbers would take about {need:.1f} GB of memory, exactly as they are, and {there:.1f} GB "
            "are there; take fewer rows, or a larger machine (or --max-memory)."
        )


@cache
def _standard_input() -> bytes:
    """What was piped in. It can be read once only, and the checker wants it, too."""
    if sys.stdin is None or sys.stdin.isatty():
        raise DataError("-: standard input is a terminal; pipe a file into it, or name one.")
    raw = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise DataError(f"-: more than {MAX_BYTES // 2**20} MiB on standard input, which is the most that is read.")
    return raw


def decode(raw: bytes, name: str) -> str:
    """The text of UTF-8 bytes, without their byte order mark, decompressed if they are gzip."""
    name = file_name(name)
    data = _gunzip(raw, name) if raw.startswith(_GZIP) else raw
    if (nul := data.find(0)) >= 0:
        raise DataError(f"{name}: {_format(data)}, found NUL at byte {nul}; {_ADVICE}.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from behind the byte order mark.
        position = error.start + len(data) - len(error.object)
        found = f"0x{data[position]:02x}"
        raise DataError(f"{name}: {_format(data)}, found {found} at byte {position}; {_ADVICE}.") from None


def _format(data: bytes) -> str:
    """What bytes that are not UTF-8 text seem to be."""
    known = (what for magic, what in _KNOWN.items() if data.startswith(magic))
    return f"not UTF-8 text but {what}" if (what := next(known, "")) else "not UTF-8 text"


def _gunzip(raw: bytes, name: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            data = file.read(min(MAX_BYTES, room() // GROWS) + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name}: a damaged gzip file ({error}); compress it again.") from None
    require_room(len(data), name)
    if len(data) > MAX_BYTES:
        limit = MAX_BYTES // 2**20
        raise DataError(f"{name}: holds more than {limit} MiB once decompressed, which is the most that is read.")
    return data


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
        return f"column {column + 1}" + (f" ({quote(self.names[column])})" if self.names else "")


def delimiter_character(delimiter: str | None) -> str:
    """The one character that separates fields: a comma unless told otherwise; "tab" and "\\t" are the tab."""
    if delimiter is None:
        return ","
    character = "\t" if delimiter.lower() in _TAB else delimiter
    if len(character) != 1:
        raise UsageError(f"the delimiter {quote(delimiter)} must be one character, or tab.")
    if character in '"\r\n\0+-./' or character.isalnum():
        raise UsageError(f"the delimiter {quote(delimiter)} can be part of a number or a line end; use another.")
    return character


def read_table(text: str, delimiter: str, name: str, apart: Sequence[int] = (), *, comma: bool = False) -> Table:
    """The table of a CSV text (quotes as in Python's csv, strictly). The name is for messages.

    The first record holds names iff one of its fields, not empty, does not stand for a value; columns `apart` have
    texts in all records, and do not count. With `comma` numbers have a decimal comma. Blank lines at the end are
    ignored; elsewhere they are refused, as are records of different widths and an empty file.
    """
    records = _checked_records(_records(text, delimiter, name), name)
    if comma:
        records = (Record(record.line, tuple(map(with_point, record.fields))) for record in records)
    head = next(records, None)
    if head is None:
        raise DataError(f"{name}: the file is empty; expected rows of numbers.")
    first = head.fields
    texts = [j % len(first) for j in apart if -len(first) <= j < len(first)]
    header = any(field != "" and not is_value(field) for j, field in enumerate(first) if j not in texts)
    return Table(first if header else None, records if header else chain([head], records), len(first))


def _checked_records(records: Iterator[Record], name: str) -> Iterator[Record]:
    """The records, without blank lines at the end; others, and records of another width than the first, are refused."""
    head = blank = None
    for number, record in enumerate(records):
        if not number % OFTEN:
            require_time()
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
