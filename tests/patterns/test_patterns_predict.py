"""The prediction is an upper bound, exact where it says so."""

from __future__ import annotations

import random

import pytest

from relu_cert.exact import matrix
from relu_cert.patterns import enumerate_patterns, predict
from relu_cert.patterns.arrangement import arrangement, hyperplanes
from relu_cert.patterns.predict import above, surely_more
from tests.patterns import instances
from tests.patterns.test_patterns_brute_force import FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_bounds_hold(family):
    """Cells and patterns never exceed the prediction, and equal it where it is called exact."""
    rng = random.Random(family.__name__)
    for _ in range(25):
        Z = matrix(family(rng, rng.randint(1, 7), rng.randint(1, 4)))
        prediction, found = predict(Z), enumerate_patterns(Z)
        assert found.open_cells <= prediction.cells
        assert len(found) <= prediction.bound
        if prediction.exact:
            assert (found.open_cells, len(found)) == (prediction.cells, prediction.bound)


def test_general_position():
    """n = 50, d = 5: 463,052 cells and the all-ones pattern; said before any enumeration."""
    rng = random.Random(0)
    prediction = predict(matrix([[rng.randint(-999, 999) for _ in range(5)] for _ in range(50)]))
    assert (prediction.cells, prediction.general) == (463_052, 463_053)
    assert "463,052" in prediction.text


def test_bias_column_excludes_lower_faces():
    """With a column of ones the bound is Cover's alone."""
    prediction = predict(matrix(instances.cube(3)))
    assert prediction.bound == prediction.cells == instances.cover(8, 4)


def test_sampling_never_refuses_what_is_small():
    """The sample calls general data large and degenerate data with a large Cover bound not."""
    rng = random.Random(1)
    general = [[rng.randint(-999, 999) for _ in range(6)] for _ in range(60)]
    planes = hyperplanes(arrangement(matrix(general)).rows)
    assert surely_more(planes.normals, 10**6)
    assert not surely_more(planes.normals, instances.cover(60, 6))
    braid = hyperplanes(arrangement(matrix(instances.braid(8))).rows)
    assert not surely_more(braid.normals, 8 * 7 * 6 * 5 * 4 * 3 * 2)


@pytest.mark.parametrize(("m", "twice", "d"), [(7, 3, 3), (6, 6, 4), (9, 1, 2), (5, 4, 5)])
def test_two_sided_rows_in_general_position(m, twice, d):
    """Rows on both sides of some hyperplanes: the number in general position is met, and is no longer the bound."""
    rows = [[k**i for i in range(d)] for k in range(-(m // 2), m - m // 2)]
    Z = matrix([*rows, *([-x for x in row] for row in rows[:twice])])
    prediction, found = predict(Z), enumerate_patterns(Z)
    assert found.open_cells == prediction.cells
    assert len(found) in (prediction.general, prediction.general - 1)  # all ones: a pattern of its own, or not
    assert prediction.general <= prediction.bound


def test_large_counts_are_rounded_up():
    """Numbers of sixteen digits and more are said with three, and never too small."""
    assert above(10**15 - 1) == "999,999,999,999,999"
    assert above(10**15) == "1.00e15"
    assert above(10**15 + 1) == "1.01e15"
    assert above(9_990_000_000_000_000) == "9.99e15"
    assert above(9_990_000_000_000_001) == "1.00e16"


def test_independent_rows_have_a_power_of_two():
    """Sixty independent rows have exactly 2^60 patterns, said as a power."""
    assert predict(matrix([[int(i == j) for j in range(61)] for i in range(60)])).text.startswith(
        "exactly 2^60 patterns"
    )
