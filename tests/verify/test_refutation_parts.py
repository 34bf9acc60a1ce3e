"""Parts of the refutations by hand: optimal points, their values, vertices and curvature, and edges of instances."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import pytest

from tests.verify.oracle.brute import mat, vec
from verify import Declined, Rejected
from verify.problem.problem import Problem
from verify.refutations.core import d_z, nearest, optimum, project
from verify.refutations.others import (
    PRINTED_JUMP,
    general_loss,
    in_cone_of,
    is_clarke,
    is_member,
    objective,
    on_range,
    one_neuron,
)
from verify.refutations.paths import curvature
from verify.refutations.pruning import total
from verify.refutations.solutions import count
from verify.text import Node

NODE = Node(None, None, "witness")


def lasso(X: Any, y: Any, lam: Any, sizes: tuple[int, ...]) -> Problem:
    """A group lasso with consecutive groups."""
    groups, start = [], 0
    for size in sizes:
        groups.append(tuple(range(start, start + size)))
        start += size
    return Problem("cgl", F(lam), mat(X), vec(*y), groups=tuple(groups), K=(None,) * len(sizes))


def test_an_optimal_point_by_hand() -> None:
    """X = I, y = (3, 4), lambda = 1 in one group: w = 4/5 y, alpha = 4, P = 1/2 + 4."""
    p = lasso([[1, 0], [0, 1]], [3, 4], 1, (2,))
    at = optimum(p, (vec("12/5", "16/5"),), NODE)
    assert (list(at.alpha), list(at.active), list(at.E)) == ([4], [0], [0])
    assert at.value == F(1, 2) + 4
    u = (F(3, 5), F(4, 5))
    assert curvature(at) == tuple(tuple(((i == j) - a * b) / 4 for j, b in enumerate(u)) for i, a in enumerate(u))
    for wrong in (vec("12/5", "15/5"), vec(3, 4), vec(0, 0), vec("-12/5", "-16/5")):
        with pytest.raises(Rejected):
            optimum(p, (wrong,), NODE)


def test_vertices_by_hand() -> None:
    """Two equal columns: (2, 0) and (0, 2) are the vertices; where the sum is 0 there is one, the origin."""
    p = lasso([[1, 1]], [3], 1, (1, 1))
    at = optimum(p, (vec(1), vec(1)), NODE)
    assert sorted(at.vertices(NODE)) == [(0, 2), (2, 0)]
    zero = lasso([[1, 1]], [1], 1, (1, 1))
    assert optimum(zero, (vec(0), vec(0)), NODE).vertices(NODE) == [(0, 0)]


def test_curvature_of_two_blocks() -> None:
    """Block diagonal, each with its own norm: a block of one column has none."""
    p = lasso([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [3, 4, 3], 1, (2, 1))
    at = optimum(p, (vec("12/5", "16/5"), vec(2)), NODE)
    M = curvature(at)
    assert M[2] == (0, 0, 0) and [row[2] for row in M] == [0, 0, 0]
    assert M[0][0] == (1 - F(9, 25)) / 4 and M[0][1] == M[1][0] == -F(12, 25) / 4
    turned = lasso([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [3, 3, 4], 1, (1, 2))
    N = curvature(optimum(turned, (vec(2), vec("12/5", "16/5")), NODE))
    assert [[N[(i + 1) % 3][(j + 1) % 3] for j in range(3)] for i in range(3)] == [list(row) for row in M]


def test_sums_and_projections() -> None:
    """The sum of vectors; projections on cones, spans and ranges."""
    assert total([vec(1, 2), vec(3, 4)], 2) == (4, 6) and total([], 2) == (0, 0)
    assert project([vec(1, 0)], vec(3, 4)) == (0, 4) and project([vec(1, 0)], vec(-3, 4)) == (-3, 4)
    assert project([vec(1, 0), vec(0, 1)], vec(3, 4)) == (0, 0)
    assert project([vec(1, 1), vec(1, 0)], vec(3, -1)) == (0, -1)
    assert list(nearest([vec(1, 1)], vec(3, 1))) == [2]
    assert in_cone_of([vec(1, 0), vec(1, 1)], vec(2, 1)) and not in_cone_of([vec(1, 0), vec(1, 1)], vec(1, 2))
    p = lasso([[1, 2], [0, 0]], [1, 1], 1, (1, 1))
    assert on_range(p, vec(5, 7)) == (5, 0)
    assert on_range(lasso([[0], [0]], [1, 1], 1, (1,)), vec(5, 7)) == (0, 0)


def test_all_patterns_by_trial() -> None:
    """Rows 1, -1: 10 and 01 are open cells, 11 is the pattern of 0 only; nine rows are too many."""
    assert d_z(mat([[1], [-1]]), NODE) == {0b01: True, 0b10: True, 0b11: False}
    assert d_z(mat([[1]]), NODE) == {0: True, 1: True}
    assert d_z(mat([[0], [1]]), NODE) == {0b01: True, 0b11: True}
    with pytest.raises(Declined, match="at most 8 rows"):
        d_z(mat([[1]] * 9), NODE)
    assert d_z(mat([[1]] * 8), NODE)


def test_the_single_neuron_at_its_edges() -> None:
    """0 < lambda < 100 other than the printed jump; the objective by hand."""
    assert objective(F(0), 1, F(1)) == F(101, 2)
    assert objective(F(1), 1, F(2)) == F(1 + 81, 2) + 2
    assert objective(F(-1), 1, F(2)) == F(99**2 + 100, 2) + 2
    assert objective(F(1), -1, F(2)) == F(1 + 121, 2) + 2
    for lam in ("0", "100", str(PRINTED_JUMP), "-1", "101"):
        with pytest.raises(Rejected, match="other than the printed jump"):
            one_neuron(Node({"lambda": lam, "v": "0"}, None, "witness"))
    with pytest.raises(Rejected, match="a smaller objective"):
        one_neuron(Node({"lambda": "99", "v": "5"}, None, "witness"))


def test_clarke_stationary_by_hand() -> None:
    """One row z = 1, y = 2, lambda = 1, W = w2 = 1: r = 1, lambda w2 = r, lambda W = w2 r. Not with another lambda, nor
    with the wrong sign; on a kink any mean of the cells will do."""
    Z, W = mat([[1]]), vec(1)
    assert is_clarke(Z, vec(1), F(1), W, F(1), [0, 1])
    assert not is_clarke(Z, vec(1), F(2), W, F(1), [0, 1])
    assert not is_clarke(Z, vec(1), F(1), W, F(1), [0])
    assert not is_clarke(Z, vec(1), F(1), vec(2), F(1), [0, 1])
    two = mat([[1, 0], [0, 1]])
    assert is_clarke(two, vec(1, 0), F(1), vec(1, 0), F(1), [0b01, 0b11])
    assert is_clarke(two, vec(1, 1), F(1), vec(1, 0), F(1), [0b01])
    assert not is_clarke(two, vec(1, 1), F(1), vec(1, 0), F(1), [0b11])
    assert not is_clarke(two, vec(1, 1), F(1), vec(1, 0), F(1), [0b10, 0b00])
    cone = mat([[1, 0], [0, 2]])
    assert is_clarke(cone, vec(3, 2), F(5), vec(3, 4), F(5), [0b11])
    assert not is_clarke(cone, vec(3, 2), F(5), vec(3, 4), F(5), [0b00, 0b01, 0b10])
    network = Problem("relu", F(1), Z, vec(2))
    assert is_member(network, W, F(1), [1], NODE)
    assert not is_member(network, W, F(2), [1], NODE) and not is_member(network, W, F(1), [0], NODE)


@pytest.mark.parametrize(
    ("rows", "columns", "error"), [(8, 1, Rejected), (9, 1, Declined), (1, 8, Rejected), (1, 9, Declined)]
)
def test_patterns_are_counted_of_small_data_only(rows: int, columns: int, error: type[Exception]) -> None:
    """Eight rows and eight columns are tried, and have no more patterns than the bound; nine are declined."""
    with pytest.raises(error):
        count(Node({"Z": [" ".join(["1"] * columns)] * rows}, None, "witness"))


def test_another_loss_by_hand() -> None:
    """X = I in one group, y = (2, 1), w = (1, 0): the residuals are (1, 1), minus the gradient of 1/2 L is (3, 3), and
    w is not optimal; with y = (2, 0) it is (3, 0) = lambda e, and the printed vector (-6, 0) points back."""
    problem = {"model": "cgl", "objective": "1/2|Xw-y|^2 + lambda*sum|w_b|", "lambda": "3", "X": ["1 0", "0 1"]}
    problem |= {"groups": [[0, 1]], "K": [None]}  # type: ignore[dict-item]

    def said(y: str, w: str) -> str:
        return general_loss(Node({"problem": {**problem, "y": y}, "w": [w]}, None, "witness"))

    assert said("2 0", "1 0").endswith("Proj(X_b' grad L) = (-6, 0)")
    for y, w in (("2 1", "1 0"), ("3 0", "1 0")):
        with pytest.raises(Rejected):
            said(y, w)
