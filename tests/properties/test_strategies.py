"""Planted truth against independent exact conditions; and instances that shrink to small ones."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import find, given, settings

from properties.exact import polytope
from properties.exact.linalg import combine, dot, eye, independent, mat, matmul, norm2, rank, sub, transpose, vec
from properties.exact.problem import (
    dual_feasible,
    dual_value,
    dual_vectors,
    is_feasible,
    is_optimal,
    objective,
    residual,
)
from properties.exact.roots import RootSum
from properties.soundness.truth import truth_of_network
from properties.strategies import (
    KINDS,
    Cube,
    PlantedCGL,
    PlantedElastic,
    PlantedLogistic,
    PlantedReLU,
    PlantedSampled,
    orthogonal,
    plant_relu,
    planted_antipodal,
    planted_box,
    planted_cgl,
    planted_corner,
    planted_cube,
    planted_edge,
    planted_elastic,
    planted_elastic_network,
    planted_kink,
    planted_lasso,
    planted_logistic,
    planted_logistic_network,
    planted_relu,
    planted_sampled,
    planted_smooth,
    rational_matrix,
    unit_vector,
)
from properties.strategies.networks import PlantedNetwork, planted_network, split

quick = settings(max_examples=40, derandomize=True, deadline=None, database=None)


def certify(p: PlantedCGL) -> None:
    """The planted truth: zero duality gap, canonical dual vectors, and vertices that are all optimal."""
    assert dual_vectors(p.problem, p.r) == p.v
    assert residual(p.problem, p.w) == p.r
    assert is_feasible(p.problem, p.w)
    assert dual_feasible(p.problem, p.r)
    assert (objective(p.problem, p.w) - dual_value(p.problem, p.r)).sign() == 0
    assert p.vertices
    for alpha in p.vertices:
        assert is_optimal(p.problem, p.weights(alpha))
        assert independent([p.q[b] for b in polytope.support(alpha)])
    assert all(b in p.E for b in p.S)
    assert 0 <= p.m_star <= p.M_star <= p.problem.n
    assert p.unique == (p.dimension == 0)


@quick
@given(planted_cgl())
def test_planted_cgl_is_what_it_says(p: PlantedCGL) -> None:
    """The general planted problem."""
    certify(p)


@quick
@given(planted_cgl(constrained=False))
def test_planted_group_lasso_has_no_cone(p: PlantedCGL) -> None:
    """K = 0 where it was asked for."""
    certify(p)
    assert all(not b.K for b in p.problem.blocks)


@quick
@given(planted_lasso())
def test_planted_lasso_has_blocks_of_size_one(p: PlantedCGL) -> None:
    """Blocks of size one, with the same truth."""
    certify(p)
    assert all(b.size == 1 for b in p.problem.blocks)


@quick
@given(planted_smooth())
def test_planted_smooth_instances_are_smooth(p: PlantedCGL) -> None:
    """E = A, independent outputs, every constraint active with a positive multiplier, one solution."""
    certify(p)
    assert polytope.support(p.alpha) == p.E
    assert p.unique
    assert all(dot(k, v) == 0 and any(k) for b, v in zip(p.problem.blocks, p.v, strict=True) for k in b.K)


@quick
@given(planted_corner())
def test_planted_corners_have_tight_constraints_only(p: PlantedCGL) -> None:
    """All constraints hold with equality, and the truth is the same."""
    certify(p)
    assert all(dot(k, v) == 0 for b, v in zip(p.problem.blocks, p.v, strict=True) for k in b.K)


@pytest.mark.parametrize(("pull", "strict"), [(0, False), (-1, True), (-2, False)])
def test_an_edge_without_licq(pull: int, strict: bool) -> None:
    """By hand: v = e_3, and e_1, e_2, e_1 + e_2 (a tenth of them) vanish at it: dependent. With r_k = -2 there, the
    slopes across the rows are -2 and 0, and `pull` is what z_0 leaves to the multipliers: on a bound, or inside."""
    rows = mat([["1/10", 0, 0], [0, "1/10", 0], ["1/10", "1/10", 0]])
    z_0 = sub(vec([0, 0, 1]), combine([Fraction(pull)] * 3, rows, 3))
    planted = plant_relu((z_0, *rows), vec([1, -2, -2, -2]), [1])
    assert planted is not None
    assert planted.neurons == ((1, vec([0, 0, 1])),)
    truth = truth_of_network(planted)
    assert (truth.licq, truth.strict) == (False, strict)


def certify_relu(p: PlantedReLU) -> None:
    """The planted network: optimal over all of D_Z, lambda the largest correlation, neurons carried by blocks."""
    assert p.lam2 == max(norm2(v) for v in p.v)
    assert combine(p.alpha, p.q, len(p.y)) == p.yhat
    assert all(p.carriers)
    certify_blocks = p.convex
    assert is_optimal(p.problem, certify_blocks.w)
    assert (objective(p.problem, certify_blocks.w) - dual_value(p.problem, p.r)).sign() == 0
    assert all(norm2(v) == p.lam2 for _, v in p.neurons)


@pytest.mark.parametrize("make", [planted_relu, planted_antipodal, planted_box, planted_kink, planted_edge])
def test_planted_networks_are_optimal_over_all_patterns(make) -> None:  # type: ignore[no-untyped-def]
    """Every kind of planted network, by KKT and by the duality gap."""
    settings(max_examples=15, derandomize=True, deadline=None, database=None)(given(make())(certify_relu))()


@quick
@given(planted_kink())
def test_a_kink_is_carried_by_two_blocks(p: PlantedReLU) -> None:
    """Some neuron vanishes on a data point that is not zero."""
    assert any(dot(z, v) == 0 and any(z) for _, v in p.neurons for z in p.Z)


@quick
@given(planted_antipodal())
def test_antipodal_residuals_are_orthogonal_to_the_data(p: PlantedReLU) -> None:
    """Z'r = 0"""
    assert all(dot(c, p.r) == 0 for c in transpose(p.Z))


