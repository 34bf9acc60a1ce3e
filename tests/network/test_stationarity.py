"""The distance from Clarke stationarity, against exact examples and against floats."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from relu_cert.exact import Vector, dot, norm_squared
from relu_cert.network import objective as module
from relu_cert.network.objective import objective, stationarity
from relu_cert.network.trained import TrainedNetwork
from relu_cert.prove.projection import shortest_mean

KINK = ((F(1), F(0)), (F(-1), F(1)))
ONE = TrainedNetwork(((F(0), F(1)),), (F(1),))


@pytest.mark.parametrize(("y", "squared"), [((F(1), F(3)), F(1)), ((F(4), F(3)), F(0))])
def test_the_paper_s_set_and_clarke_s_differ(y: Vector, squared: F) -> None:
    """prop:stationary-points fails both ways at a kink: the first network is in its set and not stationary, the second
    is stationary and not in its set. Their distances are exactly 1 and 0."""
    found = stationarity(ONE, KINK, y, F(2))
    assert found.distance_squared.lower == found.distance_squared.upper == squared
    assert found.stationary is (squared == 0)
    assert found.neurons[0].kinks == (0,)


def test_opposite_rows_that_make_a_line() -> None:
    """u_+ - (-u)_+ = u is smooth: with residuals 1 and -1 on z and -z the subdifferential is a point, not a box."""
    Z = ((F(1), F(0)), (F(-1), F(0)), (F(0), F(1)))
    found = stationarity(ONE, Z, (F(1), F(-1), F(3)), F(2))
    assert found.neurons[0].kinks == (0, 1)
    assert found.distance_squared.lower == found.distance_squared.upper == 1


def test_an_optimal_network_is_stationary() -> None:
    """Z = 1, y = 3, lambda = 1: w = 2 is optimal. As two balanced halves it is stationary; unbalanced it is not."""
    Z, y = ((F(1),),), (F(3),)
    half = TrainedNetwork(((F(1),), (F(1),)), (F(1), F(1)))
    assert stationarity(half, Z, y, F(1)).stationary is True
    assert stationarity(TrainedNetwork(((F(2),),), (F(1),)), Z, y, F(1)).stationary is False
    assert stationarity(TrainedNetwork(((F(0),),), (F(0),)), Z, y, F(1)).stationary is True


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=9, max_size=9))
def test_without_kinks_it_is_the_gradient(entries: list[int]) -> None:
    """Away from kinks the distance is the gradient's norm, which central differences of the exact J confirm."""
    Z = ((F(1), F(2)), (F(-3), F(1)), (F(2), F(-5)))
    y = tuple(F(e) for e in entries[6:])
    base = [F(e) + F(1, 7) for e in entries[:6]]
    if any(dot(z, base[2 * i : 2 * i + 2]) == 0 for z in Z for i in range(2)):
        return

    def J(p: list[F]) -> F:
        return objective(TrainedNetwork(((p[0], p[1]), (p[2], p[3])), (p[4], p[5])), Z, y, F(1, 3))

    h = F(1, 10**12)
    gradient = []
    for i in range(6):
        up, down = list(base), list(base)
        up[i] += h
        down[i] -= h
        gradient.append((J(up) - J(down)) / (2 * h))
    network = TrainedNetwork(((base[0], base[1]), (base[2], base[3])), (base[4], base[5]))
    found = stationarity(network, Z, y, F(1, 3)).distance_squared
    assert found.lower == found.upper
    assert float(found.lower) == pytest.approx(float(norm_squared(gradient)), rel=1e-8, abs=1e-12)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-5, 5).map(F)] * 3), min_size=1, max_size=8))
def test_nearest_point(points: list[Vector]) -> None:
    """The point separates zero from the hull, so that none is shorter; and floats find one as short in the hull."""
    x, _ = shortest_mean(points)
    assert all(dot(x, p) >= norm_squared(x) for p in points)
    A = np.vstack([1e4 * np.ones(len(points)), np.array(points, dtype=float).T])
    _, length = nnls(A, np.array([1e4, 0.0, 0.0, 0.0]), maxiter=1000)
    assert float(norm_squared(x)) == pytest.approx(length**2, abs=1e-4, rel=1e-4)


def test_nearest_point_where_a_weight_vanishes() -> None:
    """Zero lies between two of three points, so that the third gets the weight zero on the way."""
    assert shortest_mean([(F(0), F(1)), (F(2), F(-1)), (F(-2), F(1))])[0] == (0, 0)


def test_too_many_kinks_are_enclosed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the limit of cells the answer is an interval that holds the exact one, and the verdict says so."""
    exact = stationarity(ONE, KINK, (F(4), F(3)), F(2)).distance_squared
    monkeypatch.setattr(module, "MAX_CELLS", 1)
    rough = stationarity(ONE, KINK, (F(1), F(3)), F(2))
    assert rough.distance_squared.lower <= 1 <= rough.distance_squared.upper
    assert rough.stationary is None
    assert exact.upper == 0
