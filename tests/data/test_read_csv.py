"""CSV files: what is read, and how what cannot be read is refused."""

from __future__ import annotations

import gzip
import hashlib
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relu_cert.data import Dataset, raw, read_csv, read_csv_bytes
from relu_cert.errors import DataError, UsageError
from relu_cert.exact import matrix, vector


def read(text: str | bytes, **options: Any) -> Dataset:
    """The data set of a text, as a file called f.csv."""
    return read_csv_bytes(text.encode() if isinstance(text, str) else text, "f.csv", **options)


def refusal(text: str | bytes, **options: Any) -> str:
    """The message with which a text is refused."""
    with pytest.raises(DataError) as caught:
        read(text, **options)
    return str(caught.value)


PLAIN = read("1,2,3\n4,5,6\n")


def test_numbers_features_and_target() -> None:
    """The last column is y, the others in order are Z, and numbers are exact."""
    data = read("a,b,c\n0.1,3/7,1e-3\n+2,-.5,0\n")
    assert (data.Z, data.y) == (matrix([["1/10", "3/7"], [2, "-1/2"]]), vector(["1/1000", 0]))
    assert (data.names, data.target, data.n, data.d) == (("a", "b"), "c", 2, 2)
    assert (data.source.header, data.source.target, data.source.delimiter) == (True, 2, ",")


def test_binary64_is_recorded_and_read_exactly() -> None:
    """With numbers="binary64" every number is the nearest double, and the source says so."""
    data = read("0.1,1/3\n", numbers="binary64")
    assert (data.Z, data.y) == (((Fraction(0.1),),), (Fraction(1 / 3),))
    assert data.source.numbers == "binary64"


def test_the_source_says_how_to_read_it_again(tmp_path: Path) -> None:
    """The hash is of the raw bytes, compressed or not, and the path is as given."""
    for content in (b"\xef\xbb\xbf1,2\r\n", gzip.compress(b"1,2\n")):
        path = tmp_path / "any name"
        path.write_bytes(content)
        data = read_csv(path)
        assert data.source.sha256 == hashlib.sha256(content).hexdigest()
        assert data.source.path == str(path)
        assert (data.Z, data.y) == (matrix([[1]]), vector([2]))


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff1,2,3\n4,5,6\n",
        "1,2,3\r\n4,5,6\r\n",
        "1,2,3\r4,5,6\r",
        "1,2,3\n4,5,6",
        "1,2,3\n4,5,6\n\n \n\t\n\r\n",
        ' 1\t, 2 ,\t3\n"4"," 5 ","6"\n',
    ],
)
def test_spellings_of_the_same_table(text: str) -> None:
    """Byte order mark, line ends, blanks around fields, quotes and blank lines at the end change nothing."""
    data = read(text)
    assert (data.Z, data.y, data.names, data.target) == (PLAIN.Z, PLAIN.y, PLAIN.names, PLAIN.target)


@pytest.mark.parametrize(("character", "given"), [("\t", "tab"), ("\t", "\\t"), ("\t", "\t"), (";", ";"), ("|", "|")])
def test_delimiters(character: str, given: str) -> None:
    """Any sensible character separates fields; the tab has two more spellings. The source has the character."""
    data = read(f"1{character}2{character}3\n4{character}5{character}6\n", delimiter=given)
    assert (data.Z, data.y, data.source.delimiter) == (PLAIN.Z, PLAIN.y, character)


def test_a_space_as_delimiter() -> None:
    """Blanks that separate fields are not stripped away first."""
    assert read("1 2 3\n4 5 6\n", delimiter=" ").Z == PLAIN.Z


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", "\r", "\0", "1", "e", ".", "-", "/", "tabs"])
def test_delimiters_that_cannot_be(delimiter: str) -> None:
    """What is not one character, or can be part of a number or a line end, is refused as a wrong option."""
    with pytest.raises(UsageError, match="the delimiter"):
        read("1,2\n", delimiter=delimiter)


def test_unknown_number_modes_are_refused() -> None:
    """Only the two documented ways to read numbers exist."""
    with pytest.raises(UsageError, match="decimal, decimal-comma or binary64, not as 'float'"):
        read("1,2\n", numbers="float")


