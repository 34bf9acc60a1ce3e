"""Ties beside convex lines where biases are free."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from relu_cert.cover.lines import lines_of, row_space, weights_of
from relu_cert.cover.refine import data_of
from relu_cert.cover.ties import dual_vector, piece_squared, pieces_near, signs_at, tight_lines

F = Fraction
NEAR = 0.6


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 6, 9, 25, 27])
def test_the_shortest_vector_of_a_piece_has_no_bias(seed: int) -> None:
    """Of the vectors without a bias that the shares allow it is the shortest, as another solver sees it; the shares
    are within their bounds, and the direction lies on the lines whose shares are inside these."""
    rng = np.random.default_rng(seed)
    Z = tuple((F(int(a)), F(int(b)), F(1)) for a, b in rng.integers(-5, 6, (6, 2)))
    theta = [F(int(x)) for x in rng.integers(-4, 5, 6)]
    theta[0] -= sum(theta)
    lines = lines_of(Z, biases=True)
    data = data_of(Z, tuple(theta), F(1), lines, row_space(lines))
    weights = weights_of(lines, tuple(theta), 1)
    found = pieces_near(data, weights, 1, rng.standard_normal(3), NEAR)
    assert found
    for tie in found:
        tight = tight_lines(weights, tie)
        assert tie.shares is not None and len(tight) == len(tie.shares)
        v = [F(x) for x in dual_vector(weights, [0 if c in tight else s for c, s in enumerate(tie.side)])]
        for c, share in zip(tight, tie.shares, strict=True):
            assert 0 <= share <= 1 if weights.w[c] < 0 else share >= 1 or share <= 0
            v = [x + share * weights.w[c] * p for x, p in zip(v, lines.rows[c], strict=True)]
        assert v[-1] == 0
        assert all(h * s >= 0 for h, s in zip(signs_at(weights, tie.u), tie.side, strict=True))
        size = float(piece_squared(weights, tie)) ** 0.5
        assert size <= _least(weights, tie.side, tight) * (1 + 1e-6) + 1e-9


def _least(weights, side, tight) -> float:
    """The same by a general solver: shares of the lines through the direction, on the sides of the convex ones."""
    P = np.array(weights.lines.rows, dtype=float) * np.array(weights.w, dtype=float)[:, None]
    c0 = np.array(weights.c0, dtype=float)
    on = [1.0 if s > 0 else 0.0 for s in side]
    bounds = [
        (on[c], on[c]) if c not in tight else (0.0, 1.0) if w <= 0 else (1.0, None) if side[c] > 0 else (None, 0.0)
        for c, w in enumerate(weights.w)
    ]
    start = np.array([1.0 if s > 0 else 0.0 for s in side])
    found = minimize(
        lambda s: float(((c0 + s @ P)[:-1] ** 2).sum()),
        start,
        bounds=bounds,
        constraints={"type": "eq", "fun": lambda s: (c0 + s @ P)[-1]},
        options={"maxiter": 500, "ftol": 1e-14},
    )
    return float(np.sqrt(found.fun)) / weights.unit


def test_signs_of_heights_are_exact_where_floats_see_none() -> None:
    """Heights of 1, 0 and -1 between products of 10^40, and those of rows that floats tell."""
    a, b = 10**20 + 1, 10**20
    lines = lines_of(((F(a), F(b)), (F(1), F(1)), (F(-3), F(7))))
    for u, first in (((1 - b, a - 1), 1), ((b, -a), 0), ((b - 1, 1 - a), -1)):
        heights = [sum(x * y for x, y in zip(p, u, strict=True)) for p in lines.rows]
        assert heights[0] == first
        assert lines.signs(u).tolist() == [(h > 0) - (h < 0) for h in heights]
