"""Bounds inside the checker against plain truths: no bound is better than what is so, and each is sharp by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import verify
from verify.network.directions import apart, bounds, by_correlation
from verify.network.optimum import Known, Optimum, enclosed, total_weight
from verify.network.weights import Neuron, neuron_of
from verify.network.weights_set import WeightSet
from verify.numbers.bounds import fraction, matrix, root_above
from verify.optimal.ball import Ball
from verify.problem.problem import Problem
from verify.rules.min_norm import check_min_norm
from verify.sets.neurons import Neuron as ClassNeuron
from verify.sets.shortest import check_shortest
from verify.sets.solutions import System
from verify.sets.superclasses import stretch
from verify.sets.system import on_grid
from verify.text import Node

mp.dps = 60
NODE = Node(None)
SMALL = st.integers(-3, 3).map(F)
POSITIVE = st.fractions(0, 3, max_denominator=4)


def number(x: F) -> mpf:
    """A rational to 60 digits."""
    return mpf(x.numerator) / x.denominator


def system(rows: list[list[Any]], g: list[Any], F_error: Any = 0, g_error: Any = 0) -> System:
    """Equations in which every row has these errors."""
    exact = not F_error and not g_error
    k, n = len(rows[0]), len(rows)
    F_ = matrix([[F(x) for x in row] for row in rows], k)
    errors = ((F(F_error),) * n, (F(g_error),) * n)
    return System(F_, tuple(map(F, g)), *errors, tuple(range(k)), k, {}, exact=exact)


# ------------------------------------------------------------------------------------------------ sets of weights


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.data())
def test_linear_bounds_hold_on_the_true_set(data: st.DataObject) -> None:
    """Whatever the true equations are within the errors: slope.alpha is at least the bound, alpha_a at most its own."""
    k, n = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2))
    alpha = data.draw(st.lists(POSITIVE, min_size=k, max_size=k))
    e, d = data.draw(st.sampled_from([F(0), F(1, 8)])), data.draw(st.sampled_from([F(0), F(1, 4)]))
    rows = data.draw(st.lists(st.lists(SMALL, min_size=k, max_size=k), min_size=n, max_size=n))
    off = st.sampled_from([-e, F(0), e])
    true = [[x + data.draw(off) for x in row] for row in rows]
    g = [sum((x * a for x, a in zip(row, alpha, strict=True)), F(0)) for row in true]
    shown = [x + data.draw(st.sampled_from([-d, F(0), d])) for x in g]
    found = WeightSet(system(rows, shown, e, d), k, sum(alpha, F(0)) + data.draw(POSITIVE))
    slope = data.draw(st.lists(SMALL, min_size=k, max_size=k))
    mu = tuple(data.draw(st.lists(SMALL, min_size=n, max_size=n)))
    assert found.least(slope, mu) <= sum((s * a for s, a in zip(slope, alpha, strict=True)), F(0))
    assert all(found.largest(a) >= x for a, x in enumerate(alpha))


def test_linear_bounds_by_hand() -> None:
    """alpha_0 + 2 alpha_1 = 4, known within 1/4 in each number, total 5: mu g - errors - what is short of the slope."""
    exact, near = system([[1, 2]], [4]), system([[1, 2]], [4], F(1, 4), F(1, 4))
    assert WeightSet(exact, 2, F(5)).least([F(1), F(2)], (F(1),)) == 4
    assert WeightSet(exact, 2, F(5)).least([F(1), F(1)], (F(1),)) == 4 - 5
    assert WeightSet(exact, 2, F(5)).least([F(3), F(3)], (F(1),)) == 4
    assert WeightSet(near, 2, F(5)).least([F(1), F(2)], (F(1),)) == 4 - F(1, 4) - F(5, 4)
    assert WeightSet(near, 2, F(5)).least([F(-1), F(-2)], (F(-1),)) == -4 - F(1, 4) - F(5, 4)
    assert [WeightSet(exact, 2, F(5)).largest(a) for a in (0, 1, 2)] == [4, 2, 0]
    assert WeightSet(near, 2, F(5)).largest(1) == 5
    only_g = System(exact.F, exact.g, (F(0),), (F(1, 4),), (0, 1), 2, {}, exact=False)
    assert [WeightSet(only_g, 2, F(5)).largest(a) for a in (0, 1)] == [F(17, 4), F(17, 8)]
    assert WeightSet(system([[1, -2]], [4]), 2, F(5)).largest(0) == 5
    assert [WeightSet(system([[1, 0]], [4]), 2, F(5)).largest(a) for a in (0, 1)] == [4, 5]
    assert WeightSet(system([[1, 1]], [-4]), 2, F(5)).largest(0) == 0


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.data())
def test_a_point_of_the_true_set_is_near(data: st.DataObject) -> None:
    """For true equations within the errors, the true set has a point as near to alpha as is said."""
    e, d = (data.draw(st.sampled_from([F(0), F(1, 50)])) for _ in range(2))
    a, b, c = (data.draw(st.integers(1, 3).map(F)) for _ in range(3))
    off = st.sampled_from([-1, 0, 1])
    alpha = (data.draw(st.fractions(1, 3, max_denominator=3)), data.draw(st.fractions(1, 3, max_denominator=3)))
    g = a * alpha[0] + b * alpha[1] + data.draw(st.sampled_from([F(0), F(1, 40)])) * c
    assume(e or d)
    shown = system([[a, b]], [g], e, d)
    try:
        moved = WeightSet(shown, 2, F(9)).contains_near(alpha, NODE)
    except verify.Rejected:
        return
    A, B, G = a + e * data.draw(off), b + e * data.draw(off), g + d * data.draw(off)
    # one equation A x + B y = G: the box around alpha meets it iff its corners are on both sides
    corners = [A * (alpha[0] + s * moved[0]) + B * (alpha[1] + t * moved[1]) - G for s in (-1, 1) for t in (-1, 1)]
    assert min(corners) <= 0 <= max(corners)
    assert all(x > m for x, m in zip(alpha, moved, strict=True))


def test_near_points_by_hand() -> None:
    """x = 2 within 1/10, its coefficient 1 within 1/10: x alone moves by (|off| + e_g + e_F x) / (1 - e_F)."""
    shown, unit = system([[1]], [2], F(1, 10), F(1, 10)), F(1, 2**256)
    (moved,) = WeightSet(shown, 1, F(9)).contains_near((F(3),), NODE)
    e = F(1, 10) + unit
    assert moved == (1 + e + 3 * e) / (1 - e)
    with pytest.raises(verify.Rejected, match="a weight >"):
        WeightSet(shown, 1, F(9)).contains_near((F(1, 5),), NODE)
    still = (1 - F(1, 3) * 2 + e) / (
        1 - 2 * e
    )  # x <= moved at x = (2 - x + e + e x)/(1 - e) rejected, also with equality
    assert still > 0
    edge = (2 + e) / (2 - 2 * e)  # x = (2 - x + e + e x) / (1 - e)
    with pytest.raises(verify.Rejected, match="a weight >"):
        WeightSet(shown, 1, F(9)).contains_near((edge,), NODE)
    assert WeightSet(shown, 1, F(9)).contains_near((edge + F(1, 10**9),), NODE)
    for error in (1, 1 - unit):  # with the grid: more than the coefficient, and all of it
        with pytest.raises(verify.Rejected, match="errors cannot make dependent"):
            WeightSet(system([[1]], [2], error, 0), 1, F(9)).contains_near((F(3),), NODE)
    exact = WeightSet(system([[1, 1]], [2]), 2, F(9))
    assert exact.contains_near((F(2), F(0)), NODE) == (0, 0)
    for wrong in ((F(3), F(-1)), (F(1), F(2))):
        with pytest.raises(verify.Rejected, match="weights of an optimal network"):
            exact.contains_near(wrong, NODE)
    with pytest.raises(verify.Rejected, match="2 weights"):
        exact.contains_near((F(2),), NODE)
    wider = WeightSet(exact.system, 3, F(9))  # a third class, which no solution uses
    assert wider.contains_near((F(2), F(0), F(0)), NODE) == (0, 0, 0)
    with pytest.raises(verify.Rejected, match="3 weights, 0 for the classes that are not active"):
        wider.contains_near((F(2), F(0), F(1)), NODE)


def test_the_largest_error_counts() -> None:
    """One equation that the errors can make dependent is enough to refuse; dependent ones are refused at once."""
    for errors, good in (((0, F(1, 100)), True), ((0, 2), False), ((2, 0), False)):
        two = replace(system([[1, 0], [0, 1]], [2, 2]), F_error=tuple(map(F, errors)), exact=False)
        if good:
            assert WeightSet(two, 2, F(9)).contains_near((F(2), F(2)), NODE)
        else:
            with pytest.raises(verify.Rejected, match="errors cannot make dependent"):
                WeightSet(two, 2, F(9)).contains_near((F(2), F(2)), NODE)
    for errors in ((0, 1), (1, 0)):
        one = replace(system([[1, 0], [0, 1]], [2, 2]), g_error=tuple(map(F, errors)), exact=False)
        assert all(1 <= move < 1 + F(1, 2**200) for move in WeightSet(one, 2, F(9)).contains_near((F(2), F(2)), NODE))
    same = replace(system([[1, 1], [1, 1]], [2, 2]), exact=False)
    with pytest.raises(verify.Rejected, match="errors cannot make dependent"):
        WeightSet(same, 2, F(9)).contains_near((F(1), F(1)), NODE)


def test_a_grid_widens_the_errors() -> None:
    """Numbers are rounded down to the grid, and one unit is added to each error."""
    found = on_grid(system([[F(1, 3)]], [F(-1, 3)], F(1, 10), F(1, 5)), 2)
    assert (fraction(found.F[0, 0]), found.g) == (F(1, 4), (F(-1, 2),))
    assert (found.F_error, found.g_error) == ((F(7, 20),), (F(9, 20),))


# ------------------------------------------------------------------------------------------------ shortest weights


def shortest(equations: System, weights: str, vertices: list[dict[int, F]], radius: str = "0") -> Any:
    """The check with a list of vertices."""
    return check_shortest(equations, vertices, Node({"weights": weights, "radius": radius}))


def test_shortest_weights_with_vertices() -> None:
    """On alpha_0 + alpha_1 = 2 the shortest point is (1, 1); a point off the line is none, however short it is."""
    line, ends = system([[1, 1]], [2]), [{0: F(2)}, {1: F(2)}]
    assert shortest(line, "1 1", ends).weights == (1, 1)
    for wrong in ("1/2 1/2", "0 0", "2 1"):
        with pytest.raises(verify.Rejected, match="F alpha = g in row 0"):
            shortest(line, wrong, ends)
    with pytest.raises(verify.Rejected, match=r"alpha.p >= \|alpha\|\^2"):
        shortest(line, "2 0", ends)
    assert check_shortest(line, ends, NODE) is None


def test_shortest_weights_with_multipliers() -> None:
    """Without vertices the multipliers must fit, and so must the equations: (2, 2) = F'2 is not on the line."""
    line = system([[1, 1]], [2])

    def judged(weights: str, mu: str) -> Any:
        return check_min_norm(line, Node({"bits": 0, "weights": weights, "radius": "0", "mu": mu}))

    assert judged("1 1", "1").weights == (1, 1)
    with pytest.raises(verify.Rejected, match="F alpha = g in row 0"):
        judged("2 2", "2")
    with pytest.raises(verify.Rejected, match=r"F_a\.mu"):
        judged("2 0", "2")
    with pytest.raises(verify.Rejected, match=r"F_a\.mu"):
        judged("1 1", "2")
    rising = system([[1, "1/2"]], [2])
    with pytest.raises(verify.Rejected, match=r"F_a\.mu .* else 0, for class 1, found 0"):
        check_min_norm(rising, Node({"bits": 0, "weights": "2 0", "radius": "0", "mu": "2"}))
    one_sided = system([[1, -1]], [2])
    fact = {"bits": 0, "weights": "2 0", "radius": "0", "mu": "2"}
    assert check_min_norm(one_sided, Node(fact)).weights == (2, 0)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.data())
