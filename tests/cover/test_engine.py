"""The parts of the compiled walk, as ordinary functions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from relu_cert.cover.codes import WEIGHT
from relu_cert.cover.engine import TOUCHES, all_rows


@pytest.mark.parametrize(
    ("height", "c", "holds"),
    [
        (0.5, (0.1, 0.5), True),  # off: c alone is enough
        (0.99, (0.1, 0.5), False),  # floats call the row off; if integers call it on, it takes 1 at the last generator
        (1.01, (-0.5, 1.5), False),  # floats call the row on, and the second generator needs it
        (2.0, (-0.5, 1.5), True),
    ],
)
def test_a_row_that_hardly_touches_a_star_cone_counts_for_the_worse(
    height: float, c: tuple[float, float], holds: bool
) -> None:
    """At an atom whose height is near the threshold, floats and the checker's integers may differ: the leaf holds only
    if it does so either way."""
    normal = (0.0, 1.0, -1.0 + 2.0 * height * TOUCHES)
    side = SimpleNamespace(frame=np.eye(3), N=np.array([normal]), lengths=np.array([np.linalg.norm(normal)]))
    ties = SimpleNamespace(c=np.array([(0.0, *c)]), ray=np.eye(3)[:1], ray_N=np.array([[1]]))
    stack = SimpleNamespace(G=np.eye(3)[None], ray=np.array([[0, -1, -1]]))
    rows = getattr(all_rows, "py_func", all_rows)
    points, whole = np.array([[0, 1, 1]]), np.array([WEIGHT])
    assert bool(rows(side, ties, stack, 0, 0, np.zeros(3), 0.0, points, whole, 1)) is holds
