"""The paper's definitions in sympy: worked examples, and what they must not accept."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import networkx as nx
import pytest
from sympy import QQ, Matrix, Rational
from sympy.polys.matrices import DomainMatrix

from properties.exact.patterns import patterns as other_patterns
from properties.symbolic.ball import Ball
from properties.symbolic.data import windows
from properties.symbolic.numbers import RATIONAL, algebraic, column, entries, matrix, norm2, root_sum_sign
from properties.symbolic.optimum import NotOptimalError, kkt_of, optimum, pruned
from properties.symbolic.path import limits
from properties.symbolic.patterns import activation_patterns
from properties.symbolic.position import general_position, group_general_position
from properties.symbolic.program import Block, Program, gated_program, kkt_failures, lambda_max2, relu_program
from properties.symbolic.sensitivity import face_projector, licq, local_solution_function, strictly_complementary
from properties.symbolic.several import Several, copositive, feasible, several_optimum, ties
from properties.symbolic.several_ball import Around

Rows = list[list[int]]


def rows(listed: Rows) -> object:
    """A matrix of integers."""
    return matrix([[QQ(a) for a in row] for row in listed], len(listed[0]))


def lasso(X: Rows, groups: list[list[int]], y: list[int], lam: object, K: dict[int, Rows] | None = None) -> Program:
    """A group lasso with cones."""
    blocks = []
    for g, group in enumerate(groups):
        cone = rows(K[g]) if K and g in K else matrix([[] for _ in group], 0)
        blocks.append(Block(rows([[row[j] for j in group] for row in X]), cone, g))
    return Program(tuple(blocks), column([QQ(a) for a in y]), QQ.convert(lam))


TWINS = ([[3, 0], [-3, 0], [0, 4], [0, -4]], [10, 10, 17, 17])


@pytest.mark.parametrize(
    "Z",
    [
        [[1], [-1]],
        [[1, 0], [0, 1], [1, 1]],
        [[1, 2], [-2, -4], [0, 0], [1, 1]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [-1, 0, 0]],
        [[0, 0], [0, 0]],
    ],
)
def test_patterns_are_those_of_the_other_enumeration(Z: Rows) -> None:
    """D_Z by covectors, with zero, repeated and antipodal rows, against the enumeration of `properties.exact`."""
    other = {tuple(map(int, p)) for p in other_patterns(tuple(tuple(map(Fraction, row)) for row in Z)).all}
    assert set(activation_patterns(rows(Z))) == other


def test_kkt_accepts_the_solution_and_nothing_beside_it() -> None:
    """eq:kkt-cgl: a wrong sign of w, of rho or of the residual, a weight off by 1e-30, a w outside its cone fail."""
    p = lasso([[1, 0], [0, 1]], [[0, 1]], [6, 8], 5, {0: [[1], [0]]})  # w_1 <= 0
    w, rho = [column([QQ(0), QQ(3)])], [[QQ(6)]]
    assert kkt_failures(p, w, rho) == []
    assert kkt_failures(p, [column([QQ(0), QQ(3) + QQ(1, 10**30)])], rho)
    assert kkt_failures(p, [column([QQ(0), QQ(-3)])], rho)
    assert kkt_failures(p, w, [[QQ(-6)]])
    assert kkt_failures(p, [column([QQ(1), QQ(3)])], rho)
    assert kkt_failures(p, [column([QQ(0), QQ(0)])], [[QQ(0)]])
    assert kkt_failures(lasso([[1, 0], [0, 1]], [[0, 1]], [-6, -8], 5, {0: [[1], [0]]}), w, rho)


def test_kkt_asks_for_every_sign_by_itself() -> None:
    """eq:kkt-cgl, where one condition alone is violated: rho < 0 makes w = 0 look optimal; rho_j K_j'w is not 0; s_b is
    too long where w_b = 0; w_b points the other way."""
    p = lasso([[1]], [[0]], [-2], QQ(1, 2), {0: [[1]]})  # w <= 0, optimum w = -3/2
    assert kkt_failures(p, [column([QQ(-3, 2)])], [[QQ(0)]]) == []
    assert kkt_failures(p, [column([QQ(0)])], [[QQ(-2)]]) == ["block 0: rho_b < 0"]
    slack = lasso([[1]], [[0]], [-2], QQ(1, 2), {0: [[1]]})
    assert "block 0: rho_j K_j'w_b is not 0" in kkt_failures(slack, [column([QQ(-1)])], [[QQ(-1, 2)]])
    assert kkt_failures(p, [column([QQ(0)])], [[QQ(0)]]) == ["block 0: |s_b| > lambda where w_b = 0"]
    outside = lasso([[1]], [[0]], [2], 1, {0: [[1]]})
    assert kkt_failures(outside, [column([QQ(1)])], [[QQ(0)]]) == ["block 0: K_b'w_b > 0"]
    free = lasso([[1]], [[0]], [2], 1)
    assert kkt_failures(free, [column([QQ(1)])], [[]]) == []
    assert kkt_failures(free, [column([QQ(3)])], [[]]) == ["block 0: no subgradient lambda w_b/|w_b|"]


def test_the_solutions_of_the_twins_are_a_segment() -> None:
    """E has four neurons, the optimal set two vertices of two neurons, an edge, and m* = 2 < 3 = dim span."""
    Z, y = TWINS
    p = relu_program(rows(Z), column([QQ(a) for a in y]), QQ(5))
    best = optimum(p, column([QQ(1), QQ(1), QQ(1), QQ(1)]))
    assert len(best.E) == 4
    assert best.widths == [2, 2] and best.dimension == 1
    assert nx.is_isomorphic(best.graph, nx.path_graph(2))
    assert not best.p_unique and not best.convex_unique and not best.e_equals_a
    assert (best.components(2), best.components(3), best.components(4)) == (4, 2, 1)
    assert all(kkt_of(best, alpha) == [] for alpha in best.vertices)
    mean = tuple(sum(a, QQ(0)) / 2 for a in zip(*best.vertices, strict=True))
    assert kkt_of(best, mean) == [] and pruned(best, mean) in best.vertices
    assert norm2(column(best.shortest)) < min(norm2(column(alpha)) for alpha in best.vertices)


def test_a_block_that_is_left_out_of_e_is_noticed() -> None:
    """Without one of the tied blocks the optimal set is another, and without all of them there are no weights."""
    Z, y = TWINS
    p = relu_program(rows(Z), column([QQ(a) for a in y]), QQ(5))
    r = column([QQ(1)] * 4)
    best = optimum(p, r)
    left = [i for i in range(len(p.blocks)) if i not in best.E[0].blocks]
    assert len(optimum(p, r, left).vertices) == 1
    with pytest.raises(NotOptimalError, match="non-negative combination"):
        optimum(p, r, [])


def test_a_residual_that_is_off_by_a_little_is_refused() -> None:
    """sqrt(2) - 1e-30 in the place of sqrt(2) solves no KKT system."""
    p = gated_program(rows([[1, 1]]), column([QQ(3)]), QQ(1))  # r sqrt(2) = 1
    reals = algebraic([QQ(-2), QQ(0), QQ(1)], QQ(1), QQ(2))
    exact = column([reals.root / 2], reals)
    best = optimum(p.over(reals), exact)
    assert best.p_unique and kkt_of(best, best.vertices[0]) == []
    for off in (QQ(1, 10**30), QQ(-1, 10**30)):
        with pytest.raises(NotOptimalError):
            optimum(p.over(reals), column([reals.root / 2 + reals.of(off)], reals))


def test_signs_in_a_field_are_exact() -> None:
    """Numbers within 1e-60 of 0 have their sign, and 0 is 0."""
    reals = algebraic([QQ(-2), QQ(0), QQ(1)], QQ(1), QQ(2))
    near = reals.near(reals.root, QQ(1, 10**60))
    assert reals.sign(reals.root - reals.of(near[0])) == 1
    assert reals.sign(reals.root - reals.of(near[1])) == -1
    assert reals.sign(reals.root * reals.root - 2) == 0
    assert root_sum_sign([(QQ(1), QQ(8)), (QQ(-2), QQ(2))]) == 0
    assert root_sum_sign([(QQ(1), QQ(2)), (QQ(-1), QQ(2) + QQ(1, 10**40))]) == -1


def test_general_positions_of_the_paper() -> None:
    """prop:general-position-relation: neither general position implies the other."""
    identity = rows([[1, 0], [0, 1]])
    half, unit = (column([QQ(a, b) for a, b in one]) for one in (((1, 2), (1, 2)), ((3, 5), (4, 5))))
    other = column([QQ(2), QQ(-1)])
    columns = [identity[:, 0], identity[:, 1]]
    assert group_general_position([half, identity]) is True
    assert general_position([unit, *columns]) is True and group_general_position([unit, identity]) is False
    assert general_position([other, *columns]) is False and group_general_position([other, identity]) is True


def test_the_local_solution_function_of_the_ledger() -> None:
    """X = I, y = (6, 8), lambda = 5: dw/dy = [[17/25, 6/25], [6/25, 41/50]]; dr/dy is the rest to the identity."""
    best = optimum(lasso([[1, 0], [0, 1]], [[0, 1]], [6, 8], 5), column([QQ(3), QQ(4)]))
    found = local_solution_function(best, [face_projector(best.program, a) for a in best.E])
    dw = Matrix([[Rational(17, 25), Rational(6, 25)], [Rational(6, 25), Rational(41, 50)]])
    assert Matrix.eye(2) - found.r_y == dw
    assert list(found.r) == [Rational(3, 5), Rational(4, 5)]


def test_licq_and_strict_complementarity() -> None:
    """Dependent tight constraints, and a tight one without force."""
    forced = optimum(lasso([[1, 0], [0, 1]], [[0, 1]], [6, 8], 5, {0: [[1], [0]]}), column([QQ(6), QQ(5)]))
    assert licq(forced) and strictly_complementary(forced)
    idle = optimum(lasso([[1, 0], [0, 1]], [[0, 1]], [0, 8], 5, {0: [[1], [0]]}), column([QQ(0), QQ(5)]))
    assert licq(idle) and not strictly_complementary(idle)
    three = lasso([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2]], [6, 6, 8], 5, {0: [[1, 0, 1], [0, 1, 1], [0, 0, 0]]})
    assert not licq(optimum(three, column([QQ(6), QQ(6), QQ(5)])))


def test_the_min_norm_path_jumps() -> None:
    """The conjecture's counterexample: beside lambda = 25 the weights tend to a solution that is not the shortest."""
    p = lasso([[5, 0, 3], [0, 10, 8]], [[0, 1], [2]], [6, 10], 25)
    best = optimum(p, column([QQ(3), QQ(2)]))
    reached = limits(best)
    assert set(reached) == {1, -1}
    assert all(alpha != best.shortest and alpha in best.vertices for alpha in reached.values())
    still = optimum(lasso([[1, 0], [0, 1]], [[0], [1]], [3, 4], 1), column([QQ(1), QQ(1)]))
    assert all(alpha == still.shortest for alpha in limits(still).values()) and limits(still)