@settings(max_examples=5, derandomize=True, deadline=None, database=None)
@given(planted_cube())
def test_the_cube_is_optimal_with_eight_tied_neurons(p: Cube) -> None:
    """All eight neurons have norm 3 = lambda, the weights solve the problem, the outputs have rank seven at most."""
    w: list[tuple[Fraction, ...]] = []
    for a, v in zip(p.alpha, p.directions, strict=True):
        w += [tuple(a * x for x in v), (Fraction(0),) * 3]
    assert is_optimal(p.problem, tuple(w))
    assert residual(p.problem, tuple(w)) == p.r
    tied = [b for b, v in enumerate(dual_vectors(p.problem, p.r)) if norm2(v) == 9]
    assert tied == [0, 2, 4, 6, 8, 10, 12, 14]


@quick
@given(planted_network())
def test_rational_networks_are_balanced_and_optimal(p: PlantedNetwork) -> None:
    """|W| = |w2| for every neuron and the fit is the planted one."""
    assert all(norm2(i.W) == i.w2**2 for i in p.net)
    certify_relu(p.planted)


@settings(max_examples=20, derandomize=True, deadline=None, database=None)
@given(planted_network().flatmap(lambda p: split(p.net)))
def test_split_neurons_stay_balanced(net) -> None:  # type: ignore[no-untyped-def]
    """Splitting keeps the balance of every part."""
    assert all(norm2(i.W) == i.w2**2 for i in net)


@quick
@given(unit_vector(3), orthogonal(3))
def test_unit_vectors_and_orthogonal_maps_are_exact(u, Q) -> None:  # type: ignore[no-untyped-def]
    """|u| = 1 and Q'Q = I in rationals."""
    assert norm2(u) == 1
    assert matmul(transpose(Q), Q) == eye(3)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_matrices_are_of_their_kind(kind: str) -> None:
    """Each kind has the shape that its name promises."""

    def promise(Z) -> None:  # type: ignore[no-untyped-def]
        assert (len(Z), len(Z[0])) == (4, 3)
        promises = {
            "general": True,
            "low rank": rank(Z) <= 2,
            "duplicate": True,
            "antipodal": all(a == tuple(-x for x in b) for a, b in zip(Z[::2], Z[1::2], strict=True)),
            "grid": all(x in (-1, 0, 1) for z in Z for x in z),
            "one-hot": all(sum(z) == 1 and set(z) <= {0, 1} for z in Z),
            "bias": all(z[-1] == 1 for z in Z),
        }
        assert promises[kind]

    settings(max_examples=30, derandomize=True, deadline=None, database=None)(
        given(rational_matrix(4, 3, kind))(promise)
    )()


