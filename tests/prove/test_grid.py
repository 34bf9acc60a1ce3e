"""relu_cert.prove.multipliers"""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.prove.multipliers import binary_grid, from_grid, to_grid


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.fractions(), st.integers(1, 10**9))
def test_rounding_is_to_the_nearest(x, q):
    """to_grid is at most half a unit away, exactly."""
    assert abs(from_grid(to_grid(x, q), q) - x) <= Fraction(1, 2 * q)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.fractions(), min_size=1), st.integers(1, 200))
def test_the_grid_is_fine_enough(values, precision):
    """On the grid the largest value has at least the bits that were asked for."""
    q = binary_grid(values, precision)
    largest = max(abs(x) for x in values)
    assert largest == 0 or abs(to_grid(largest, q)) >= 2 ** (precision - 1)


def test_a_double_is_on_its_grid():
    """52 bits hold what a solver's float says, up to the scale of the largest."""
    assert from_grid(to_grid(0.1, binary_grid([0.1], 60)), binary_grid([0.1], 60)) == Fraction(0.1)