def test_a_ball_does_not_say_more_than_it_holds() -> None:
    """Around a tie a small ball keeps the blocks of E; a large one leaves the faces open."""
    Z, y = TWINS
    p = relu_program(rows(Z), column([QQ(a) for a in y]), QQ(5))
    best = optimum(p, column([QQ(1)] * 4))
    carried = {i for a in best.E for i in a.blocks}
    small = Ball(p, best.r, QQ(1, 10**20))
    assert carried <= set(small.candidates) and small.weights is None
    assert set(small.candidates) <= set(Ball(p, best.r, QQ(1)).candidates)


def test_lambda_max_of_a_neuron() -> None:
    """lambda_max^2 is the largest squared projection: |Z'D y|^2 where the cone allows it."""
    p = relu_program(rows([[1, 0], [0, 1]]), column([QQ(3), QQ(-4)]), QQ(1))
    assert lambda_max2(p) == 16
    assert entries(p.y) == [3, -4] and p.reals is RATIONAL


LEVEL = ([[-1, 1], [1, 1]], [-2, 2])


def with_biases(y: list[int], lam: int) -> Program:
    """Two points with an output bias and free biases."""
    p = relu_program(rows(LEVEL[0]), column([QQ(a) for a in y]), QQ(lam))
    return replace(p, B=rows([[1], [1]]), biases=True)