def test_duplicate_rows_do_occur() -> None:
    """The duplicate kind gives repeated rows that are not zero."""
    Z = find(rational_matrix(3, 2, "duplicate"), lambda Z: any(Z[0]) and Z[0] == Z[1], settings=quick)
    assert Z[0] == Z[1]


@pytest.mark.parametrize("make", [planted_elastic, planted_elastic_network])
def test_planted_elastic_problems_have_no_gap(make) -> None:  # type: ignore[no-untyped-def]
    """w is feasible, its residual is r, and D(r) = y.r - |r|^2/2 - sum (|v_b| - lambda)_+^2 / (2 delta) is P(w)."""

    def certify_elastic(p: PlantedElastic) -> None:
        assert is_feasible(p.problem, p.w)
        assert residual(p.problem, p.w) == p.r
        lengths = [RootSum.sqrt(norm2(v)).as_fraction() for v in dual_vectors(p.problem, p.r)]
        long = [s - p.problem.lam for s in lengths if s is not None and s > p.problem.lam]
        assert dual_value(p.problem, p.r) - sum(x * x for x in long) / (2 * p.delta) == p.value
        extra = p.delta / 2 * sum(norm2(w) for w in p.w)
        assert (objective(p.problem, p.w) + extra - p.value).sign() == 0

    settings(max_examples=25, derandomize=True, deadline=None, database=None)(given(make())(certify_elastic))()


@settings(max_examples=25, derandomize=True, deadline=None, database=None)
@given(planted_sampled())
def test_planted_networks_over_some_patterns_are_optimal(p: PlantedSampled) -> None:
    """By KKT over the chosen blocks; blocks that carry one neuron have one output."""
    certify(p.convex)
    assert combine(p.alpha, p.q, p.convex.problem.n) == p.convex.yhat
    assert all(p.convex.q[b] == q for blocks, q in zip(p.neurons, p.q, strict=True) for b in blocks)
    assert sorted(b for blocks in p.neurons for b in blocks) == list(p.convex.E)


@pytest.mark.parametrize("make", [planted_logistic, planted_logistic_network])
def test_planted_logistic_problems_are_optimal(make) -> None:  # type: ignore[no-untyped-def]
    """theta is feasible, the tied blocks have the outputs q, and a positive combination of these is y on the rows with
    a < 1/2: the fit, up to a factor log((1-a)/a) for each a."""

    def certify_logistic(p: PlantedLogistic) -> None:
        assert dual_feasible(p.problem, p.theta)
        assert all(0 < a <= Fraction(1, 2) for a in p.a)
        v = dual_vectors(p.problem, p.theta)
        tied = [b for b, u in enumerate(v) if norm2(u) == p.problem.lam2]
        rows = [[dot(row, u) for row in p.problem.blocks[b].X] for b, u in enumerate(v) if b in tied]
        assert sum(p.carriers) == len(tied) or p.gates is not None
        for q in p.q:
            assert any(rank([q, tuple(row)]) == 1 and dot(q, tuple(row)) > 0 for row in rows)
        assert p.vertices
        for alpha in p.vertices:
            fit = combine(alpha, p.q, p.problem.n)
            assert fit == tuple(y if a < Fraction(1, 2) else 0 for a, y in zip(p.a, p.problem.y, strict=True))
            for q, weight in zip(p.q, alpha, strict=True):
                assert len({a for a, x in zip(p.a, q, strict=True) if x}) == 1 or not weight

    settings(max_examples=25, derandomize=True, deadline=None, database=None)(given(make())(certify_logistic))()
