"""Ties on planes whose cones are flat."""

from __future__ import annotations

import numpy as np
import pytest

from relu_cert.cover.node import meets
from relu_cert.cover.stack import SharpCones, SignedProblem, empty_room, empty_stack


@pytest.mark.parametrize("small", range(1, 12))
def test_a_plane_in_a_face_of_a_flat_cone_is_seen(small: int) -> None:
    """However flat the cone is, the plane passes through the face that three of its generators span: what rounding
    leaves of the fourth coordinate is no number."""
    e, p, n, m = (np.array(v, dtype=float) for v in ((1, 2, 0, 0), (2, -1, 0, 0), (0, 0, 3, 1), (0, 0, 1, -3)))
    rows, row = np.zeros((1, 4)), np.zeros(1)
    wholes, whole, none = np.zeros((1, 4), np.int64), np.zeros(1, np.int64), np.zeros((1, 1), np.uint8)
    side = SignedProblem(rows, rows, row, wholes, rows, wholes, row, np.eye(4), 1.0, 1.0, 1, 0.0)
    stack, room = empty_stack(side, 1), empty_room(side)
    unit = [(x / np.linalg.norm(x))[None] for x in (e, p)]
    for seed in range(20):
        eps, (a, b, c) = 10.0 ** (-0.5 * small), np.random.default_rng(seed).uniform((0.6, 0.1, 0.1), (1.0, 1.0, 0.5))
        G = np.array([e + eps * m, e + eps * (p + a * n), e + eps * (p - b * n), e - eps * (p + c * n)])
        stack.G[0] = G / np.linalg.norm(G, axis=1, keepdims=True)
        span = np.array([[-eps / 2, eps / 2]])
        ties = SharpCones(rows, none.astype(np.int8), whole, *unit, span, rows, none, none, whole)
        assert meets(ties, stack, 0, 0, room, 4)