def test_quotes_hold_delimiters_line_ends_and_quotes() -> None:
    """A quoted name may hold anything; rows below it are still counted as lines of the file."""
    data = read('"a,b","c\nd","e ""f"""\n1,2,3\n')
    assert (data.names, data.target) == (("a,b", "c\nd"), 'e "f"')
    assert "row 3, column 2 ('c\\nd'): found 'x'" in refusal('"a,b","c\nd",e\n1,x,3\n')


@pytest.mark.parametrize(
    ("first", "header"),
    [
        ("a,b", True),
        ("1,b", True),
        (",b", True),
        ("x-1,2", True),
        ("1,2", False),
        ("1/2,.5e1", False),
    ],
)
def test_header_is_a_field_that_is_no_value(first: str, header: bool) -> None:
    """The first record is names iff a field of it, not empty, is neither a number nor a missing or infinite value."""
    data = read(f"{first}\n3,4\n")
    assert data.source.header is header
    assert data.n == (1 if header else 2)


@pytest.mark.parametrize("field", ["nan", "-INF", "NA", "n/a", "null", "?", "", "1/0", "1e9999"])
def test_bad_values_in_the_first_row_make_no_header(field: str) -> None:
    """A bad value in the first row is refused there; the row is not taken for names and lost."""
    assert f"f.csv, row 1, column 1: found {field!r}, " in refusal(f"{field},2\n3,4\n")


def test_names_of_columns_without_one() -> None:
    """Columns without a name are called x and their index."""
    assert (PLAIN.names, PLAIN.target) == (("x0", "x1"), "x2")
    assert read(",b,\n1,2,3\n").names == ("x0", "b")


@pytest.mark.parametrize(
    ("target", "column"), [("b", 1), ("0", 0), (0, 0), ("-1", 2), (-3, 0), ("2", 2), (" b ", 1), (None, 2), ("+1", 1)]
)
def test_targets_by_name_and_index(target: str | int | None, column: int) -> None:
    """The target is a name or an index from 0, negative from the end; the rest stays in order."""
    data = read("a,b,c\n10,11,12\n", target=target)
    features = vector(10 + j for j in range(3) if j != column)
    assert (data.Z, data.y) == ((features,), vector([10 + column]))
    assert (data.target, data.source.target) == ("abc"[column], column)


def test_a_name_goes_before_an_index() -> None:
    """Where the header has a number-like name, a target text means the name, an integer the index."""
    assert read("0,a,1\n10,11,12\n", target="1").y == vector([12])
    assert read("0,a,1\n10,11,12\n", target=1).y == vector([11])


def test_the_bias_is_a_last_column_of_ones() -> None:
    """With bias, Z gets a last column of ones; then even a lone target column is a problem."""
    data = read("a,y\n2,3\n4,5\n", bias=True)
    assert (data.Z, data.names, data.source.bias) == (matrix([[2, 1], [4, 1]]), ("a", "bias"), True)
    lone = read("7\n8\n", bias=True)
    assert (lone.Z, lone.y, lone.names, lone.d) == (matrix([[1], [1]]), vector([7, 8]), ("bias",), 1)


