"""Exact objectives: worked by hand, and laws that hold for every network."""

from __future__ import annotations

import random
from fractions import Fraction as F
from math import exp, hypot, log1p

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert import certify
from relu_cert.network.objective import (
    ConvexNeuron,
    Interval,
    convex_form,
    convex_objective,
    fit,
    least_loss,
    least_penalty,
    network_of,
    objective,
    residual,
    stationarity,
)
from relu_cert.network.trained import TrainedNetwork, alive, square_root
from relu_cert.problem.loss import LOGISTIC

Z = ((F(1), F(0)), (F(0), F(1)), (F(1), F(-1)))
Y = (F(2), F(-1), F(1))

numbers = st.integers(-6, 6).map(lambda k: F(k, 2))
networks = st.integers(1, 4).flatmap(
    lambda m: st.builds(
        lambda rows, tops: TrainedNetwork(tuple(rows), tuple(tops)),
        st.lists(st.tuples(numbers, numbers), min_size=m, max_size=m),
        st.lists(numbers, min_size=m, max_size=m),
    )
)


def test_by_hand() -> None:
    """W1 = (3,4), w2 = 2: f(Z) = (6, 8, 0), J = 1/2(16 + 81 + 1) + 1/2(25 + 4) lambda; w = (6,8), P has 10 lambda."""
    network = TrainedNetwork(((F(3), F(4)),), (F(2),))
    assert network(Z) == (6, 8, 0)
    assert residual(network, Z, Y) == (-4, -9, 1)
    assert objective(network, Z, Y, F(1, 5)) == 49 + F(29, 10)
    assert convex_form(network) == (ConvexNeuron(1, (F(6), F(8))),)
    P = convex_objective(convex_form(network), Z, Y, F(1, 5))
    assert P.lower == P.upper == 49 + 2


def test_floats_are_what_they_are() -> None:
    """0.1 as a double is not 1/10, and the objective knows."""
    one, tenth = TrainedNetwork(((F(1), F(0)),), (F(0.1),)), TrainedNetwork(((F(1), F(0)),), (F(1, 10),))
    assert objective(one, Z, Y, F(1)) != objective(tenth, Z, Y, F(1))


def test_biases_must_be_folded_first() -> None:
    """The objective is defined without biases of the first layer only."""
    with pytest.raises(ValueError, match="fold them"):
        objective(TrainedNetwork(((F(1), F(0)),), (F(1),), (F(1),)), Z, Y, F(1))


@pytest.mark.parametrize("b2", [F(9, 4), F(-4)])
def test_an_output_bias_is_a_balanced_neuron(b2: F) -> None:
    """Where sqrt|b2| is rational, the network with b2 has the objectives and the stationarity of the one in which it
    is written out as the neuron sqrt|b2| e on the column of ones."""
    ones = tuple((*z[:-1], F(1)) for z in Z)
    root = square_root(abs(b2))
    short = TrainedNetwork(((F(1), F(-1, 2)),), (F(3),), None, b2)
    long = TrainedNetwork((*short.W1, (F(0), root)), (*short.w2, root if b2 > 0 else -root))
    assert objective(short, ones, Y, F(1, 3)) == objective(long, ones, Y, F(1, 3))
    assert convex_form(short) == convex_form(long)
    distances = [stationarity(net, ones, Y, F(1, 3)).distance_squared for net in (short, long)]
    assert distances[0] == distances[1]
    assert alive(short) == alive(long)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(networks, st.integers(1, 9))
def test_balancing_never_costs(network: TrainedNetwork, tenths: int) -> None:
    """P <= J, with equality where |W1_i| = |w2_i|; the balanced network has the same fit and J = P up to 2^-90."""
    lam = F(tenths, 10)
    neurons = convex_form(network)
    assert fit(neurons, Z) == network(Z)
    P = convex_objective(neurons, Z, Y, lam)
    assert P.lower <= P.upper <= P.lower + F(1, 2**100)
    J = objective(network, Z, Y, lam)
    assert P.lower <= J
    if all(sum(x * x for x in w) == v * v for w, v in zip(network.W1, network.w2, strict=True)):
        assert P.lower <= J <= P.upper
    balanced = network_of(neurons, 2)
    assert balanced(Z) == network(Z)
    assert 0 <= objective(balanced, Z, Y, lam) - P.lower < F(1, 2**90)