def test_enclosed_shortest_weights_hold_for_the_true_equations(data: st.DataObject) -> None:
    """a x + b y = g with numbers within the errors: the true shortest point is within the radius, and 0 where it is."""
    a, b = data.draw(st.integers(-2, 3).map(F)), data.draw(st.integers(1, 3).map(F))
    e, d = data.draw(st.sampled_from([F(0), F(1, 100)])), data.draw(st.sampled_from([F(1, 100), F(1, 50)]))
    g = data.draw(st.integers(1, 4).map(F))
    size = max(a, F(0)) ** 2 + b * b
    weights = (max(a, F(0)) * g / size, b * g / size)
    radius = data.draw(st.sampled_from([F(1, 100), F(1, 20), F(1, 5)]))
    fact = {"bits": 300, "weights": f"{weights[0]} {weights[1]}", "radius": str(radius), "mu": ""}
    try:
        check_min_norm(system([[a, b]], [g], e, d), Node(fact))
    except verify.Rejected:
        return
    A, B = (x + e * data.draw(st.sampled_from([-1, 0, 1])) for x in (a, b))
    G = g + d * data.draw(st.sampled_from([-1, 0, 1]))
    total = max(A, F(0)) ** 2 + max(B, F(0)) ** 2
    true = (max(A, F(0)) * G / total, max(B, F(0)) * G / total)
    assert all(abs(x - y) <= radius and (x or not y) for x, y in zip(weights, true, strict=True))


