"""Free terms: their names, their columns, and theta exactly orthogonal to these."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.errors import UsageError
from relu_cert.exact import dot, matrix, vector
from relu_cert.free import coefficients, combined, free_parts, orthogonal, outputs, read_free, weights_of
from relu_cert.problem.problem import Network, Problem

Z = matrix([[1, 2, 1], [0, -1, 1], [3, 1, 1], [2, 4, 1], [-1, 5, 1]])


def terms(*free: str, appended: bool = False) -> Problem:
    """The data with these free terms."""
    return Problem("relu", (Fraction(0),) * len(Z), (), network=Network(Z, None), free=free, appended=appended)


def test_names() -> None:
    """Names come in one order, from a text or a sequence; others are refused with those that there are."""
    assert read_free(None) == read_free(()) == ()
    assert read_free("skip, output-bias") == read_free(["output-bias", "skip"]) == ("output-bias", "skip")
    with pytest.raises(UsageError, match="no free term 'bias'; there are output-bias, biases, skip"):
        read_free("bias")


def test_columns() -> None:
    """An output bias is the column of ones, a skip connection the columns of Z; free biases bring the ones along."""
    ones, columns = (Fraction(1),) * len(Z), tuple(zip(*Z, strict=True))
    assert outputs(terms("output-bias")) == outputs(terms("biases", appended=True)) == (ones,)
    assert outputs(terms("biases", "skip")) == (ones, *columns)
    assert outputs(terms("biases", "skip", appended=True)) == (ones, *columns[:2])
    assert outputs(terms("skip", appended=True)) == columns[:2]
    assert weights_of(("biases",), Z[0]) == Z[0][:2] and weights_of(("skip",), Z[0]) == Z[0]
    assert free_parts(terms("biases", "skip"), vector([7, 1, 2, 3])) == (7, (1, 2, 3))
    assert free_parts(terms("biases", "skip", appended=True), vector([7, 1, 2])) == (7, (1, 2, 0))
    assert free_parts(terms("skip"), vector([1, 2, 3])) == (0, (1, 2, 3))
    assert free_parts(terms("output-bias", appended=True), vector([7])) == (7, ())


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=5, max_size=5), st.sampled_from(["output-bias", "biases", "skip"]))
def test_projections_are_exact(numbers: list[int], name: str) -> None:
    """The coefficients are those of least squares, also for columns that depend on others; theta is orthogonal."""
    columns = outputs(terms("output-bias", name))
    theta = vector(numbers)
    rest = tuple(a - b for a, b in zip(theta, combined(columns, coefficients(columns, theta), len(theta)), strict=True))
    assert all(dot(column, rest) == 0 for column in columns)
    moved = orthogonal(columns, theta)
    assert all(dot(column, moved) == 0 for column in columns)
    assert orthogonal(columns, moved) == moved
