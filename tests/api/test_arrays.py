"""Arrays as exact data, and the canonical CSV file that stands for them."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.data import read_csv_bytes
from relu_cert.data.arrays import dataset_from_arrays, exact_number
from relu_cert.errors import DataError
from verify.problem.data import Input, read_table
from verify.text import Limits

fast = settings(derandomize=True, deadline=None, max_examples=150)
doubles = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(doubles, st.integers(), st.fractions(), doubles.map(np.float64), st.integers(-99, 99).map(np.int32))


@fast
@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=5), st.booleans())
def test_every_number_is_taken_as_it_is(rows, bias):
    """Floats, integers and Fractions become exactly themselves, and survive the CSV file and its reader."""
    data, raw = dataset_from_arrays([row[:2] for row in rows], [row[2] for row in rows], bias=bias)
    ones = (Fraction(1),) * bias
    assert tuple((Fraction(a), Fraction(b), *ones) for a, b, _ in ((x, y, 0) for x, y, _ in rows)) == data.Z
    assert data.y == tuple(Fraction(row[2]) for row in rows)
    assert read_csv_bytes(raw, "data.csv", bias=bias) == data


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, np.int8, np.uint64, np.bool_])
def test_machine_types_are_exact(dtype):
    """An array of any real machine type is taken without rounding."""
    array = np.array([[0.1], [1 / 3], [7]]).astype(dtype)
    data, _ = dataset_from_arrays(array, array[:, 0])
    assert [row[0] for row in data.Z] == [
        Fraction(*x.as_integer_ratio()) if x % 1 else Fraction(int(x)) for x in array[:, 0]
    ]
    assert data.y == tuple(row[0] for row in data.Z)


def test_texts_and_decimals_are_what_they_say():
    """ "0.1" and Decimal("0.1") are one tenth; the float 0.1 is not."""
    assert exact_number("0.1") == exact_number(" 1/10 ") == exact_number(Decimal("0.1")) == Fraction(1, 10)
    assert exact_number(0.1) == Fraction(3602879701896397, 36028797018963968)


@pytest.mark.parametrize(
    ("Z", "y", "words"),
    [
        ([[1, 2], [3, math.nan]], [1, 2], "Z[1, 1]: found nan, which is not finite"),
        ([[1, 2], [3, 4]], [1, math.inf], "y[1]: found inf, which is not finite"),
        ([[1], ["one"]], [1, 2], "Z[1, 0]: found 'one', not a number"),
        ([[1], [None]], [1, 2], "Z[1, 0]: found None, not a real number"),
        ([[1 + 2j]], [1], "not a real number"),
        ([1, 2], [1, 2], "Z has 1 dimension; expected 2: Z.reshape(-1, 1)"),
        ([[[1]]], [1], "there is one bag only"),
        ([[[[[1]]]]], [1], "Z has 5 dimensions"),
        ([[1, 2], [3]], [1, 2], "rows of the same length"),
        ([[1], [2]], [1, 2, 3], "Z has 2 rows and y has 3 entries"),
        ([[1], [2]], [[1, 2], [3, 4]], "y has shape (2, 2)"),
        (np.zeros((0, 2)), [], "Z has no rows"),
        (np.zeros((2, 0)), [1, 2], "Z has no columns"),
    ],
)
def test_what_is_no_table_of_finite_numbers_is_refused(Z, y, words):
    """The message names the entry or the shape, and what was expected."""
    with pytest.raises(DataError) as caught:
        dataset_from_arrays(Z, y)
    assert words in str(caught.value)


def test_sparse_matrices_are_refused_with_advice():
    """A sparse matrix is not silently made dense."""
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(DataError, match=r"Z\.toarray\(\)"):
        dataset_from_arrays(sparse.csr_matrix(np.eye(2)), [1, 2])


def test_a_column_of_targets_is_taken():
    """y may be a single column."""
    assert dataset_from_arrays([[1], [2]], [[3], [4]])[0].y == (3, 4)


def test_the_canonical_file_is_what_is_documented():
    """Header, commas, line feeds, p or p/q in lowest terms; the last column is the target."""
    _, raw = dataset_from_arrays([["0.5", 2], [-1, "4/6"]], [0.25, "1e2"], names=["a", "b, c"], target="t")
    assert raw == b'a,"b, c",t\n1/2,2,1/4\n-1,2/3,100\n'


@pytest.mark.parametrize(
    "names", [["1", "2"], ["", ""], ["nan", "inf"], ['a"b', "c\nd"], ["x\x00", "\u202ey"], [" p ", "\ud800"]]
)
def test_any_names_make_a_file_that_both_readers_read_alike(names):
    """Names that look like numbers, are empty, or hold quotes and control characters never disturb the numbers."""
    Z, y = [[1, "1/3"], [2, -4]], [5, 6]
    data, raw = dataset_from_arrays(Z, y, names=names, target="9")
    assert ((1, Fraction(1, 3)), (2, -4)) == data.Z and data.y == (5, 6) and data.source.header
    assert data.d == 2
    again = read_table(raw, Input(data.source.sha256, "csv", "decimal", False, 2, ",", True), Limits())
    assert again[:2] == (data.Z, data.y)


def test_names_must_be_as_many_as_columns():
    """One name for each feature."""
    with pytest.raises(DataError, match="1 names for 2 features"):
        dataset_from_arrays([[1, 2]], [1], names=["a"])


def test_data_frames_bring_their_names():
    """The columns of a pandas data frame name the features."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"height": [1.5, 2.0], "width": [3, 4]})
    data, raw = dataset_from_arrays(frame, pandas.Series([1, 0]))
    assert data.names == ("height", "width") and raw.startswith(b"height,width,y\n3/2,3,1\n")
