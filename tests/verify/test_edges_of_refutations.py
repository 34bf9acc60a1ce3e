"""What refutations rest on, at its edges: projections, patterns, optimal points, and straight ways between them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tests.verify.brute import mat, vec
from verify import Declined, Rejected
from verify.problem import ELASTIC, LOGISTIC, OBJECTIVE, Problem
from verify.refutations.core import d_z, multiple, nearest, optimum, project, read_instance
from verify.refutations.paths import affine, curvature, part
from verify.text import Node

BLOCKED = mat([[1]])  # w <= 0


def node(value: Any = None) -> Node:
    """A value, as if it was read."""
    return Node(value, None, "here")


def at(y: tuple[Any, ...], w: tuple[Any, ...], K: Any = None, Z: Any = None, lam: int = 1) -> Any:
    """An optimum on single columns."""
    X = mat([[1, 0], [0, 1]]) if Z is None else mat(Z)
    groups = tuple((j,) for j in range(len(X[0])))
    problem = Problem("cgl", Fraction(lam), X, vec(*y), groups, (K, *(None,) * (len(groups) - 1)))
    return optimum(problem, tuple(vec(x) for x in w), node())


def test_straight_ways() -> None:
    """Both ends are unique, v stays on one face, and what ties or has weight ties at both ends, in one direction."""
    here = at((3, 0), (2, 0))
    affine(here, at((4, 0), (3, 0)), node())
    affine(here, at((3, "1/2"), (2, 0)), node())
    for there, said in (
        (at((3, 2), (2, 1)), "one direction along the way, block 1"),
        (at((-3, 0), (-2, 0)), "one direction along the way, block 0"),
        (at((0, 0), (0, 0)), "one direction along the way, block 0"),
    ):
        for ends in ((here, there), (there, here)):
            with pytest.raises(Rejected, match=said):
                affine(*ends, node())
    for way in ((at((1, 0), (0, 0)), at((-1, 0), (0, 0))), (at((1, 0), (0, 0)), here)):
        if way[1] is here:
            affine(*way, node())  # it ties at both ends, and gets weight at one
        else:
            with pytest.raises(Rejected, match="one direction along the way, block 0"):
                affine(*way, node())
    free, kept = at((-3, 0), (-2, 0), BLOCKED), at((3, 0), (0, 0), BLOCKED)
    for ends in ((free, kept), (kept, free)):
        with pytest.raises(Rejected, match="one face of the cone along the way, block 0"):
            affine(*ends, node())
    twins = at((3, 0), (1, 1), Z=[[1, 1], [0, 0]])
    for ends in ((twins, twins), (replace(twins, p=here.p), twins)):
        with pytest.raises(Rejected, match="independent outputs on E"):
            affine(*ends, node())


def test_optimal_points() -> None:
    """w_b = 0 and |v_b| <= lambda, or w_b = alpha v_b, alpha > 0 and |v_b| = lambda; nothing else."""
    found = at((3, 1), (2, 0))
    assert (found.alpha, found.E, found.active, found.value) == (vec(2, 0), [0, 1], [0], Fraction(3))
    assert found.unique and found.outputs([0]) == [vec(1, 0)]
    for y, w in (((3, 0), (1, 0)), ((3, 0), (3, 0)), ((3, 0), (-2, 0)), ((3, 2), (2, 0)), ((1, 0), (1, 0))):
        with pytest.raises(Rejected, match="an optimal point"):
            at(y, w)


def test_curvature_of_norms() -> None:
    """(I - u u') / |w_b| with |w_b| = alpha lambda: 0 for single columns."""
    assert curvature(at((6, 5), (4, 3), lam=2)) == mat([[0, 0], [0, 0]])
    problem = Problem("cgl", Fraction(5), mat([[1, 0], [0, 1]]), vec(6, 8), ((0, 1),), (None,))
    whole = optimum(problem, (vec(3, 4),), node())
    expected = [[16, -12], [-12, 9]]
    assert curvature(whole) == tuple(tuple(Fraction(x, 125) for x in row) for row in expected)


@pytest.mark.parametrize(
    ("K", "c", "v"),
    [
        ([], (1, 2), (1, 2)),
        ([[1, 0]], (3, 4), (0, 4)),
        ([[1, 0]], (-3, 4), (-3, 4)),
        ([[1, 0]], (0, 4), (0, 4)),
        ([[1, 0], [0, 1]], (3, 4), (0, 0)),
        ([[1, 0], [1, 1]], (3, -1), (0, -1)),
        ([[1, 0], [1, 1], [0, 1]], (1, 1), (0, 0)),
        ([[1, 0], [-1, 0]], (5, 7), (0, 7)),
        ([[1, 1], [1, 2], [2, 1]], (1, 1), (0, 0)),
        ([[1, 2], [2, 1]], (3, 0), ("3/5", "-6/5")),
    ],
)
def test_projections(K: list[list[int]], c: tuple[Any, ...], v: tuple[Any, ...]) -> None:
    """The nearest point of a cone, also where constraints depend on each other."""
    assert project([vec(*k) for k in K], vec(*c)) == vec(*v)


def test_limits_of_projections() -> None:
    """At most 64 constraints, and at most eight rows of which all patterns are tried."""
    assert project([vec(1)] * 64, vec(-1)) == vec(-1)
    with pytest.raises(Declined, match="at most 64 constraints"):
        project([vec(1)] * 65, vec(-1))
    with pytest.raises(Declined, match="at most 8 rows"):
        d_z(mat([[1]] * 9), node())
    with pytest.raises(Declined, match="independent vectors"):
        nearest([vec(1, 0), vec(2, 0)], vec(1, 1))


def test_patterns_that_there_are() -> None:
    """Of e_1, -e_1: both open cells, and the line between them, which is 1 on both; a row of zeros is 1 always."""
    assert d_z(mat([[1], [-1]]), node()) == {0b01: True, 0b10: True, 0b11: False}
    assert d_z(mat([[1], [2]]), node()) == {0b00: True, 0b11: True}
    assert d_z(mat([[1], [0]]), node()) == {0b10: True, 0b11: True}


def test_multiples() -> None:
    """u = t v for one t, whatever its sign; v is not 0."""
    assert multiple(vec(2, 4), vec(1, 2)) == 2 and multiple(vec(-1, -2), vec(1, 2)) == -1
    assert multiple(vec(0, 4), vec(0, 2)) == 2 and multiple(vec(0, 0), vec(1, 2)) == 0
    assert multiple(vec(2, 5), vec(1, 2)) is None and multiple(vec(0, 0), vec(0, 0)) is None


def test_parts_of_neurons() -> None:
    """A positive multiple of a neuron of the same sign."""
    images = {(1, vec(1, 0)): Fraction(1), (-1, vec(0, 1)): Fraction(1)}
    assert part(images, vec(2, 0), 1, node()) == ((1, vec(1, 0)), 2)
    assert part(images, vec(0, 3), -1, node()) == ((-1, vec(0, 1)), 3)
    for u, xi in ((vec(2, 0), -1), (vec(0, 3), 1), (vec(-2, 0), 1), (vec(1, 1), 1), (vec(0, 0), 1)):
        with pytest.raises(Rejected, match="neurons that are parts of those of w"):
            part(images, u, xi, node())


def instance(**more: Any) -> Node:
    """A network on two opposite points, with all its patterns."""
    patterns = ["10", "01", "11"]
    text = {"model": "relu", "objective": OBJECTIVE, "lambda": "1", "Z": ["1", "-1"], "y": "1 1", "patterns": patterns}
    return node({key: value for key, value in {**text, **more}.items() if value is not None})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, None),
        ({"patterns": ["11", "10", "01"]}, None),
        ({"objective": ELASTIC, "delta": "1"}, "with the plain objective"),
        ({"objective": LOGISTIC}, "with the plain objective"),
        ({"model": "gated"}, "a problem of the model relu with the plain objective"),
        ({"patterns": None}, "a network with its patterns"),
        ({"patterns": ["10", "01"]}, "all of D_Z as the patterns"),
        ({"patterns": ["10", "01", "11", "00"]}, "all of D_Z as the patterns"),
    ],
)
def test_instances(more: dict[str, Any], said: str | None) -> None:
    """Plain problems of the model that is asked for, over all of their patterns."""
    if said is None:
        assert len(read_instance(instance(**more), "relu").groups) == 6
    else:
        with pytest.raises(Rejected, match=said):
            read_instance(instance(**more), "relu")
    if more.get("patterns"):
        assert read_instance(instance(**more), "relu", complete=False).model == "cgl"
