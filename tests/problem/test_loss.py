"""The losses: values, dual values and their exact bounds."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction as F
from math import exp, log

import pytest

from relu_cert.problem.loss import LOGISTIC, LOSSES, SOFTMAX, SQUARES, Loss

Y = (F(1), F(-1), F(1))
FIT = (F(1, 2), F(2), F(-3))
GAP = F(1, 10**12)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_there_is_one_object_of_a_loss(loss: Loss) -> None:
    """Stages ask for a loss by identity, also in other processes and in copies of a problem."""
    assert pickle.loads(pickle.dumps(loss)) is loss and copy.deepcopy(loss) is loss


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_weak_duality(loss: Loss) -> None:
    """loss(f) >= D(theta) - theta.f, with equality up to rounding where theta is that of f."""
    y = (F(1), F(0), F(0)) if loss is SOFTMAX else Y  # there a row of three classes
    theta = loss.clip(y, loss.theta(y, FIT))
    own = (
        loss.upper(y, FIT, F(0), GAP) - loss.lower(y, theta, GAP) + sum(t * f for t, f in zip(theta, FIT, strict=True))
    )
    assert 0 <= own < F(1, 10**9)
    other = loss.clip(y, (F(1, 3), F(-1, 5), F(1, 7)))
    cross = sum(t * f for t, f in zip(other, FIT, strict=True))
    assert loss.upper(y, FIT, F(0), GAP) >= loss.lower(y, other, GAP) - cross + F(1, 100)


def test_values_by_hand() -> None:
    """1/2 |f - y|^2 exactly; the logistic loss and the entropy as floats know them, enclosed."""
    assert SQUARES.upper(Y, FIT, F(1, 8), GAP) == F(1, 2) * (F(1, 4) + 9 + 16) + F(1, 8)
    assert SQUARES.lower(Y, FIT, GAP) == sum(y * t - t * t / 2 for y, t in zip(Y, FIT, strict=True))
    loss = sum(log(1 + exp(-float(y * f))) for y, f in zip(Y, FIT, strict=True))
    assert abs(float(LOGISTIC.upper(Y, FIT, F(1), GAP)) - loss - 1) < 1e-12
    half = LOGISTIC.pull(Y)
    assert 0 < 3 * F(log(2)) - LOGISTIC.lower(Y, half, GAP) + F(1, 10**14) < F(1, 10**12)
    assert LOGISTIC.dual_value(Y, half) <= 3 * F(log(2)) + F(1, 10**14)


def test_where_theta_has_a_dual_value() -> None:
    """0 <= y_k theta_k <= 1 for the logistic loss; everywhere for squares."""
    assert SQUARES.allows(Y, (F(7), F(0), F(-3)))
    assert LOGISTIC.allows(Y, (F(1), F(0), F(1, 2))) and not LOGISTIC.allows(Y, (F(1), F(1, 2), F(0)))
    assert LOGISTIC.clip(Y, (F(2), F(1, 2), F(1, 2))) == (F(1), F(0), F(1, 2))
    assert list(LOGISTIC.widest(Y, (F(1), F(-1, 2), F(3, 4)))) == [1, 2, 0]
