"""The checker's own reader: numbers by the text's exact meaning, doubles by integers only, tables as written."""

from __future__ import annotations

import gzip
import struct
from dataclasses import replace
from fractions import Fraction
from typing import Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import verify
from relu_cert.data import read_csv_bytes
from relu_cert.errors import DataError
from tests.verify.oracle.brute import mat, vec
from verify.problem.data import Input, cone, nearest_double, number, numeric, read_direct, read_table
from verify.text import Node

TABLE = Input("", "csv", target=2, header=True)
NUMBERS = {
    "0": 0,
    "-0": 0,
    "+2": 2,
    "007": 7,
    "0.1": Fraction(1, 10),
    ".5": Fraction(1, 2),
    "5.": 5,
    "-.25": Fraction(-1, 4),
    "1e-3": Fraction(1, 1000),
    "1E+2": 100,
    "-2.50e1": -25,
    "3/7": Fraction(3, 7),
    "-6/4": Fraction(-3, 2),
    "+0/9": 0,
    "1e5000": 10**5000,
    "0e-5000": 0,
    "1e0000000000000000000001": 10,
}
NOT_NUMBERS = [
    *("", ".", "e1", "1e", "1e1.5", "--1", "1-", "1/", "/1", "1/-2", "1.5/2", "1 2", "0x1", "1_0", "nan", "inf", "+"),
    *("1e+", "1,5", "1/2/3", "1e1e1", "\u0661", "1\u0661", "\uff11", "\u22121", "\u00b2"),
]


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_their_text(text: str) -> None:
    """The exact rational that the text writes."""
    assert numeric(text)
    assert number(text, "decimal", "here") == NUMBERS[text]


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_other_texts_are_no_numbers(text: str) -> None:
    """Nothing is guessed: other digits, underscores, words, signs in the wrong place."""
    assert not numeric(text)
    with pytest.raises(verify.Rejected, match="here: expected a number"):
        number(text, "decimal", "here")


DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


@settings(derandomize=True, max_examples=500, deadline=None)
@given(st.builds("{}.{}e{}".format, st.integers(-(10**25), 10**25), st.integers(0, 10**25), st.integers(-350, 300)))
@example("1.7976931348623157e308")
@example("179769313486231580793e289")
@example("4.9406564584124654e-324")
@example("2.4703282292062327e-324")
@example("2.4703282292062328e-324")
@example("2.2250738585072011e-308")
@example("9007199254740993")
@example("9007199254740995")
def test_nearest_double_is_float(text: str) -> None:
    """Rounding in integers is the rounding of IEEE 754: the same as float(), overflow and underflow included."""
    expected = float(text)
    if expected in (float("inf"), float("-inf")):
        with pytest.raises(verify.Rejected, match="within the range of binary64"):
            number(text, "binary64", "here")
    else:
        assert number(text, "binary64", "here") == Fraction(expected)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(DOUBLES, st.sampled_from([0, 1, -1]))
def test_halfway_goes_to_even(x: float, nudge: int) -> None:
    """Doubles are themselves; the middle of two goes to the even one, and to either side by the smallest nudge."""
    assert nearest_double(Fraction(x), "here") == Fraction(x)
    bits = struct.unpack("<q", struct.pack("<d", abs(x)))[0]
    above = struct.unpack("<d", struct.pack("<q", bits + 1))[0]
    if above == float("inf"):
        return
    low, high = Fraction(abs(x)), Fraction(above)
    even = low if bits % 2 == 0 else high
    middle = (low + high) / 2 + nudge * Fraction(1, 10**500)
    assert nearest_double(middle, "here") == (even if nudge == 0 else high if nudge > 0 else low)
    assert nearest_double(-middle, "here") == -nearest_double(middle, "here")


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.integers(-(10**30), 10**30), st.integers(1, 10**30))
def test_quotients_round_once(p: int, q: int) -> None:
    """p/q is rounded as one number, not as two (Python divides integers with one rounding)."""
    assert number(f"{p}/{q}", "binary64", "here") == Fraction(p / q)


EXPECTED = (mat([[1, 2], [3, 4]]), vec(5, 6), True)
SAME = {
    "plain": b"a,b,y\n1,2,5\n3,4,6\n",
    "no line end at the end": b"a,b,y\n1,2,5\n3,4,6",
    "CRLF": b"a,b,y\r\n1,2,5\r\n3,4,6\r\n",
    "CR": b"a,b,y\r1,2,5\r3,4,6\r",
    "blank lines at the end": b"a,b,y\n1,2,5\n3,4,6\n\n  \n\n",
    "byte order mark": b"\xef\xbb\xbfa,b,y\n1,2,5\n3,4,6\n",
    "blanks": b" a , b , y \n 1 ,\t2, 5\n3,4 ,6\n",
    "quotes": b'"a","b","y,\n""z"""\n"1",2,5\n3," 4 ",6\n',
    "gzip": gzip.compress(b"a,b,y\n1,2,5\n3,4,6\n"),
    "a name that is a number": b"1,b,3\n1,2,5\n3,4,6\n",
    "a name that is empty": b",b,\n1,2,5\n3,4,6\n",
    "other spellings": b"a,b,y\n1.0,4/2,5e0\n+3,400e-2,6.\n",
}