def test_free_biases_leave_the_bias_out_of_the_norm() -> None:
    """y = (-2, 2), lambda = 1: |theta.(x w + b)_+| <= |w|; the linear neuron ties whatever its bias is: not unique."""
    p = with_biases(LEVEL[1], 1)
    best = optimum(p, column([-QQ(1, 2), QQ(1, 2)]))
    assert best.level and not best.p_unique and not best.convex_unique and not best.e_equals_a
    assert all(kkt_of(best, alpha) == [] for alpha in best.vertices)
    with pytest.raises(NotOptimalError, match="B'r"):
        optimum(p, column([QQ(1), QQ(1)]))
    with pytest.raises(NotOptimalError, match="> lambda"):
        optimum(p, column([-QQ(1), QQ(1)]))


def test_kkt_with_free_terms_asks_that_no_constant_helps() -> None:
    """A residual that is not orthogonal to B, a bias in s_b, and a wrong sign of the free coefficient are refused."""
    p = with_biases(LEVEL[1], 1)
    best = optimum(p, column([-QQ(1, 2), QQ(1, 2)]))
    w = best.weights(best.vertices[0])
    rho = [p.dual(b, best.r)[1] for b in p.blocks]
    c = best.coefficients(w)
    assert c is not None and kkt_failures(p, w, rho, c) == []
    assert any("B'" in why for why in kkt_failures(p, w, rho, c + column([QQ(1, 10**30)])))
    assert any("bias" in why for why in kkt_failures(p, w, rho, c + column([QQ(1)])))