def test_enclosed_shortest_weights_by_hand() -> None:
    """2 x = 6 up to an error of g: x = 3 within half of it, and no nearer; an idle class has F_a.mu < 0 by a margin."""
    shown, unit = system([[2]], [6], 0, F(1, 10)), F(1, 2**300)

    def judged(radius: F) -> Any:
        fact = {"bits": 300, "weights": "3", "radius": str(radius), "mu": ""}
        return check_min_norm(shown, Node(fact))

    D = 4 * unit + unit * unit  # what the grid may change in F F' = 4
    moved = (F(1, 10) + unit + D * F(6, 4)) / 4 / (1 - D / 4)
    need = 2 * moved + unit * (F(6, 4) + moved)
    assert judged(need)
    with pytest.raises(verify.Rejected, match="up to radius"):
        judged(need - F(1, 10**200))
    idle = system([[2, -1]], [6], 0, F(1, 10))
    assert check_min_norm(idle, Node({"bits": 300, "weights": "3 0", "radius": "1", "mu": ""}))
    with pytest.raises(verify.Rejected, match="0 numbers, found 1"):
        check_min_norm(idle, Node({"bits": 300, "weights": "3 0", "radius": "1", "mu": "1"}))
    level = system([[2, 0]], [6], 0, F(1, 10))
    with pytest.raises(verify.Rejected, match="where the weight is 0"):
        check_min_norm(level, Node({"bits": 300, "weights": "3 0", "radius": "1", "mu": ""}))


