"""Networks whose data points are bags of rows: arithmetic with P, and the optimum against a search that sees all."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import fmpq_mat

from relu_cert import certify
from relu_cert.bags import EACH, Bags
from relu_cert.cover.limits import Limits, ProgressEvent
from relu_cert.cover.lines import doubtful, lines_of, weights_of
from relu_cert.driver.network import optimum_of_network
from relu_cert.exact import Matrix, Vector, column, dot, matrix, norm_squared, to_vector, vector
from relu_cert.problem import unlisted_relu
from relu_cert.prove.classes import Ball, class_map, is_stable
from relu_cert.prove.facts import BallSet, Facts


def drawn(seed: int, n: int = 4, N: int = 5) -> tuple[Matrix, Vector, Bags]:
    """Rows in the plane, bags of different sizes and scales, some of them empty, and targets."""
    rng = np.random.default_rng(seed)
    Z = matrix([[int(x) for x in row] or [1, 0] for row in rng.integers(-3, 4, (N, 2))])
    Z = tuple(z if any(z) else vector([1, 0]) for z in Z)
    rows = tuple(tuple(np.flatnonzero(rng.random(N) < 0.6).tolist()) for _ in range(n))
    times = tuple(tuple(int(x) for x in rng.integers(1, 4, len(r))) for r in rows)
    scale = vector(Fraction(1, int(x)) for x in rng.integers(1, 6, n))
    return Z, vector(int(x) for x in rng.integers(-4, 5, n)), Bags(N, scale, rows, times)


def dense(bags: Bags) -> Matrix:
    """P, entry by entry."""
    P = [[Fraction(0)] * bags.N for _ in bags.rows]
    for i, (s, rows, times) in enumerate(zip(bags.scale, bags.rows, bags.times, strict=True)):
        for k, m in zip(rows, times, strict=True):
            P[i][k] = s * m
    return tuple(map(tuple, P))


def largest_squared(Z: Matrix, t: Vector) -> Fraction:
    """max (t.(Zu)_+)^2 over unit u of the plane, exactly: between two neighbouring kinks the sum is linear, and its
    maximum is at its gradient, or at an end."""
    ends = [end for z in Z for end in ((-z[1], z[0]), (z[1], -z[0]))]
    best = Fraction(0)
    candidates = list(ends)
    for on in product((False, True), repeat=len(Z)):
        candidates.append(tuple(sum(t_k * z[j] for t_k, z, o in zip(t, Z, on, strict=True) if o) for j in range(2)))
    for u in candidates:
        if any(u):
            height = sum((t_k * max(dot(z, u), Fraction(0)) for t_k, z in zip(t, Z, strict=True)), Fraction(0))
            best = max(best, max(height, Fraction(0)) ** 2 / norm_squared(u))
    return best


def solved(Z: Matrix, y: Vector, bags: Bags, lam: Fraction) -> Facts:
    """The facts at lambda."""

    def silent(moment: ProgressEvent) -> None:
        pass

    problem = unlisted_relu(Z, y, bags)
    return optimum_of_network(problem, lambda top: lam, Fraction(1, 10**9), Limits(seconds=60), silent)


def objective(facts: Facts, P: Matrix) -> tuple[Vector, Fraction]:
    """The residual of the network that was found, and a bound of its objective, from P entry by entry."""
    Z, y = facts.problem.relu.Z, facts.problem.y
    rows = [sum((n.sign * max(dot(z, n.w), Fraction(0)) for n in facts.primal.neurons), Fraction(0)) for z in Z]
    r = tuple(t - dot(p, rows) for t, p in zip(y, P, strict=True))
    return r, norm_squared(r) / 2 + facts.lam * sum((n.norm for n in facts.primal.neurons), Fraction(0))


@pytest.mark.parametrize("seed", range(6))
def test_products_with_P(seed: int) -> None:
    """Sums over bags and their transposes are those of the dense matrix, for vectors, integers, matrices and floats."""
    Z, y, bags = drawn(seed)
    P = dense(bags)
    v = vector(Fraction(k - 2, k + 1) for k in range(bags.N))
    assert bags.pooled(v) == tuple(dot(p, v) for p in P)
    t = tuple(dot(p, y) for p in zip(*P, strict=True))
    assert bags.spread(y) == t
    pooled = tuple(tuple(dot(p, z) for z in zip(*Z, strict=True)) for p in P)
    whole = fmpq_mat(bags.pooled_matrix(column(v)))
    assert to_vector(whole) == bags.pooled(v)
    assert to_vector(bags.spread_matrix(column(y))) == t
    assert np.allclose(bags.pooled_floats(np.array(Z, dtype=float)), np.array(pooled, dtype=float))
    assert np.allclose(bags.spread_floats(np.array(y, dtype=float)), np.array(t, dtype=float))
    assert np.isclose(bags.widest**2, float(max(norm_squared(p) for p in zip(*P, strict=True))))
    a = {0: Fraction(1, 2), bags.N - 1: Fraction(-3)}
    sizes = [abs(a.get(k, Fraction(0))) for k in range(bags.N)]
    assert bags.moved_squared(a) == norm_squared(bags.pooled(sizes))
    size = sum(
        (sum(p, Fraction(0)) * sum((x * norm_squared(z) for x, z in zip(p, Z, strict=True)), Fraction(0)) for p in P),
        Fraction(0),
    )
    assert unlisted_relu(Z, y, bags).relu.size_squared == size


@pytest.mark.parametrize("seed", range(1, 12))
def test_the_optimum_is_that_of_a_search_over_all_directions(seed: int) -> None:
    """Upper and lower bound follow from the network and theta alone, by P written out and all arcs of the plane."""
    Z, y, bags = drawn(seed)
    P = dense(bags)
    top = max(largest_squared(Z, tuple(s * x for x in bags.spread(y))) for s in (1, -1))
    if not top:
        return
    lam = Fraction(int(float(top) ** 0.5 * 100), 1000)
    facts = solved(Z, y, bags, lam)
    assert top in (facts.lambda_max.squared, facts.lambda_max.least)
    _, upper = objective(facts, P)
    assert upper == facts.value.upper
    theta = facts.dual.theta
    t = tuple(dot(p, theta) for p in zip(*P, strict=True))
    assert max(largest_squared(Z, tuple(s * x for x in t)) for s in (1, -1)) <= lam * lam
    assert dot(y, theta) - norm_squared(theta) / 2 == facts.value.lower
    assert facts.value.relative_gap < Fraction(1, 10**20)


def test_bags_of_one_row_are_a_dense_network() -> None:
    """P = I, written out: the same optimum, node by node, and the same optimal set."""
    Z, y, _ = drawn(3, n=5)
    each = Bags(5, vector([1] * 5), tuple((k,) for k in range(5)), ((1,),) * 5)
    one, two = (solved(Z, y, bags, Fraction(1, 2)) for bags in (each, EACH))
    assert one.value == two.value
    assert one.dual == two.dual
    assert isinstance(one.optimal_set, BallSet)
    assert one.optimal_set == two.optimal_set


def test_doubtful_lines_move_by_the_bags() -> None:
    """A line is doubtful iff its weight may become positive in the ball: |P |a|| counts, not |a|."""
    Z = matrix([[1, 0], [2, 0], [0, 1]])
    bags = Bags(3, vector([1, Fraction(1, 3)]), ((0, 1, 2), (1,)), ((1, 1, 1), (3,)))
    lines = lines_of(Z, bags=bags)
    theta = vector([-1, Fraction(-1, 10)])
    weights = weights_of(lines, theta, 1)
    # rows 0 and 1 are one line with w = t_0 + 2 t_1 = -1 + 2 (-1 - 1/10), which moves by |(3, 2)| R
    reach = Fraction(16, 5) ** 2 / 13
    assert 0 in doubtful(weights, reach)
    assert 0 not in doubtful(weights, reach - Fraction(1, 1000))


def sphere(center: Vector, squared: Fraction, count: int) -> Sequence[Vector]:
    """Points of a ball, near to its border."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        step = rng.standard_normal(len(center))
        step *= 0.999 * float(squared) ** 0.5 / np.linalg.norm(step)
        found.append(tuple(c + Fraction(float(x)) for c, x in zip(center, step, strict=True)))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_stable_faces_are_kept_in_the_whole_ball(seed: int) -> None:
    """Where a class is stable over a wide ball, v keeps its signs, and its multipliers their bounds, all over it."""
    Z, y, bags = drawn(seed, n=3, N=6)
    top = max(largest_squared(Z, tuple(s * x for x in bags.spread(y))) for s in (1, -1))
    if not top:
        return
    facts = solved(Z, y, bags, Fraction(int(float(top) ** 0.5 * 100), 1000))
    if not isinstance(facts.optimal_set, BallSet):
        return
    for neuron in facts.optimal_set.classes:
        if neuron.ray:
            continue
        squared = Fraction(1)
        while squared > Fraction(1, 10**12) and not is_stable(facts.problem, neuron, Ball(facts.dual.theta, squared)):
            squared /= 4
        for r in sphere(facts.dual.theta, squared, 20):
            assert is_stable(facts.problem, neuron, Ball(r, Fraction(0)))
            v = to_vector(class_map(facts.problem, neuron).v(column(tuple(neuron.sign * x for x in r))))
            heights = [dot(z, v) for z in Z]
            assert all((h > 0) == (bit == "1") for h, bit in zip(heights, neuron.pattern or "", strict=True))


def test_filters_and_sets_predict_what_was_fitted() -> None:
    """On the training data predictions are the fit that was proved, exactly; also with free terms, channels, sums."""
    rng = np.random.default_rng(0)
    images, y = rng.integers(-2, 3, (5, 2, 3, 4)), [int(x) for x in rng.integers(-3, 4, 5)]
    for more in ({}, {"bias": True, "pool": "sum"}, {"free": "output-bias,skip"}):
        found = certify(images, y, lambda_ratio="1/4", conv="2x1:padding=1", verify=False, **more)
        assert found.network.predict_exactly(images) == found.facts.primal.fit
        assert np.allclose(found.network.predict(images), [float(x) for x in found.facts.primal.fit])
    sets = [[[1, 2], [0, 1]], [[3, -1]], [[-1, 0], [2, 2], [2, 2]]]
    found = certify(sets, [1, 2, 0], lambda_ratio="1/4", verify=False)
    assert found.network.predict_exactly(sets) == found.facts.primal.fit
    assert "convolutional" not in repr(found.network)