def test_degenerate_data_is_legal() -> None:
    """Constant, duplicate and zero rows and columns, and equal names, are data like any other."""
    data = read("a,a,b,b\n0,0,0,0\n0,0,0,0\n0,1,1,5\n")
    assert (data.n, data.d, data.names) == (3, 3, ("a", "a", "b"))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "f.csv: the file is empty; expected rows of numbers."),
        (" \n\n", {}, "f.csv: the file is empty; expected rows of numbers."),
        ("\ufeff", {}, "f.csv: the file is empty; expected rows of numbers."),
        ("a,b\n", {}, "f.csv: no rows, only a header; add rows of numbers."),
        ("1\n2\n", {}, "f.csv: no feature, the only column is the target; add columns, or a bias (--bias)."),
        ("\n1,2\n", {}, "f.csv, row 1: a blank line; only the end of the file may have some, remove it."),
        ("1,2\n \n3,4\n", {}, "f.csv, row 2: a blank line; only the end of the file may have some, remove it."),
        ("1,2\n3\n", {}, "f.csv, row 2: expected 2 fields as in row 1, found 1; mend the row."),
        ("a,b\n1,2\n3,4,5\n", {}, "f.csv, row 3: expected 2 fields as in row 1, found 3; mend the row."),
        (
            "a,b\n1,\n",
            {},
            "f.csv, row 2, column 2 ('b'): found '', a missing value; fill it in, or remove its row or column.",
        ),
        (
            '1\n2\n""\n',
            {"bias": True},
            "f.csv, row 3, column 1: found '', a missing value; fill it in, or remove its row or column.",
        ),
        (
            "a,b\nNaN,1\n",
            {},
            "f.csv, row 2, column 1 ('a'): found 'NaN', a missing value; fill it in, or remove its row or column.",
        ),
        (
            "1,2\n1,-inf\n",
            {},
            "f.csv, row 2, column 2: found '-inf', which is not finite; write a finite number, or remove its row.",
        ),
        (
            "1,2\n1,two\n",
            {},
            "f.csv, row 2, column 2: found 'two', not a number; numbers look like 12, -0.5, 1e-3 or 3/7.",
        ),
        (
            "1,2\n1,1e400\n",
            {"numbers": "binary64"},
            "f.csv, row 2, column 2: found '1e400', too large for a double; read it with --numbers decimal.",
        ),
        (
            "a,b\n1,2\n",
            {"target": "c"},
            "f.csv: there is no target column 'c'; the file has columns 0 to 1, named 'a', 'b'.",
        ),
        ("1,2\n", {"target": 2}, "f.csv: there is no target column '2'; the file has columns 0 to 1, and no header."),
        (
            "1,2\n",
            {"target": "-3"},
            "f.csv: there is no target column '-3'; the file has columns 0 to 1, and no header.",
        ),
        ("1,2\n", {"target": ""}, "f.csv: there is no target column ''; the file has columns 0 to 1, and no header."),
        (
            "a,b,a\n1,2,3\n",
            {"target": "a"},
            "f.csv: the target 'a' names 2 columns; choose one by its index (0 and 2).",
        ),
        (
            '1,2\n"3"4,5\n',
            {},
            "f.csv, row 2: not well-formed CSV (',' expected after '\"'); check the row's quotes.",
        ),
        (
            '1,2\n3,"4\n5,6\n',
            {},
            "f.csv, row 2: not well-formed CSV (unexpected end of data); check the row's quotes.",
        ),
        (
            "a;b\n1;2\n",
            {"delimiter": ","},
            "f.csv: no feature, the only column is the target; add columns, or a bias (--bias)."
            " If the fields are separated by ';', say --delimiter ';'.",
        ),
        (
            "1\t2\n",
            {"bias": True, "delimiter": ","},
            "f.csv: no rows, only a header; add rows of numbers."
            " If the fields are separated by tab, say --delimiter tab.",
        ),
        (
            b"1,2\n3,\xe9\n",
            {},
            "f.csv: not UTF-8 text, found 0xe9 at byte 6; save it as UTF-8 text, plain or gzip.",
        ),
        (
            b"\xef\xbb\xbf1,\xff\n",
            {},
            "f.csv: not UTF-8 text, found 0xff at byte 5; save it as UTF-8 text, plain or gzip.",
        ),
        (
            "1,2\n".encode("utf-16"),
            {},
            "f.csv: not UTF-8 text but UTF-16, found NUL at byte 3; save it as UTF-8 text, plain or gzip.",
        ),
        (
            b"PK\x03\x04\0\0",
            {},
            "f.csv: not UTF-8 text but a spreadsheet or a zip archive, found NUL at byte 4;"
            " save it as UTF-8 text, plain or gzip.",
        ),
    ],
)
def test_refusals_say_where_what_and_what_to_do(text: str | bytes, options: dict[str, Any], message: str) -> None:
    """Each refusal names the file, the row and column where there is one, what was found, and a way out."""
    assert refusal(text, **options) == message


def test_hostile_contents_are_escaped_and_cut() -> None:
    """No control character of the file reaches the message, and long fields are cut at 40 characters."""
    message = refusal("\x1b[31m,\u202eb\n1,\x07" + "z" * 5000 + "\n")
    assert message.isprintable()
    assert "column 2 ('\\u202eb'): found '\\x07" + "z" * 39 + "'..., not a number" in message
    assert refusal("a\x08,b\n1,2\n", target="\x1b[2J").isprintable()
    assert len(refusal(",".join("n" * 900 for _ in range(900)) + "\n" + "1," * 899 + "1\n", target="c")) < 600