# ------------------------------------------------------------------------------------------------ directions

VECTOR = st.tuples(SMALL, SMALL).filter(any)


def distance(w: Any, v: Any) -> mpf:
    """|w/|w| - v/|v||"""
    lengths = [mp.sqrt(sum(number(x) ** 2 for x in u)) for u in (w, v)]
    return mp.sqrt(sum((number(a) / lengths[0] - number(b) / lengths[1]) ** 2 for a, b in zip(w, v, strict=True)))


@settings(derandomize=True, max_examples=200, deadline=None)
@given(VECTOR, VECTOR, st.fractions(0, F(1, 4), max_denominator=20))
def test_distances_of_directions(w: Any, v: Any, error: F) -> None:
    """Without an error both bounds are the distance to 30 digits; with one they are apart by twice 2 error / |v|."""
    true = distance(w, v)
    for straight in (True, False):
        low, high = apart(w, Known(1, v, F(0), straight, True))
        assert number(low) - mpf(10) ** -30 <= true <= number(high) + mpf(10) ** -30
        assert number(high - low) < mpf(10) ** -15
    assert apart(w, Known(1, v, error, True, True)) == apart(w, Known(1, v, F(0), True, True))
    low, high = apart(w, Known(1, v, error, False, True))
    moved = 2 * number(error) / mp.sqrt(sum(number(x) ** 2 for x in v))
    assert abs(number(low) - max(true - moved, 0)) < mpf(10) ** -15
    assert abs(number(high) - min(true + moved, 2)) < mpf(10) ** -15


def test_directions_of_nothing() -> None:
    """Of a neuron that may be zero nothing is known; opposite directions are 2 apart."""
    assert apart((F(1), F(0)), Known(1, (F(0), F(0)), F(1), False, True)) == (0, 2)
    assert apart((F(1), F(0)), Known(1, (F(-3), F(0)), F(0), True, True)) == (2, 2)


PROBLEM = Problem("relu", F(3), ((F(3), F(0)), (F(0), F(4))), (F(1), F(1)))