def test_copositive_by_principal_minors() -> None:
    """Horn's form is copositive and no sum of a definite and a non-negative one; less on its diagonal it is not."""
    horn = [[1, -1, 1, 1, -1], [-1, 1, -1, 1, 1], [1, -1, 1, -1, 1], [1, 1, -1, 1, -1], [-1, 1, 1, -1, 1]]
    Q = rows(horn)
    tiny = [[QQ(int(i == j), 10**40) for j in range(5)] for i in range(5)]
    assert copositive(Q) and not copositive(Q, strictly=True)
    assert copositive(Q + matrix(tiny, 5), strictly=True) and not copositive(Q - matrix(tiny, 5))


def orthants(S: Rows, Y: Rows, lam: int) -> tuple[Several, object]:
    """Z = I and Theta = S."""
    flat = [QQ(a) for row in Y for a in row]
    return Several(rows([[1, 0], [0, 1]]), column(flat), len(Y[0]), QQ(lam)), column([QQ(a) for row in S for a in row])


def test_several_outputs_tie_alone_or_on_a_continuum() -> None:
    """Theta = lambda I: every u >= 0 ties. Theta = diag(2, 1), lambda = 2: (1, 0) alone, the network is unique."""
    p, theta = orthants([[1, 0], [0, 1]], [[3, 1], [1, 3]], 1)
    assert feasible(p, theta) and not feasible(p, theta * (1 + QQ(1, 10**30)))
    assert len(ties(p, theta).continua) == 1 and len(ties(p, theta).single) == 2
    p, theta = orthants([[2, 0], [0, 1]], [[5, 0], [0, 1]], 2)
    best, found = several_optimum(p, theta)
    assert best.p_unique and best.e_equals_a and not found.continua
    assert best.vertices[0][0] * norm2(best.E[0].w) == 3  # 1/2 (0 + 1) + 2 * 3 and 5 = 2 + 3
    with pytest.raises(NotOptimalError, match="fit"):
        several_optimum(replace(p, y=column([QQ(5), QQ(1), QQ(0), QQ(1)])), theta)


def test_several_outputs_on_a_kink() -> None:
    """The neuron (3, 4) is zero at the third point, and no cell has it inside: it is found by its face."""
    theta = column([QQ(2), QQ(0), QQ(1), QQ(0), -QQ(1, 2), QQ(0)])
    fit = column([QQ(a) for a in (3, 0, 4, 0, 0, 0)])
    p = Several(rows([[1, 0], [0, 1], [4, -3]]), theta + fit, 2, QQ(2))
    best, found = several_optimum(p, theta)
    assert not found.continua and best.p_unique and best.e_equals_a
    (u,) = found.single
    assert entries(u)[0] * 4 == entries(u)[1] * 3 and not feasible(replace(p, lam=QQ(2) - QQ(1, 10**30)), theta)


