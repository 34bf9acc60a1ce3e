"""Exact products of doubles at the speed of floats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from relu_cert.exact import dot, norm_squared
from relu_cert.lasso import lasso
from relu_cert.problem.direct import Doubles, FloatBlock, FloatBlocks, texts
from relu_cert.problem.networks import correlation, lengths_squared
from relu_cert.problem.problem import Block

TABLES = arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(2, 7)), elements=st.floats(-1e12, 1e12, allow_subnormal=False)
)

LONG = st.lists(st.integers(-(2**170), 2**170), min_size=7, max_size=7)


def exact(A: NDArray[np.float64]) -> tuple[tuple[Fraction, ...], ...]:
    """The rows as Fractions."""
    return tuple(tuple(Fraction(float(x)) for x in row) for row in A)


@settings(max_examples=200, deadline=None)
@given(TABLES, LONG, LONG)
def test_products_are_exact(A: NDArray[np.float64], r: list[int], w: list[int]) -> None:
    """Products with long integers, from both sides, and squares are those of Fractions; too many limbs are refused."""
    try:
        doubles = Doubles(A)
    except OverflowError:
        return
    r = r[: A.shape[1]]
    unit = Fraction(1, 2**doubles.shift)
    assert [unit * x for x in doubles.times(r)] == [dot(row, list(map(Fraction, r))) for row in exact(A)]
    columns = list(zip(*exact(A), strict=True))
    assert [unit * x for x in doubles.transposed_times(w[: len(A)])] == [
        dot(c, list(map(Fraction, w[: len(A)]))) for c in columns
    ]
    assert [unit * unit * x for x in doubles.squares()] == [norm_squared(row) for row in exact(A)]


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 4096])
def test_the_longest_sums_stay_below_what_doubles_hold(n: int) -> None:
    """Rows of the largest limbs, all of one sign, add up without rounding."""
    A = np.full((2, n), np.nextafter(2.0, 0.0))
    doubles = Doubles(A)
    r = [2**106 - 1] * n
    assert doubles.times(r) == Doubles(A.T).transposed_times(r) == [n * (2**53 - 1) * (2**106 - 1)] * 2
    assert doubles.squares() == [n * (2**53 - 1) ** 2] * 2


def test_small_negative_numbers_are_not_rounded() -> None:
    """-2^-60 beside 1 has limbs that add up to itself."""
    doubles = Doubles(np.array([[1.0, -(2.0**-60)]]))
    assert Fraction(doubles.times([0, 1])[0], 2**doubles.shift) == -Fraction(1, 2**60)


def test_numbers_of_very_different_sizes_go_another_way() -> None:
    """1e300 beside 1e-300 is refused by the limbs, and the lasso still has it exactly."""
    X = np.array([[1e300, 1.0], [1.0, 1e-300]])
    with pytest.raises(OverflowError):
        Doubles(X)
    assert ((Fraction(1),), (Fraction(1e-300),)) == lasso(X, 1, [1, 2]).plain.blocks[1].X


@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_blocks_of_an_array_are_the_blocks_of_its_fractions(X: NDArray[np.float64]) -> None:
    """Entries, correlations, sizes, matrices and floats are those of the block that was read entry by entry."""
    groups = [[j for j in range(X.shape[1]) if j % 2 == part] for part in (0, 1)]
    try:
        blocks = FloatBlocks(X, groups)
    except OverflowError:
        return
    plain = [Block(exact(X[:, group]), None) for group in groups]
    r = tuple(Fraction(k + 1, 3) for k in range(len(X)))
    assert lengths_squared(blocks, r) == lengths_squared(plain, r)
    assert all(correlation(blocks, b, r) == correlation(plain, b, r) for b in range(len(plain)))
    pairs = [(b, tuple(Fraction(k + 2, 7) for k in range(len(groups[b])))) for b in (1, 0, 1)]
    assert blocks.fit(pairs) == tuple(
        sum((dot(plain[b].X[k], w) for b, w in pairs), Fraction(0)) for k in range(len(X))
    )
    for one, other in zip(blocks, plain, strict=True):
        assert isinstance(one, FloatBlock)
        assert (one.X, one.K, one.size_squared, one.largest) == (other.X, None, other.size_squared, other.largest)
        assert one.matrix == other.matrix
        assert (one.floats == other.floats).all()


def test_the_file_of_an_array_is_the_file_of_its_fractions() -> None:
    """An array of doubles is written, number for number, as its Fractions are."""
    X = np.array([[0.1, -3.0, 2.0**60], [0.0, 1e-9, 7.5]])
    assert lasso(X, 1, [1, 2]).raw == lasso(exact(X), 1, [1, 2]).raw


@settings(max_examples=100, deadline=None)
@given(arrays(np.float64, (2, 3), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_doubles_of_all_sizes_are_written_in_lowest_terms(A: NDArray[np.float64]) -> None:
    """From the smallest to the largest double the text of a row is that of its Fractions."""
    assert texts(A) == [" ".join(map(str, row)) for row in exact(A)]