def test_the_least_distance_of_a_neuron() -> None:
    """Only neurons of its sign count: for the upper bound those that are used, for the lower one all that may be."""
    w = neuron_of(PROBLEM, 0, 1, (F(1), F(0)))
    ball = Ball(PROBLEM, (F(0), F(0)), F(0))
    near, side, back = ((F(1), F(0)), (F(0), F(1)), (F(-1), F(0)))

    def judged(*neurons: tuple[int, Any, bool | None]) -> tuple[F, F]:
        known = tuple(Known(sign, v, F(0), True, used) for sign, v, used in neurons)
        return bounds(ball, Optimum(known, None, (), None), w)

    assert judged() == (2, 2)
    assert judged((-1, near, True)) == (2, 2)
    assert judged((1, near, True)) == (0, 0)
    assert judged((1, near, False), (1, back, True)) == (2, 2)
    assert judged((1, near, None), (1, back, True)) == (0, 2)
    low, high = judged((1, side, True), (1, back, True))
    assert abs(number(low) - mp.sqrt(2)) < mpf(10) ** -30 and abs(number(high) - mp.sqrt(2)) < mpf(10) ** -30


@pytest.mark.parametrize(
    ("theta", "R", "sign", "w", "expected"),
    [
        # Z = diag(3, 4), |Z| = 5; (lambda - max(theta.q + R|q|, 0)/|w|) / (|Z| (|theta| + R)), lambda = 3
        ((F(0), F(2)), F(0), 1, (F(2), F(0)), F(3, 10)),
        ((F(1, 3), F(0)), F(1, 3), 1, (F(2), F(0)), F(1) / (5 * F(2, 3))),
        ((F(1, 3), F(0)), F(1, 3), -1, (F(2), F(0)), F(3) / (5 * F(2, 3))),
        ((F(-1, 3), F(0)), F(1, 6), 1, (F(2), F(0)), F(3) / (5 * F(1, 2))),
        ((F(1), F(0)), F(0), 1, (F(2), F(0)), F(0)),
        ((F(1), F(0)), F(0), 1, (F(0), F(5)), F(3, 5)),
        ((F(1), F(0)), F(1), 1, (F(2), F(0)), F(0)),
        ((F(0), F(0)), F(1, 100), 1, (F(-1), F(0)), F(2)),
        ((F(0), F(0)), F(0), 1, (F(1), F(0)), F(2)),
    ],
)
def test_a_neuron_that_correlates_too_little(theta: Any, R: F, sign: int, w: Any, expected: F) -> None:
    """The bound by the correlation with the residual, by hand; never more than 2."""
    neuron: Neuron = neuron_of(PROBLEM, 0, sign, w)
    assert by_correlation(Ball(PROBLEM, theta, R**2), neuron) == expected


def test_directions_that_the_ball_turns() -> None:
    """v* = xi B'r* is known to be straight where B has rank one; its error is |B| R."""
    ball = Ball(PROBLEM, (F(1), F(2)), F(1, 25))
    turned = class_neuron(((F(3), F(0)), (F(0), F(4))))
    assert enclosed(ball, turned, None) == Known(-1, (F(-3), F(-8)), F(1), False, None)
    line = class_neuron(((F(3), F(4)), (F(0), F(0))))
    assert enclosed(ball, line, True) == Known(-1, (F(-3), F(-4)), F(1), True, True)
    assert enclosed(ball, replace(line, B=None), True) == Known(-1, (F(0), F(0)), F(3), False, True)


def class_neuron(B: Any) -> ClassNeuron:
    """A neuron of the sign -1 with this B."""
    return ClassNeuron((-1, 0), None, True, B=matrix(B, 2))


def test_the_total_of_the_weights() -> None:
    """lambda^2 sum alpha = r.(y - r) is at most theta.(y - theta) + R |y - 2 theta|."""
    assert total_weight(Ball(PROBLEM, (F(1, 2), F(1, 2)), F(49))) == F(1, 2) / 9
    assert total_weight(Ball(PROBLEM, (F(2), F(-1)), F(1))) == (F(-4) + root_above(F(18))) / 9


# ------------------------------------------------------------------------------------------------ eigenvalues


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=3), st.sampled_from((F(1), F(1, 3**400), F(10**30))))
def test_smallest_singular_values(rows: list[Any], size: F) -> None:
    """For two columns 1/sigma^2 is the trace of A'A over its determinant, and it is found nearly; 0 if that is 0."""
    a, b, c = (sum((x[i] * x[j] for x in rows), F(0)) * size**2 for i, j in ((0, 0), (0, 1), (1, 1)))
    sigma = stretch(matrix([[x * size for x in row] for row in rows], 2))
    best = (a * c - b * b) / (a + c) if a + c else F(0)
    assert best * (1 - F(1, 2**100)) <= sigma**2 <= best
