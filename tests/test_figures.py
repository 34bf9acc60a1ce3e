"""Numbers in reports: what is called a bound is one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.exact import rational
from relu_cert.figures import (
    at_least,
    at_most,
    decimal,
    downwards,
    enclosed_number,
    entries,
    percent,
    percent_at_most,
    scientific,
    upwards,
)

NUMBERS = st.fractions().filter(bool) | st.builds(
    lambda x, e: x * Fraction(10) ** e, st.fractions(-1, 1).filter(bool), st.integers(-400, 400)
)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(NUMBERS)
def test_bounds_are_rounded_to_the_safe_side(x: Fraction) -> None:
    """ "At most" is at least x, "at least" is at most x, and both are within a tenth of it."""
    low, high = Fraction(at_least(x)), Fraction(at_most(x))
    assert low <= x <= high
    assert high - low <= abs(x) / 10


@pytest.mark.parametrize(
    ("x", "low", "near", "high"),
    [
        ("104/100", "1.0", "1.0", "1.1"),
        ("-104/100", "-1.1", "-1.0", "-1.0"),
        ("996/100000", "9.9e-3", "0.010", "0.010"),
        ("1231/10000", "0.12", "0.12", "0.13"),
        ("43.7", "43", "44", "44"),
        ("-99.7", "-100", "-100", "-99"),
        ("1234", "1200", "1200", "1300"),
        ("12345", "1.2e4", "1.2e4", "1.3e4"),
        ("3", "3.0", "3.0", "3.0"),
        ("0", "0", "0", "0"),
    ],
)
def test_known_bounds(x: str, low: str, near: str, high: str) -> None:
    """1.04e-45 is not "at most 1.0e-45"; what is neither large nor small has no exponent."""
    number = Fraction(x)
    assert (at_least(number), scientific(number), at_most(number)) == (low, near, high)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(NUMBERS, st.fractions(0, 2), st.integers(2, 15))
def test_decimals_of_bounds_are_rounded_outwards(x: Fraction, part: Fraction, digits: int) -> None:
    """`upwards` is at least x, `downwards` at most; an enclosure that shows two numbers holds both ends, and one that
    shows a single number is what both ends round to."""
    assert Fraction(downwards(x, digits)) <= x <= Fraction(upwards(x, digits))
    lower, upper = x, x + part * abs(x)
    shown = enclosed_number(lower, upper, digits)
    if shown.startswith("from "):
        low, high = map(Fraction, shown.removeprefix("from ").split(" to "))
        assert low <= lower <= upper <= high
        assert high - low <= 2 * (upper - lower) + (abs(lower) + abs(upper)) * Fraction(10) ** (2 - digits)
    else:
        assert shown == decimal(lower, digits) == decimal(upper, digits)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.fractions(0, 100).filter(bool))
def test_per_cent_is_rounded_outwards(x: Fraction) -> None:
    """1.0265 is not "at most 1.0"."""
    assert 100 * x <= Fraction(percent_at_most(x).removesuffix(" %"))


def test_per_cent_between() -> None:
    """One number where both ends round to it, else both."""
    F = Fraction
    assert percent(F(123, 1000), F(123, 1000)) == "12.3 %"
    assert percent(F(12, 100), F(14, 100)) == "from 12 to 14 %"
    assert percent(F(10265, 10**6), F(10321, 10**6)) == "1.03 %"


@pytest.mark.parametrize("digits", [1, 4299, 4300, 4301, 20_000])
def test_exact_text_of_any_length(digits: int) -> None:
    """p/q to the last digit, also beyond what `str` writes."""
    x = Fraction(10**digits - 1, 10**digits)
    assert rational(-x) == f"-{'9' * digits}/1{'0' * digits}"
    assert rational(10**digits) == "1" + "0" * digits


@pytest.mark.parametrize(
    ("x", "text"), [("3/2500", "0.12 %"), ("12/5", "240 %"), ("14.19", "about 1,400 %"), ("1e6", "1.0e8 %")]
)
def test_percentages_are_read_at_a_glance(x: str, text: str) -> None:
    """Two or three digits, with commas up to a million."""
    assert percent(Fraction(x), Fraction(x)) == text


def test_long_vectors_are_shown_in_part() -> None:
    """Sixteen entries are shown; of 784 the first sixteen, and how many there are besides."""
    assert entries([Fraction(1, 2)] * 16, 6).count("0.5") == 16
    assert entries([Fraction(1, 2)] * 784, 6).endswith(", 0.5, ... 768 more)")