def turned(second: int) -> tuple[Several, DomainMatrix]:
    """Z = I, lambda = 2, Theta with the singular values 2, on (3, 4)/5, and this one; a neuron of weight 3."""
    theta = column([QQ(6, 5), -QQ(4 * second, 5), QQ(8, 5), QQ(3 * second, 5)])
    fit = column([QQ(9, 5), QQ(0), QQ(12, 5), QQ(0)])
    return Several(rows([[1, 0], [0, 1]]), theta + fit, 2, QQ(2)), theta


def test_several_outputs_over_a_ball() -> None:
    """(3, 4) alone ties, for all dual points nearby, and its weight is 3. Nothing is said where the ball is large, no
    direction is given, the margin is too large, or the second singular value is lambda, too."""
    p, theta = turned(1)
    u, tiny = column([QQ(3), QQ(4)]), QQ(1, 10**20)
    found = Around(p, theta, tiny, ((u, QQ(1)),)).weights
    assert found is not None and abs(found[0][0] - 3) <= found[1] < QQ(1, 10**3)
    assert Around(p, theta, QQ(1), ((u, QQ(1)),)).weights is None
    assert not Around(p, theta, tiny, ()).covered
    assert not Around(p, theta, tiny, ((u, QQ(4)),)).covered  # lambda^2 - 1 = 3
    p, theta = turned(2)
    directions = [column([QQ(a), QQ(b)]) for a, b in ((3, 4), (1, 0), (0, 1), (1, 1))]
    ball = Around(p, theta, tiny, tuple((one, QQ(1, 100)) for one in directions))
    near = ball.near(QQ(1, 100))
    assert ball.weights is None and near is not None and not ball._single(u, near)


def test_a_neuron_of_several_outputs_that_may_leave_its_kink() -> None:
    """(3, 4) is zero at (4, -3); Theta pulls it back from both sides. Where one side lets it go, nothing is said."""
    u = column([QQ(3), QQ(4)])
    fit = column([QQ(a) for a in (3, 0, 4, 0, 0, 0)])
    for third, held in ((-QQ(1, 2), True), (-QQ(1, 5), False)):
        theta = column([QQ(2), QQ(0), QQ(1), QQ(0), third, QQ(0)])
        p = Several(rows([[1, 0], [0, 1], [4, -3]]), theta + fit, 2, QQ(2))
        ball = Around(p, theta, QQ(1, 10**20), ((u, QQ(1)),))
        near = ball.near(QQ(1))
        assert near is not None and ball._single(u, near) is held


@pytest.mark.parametrize(
    ("conv", "record", "expected"),
    [
        ("1d:2", [1, 2, 3], [[1, 2], [2, 3]]),
        ("1d:2:channels=2", [1, 2, 3, 4, 5, 6], [[1, 2, 4, 5], [2, 3, 5, 6]]),
        ("1d:2:padding=1:stride=2", [1, 2], [[0, 1], [2, 0]]),
        ("2d:2x3:2x2", [1, 2, 3, 4, 5, 6], [[1, 2, 4, 5], [2, 3, 5, 6]]),
        ("2d:2x2:1x2:stride=1:channels=2", [1, 2, 3, 4, 5, 6, 7, 8], [[1, 2, 5, 6], [3, 4, 7, 8]]),
    ],
)
def test_windows_in_order(conv: str, record: list[int], expected: list[list[int]]) -> None:
    """Positions row by row; in a window channel by channel, row by row; zeros around each channel."""
    found = list(windows(tuple(map(Fraction, record)), conv))
    assert [list(map(int, one)) for one in found] == expected


@pytest.mark.parametrize("coefficients", [[7407, -4992, 832], [-77, 0, -360, 0, 1296], [-4, 0, 2]])
def test_a_root_that_sympy_writes_with_a_factor_makes_a_field(coefficients: list[int]) -> None:
    """CRootOf takes a factor out of some polynomials: then the root is a product, and still the root that is meant."""
    highest = 3
    reals = algebraic([QQ(c) for c in coefficients], QQ(0), QQ(highest))
    t, total = reals.root, reals.domain.zero
    for c in reversed(coefficients):
        total = total * t + reals.of(QQ(c))
    assert not total and reals.sign(t) == 1 and reals.sign(t - reals.of(QQ(highest))) == -1
    low, high = reals.near(t)
    assert low <= high and abs(float(low) - float(reals.expression(t))) < 1e-12