def test_dual_value_bounds_every_network() -> None:
    """Z = I, one point: p* = 1/2 (y^2 - (y - lambda)^2) is known, and the optimal network has gap zero."""
    one, y, lam = ((F(1),),), (F(3),), F(1)
    optimal = network_of([ConvexNeuron(1, (F(2),))], 1)
    theta = F(1)
    dual = 3 * theta - theta**2 / 2
    assert convex_objective(convex_form(optimal), one, y, lam).shift(-dual) == Interval(F(0), F(0))
    assert 0 <= objective(optimal, one, y, lam) - dual < F(1, 2**90)


@pytest.mark.parametrize("decayed", [False, True])
def test_no_network_has_a_smaller_loss_at_its_penalty_nor_a_smaller_penalty_at_its_loss(decayed):
    """Against drawn networks, and the optimal one, at which both bounds are sharp; a decayed bias is penalty."""
    Z, y = [[1, 2], [-1, 1], [2, -1], [0, 3]], [F(3), F(-1), F(2), F(1)]
    optimal = certify(Z, y, 1, decayed_bias=decayed)
    facts = optimal.report.facts
    theta, targets = facts.dual.theta, facts.problem.y
    draw = random.Random(1)
    best = (float(optimal.network.b2), [[float(a) for a in n.w] for n in optimal.network.neurons])
    signs = [n.sign for n in optimal.network.neurons]
    cases = [(best[0], best[1], signs, 1e-9)]
    for _ in range(300):
        m = draw.randint(0, 3)
        W = [[draw.gauss(0, 1) for _ in range(2)] for _ in range(m)]
        cases.append((draw.gauss(0, 1) * decayed, W, [draw.choice((-1, 1)) for _ in range(m)], None))
    for b, W, xi, sharp in cases:
        f = [b + sum(s * max(sum(a * z for a, z in zip(w, row, strict=True)), 0) for s, w in zip(xi, W, strict=True))
             for row in Z]  # fmt: skip
        loss = sum((a - float(t)) ** 2 for a, t in zip(f, y, strict=True)) / 2
        penalty = sum(hypot(*w) for w in W) + b * b / 2
        bounds = float(least_loss(theta, targets, F(penalty))), float(least_penalty(theta, targets, F(loss)))
        assert bounds[0] <= loss + 1e-9 and bounds[1] <= penalty + 1e-9
        if sharp:
            assert bounds == pytest.approx((loss, penalty), abs=1e-6)


@pytest.mark.parametrize("decayed", [False, True])
def test_the_least_loss_and_penalty_of_logarithms(decayed):
    """Against drawn networks, and the optimal one, at which both bounds are sharp; a decayed bias is penalty."""
    Z, y = [[1, 2], [-1, 1], [2, -1], [0, 3], [-2, -1]], [1, -1, 1, 1, -1]
    optimal = certify(Z, y, "1/4", loss="logistic", decayed_bias=decayed)
    facts = optimal.report.facts
    on, draw = (facts.dual.theta, facts.problem.y), random.Random(2)
    best = (float(optimal.network.b2), [[float(a) for a in n.w] for n in optimal.network.neurons])
    cases = [(*best, [n.sign for n in optimal.network.neurons], True)]
    for _ in range(300):
        W = [[draw.gauss(0, 2) for _ in range(2)] for _ in range(draw.randint(0, 3))]
        cases.append((draw.gauss(0, 1) * decayed, W, [draw.choice((-1, 1)) for _ in W], False))
    strong = [0, 0]
    for b, W, xi, sharp in cases:
        f = [b + sum(s * max(sum(a * z for a, z in zip(w, row, strict=True)), 0) for s, w in zip(xi, W, strict=True))
             for row in Z]  # fmt: skip
        loss = sum(log1p(exp(-t * a)) for a, t in zip(f, y, strict=True))
        penalty = (sum(hypot(*w) for w in W) + b * b / 2) / 4
        bounds = float(least_loss(*on, F(penalty), LOGISTIC)), float(least_penalty(*on, F(loss), LOGISTIC))
        assert bounds[0] <= loss + 1e-9 and bounds[1] <= penalty + 1e-9
        strong = [n + (x > 0) for n, x in zip(strong, bounds, strict=True)]
        if sharp:
            assert bounds == pytest.approx((loss, penalty), abs=1e-5)
    assert min(strong) > 10
