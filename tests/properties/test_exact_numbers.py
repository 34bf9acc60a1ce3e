"""The exact numbers that the claims rest on, written out: a change in any of them is noticed."""

from __future__ import annotations

from fractions import Fraction

from properties.claims import (
    conjecture_min_norm_path as conjecture,
)
from properties.claims import (
    cor_relu_continuity,
    d_z_with_equality,
    lemma_lagrange_dual,
    m_star_dim_span,
    prop_local_sol_fn,
    prop_one_neuron,
    prop_relu_unique,
    tables,
)
from properties.exact.linalg import inverse, mat, matvec, rank, vec
from properties.exact.polytope import least_norm, support
from properties.registry import load
from properties.run import verify_witnesses


def test_the_jacobian_of_the_disc() -> None:
    """X = I2, y = (6, 8), lambda = 5: [[17/25, 6/25], [6/25, 41/50]]; as printed [[67/75, 2/25], [2/25, 47/50]]."""
    planted = load("prop_local_sol_fn").witnesses[0].instance
    assert inverse(prop_local_sol_fn.matrix_D(planted, Fraction(5), ())) == mat([["17/25", "6/25"], ["6/25", "41/50"]])
    assert inverse(prop_local_sol_fn.matrix_D(planted, Fraction(1), ())) == mat([["67/75", "2/25"], ["2/25", "47/50"]])


def test_the_touching_correlation_of_the_conjecture() -> None:
    """lambda^2 - c_2^2 = 1296 (25a - 1)^2 / ((25a + 1)^2 (100a + 1)^2) along w_1 = a c_1: a double zero at a = 1/25."""
    path = load("conjecture_min_norm_path").witnesses[1].instance
    for a in (Fraction(1, 25), Fraction(1, 20), Fraction(1, 40), Fraction(3, 7)):
        here = conjecture.alone(path, a)
        assert here is not None
        gap = here.problem.lam2 - here.v[1][0] ** 2
        assert gap == 1296 * (25 * a - 1) ** 2 / ((25 * a + 1) ** 2 * (100 * a + 1) ** 2)


def test_the_relu_network_whose_min_norm_path_jumps() -> None:
    """At lambda = 8 three neurons tie with least-norm weights 2/3 each; from both sides the limit is (0, 0, 2)."""
    planted = load("conjecture_min_norm_path").witnesses[3].instance
    assert [planted.v[b] for b in planted.E] == [vec([-4, -4, -4, 4]), vec([4, 4, 4, 4]), vec([0, 0, 0, 8])]
    assert least_norm([planted.q[b] for b in planted.E], planted.yhat) == (Fraction(2, 3),) * 3
    for side in (1, -1):
        limit = conjecture.side_limit(planted, side)
        assert limit is not None
        assert [limit[b] for b in planted.E] == [0, 0, 2]


def test_all_four_instances_refute_the_conjecture() -> None:
    """Two group lassos, a gated and a ReLU network over all their patterns."""
    witnesses, _ = verify_witnesses(load("conjecture_min_norm_path"))
    assert len(witnesses) == 4
    assert all(w.refutes for w in witnesses)


def test_one_neuron_jumps_at_100_11() -> None:
    """v jumps from 10/11 to -1/110 at lambda = 100/11, where both are optimal."""
    assert prop_one_neuron.minimisers(Fraction(100, 11)) == (Fraction(-1, 110), Fraction(10, 11))
    assert prop_one_neuron.minimisers(Fraction(9)) == (Fraction(1),)
    assert prop_one_neuron.minimisers(Fraction(10)) == (Fraction(-9, 1000),)


def test_the_box_has_minimal_width_two_and_span_three() -> None:
    """Z = ((3,0),(-3,0),(0,4),(0,-4)), y = (10,10,17,17), lambda = 5."""
    box = m_star_dim_span.BOX.instance
    assert (box.y, box.lam2) == (vec([10, 10, 17, 17]), 25)
    assert (box.m_star, rank(box.q)) == (2, 3)
    assert sorted(len(support(a)) for a in box.vertices) == [2, 2]


def test_the_missing_sign_of_rho() -> None:
    """X = 1, y = -2, lambda = 1/2, K = 1: p* = 7/8, the printed dual reaches 2."""
    point = load("lemma_lagrange_dual").witnesses[0].instance
    assert lemma_lagrange_dual.dual_objective(point.planted.problem, point.theta) == 2
    assert lemma_lagrange_dual.objective(point.planted.problem, point.planted.w).as_fraction() == Fraction(7, 8)


def test_the_extra_pattern_of_gated_networks() -> None:
    """Z = (1,-1)', y = (2,-2), lambda = 1: optimum 7/4 with the all-ones block, 3 without."""
    outcome = d_z_with_equality.check(load("d_z_with_equality").witnesses[0].instance)
    assert outcome.why == "optimum 7/4 over D_Z, 3 over the open cells"


def test_the_cube_has_48_points_and_24_on_each() -> None:
    """p d = 24 rows are on in each of the eight patterns, and no two rows are equal."""
    cube = prop_relu_unique.CUBE48.instance
    assert len(cube.Z) == 48
    assert {sum(p) for p in cube.patterns} == {24}
    assert len(set(cube.Z)) == 48
    assert all(any(matvec([z], v)) for z in cube.Z for v in cube.v[::2])


def test_the_split_network_stays_away() -> None:
    """y = (3, 2), m = 2: squared distance 1/2 however near lambda is to 2."""
    start = load("cor_relu_continuity").witnesses[0].instance
    for k in (10, 10**3, 10**9):
        near = cor_relu_continuity.at(*start.here.y, Fraction(2) - Fraction(1, k))
        outcome = cor_relu_continuity.check(cor_relu_continuity.Approach(start.here, near, start.share))
        assert outcome.why.endswith("squared distance 1/2")


def test_what_the_tables_say() -> None:
    """8 and 3 of 10 sets; hill-valley; 11 of 17 sets cannot come from 20 % test points, none is excluded by 80 %."""
    assert len(tables.FULL) == 17
    rows = tables.reading(tables.SENTENCES[0]).full
    assert tables.still(rows) == ("hill-valley",)
    assert len(tables.impossible(rows, Fraction(1, 5))) == 11
    assert tables.impossible(rows, Fraction(4, 5)) == ()
