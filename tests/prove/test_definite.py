"""Lower bounds on singular values."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq, fmpq_mat, fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.prove.projection import SPARE, stretch

TINY = fmpq(1, 10**40)


def gram_is_above(A: fmpq_mat, sigma: Fraction) -> bool:
    """Whether A'A - sigma^2 I has only positive leading minors, exactly: |A x| > sigma |x|."""
    k = A.ncols()
    shifted = (A.transpose() * A).tolist()
    for i in range(k):
        shifted[i][i] -= fmpq(sigma.numerator, sigma.denominator) ** 2
    return all(fmpq_mat([row[:m] for row in shifted[:m]]).det() > 0 for m in range(1, k + 1))


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 4), st.integers(0, 3), st.data())
def test_a_stretch_is_below_the_least_singular_value(k: int, more: int, data: st.DataObject) -> None:
    """What is returned is 0 or a bound that exact determinants confirm, and never 0 where columns are independent."""
    n = k + more
    entries = data.draw(st.lists(st.integers(-9, 9), min_size=n * k, max_size=n * k))
    A = fmpq_mat(fmpz_mat(n, k, entries)) / 7
    sigma = stretch(A)
    assert (sigma > 0) == (A.rank() == k)
    assert not sigma or gram_is_above(A, sigma)


@pytest.mark.parametrize(
    ("A", "least"),
    [
        (fmpq_mat([[3], [4]]), Fraction(5)),
        (fmpq_mat([[1, 0], [0, TINY]]), Fraction(1, 10**40)),
        (fmpq_mat([[1 / TINY]]), Fraction(10**40)),
    ],
)
def test_the_stretch_of_a_known_matrix_is_near_its_least_singular_value(A: fmpq_mat, least: Fraction) -> None:
    """Whatever the sizes of the entries, a sixteenth is spared and hardly more."""
    assert SPARE * Fraction(999, 1000) * least < stretch(A) <= least


def test_matrices_without_columns_or_rows() -> None:
    """Nothing is stretched by any factor; a matrix without rows stretches nothing that is not zero."""
    assert (stretch(fmpq_mat(3, 0)), stretch(fmpq_mat(0, 3))) == (1, 0)


def test_dependent_and_zero_columns_have_no_stretch() -> None:
    """No bound is found where there is none."""
    assert not any(map(stretch, (fmpq_mat([[1, 1], [1, 1]]), fmpq_mat([[0], [0]]))))