@pytest.mark.parametrize("name", SAME)
def test_tables(name: str) -> None:
    """Ways of writing one table."""
    assert read_table(SAME[name], TABLE, verify.Limits()) == EXPECTED


def test_target_bias_delimiter_and_no_header() -> None:
    """The target may be any column, the bias is a last column of ones, and numbers alone are no header."""
    how = replace(TABLE, target=0, bias=True, delimiter="\t", header=False)
    assert read_table(b"5\t1\t2\n6\t3\t4\n", how, verify.Limits()) == (mat([[1, 2, 1], [3, 4, 1]]), vec(5, 6), False)


def test_a_table_of_targets_only() -> None:
    """With the bias a target column is enough; without it there must be a feature."""
    how = replace(TABLE, target=0, bias=True, header=False)
    assert read_table(b"5\n6\n", how, verify.Limits()) == (mat([[1], [1]]), vec(5, 6), False)
    with pytest.raises(verify.Rejected, match="a target column 0 and a feature"):
        read_table(b"5\n6\n", replace(how, bias=False), verify.Limits())


@pytest.mark.parametrize("first", [b"1,,3", b"NaN,2,3", b"1,-Inf,3", b"NA,2,3", b",,"])
def test_missing_values_make_no_header(first: bytes) -> None:
    """A first record of numbers and gaps is a row with a missing value, and is refused as such."""
    with pytest.raises(verify.Rejected, match="data record 1 field"):
        read_table(first + b"\n1,2,5\n", TABLE, verify.Limits())


FIELDS = st.sampled_from(
    ["1", "-0.5", "+2e1", "3/7", " 4 ", '"5"', "x", "", "nan", "1/0", ".5", "1e400", "\u0661", '"6', "na"]
)
TEXTS = st.builds(
    lambda rows, end, mark: (mark + end.join(",".join(row) for row in rows) + end).encode(),
    st.lists(st.lists(FIELDS, min_size=2, max_size=3), max_size=4),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    st.sampled_from(["", "\ufeff", "a,y\n", "a,b,y\n"]),
)


@settings(derandomize=True, max_examples=500, deadline=None)
@given(TEXTS, st.sampled_from(["decimal", "binary64"]), st.booleans(), st.integers(0, 2))
def test_both_readers_read_the_same(
    raw: bytes, numbers: Literal["decimal", "binary64"], bias: bool, target: int
) -> None:
    """The producer's reader and the checker's, written apart, refuse the same tables and read the others alike."""
    how = Input("", "csv", numbers, bias, target)
    try:
        ours = read_table(raw, how, verify.Limits())
    except verify.VerifyError:
        ours = None
    try:
        data = read_csv_bytes(raw, "t.csv", numbers=numbers, target=target, bias=bias)
        theirs = (data.Z, data.y, data.source.header)
    except DataError:
        theirs = None
    assert ours == theirs


def test_direct_problems() -> None:
    """Integers and strings for numbers, K left out or null, gzip."""
    raw = b'{"X": [[1, "0.5"], ["-1/3", 2]], "groups": [[1], [0]], "y": ["1e-1", 0]}'
    X, y = mat([[1, "1/2"], ["-1/3", 2]]), vec("1/10", 0)
    for plain in (raw, raw[:-1] + b', "K": null}'):
        assert read_direct(plain, verify.Limits()) == (X, y, ((1,), (0,)), (None, None))
    with_K = raw[:-1] + b', "K": [[["1", 2]], null]}'
    assert read_direct(gzip.compress(with_K), verify.Limits()) == (X, y, ((1,), (0,)), (mat([[1, 2]]), None))


def test_a_table_has_as_many_separators_as_it_says() -> None:
    """Twice the fields and a thousand more are read; one more is too many."""
    how = replace(TABLE, target=0)
    for blanks, good in ((1000 + 2 * 4 - 3, True), (1000 + 2 * 4 - 2, False)):
        raw = b"1,2\n3,4" + b"\n" * blanks
        if good:
            assert read_table(raw, how, verify.Limits(), 4)[1] == vec(1, 3)
        else:
            with pytest.raises(verify.Rejected, match="more than 4 fields"):
                read_table(raw, how, verify.Limits(), 4)


def test_cones_without_columns() -> None:
    """No constraint, whether the rows are empty or there are none."""
    assert cone(Node([])) is None and cone(Node([[], []])) is None
    assert cone(Node([["0"], ["1"]])) == mat([[0], [1]]) and cone(Node([["0", "0"]])) == mat([[0, 0]])
