"""benchmarks/methods.py: several starts at once are the same as one after the other, and come near the optimum."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.methods import Training, lbfgs


def training(width: int = 6) -> Training:
    """A small problem."""
    rng = np.random.default_rng(1)
    return Training(rng.standard_normal((9, 3)), rng.standard_normal(9), 0.3, width)


def test_the_gradient_of_the_training_objective() -> None:
    """Differences of the objectives are those that their gradients predict, for every start."""
    one, step = training(), 1e-6
    x = one.starts(3)
    _, g = one(x)
    for j in range(0, x.shape[1], 5):
        e = np.eye(x.shape[1])[j] * step
        assert (one(x + e)[0] - one(x - e)[0]) / (2 * step) == pytest.approx(g[:, j], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("method", ["lbfgs", "adam"])
def test_starts_do_not_know_of_each_other(method: str) -> None:
    """The first of three starts ends where it ends alone, lower than it began."""
    one = training()
    alone, together = (getattr(one, method)(count) for count in (1, 3))
    assert together[0] == pytest.approx(alone[0], rel=1e-6, abs=1e-6)
    assert (one(together)[0] < one(one.starts(3))[0]).all()


def test_lbfgs_minimises_quadratics() -> None:
    """Two quadratic functions of different shape, each from its own start, to eight digits."""
    scales = np.array([[1.0, 10.0, 100.0], [3.0, 1.0, 0.1]])

    def function(x):
        return 0.5 * (scales * (x - 1) ** 2).sum(axis=1), scales * (x - 1)

    assert lbfgs(function, np.array([[5.0, -3.0, 2.0], [0.0, 9.0, -9.0]]), 200) == pytest.approx(1.0, abs=1e-5)
