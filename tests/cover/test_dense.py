"""The walk that looks at all rows: what it writes is accepted, the same compiled or not, with copies of rows or not."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import relu_cert
from relu_cert.cover import build, dense, stack
from relu_cert.cover.build import DONE, Done, RootTask, grow, roots
from relu_cert.cover.compiled import load
from relu_cert.cover.lines import coarse, dense_side, weights_of
from relu_cert.cover.setting import CoverData, setting
from relu_cert.cover.stack import VIOLATED
from relu_cert.cover.ties import engine_ties
from relu_cert.cover.train import largest
from relu_cert.driver import variant
from relu_cert.evidence import Streams
from relu_cert.exact import Matrix
from relu_cert.patterns.predict import Prediction, predict
from relu_cert.problem import unlisted_relu

F = Fraction
Walk = Callable[..., int]


def given() -> CoverData:
    """Forty points in three dimensions, some of them antipodal."""
    rng = np.random.default_rng(5)
    Z = [[int(x) for x in row] for row in rng.integers(-300, 300, (30, 3))]
    Z += [[-2 * x for x in row] for row in Z[:10]]
    y = tuple(F(int(x)) for x in rng.integers(-3, 4, 40))
    return setting(unlisted_relu(tuple(tuple(F(x, 100) for x in row) for row in Z), y))


def walks(part: Fraction, walk: Walk, monkeypatch: pytest.MonkeyPatch, violation: float = np.inf) -> list[Done]:
    """What becomes of every root cone of both signs at this part of lambda_max."""
    monkeypatch.setattr(build, "advance_dense", walk)
    monkeypatch.setattr(stack, "LANES", 8)  # few rows at a time, so that there are several parts
    one = given()
    lam = F(round(1000 * largest(one.task, np.random.default_rng(0))[0]), 1000) * part
    found = []
    for xi in (1, -1):
        weights = weights_of(one.data.lines, one.y, xi)
        side = dense_side(weights, coarse(weights, lam, 0), one.frame)
        ties = engine_ties(one.data, (), weights, side, xi, ())
        tasks = [RootTask(xi, side, ties, cone, dense=True) for cone in roots(one.data.basis)]
        found += [grow(task, 10**6, violation) for task in tasks]
    return found


def trees(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> list[Streams]:
    """The trees just above lambda_max."""
    found = walks(F(101, 100), walk, monkeypatch)
    assert {done.code for done in found} == {DONE}
    return [done.streams for done in found]


def test_interpreted_and_compiled_walks_write_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes."""
    compiled = load("walk_dense", compiling=True)
    assert trees(dense.walk_dense, monkeypatch) == trees(compiled, monkeypatch)


def test_rows_that_do_not_cross_a_cone_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether rows are copied or not: the same cones, to the last digits of floats."""
    copied = trees(dense.walk_dense, monkeypatch)
    monkeypatch.setattr(dense, "FEWER", 0.0)
    whole = trees(dense.walk_dense, monkeypatch)
    assert [tree.codes for tree in copied] == [tree.codes for tree in whole]
    assert sum(tree.leaves for tree in whole) > 20


def test_a_generator_above_lambda_is_a_neuron_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below lambda_max the walk ends at a direction that says so."""
    found = [done for done in walks(F(9, 10), dense.walk_dense, monkeypatch, 1.0 + 1e-7) if done.code == VIOLATED]
    assert found
    one = given()
    u = one.frame @ found[0].at
    top = largest(one.task, np.random.default_rng(0))[0]
    heights = np.maximum(one.task.Z @ u, 0.0) @ one.task.y / np.linalg.norm(u)
    assert max(heights, -heights) > 0.9 * top


def test_a_gap_of_many_rows_is_proved_and_accepted() -> None:
    """Columns of three signs of rows, antipodal ones among them; with free biases, too."""
    rng = np.random.default_rng(2)
    Z = np.round(100 * rng.standard_normal((1300, 3))).astype(int)
    Z[:50] = -Z[50:100]
    y = np.round(100 * np.sin(Z[:, 0] / 50) + Z[:, 1] * Z[:, 2] / 100).astype(int)
    for free in ((), ("biases",)):
        columns = Z[:, :2] if free else Z
        result = relu_cert.certify(columns, y, lambda_ratio="1/10", claims=["optimal"], gap="1/50", free=free or None)
        result.recheck()
        assert result.value.relative_gap < 0.02


def test_no_masks_of_many_rows_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Masks of 200,000 rows took 2.5 GB, only to say that the patterns are many."""
    asked: list[int] = []

    def counted(rows: Matrix) -> Prediction:
        asked.append(len(rows))
        return predict(rows)

    monkeypatch.setattr(variant, "predict", counted)
    rows = tuple((F(k), F(1)) for k in range(30_000))
    assert variant.has_many_patterns(rows)
    assert max(asked) <= variant.MANY_PATTERNS
    assert not variant.has_many_patterns(rows[:100])
