"""Signs of sums of square roots, where floats would guess."""

from __future__ import annotations

from fractions import Fraction as F
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.network.prune import root_sum_sign


@pytest.mark.parametrize(
    ("terms", "sign"),
    [
        ([], 0),
        ([(F(1), F(2)), (F(1), F(8)), (F(-3), F(2))], 0),
        ([(F(1), F(1, 2)), (F(-1, 2), F(2))], 0),
        ([(F(1), F(4)), (F(-2), F(1))], 0),
        ([(F(1), F(10)), (F(1), F(11)), (F(-1), F(5)), (F(-1), F(18))], 1),
        ([(F(1), F(2)), (F(-1), F(2) + F(1, 10**200))], -1),
        ([(F(1), F(2)), (F(1), F(8)), (F(-3), F(2)), (F(1, 10**100), F(3))], 1),
        ([(F(0), F(2))], 0),
    ],
)
def test_known_signs(terms: list[tuple[F, F]], sign: int) -> None:
    """Equal sums are found equal, and sums that differ in the hundredth digit are told apart."""
    assert root_sum_sign(terms) == sign


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(-9, 9).map(F), st.integers(1, 40).map(F)), max_size=5))
def test_agrees_with_floats_away_from_zero(terms: list[tuple[F, F]]) -> None:
    """Where the float sum is clearly not zero its sign is the answer, and near zero only true zeros are zero."""
    value = sum(float(c) * sqrt(a) for c, a in terms)
    sign = root_sum_sign(terms)
    if abs(value) > 1e-9:
        assert sign == (value > 0) - (value < 0)
    doubled = [*terms, *((-c / 3, 9 * a) for c, a in terms)]
    assert root_sum_sign(doubled) == 0
