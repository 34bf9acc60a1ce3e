"""Number texts: which are read, and as which exact value."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.data.dataset import MAX_EXPONENT, MAX_LENGTH, NumberError, is_value, nearest_double, parse_number

fast = settings(derandomize=True, deadline=None, max_examples=300)

digits = st.text("0123456789", min_size=1, max_size=12)
signs = st.sampled_from(["", "+", "-"])
exponents = st.one_of(st.just(""), st.builds("{}{}{}".format, st.sampled_from("eE"), signs, st.integers(0, 60)))
mantissas = st.one_of(
    digits,
    st.builds("{}.".format, digits),
    st.builds("{}.{}".format, digits, digits),
    st.builds(".{}".format, digits),
)
decimal_texts = st.builds("{}{}{}".format, signs, mantissas, exponents)


def by_hand(text: str) -> Fraction:
    """The value of a decimal text, digit by digit, from the definition of positional notation."""
    sign, body = (-1, text[1:]) if text[0] == "-" else (1, text.lstrip("+"))
    mantissa, _, exponent = body.lower().partition("e")
    whole, _, part = mantissa.partition(".")
    value = Fraction(0)
    for digit in whole + part:
        value = 10 * value + "0123456789".index(digit)
    return sign * value * Fraction(10) ** (int(exponent or 0) - len(part))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        ("3/7", Fraction(3, 7)),
        ("+2", Fraction(2)),
        ("-6/4", Fraction(-3, 2)),
        ("+0/5", Fraction(0)),
        ("007", Fraction(7)),
        ("1.", Fraction(1)),
        (".5E+1", Fraction(5)),
        ("-0", Fraction(0)),
        ("-0.0e-9", Fraction(0)),
        ("0e5000", Fraction(0)),
    ],
)
def test_texts_of_every_form(text: str, value: Fraction) -> None:
    """Every form of the grammar has its exact value."""
    assert parse_number(text) == value


@fast
@given(decimal_texts)
def test_decimal_is_the_exact_value_of_the_text(text: str) -> None:
    """Read as decimal, a text is its positional value, nothing rounded."""
    assert is_value(text)
    assert parse_number(text) == by_hand(text)


@fast
@given(st.integers(-(10**20), 10**20), st.integers(1, 10**20))
def test_ratios_are_exact(p: int, q: int) -> None:
    """p/q is read as p/q."""
    assert parse_number(f"{p}/{q}") == Fraction(p, q)


@fast
@given(decimal_texts)
def test_binary64_is_the_nearest_double(text: str) -> None:
    """Read as binary64, a text is the double that every correctly rounding reader makes of it, exactly."""
    assert parse_number(text, "binary64") == Fraction(float(text))


@fast
@given(st.integers(0, 2**64 - 1))
def test_every_double_reads_back(bits: int) -> None:
    """Every finite double, subnormal ones too, is read back from its shortest text."""
    (x,) = struct.unpack("<d", struct.pack("<Q", bits))
    if math.isfinite(x):
        assert parse_number(repr(x), "binary64") == Fraction(x)


@fast
@given(st.fractions(max_denominator=10**9))
def test_nearest_double_is_nearest(value: Fraction) -> None:
    """No neighbour of the chosen double is nearer, also for ratios that have no decimal text."""
    x = float(nearest_double(value))
    assert Fraction(x) == nearest_double(value)
    for neighbour in (math.nextafter(x, math.inf), math.nextafter(x, -math.inf)):
        assert abs(Fraction(x) - value) <= abs(Fraction(neighbour) - value)


def test_ties_go_to_even() -> None:
    """Half way between two doubles the even one is taken, as IEEE 754 says."""
    assert parse_number(str(2**53 + 1), "binary64") == 2**53
    assert parse_number(str(2**53 + 3), "binary64") == 2**53 + 4


def test_the_edges_of_binary64() -> None:
    """Too large is refused, not made infinite; below half of the smallest double is 0, its nearest double."""
    largest = 2**1024 - 2**971
    assert parse_number(str(largest), "binary64") == largest
    assert parse_number(str(largest + 2**969), "binary64") == largest
    with pytest.raises(NumberError, match="too large for a double"):
        parse_number(str(2**1024 - 2**970), "binary64")
    assert parse_number("5e-324", "binary64") == Fraction(1, 2**1074)
    assert parse_number("2e-324", "binary64") == 0


@pytest.mark.parametrize(
    "text",
    [
        *("1,5", "1_000", "0x10", "1e", "e5", "1e1.5", "1d5", ".", "+", "-", "--1", "1.2.3"),
        *("1/-2", "1/2/3", "1.5/2", "1/", "/2", "1 2", " 1", "1 ", "1\n", "\x001"),
        *("½", "\u0661", "\uff11", "\u22121"),
    ],
)
def test_other_texts_are_not_numbers(text: str) -> None:
    """Nothing outside the grammar is a number: not other digits, not what Python alone would take."""
    assert not is_value(text)
    with pytest.raises(NumberError, match="not a number"):
        parse_number(text)


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "NA", "n/a", "N/A", "null", "NULL", "?", "+na"])
def test_missing_values_are_named_so(text: str) -> None:
    """The usual spellings of a missing value are refused as such."""
    assert is_value(text)
    with pytest.raises(NumberError, match="a missing value"):
        parse_number(text)


@pytest.mark.parametrize("text", ["inf", "-Inf", "+infinity", "INFINITY"])
def test_infinities_are_named_so(text: str) -> None:
    """Infinite values are refused as such."""
    assert is_value(text)
    with pytest.raises(NumberError, match="not finite"):
        parse_number(text)


def test_limits_are_where_they_are_said_to_be() -> None:
    """The longest text and the largest exponent within the limits are read exactly; one more is refused."""
    assert parse_number("9" * MAX_LENGTH) == 10**MAX_LENGTH - 1
    assert parse_number("1/1" + "0" * (MAX_LENGTH - 3)) == Fraction(1, 10 ** (MAX_LENGTH - 3))
    assert parse_number(f"1e{MAX_EXPONENT}") == 10**MAX_EXPONENT
    assert parse_number(f"1e-000{MAX_EXPONENT}") == Fraction(1, 10**MAX_EXPONENT)
    with pytest.raises(NumberError, match="20001 characters"):
        parse_number("9" * (MAX_LENGTH + 1))
    for sign in ("", "+", "-"):
        with pytest.raises(NumberError, match="exponent over 5000"):
            parse_number(f"1e{sign}{MAX_EXPONENT + 1}")
    with pytest.raises(NumberError, match="exponent over 5000"):
        parse_number("1e" + "9" * 10_000)


def test_zero_denominators_are_refused() -> None:
    """p/0 has the shape of a number, so it is no name, and no value, so it is refused."""
    assert is_value("1/00")
    with pytest.raises(NumberError, match="division by zero"):
        parse_number("1/00")


def test_the_decimal_comma_gets_advice() -> None:
    """A decimal comma is the likeliest mistake; the message shows the number with a point."""
    with pytest.raises(NumberError, match=r"with a decimal point it would be '1\.5'"):
        parse_number("1,5")
