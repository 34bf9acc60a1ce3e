"""The fixed point of the logistic loss against mpmath at twice its precision: every enclosure holds, and is narrow."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as F

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from verify.rules.logistic.value import (
    BITS,
    alternating,
    ceiling,
    entropy_of,
    exp_of_minus,
    floor,
    log_of,
    loss_of,
    twice_artanh,
)

NARROW = 2**12  # units of 2^-400
POSITIVE = st.fractions(min_value=F(1, 10**6), max_value=50)


def encloses(found: tuple[int, int], true: Callable[[], mpf], room: int = NARROW) -> None:
    """Whether the two ends are around the true number, and near to each other."""
    with mp.workprec(3 * BITS):
        scaled = true() * mpf(2) ** BITS
        assert found[0] <= scaled <= found[1]
    assert found[1] - found[0] <= room


def real(x: F) -> mpf:
    """A rational at the precision that is set."""
    return mpf(x.numerator) / x.denominator


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.fractions(min_value=0, max_value=F(1, 2)))
@example(F(0))
@example(F(1, 2))
def test_small_exponentials(x: F) -> None:
    """exp(-x) for x <= 1/2, by its series."""
    encloses(alternating(x), lambda: mp.exp(-real(x)))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.fractions(min_value=0, max_value=300))
@example(F(0))
@example(F(1))
@example(F(2))
def test_exponentials(x: F) -> None:
    """exp(-x), by squaring."""
    encloses(exp_of_minus(x), lambda: mp.exp(-real(x)), NARROW * 2**9)


def test_an_exponential_of_nothing() -> None:
    """exp(-2^60) is between 0 and the smallest unit; never below 0, never above 1."""
    assert exp_of_minus(F(2**60)) == (0, 1)
    assert exp_of_minus(F(400))[0] == 0
    assert exp_of_minus(F(0))[1] == 1 << BITS


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.fractions(min_value=F(-1, 3), max_value=F(1, 3)))
@example(F(0))
@example(F(1, 3))
def test_artanh(t: F) -> None:
    """2 artanh(t), of either sign."""
    encloses(twice_artanh(t), lambda: 2 * mp.atanh(real(t)))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(POSITIVE)
@example(F(1))
@example(F(2))
@example(F(1, 3))
def test_logarithms(x: F) -> None:
    """log x, above and below 1."""
    encloses(log_of(x), lambda: mp.log(real(x)), NARROW * 64)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.fractions(min_value=-40, max_value=40))
@example(F(0))
def test_losses(s: F) -> None:
    """log(1 + exp(-s)) for scores of either sign."""
    encloses(loss_of(s), lambda: mp.log(1 + mp.exp(-real(s))), NARROW * 64)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.fractions(min_value=F(1, 10**4), max_value=1 - F(1, 10**4)))
def test_entropies(a: F) -> None:
    """H(a), which is 0 at 0 and 1, up to a few units."""
    encloses(entropy_of(a), lambda: -real(a) * mp.log(real(a)) - (1 - real(a)) * mp.log(1 - real(a)), NARROW * 64)
    assert -8 <= entropy_of(F(0))[0] <= 0 <= entropy_of(F(1))[1] <= 8


@pytest.mark.parametrize("x", [F(1, 3), F(-1, 3), F(5), F(-5), F(0)])
def test_rounding(x: F) -> None:
    """Down and up by less than one unit; not at all where it is a multiple of the unit."""
    low, high = floor(x), ceiling(x)
    assert F(low, 1 << BITS) <= x <= F(high, 1 << BITS)
    assert high - low == (x.denominator != 1)


@pytest.mark.parametrize("t", [F(3, 2), F(1, 3), F(5, 3), F(7, 2), F(2), F(1000, 999), F(10**9, 7)])
def test_artanh_of_a_few_units(t: F) -> None:
    """2 artanh(t) = 2 t to all digits, with ends on the two sides of it."""
    low, high = twice_artanh(t / 2**BITS)
    assert low <= 2 * t <= high <= low + 20
    assert twice_artanh(-t / 2**BITS) == (-high, -low)
