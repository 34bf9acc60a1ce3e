"""Convolutional networks that somebody trained: their objective, loop by loop, and how far they are from the best."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relu_cert import certify, certify_network
from relu_cert.claims import Verdict
from relu_cert.commands import prune_network
from relu_cert.data.arrays import dataset_from_arrays
from relu_cert.errors import UsageError
from relu_cert.network.formats import read_network
from relu_cert.network.prune import Strategy
from relu_cert.report.progress import Progress

F = Fraction


def images() -> tuple[Any, list[int]]:
    """Six small images, with targets."""
    rng = np.random.default_rng(1)
    return rng.integers(-2, 3, (6, 1, 3, 3)), [int(x) for x in rng.integers(-2, 3, 6)]


def state(filters: int = 3, bias: bool = False) -> dict[str, Any]:
    """The state dict of Sequential(Conv2d(1, filters, 2), ReLU, AdaptiveAvgPool2d(1), Flatten, Linear)."""
    rng = np.random.default_rng(2)
    found = {"0.weight": rng.integers(-4, 5, (filters, 1, 2, 2)) / 8, "4.weight": rng.integers(-4, 5, (1, filters)) / 4}
    return found | ({"0.bias": rng.integers(-4, 5, filters) / 8} if bias else {})


def objective(network: dict[str, Any], X: Any, y: list[int], lam: Fraction) -> Fraction:
    """J, position by position and entry by entry."""
    W, v = network["0.weight"], network["4.weight"][0]
    b = network.get("0.bias", np.zeros(len(W)))
    total = F(0)
    for image, target in zip(X, y, strict=True):
        out = F(0)
        for i in range(2):
            for j in range(2):
                window = image[:, i : i + 2, j : j + 2]
                for w, c, top in zip(W, b, v, strict=True):
                    pairs = zip(w.ravel(), window.ravel(), strict=True)
                    height = sum((F(float(p)) * int(q) for p, q in pairs), F(float(c)))
                    out += F(float(top)) * max(height, F(0)) / 4
        total += (out - target) ** 2 / 2
    weights = [*W.ravel(), *v, *b]
    return total + lam / 2 * sum((F(float(x)) ** 2 for x in weights), F(0))


@pytest.mark.parametrize("bias", [False, True])
def test_the_objective_is_that_of_a_loop(bias: bool) -> None:
    """A state dict with a 4-dimensional weight is a convolution; J is exact, and the checker accepts what is said."""
    X, y = images()
    found = certify_network(state(bias=bias), X, y, "1/2", conv="2x2", bias=bias)
    assert objective(state(bias=bias), X, y, F(1, 2)) == found.report.comparison.examination.J
    assert found.claims["network-optimal"].verdict is Verdict.REFUTED


def test_the_best_network_is_optimal_and_stationary() -> None:
    """The weights that `certify` found, as a state dict, are called optimal."""
    X, y = images()
    best = certify(X, y, "1/2", conv="2x2", verify=False).network
    network = {"0.weight": best.W1.reshape(-1, 1, 2, 2), "4.weight": best.w2.reshape(1, -1)}
    found = certify_network(network, X, y, "1/2", conv="2x2", gap="1e-9")
    assert found.claims["network-optimal"].verdict is Verdict.PROVED


def test_cones_of_rows_say_less_where_outputs_are_pooled() -> None:
    """No two neurons in one cone: a dense network cannot be merged, pooled outputs may agree otherwise."""
    X, y = images()
    found = certify_network(state(), X, y, "1/2", conv="2x2", verify=False)
    assert found.claims["network-merged"].verdict is not Verdict.PROVED


def test_filters_of_another_shape_are_refused(tmp_path: Path) -> None:
    """The sentence names both shapes; a convolution needs its rule."""
    X, y = images()
    with pytest.raises(UsageError, match="shape 1 x 2 x 2, the windows 1 x 3 x 3"):
        certify_network(state(), X, y, "1/2", conv="3x3")
    with pytest.raises(UsageError, match="say `conv`"):
        certify_network(state(), X.reshape(6, -1)[:, :4], y, "1/2")
    np.savez(tmp_path / "net.npz", **state())
    assert read_network(tmp_path / "net.npz").kernel == (1, 2, 2)


def test_pruning_ends_at_the_zero_network() -> None:
    """Filters are pruned at the fit of the images: the first step is the best network, the last one has no filter."""
    X, y = images()
    best = certify(X, y, "1/2", conv="2x2", verify=False)
    data, _ = dataset_from_arrays(X, y, conv="2x2")
    with Progress(quiet=True) as stages:
        found = prune_network(data, F(1, 2), stages, strategy=Strategy.GRADIENT)
    assert found.steps[0].objective == pytest.approx(float(best.value.upper))
    assert found.steps[-1].width == 0
    assert "merged" not in found.headline  # pooled outputs may agree though no two filters are in one cone
    assert found.steps[-1].loss == pytest.approx(sum(t * t for t in y) / 2)
