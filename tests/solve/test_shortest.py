"""Batched projections: the price of every block stands on them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from relu_cert.solve.cones import ShortestVectors, shortest
from relu_cert.solve.prepare import Floats


def instance(seed: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Ten problems with shared rows, a few of them parallel or zero, and mixed upper bounds."""
    g = np.random.default_rng(seed)
    d, a, p = int(g.integers(1, 4)), int(g.integers(1, 7)), 10
    rows = g.integers(-3, 4, (a, d)).astype(float)
    if a > 2 and seed % 2:
        rows[1] = -2 * rows[0]
    sign = g.choice([-1.0, 1.0], (p, a))
    upper = np.where(g.random((p, a)) < 0.5, np.inf, g.random((p, a)))
    return g.standard_normal((p, d)), rows, sign, upper


def brute_force(c: Floats, G: Floats, upper: Floats) -> float:
    """The least |c + G'x| over all choices of x_k at 0, at its bound, or free (least squares over the free ones)."""
    best = np.inf
    for choice in itertools.product((0, 1, 2), repeat=len(G)):
        at = np.array(choice)
        if np.isinf(upper[at == 1]).any():
            continue
        x = np.where(at == 1, upper, 0.0)
        x[at != 1] = 0.0
        free = at == 2
        rest = c + G.T @ x
        x[free] = np.linalg.lstsq(G[free].T, -rest, rcond=None)[0]
        if (x >= -1e-9).all() and (x <= upper + 1e-9).all():
            best = min(best, float(np.linalg.norm(c + G.T @ x)))
    return best


def recompute(c: Floats, rows: Floats, sign: Floats, upper: Floats, found: ShortestVectors, i: int) -> Floats:
    """c + sum x_k g_k with the x that `found` describes for problem i, checked against its bounds."""
    x = np.where(found.flipped[i], upper[i], 0.0)
    for k, x_k in zip(found.kinks[i], found.x[i], strict=True):
        if k >= 0:
            x[k] = upper[i, k] - x_k if found.flipped[i, k] else x_k
    assert (x >= -1e-12).all()
    assert (x <= upper[i] + 1e-12).all()
    return c[i] + (sign[i] * x) @ rows


@pytest.mark.parametrize("seed", range(40))
def test_shortest_is_the_minimum(seed: int) -> None:
    """|v| is the least length over the box, and v is what its own multipliers say."""
    c, rows, sign, upper = instance(seed)
    found = shortest(c, rows, sign, upper)
    assert found.exact.all()
    for i in range(len(c)):
        assert np.linalg.norm(found.v[i]) == pytest.approx(
            brute_force(c[i], sign[i][:, None] * rows, upper[i]), abs=1e-9
        )
        assert found.v[i] == pytest.approx(recompute(c, rows, sign, upper, found, i), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_an_early_stop_is_an_upper_bound(seed: int) -> None:
    """With `enough`, every |v| is still reached inside the box, and is at most `enough` or the minimum."""
    c, rows, sign, upper = instance(seed)
    least = np.linalg.norm(shortest(c, rows, sign, upper).v, axis=1)
    found = shortest(c, rows, sign, upper, enough=1.0)
    norm = np.linalg.norm(found.v, axis=1)
    assert (norm >= least - 1e-12).all()
    assert ((norm <= 1.0) | (norm <= least + 1e-12)).all()
    for i in range(len(c)):
        assert found.v[i] == pytest.approx(recompute(c, rows, sign, upper, found, i), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_a_guess_of_the_kinks_changes_nothing(seed: int) -> None:
    """Any guess leads to the same v, which is unique."""
    c, rows, sign, upper = instance(seed)
    guess = np.random.default_rng(seed).integers(-1, len(rows), c.shape)
    guess = np.where(np.arange(c.shape[1]) == 0, guess, -1)
    guess[np.linalg.norm(rows[guess[:, 0]], axis=1) == 0.0] = -1
    assert shortest(c, rows, sign, upper, kinks=guess).v == pytest.approx(shortest(c, rows, sign, upper).v, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_a_bound_that_is_enough_ends_the_search(seed: int) -> None:
    """v is the minimum (it is unique), or feasible and at most `enough`."""
    c, rows, sign, upper = instance(seed)
    best, fast = shortest(c, rows, sign, upper), shortest(c, rows, sign, upper, 1.0)
    both = best.exact & fast.exact
    assert fast.v[both] == pytest.approx(best.v[both], abs=1e-9)
    assert (fast.exact | (np.linalg.norm(fast.v, axis=1) <= 1.0 + 1e-12)).all()
    for i in range(len(c)):
        assert fast.v[i] == pytest.approx(recompute(c, rows, sign, upper, fast, i), abs=1e-12)
