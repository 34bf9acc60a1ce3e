"""The parts of the compiled walk, as ordinary functions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from relu_cert.cover.codes import WEIGHT
from relu_cert.cover.engine import TOUCHES, all_rows, in_piece, slack
from verify.cover.strict import directions, unit
from verify.cover.tree import Leaves


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


@pytest.mark.parametrize(("split", "side", "holds"), [(0, 1, True), (1, 1, True), (0, -1, True), (1, -1, False)])
def test_a_cone_inside_a_piece_is_in_it_whatever_was_split_before(split: int, side: int, holds: bool) -> None:
    """A cone on one side of a line that was split to the other holds nothing but 0: it lies in both pieces."""
    one = SimpleNamespace(lines=np.array([[1, 0]]), exact_bits=40)
    stack = SimpleNamespace(
        ray=np.full((1, 2), -1),
        bits=np.ones((1, 2), dtype=int),
        n_signs=np.array([1]),
        signs=np.array([[split]]),
        g=np.array([[[1, 0], [1, 1]]]),
    )
    ties = SimpleNamespace(side=np.array([[side]]))
    inside = getattr(in_piece, "py_func", in_piece)
    assert bool(inside(one, ties, stack, 0, 0, 2, 2)) is holds


def test_the_direction_of_a_leaf_is_the_checkers() -> None:
    """What a leaf has to spare is that of the checker's own c, to more digits than its short integers have."""
    rng = np.random.default_rng(0)
    free = getattr(slack, "py_func", slack)
    for _ in range(20):
        g = rng.integers(-(10**6), 10**6, size=(3, 3))
        U = np.array([unit(tuple(row)) for row in g.tolist()])
        size, turn, bound = np.linalg.norm(g, axis=1), rng.integers(0, 256, size=3), (1 << 44) - (1 << 20)
        leaves = Leaves(turns=[bytes(turn.tolist())])
        (c,) = directions(leaves, U, np.array([[0, 1, 2]]), bound, False)
        exact = min(
            int(sum(int(a) * int(b) for a, b in zip(c, row, strict=True))) / s for row, s in zip(g, size, strict=True)
        )
        none = np.zeros(3)
        found = free(g, size, U, none, none, turn.astype(float), 3, 3, np.zeros(3, dtype=np.int64), bound / 2**44, 0.0)
        assert abs(found - exact / 2**44) < 1e-12