def test_hostile_file_names_are_escaped() -> None:
    """A file name with control characters does not reach the terminal as it is."""
    with pytest.raises(DataError, match=re.escape(r"'a\x1b[2J\n.csv': the file is empty")):
        read_csv_bytes(b"", "a\x1b[2J\n.csv")


def test_header_names_of_other_formats_are_text() -> None:
    """A text file is not taken for another format because its first name looks like that format's mark."""
    assert read("PAR1,BZh\n1,2\n").names == ("PAR1",)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    """Missing files, directories and impossible paths are refused with a sentence, not a traceback."""
    with pytest.raises(DataError, match="there is no such file"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(DataError, match="this is a directory"):
        read_csv(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        read_csv("a\0b")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be read"):
        read_csv(tmp_path / "file" / "below")


def test_gzip_is_known_by_its_bytes_not_its_name() -> None:
    """Several gzip members are one text; damaged ones are refused."""
    assert read(gzip.compress(b"1,2,3\n") + gzip.compress(b"4,5,6\n")).Z == PLAIN.Z
    packed = gzip.compress(b"1,2\n" * 100)
    assert "a damaged gzip file" in refusal(packed[:-9])
    assert "a damaged gzip file" in refusal(packed[:-8] + bytes(8))
    assert "a damaged gzip file" in refusal(packed + b"junk")


def test_size_limits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file, or what a gzip file would grow to, over the limit is refused before it is read in full."""
    monkeypatch.setattr(raw, "MAX_BYTES", 2**20)
    bomb = gzip.compress(b"1,2\n" * 2**18 + b"1,2\n")
    assert len(bomb) < 10_000
    assert "more than 1 MiB once decompressed" in refusal(bomb)
    (tmp_path / "large.csv").write_bytes(b"1,2\n" * 2**18 + b"1")
    with pytest.raises(DataError, match="larger than 1 MiB"):
        read_csv(tmp_path / "large.csv")


def test_a_field_beyond_csv_limits_is_refused() -> None:
    """A field too long for the csv module is refused like all other bad data."""
    assert "row 2: not well-formed CSV" in refusal("1,2\n" + "1" * 200_000 + ",2\n")


fragments = st.sampled_from(
    [
        *(b"1", b"-2.5", b"3/7", b"1/0", b"1e5000", b"1e9999", b"nan", b"a", b",", b",", b";", b"\t", b" ", b'"'),
        *(b"\n", b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b"\x1f\x8b", b"\0", b"\xff", "é".encode()),
    ]
)


@settings(derandomize=True, deadline=None, max_examples=600)
@given(
    st.one_of(st.binary(max_size=60), st.lists(fragments, max_size=25).map(b"".join)),
    st.booleans(),
    st.sampled_from(["decimal", "binary64"]),
    st.booleans(),
    st.sampled_from([None, 0, "a", "-1", 7]),
    st.sampled_from([None, ";", "tab", " "]),
)
@example(b"1,2\n3,4\n", True, "decimal", True, None, None)
def test_any_bytes_give_data_or_a_data_error(
    content: bytes, packed: bool, numbers: Any, bias: bool, target: Any, delimiter: str | None
) -> None:
    """Whatever the bytes, there is a well-formed data set or a DataError that prints on one line."""
    try:
        data = read_csv_bytes(
            gzip.compress(content) if packed else content,
            "f.csv",
            numbers=numbers,
            bias=bias,
            target=target,
            delimiter=delimiter,
        )
    except DataError as error:
        assert str(error).isprintable()
        assert str(error).startswith("f.csv")
        return
    assert data.n == len(data.Z) == len(data.y) >= 1
    assert data.d >= 1
    assert all(len(row) == data.d and all(isinstance(z, Fraction) for z in row) for row in data.Z)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    st.integers(1, 4).flatmap(
        lambda d: st.lists(st.lists(st.fractions(), min_size=d + 1, max_size=d + 1), min_size=1, max_size=6)
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
def test_written_tables_read_back(table: list[list[Fraction]], end: str, header: bool) -> None:
    """A table of rationals, written down, is read back number for number in its place."""
    lines = [",".join(map(str, row)) for row in table]
    names = [",".join(f"c{j}" for j in range(len(table[0])))] if header else []
    data = read(end.join(names + lines) + end)
    assert [(*row, t) for row, t in zip(data.Z, data.y, strict=True)] == [tuple(row) for row in table]
