"""Training in floats: what it must not take for the end."""

from __future__ import annotations

import numpy as np

from relu_cert.cover.train import Task, train


def test_twins_are_trained_to_their_end() -> None:
    """Four neurons whose outputs depend on each other: Newton's method stops early with a residual that no direction
    violates, 3 % above the optimum 52. Neurons that are longer than they should be are weighed again."""
    Z, y = np.array([[0.0, -3.0], [0.0, 3.0], [-4.0, 0.0], [4.0, 0.0]]), np.array([10.0, 10.0, 17.0, 17.0])
    found = train(Task(Z, y, 5.0))
    assert abs(found.objective - 52.0) < 1e-9
    assert np.abs(found.residual - 1.0).max() < 1e-6
