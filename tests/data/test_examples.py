"""The bundled examples: there, readable, and as their stories say."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from relu_cert import examples
from relu_cert.bags import Bags
from relu_cert.data import read_csv
from relu_cert.errors import UsageError
from relu_cert.exact import Vector, dot, matrix, norm_squared, vector
from relu_cert.problem import read_problem_json


def test_every_file_is_listed_and_every_listing_has_its_file() -> None:
    """The registry and the folder hold the same files, under different names."""
    files = [examples.describe(name).file for name in examples.names()]
    there = {p.name for p in examples.path("xor").parent.iterdir() if p.suffix in (".csv", ".json")}
    assert set(files) == there
    assert len(files) == len(there) == len(set(examples.names()))
    assert "xor" in examples.names()


@pytest.mark.parametrize("name", examples.names())
def test_examples_load_and_are_described(name: str) -> None:
    """Each example is read by the reader of its kind and comes with a sentence and a positive lambda."""
    example = examples.describe(name)
    path = examples.path(name)
    assert isinstance(path, Path)
    assert example.text.endswith(".")
    assert example.lam > 0
    if example.model == "cgl":
        problem, _ = read_problem_json(path)
        assert problem.n == 2
        assert not example.bias
    elif example.classes:
        several = read_csv(path, classes=example.classes, center=example.center)
        assert several.source.header and len(several.Z) == 150
        assert several.outputs == ("setosa", "versicolor", "virginica")
        assert all(not sum(several.y[c::3]) for c in range(3))
    else:
        data = read_csv(path, bias=example.bias, conv=example.conv)
        assert data.source.header
        assert ("bias" in data.names) is example.bias
        assert 2 <= data.n <= 12 or name in ("iris", "digits")


def test_irises_are_as_fisher_published_them() -> None:
    """Fifty flowers of each of two kinds, four lengths in whole millimetres, with the means that are known."""
    data = read_csv(examples.path("iris"))
    assert (data.n, data.names) == (100, ("sepal_length", "sepal_width", "petal_length", "petal_width"))
    means = {}
    for kind in (-1, 1):
        flowers = [row for row, label in zip(data.Z, data.y, strict=True) if label == kind]
        assert len(flowers) == 50
        means[kind] = [sum(column) / 50 for column in zip(*flowers, strict=True)]
    assert means[-1] == [Fraction(x, 1000) for x in (5936, 2770, 4260, 1326)]
    assert means[1] == [Fraction(x, 1000) for x in (6588, 2974, 5552, 2026)]
    assert all((10 * x).denominator == 1 for row in data.Z for x in row)


def test_digits_are_forty_images() -> None:
    """Twenty zeros and twenty ones, 49 windows of 2 x 2 grey values from 0 to 16 each."""
    data = read_csv(examples.path("digits"), conv=examples.describe("digits").conv)
    assert (data.n, data.d, data.source.pool) == (40, 4, "mean")
    assert sorted(data.y) == [-1] * 20 + [1] * 20
    assert all(0 <= x <= 16 and x.denominator == 1 for row in data.Z for x in row)
    assert isinstance(data.bags, Bags)
    assert set(data.bags.scale) == {Fraction(1, 49)}


def test_unknown_names_get_a_hint() -> None:
    """A name that is not there is answered with the nearest one, or with the list."""
    with pytest.raises(UsageError, match="did you mean twins"):
        examples.describe("twin")
    with pytest.raises(UsageError, match="there are xor, cube"):
        examples.path("../../../etc/passwd")


def fit(Z: tuple[Vector, ...], neurons: list[tuple[int, Vector]]) -> Vector:
    """The outputs sum xi (Zu)_+ of a network on the data."""
    return tuple(sum((xi * max(dot(row, u), Fraction(0)) for xi, u in neurons), Fraction(0)) for row in Z)


def test_twins_are_fitted_by_opposite_pairs() -> None:
    """Both opposite pairs of neurons give the residual (1,1,1,1), on which all four neurons tie at lambda = 5."""
    data = read_csv(examples.path("twins"))
    for u in (vector([3, 4]), vector([3, -4])):
        opposite = tuple(-x for x in u)
        residual = tuple(t - f for t, f in zip(data.y, fit(data.Z, [(1, u), (1, opposite)]), strict=True))
        assert residual == vector([1, 1, 1, 1])
        for v in (u, opposite):
            # r.(Zv)_+ = lambda |v|
            assert dot(residual, fit(data.Z, [(1, v)])) ** 2 == 25 * norm_squared(v)


def test_three_neurons_of_conjecture_relu_fit_what_one_does() -> None:
    """At lambda = 8 the weights (2/3,2/3,2/3) and (0,0,2) give the same outputs, on which all three tie."""
    data = read_csv(examples.path("conjecture-relu"))
    directions = matrix([[4, 4, 4, 4], [-4, -4, -4, 4], [0, 0, 0, 8]])
    shared = [(1, tuple(Fraction(2, 3) * x for x in v)) for v in directions]
    alone = [(1, tuple(2 * x for x in directions[2]))]
    assert fit(data.Z, shared) == fit(data.Z, alone)
    residual = tuple(t - f for t, f in zip(data.y, fit(data.Z, alone), strict=True))
    for v in directions:
        assert dot(residual, fit(data.Z, [(1, v)])) ** 2 == 64 * norm_squared(v)


def test_the_group_lasso_of_conjecture_ties_both_groups() -> None:
    """At lambda = 25 the correlation of both groups with the residual of w = (c_1/25, 0) has norm exactly 25."""
    problem, _ = read_problem_json(examples.path("conjecture"))
    one, two = problem.blocks
    residual = vector([3, 2])
    correlations = [[dot(residual, column) for column in zip(*block.X, strict=True)] for block in (one, two)]
    assert [norm_squared(c) for c in correlations] == [625, 625]
    w = [c / 25 for c in correlations[0]]
    assert tuple(t - dot(row, w) for t, row in zip(problem.y, one.X, strict=True)) == residual
