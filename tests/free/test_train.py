"""Training with free terms in floats."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import relu_cert.cover.prover
import relu_cert.cover.train
import relu_cert.driver.variant
from relu_cert import certify
from relu_cert.cover.free_task import FreeTask, climb, orthonormal
from relu_cert.cover.stack import Floats
from relu_cert.cover.train import largest, train
from relu_cert.driver import network as driver


def heights(Z: Floats, t: Floats, U: Floats) -> Floats:
    """t.(Zu)_+ of every row of U."""
    found: Floats = np.maximum(U @ Z.T, 0.0) @ t
    return found


@pytest.mark.parametrize("seed", range(5))
def test_one_feature_has_two_maxima(seed: int) -> None:
    """Weights are 1 or -1 there, and the best bias has its zero at a row: a climb finds it, whatever the start."""
    rng = np.random.default_rng(seed)
    Z = np.column_stack([rng.standard_normal(20), np.ones(20)])
    t = rng.standard_normal(20)
    t -= t.mean()
    at, best = climb(Z, t, np.random.default_rng(9).standard_normal((30, 2)))
    for sign in (1.0, -1.0):
        top = heights(Z, t, np.column_stack([np.full(20, sign), -sign * Z[:, 0]])).max()
        np.testing.assert_allclose(best[at[:, 0] == sign], top)
    assert set(at[:, 0]) == {1.0, -1.0}


@pytest.mark.parametrize("seed", range(3))
def test_two_features_have_no_better_direction(seed: int) -> None:
    """The best climb reaches what a fine grid of angles with all biases at rows has; values are those of the
    directions, whose weights have length 1."""
    rng = np.random.default_rng(seed)
    Z = np.column_stack([rng.standard_normal((25, 2)), np.ones(25)])
    t = rng.standard_normal(25)
    t -= t.mean()
    at, best = climb(Z, t, rng.standard_normal((60, 3)))
    np.testing.assert_allclose(best, heights(Z, t, at))
    np.testing.assert_allclose(np.linalg.norm(at[:, :2], axis=1), 1.0)
    angles = np.linspace(0.0, 2.0 * np.pi, 2000)
    W = np.column_stack([np.cos(angles), np.sin(angles)])
    grid = max(float(heights(Z, t, np.column_stack([W, -W @ z[:2]])).max()) for z in Z)
    assert float(best.max()) >= (1.0 - 1e-9) * grid


@pytest.mark.parametrize("biases", [False, True], ids=["output-bias", "biases"])
def test_no_other_start_finds_a_neuron_that_is_missing(biases: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thorough training ends with nothing above lambda, as far as 1,000 other starts see."""
    monkeypatch.setattr(relu_cert.cover.train, "MOST_STARTS", 1000)
    rng = np.random.default_rng(1)
    Z = np.column_stack([rng.integers(-9, 10, (20, 6)).astype(float), np.ones(20)])
    y = np.where(rng.random(20) < 0.5, 1.0, -1.0)
    task = FreeTask(Z, y, 1.0, Q=orthonormal(np.ones((20, 1))), biases=biases)
    task = replace(task, lam=0.05 * largest(task, np.random.default_rng(0))[0])
    found = train(task, thorough=True)
    starts = np.random.default_rng(7).standard_normal((1000, 7))
    worst = max(float(task.climb(xi * found.residual, starts)[1].max()) for xi in (1, -1))
    assert worst < task.lam * (1.0 + 1e-5)


class Asked(Exception):
    """Whether the training is to be thorough."""


@pytest.mark.parametrize(
    ("d", "listed", "thorough"), [(2, True, False), (2, False, False), (9, False, True), (14, False, True)]
)
def test_training_is_thorough_where_no_cover_ends(
    d: int, listed: bool, thorough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With so many features that a cover has little time, or none; but not over a list or before other covers."""

    def noted(*given: Any, **options: Any) -> Any:
        raise Asked(options.get("thorough", False))

    monkeypatch.setattr(relu_cert.driver.variant, "MANY_PATTERNS", 10**6 if listed else 0)
    for module in (driver, relu_cert.cover.prover):
        monkeypatch.setattr(module, "train", noted)
    rng = np.random.default_rng(0)
    rows, y = rng.integers(-9, 10, (2 * d + 3, d)).tolist(), rng.integers(-5, 6, 2 * d + 3).tolist()
    with pytest.raises(Asked) as said:
        certify(rows, y, 1, free="output-bias")
    assert said.value.args == (thorough,)
