"""The exact tools against slower or different ways to the same answer."""

from __future__ import annotations

import doctest
from fractions import Fraction
from importlib import import_module
from itertools import product
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from properties.exact import polytope
from properties.exact.cone import feasible, in_cone, nnls, project, project_by_enumeration
from properties.exact.dual import Dual
from properties.exact.lasso import left_limit, piece, right_limit, solve_lasso
from properties.exact.linalg import (
    combine,
    dependencies,
    dot,
    eye,
    inverse,
    least_squares,
    mat,
    matmul,
    norm2,
    null_space,
    positive_definite,
    rank,
    solve_columns,
    sub,
    transpose,
    vec,
)
from properties.exact.patterns import count_patterns, has_pattern, pattern_of, patterns
from properties.exact.problem import dual_value, is_optimal, objective, problem, residual
from properties.exact.roots import RootSum, square_class
from properties.strategies import planted_lasso, rational_matrix, vector

quick = settings(max_examples=40, derandomize=True, deadline=None, database=None)


@pytest.mark.parametrize(
    "name",
    [
        "exact.linalg",
        "exact.roots",
        "exact.patterns",
        "exact.enclose",
        "exact.problem",
        "codec",
        pytest.param("strategies", marks=pytest.mark.long),
        "strategies.numbers",
        "strategies.matrices",
    ],
)
def test_examples_in_docstrings_are_true(name: str) -> None:
    """Every example that a docstring shows gives the printed result."""
    result = doctest.testmod(import_module(f"properties.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


@quick
@given(rational_matrix(3, 4))
def test_rank_null_space_and_dependencies_fit_together(A: tuple[tuple[Fraction, ...], ...]) -> None:
    """rank + dim null space = columns, null vectors are annihilated, dependencies are relations of rows."""
    null = null_space(A)
    assert rank(A) + len(null) == 4
    assert all(dot(row, x) == 0 for row in A for x in null)
    assert all(not any(combine(beta, A, 4)) for beta in dependencies(A))


@quick
@given(rational_matrix(3, 3))
def test_inverse_inverts_exactly_the_regular_matrices(A: tuple[tuple[Fraction, ...], ...]) -> None:
    """An inverse comes back iff the rank is full, and multiplies to the identity."""
    found = inverse(A)
    assert (found is not None) == (rank(A) == 3)
    if found is not None:
        assert matmul(A, found) == eye(3)


@quick
@given(rational_matrix(3, 2), vector(3))
def test_least_squares_is_stationary_and_shortest(A: tuple[tuple[Fraction, ...], ...], b: tuple[Fraction, ...]) -> None:
    """The residual is orthogonal to the columns and x is orthogonal to the null space."""
    columns = transpose(A)
    x = least_squares(columns, b)
    r = sub(b, combine(x, columns, 3))
    assert all(dot(c, r) == 0 for c in columns)
    assert all(dot(x, z) == 0 for z in dependencies(columns))


def test_positive_definite_knows_semidefinite_from_definite() -> None:
    """[[2,1],[1,2]] is, [[1,1],[1,1]] and an indefinite matrix are not."""
    assert positive_definite(mat([[2, 1], [1, 2]]))
    assert not positive_definite(mat([[1, 1], [1, 1]]))
    assert not positive_definite(mat([[1, 2], [2, 1]]))


@quick
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 40)), max_size=4))
def test_root_sums_have_the_sign_of_their_value(terms: list[tuple[int, int]]) -> None:
    """Where the float value is clearly not zero the exact sign agrees with it."""
    total = RootSum()
    for c, m in terms:
        total = total + RootSum.sqrt(m).times(c)
    value = sum(c * sqrt(m) for c, m in terms)
    if abs(value) > 1e-6:
        assert total.sign() == (1 if value > 0 else -1)
    elif abs(value) < 1e-12:
        assert total.sign() == 0


def test_root_sums_see_through_coincidences() -> None:
    """sqrt 2 + sqrt 3 and sqrt(5 + 2 sqrt 6) agree to all digits; nearby rational multiples do not fool the sign."""
    near = RootSum.sqrt(2) - Fraction(665857, 470832)
    assert near.sign() == -1
    assert (RootSum.sqrt(Fraction(50, 9)) - RootSum.sqrt(2).times(Fraction(5, 3))).sign() == 0
    assert square_class(360) == (6, 10)


@quick
@given(rational_matrix(4, 2), vector(2))
def test_projection_agrees_with_trying_every_face(K: tuple[tuple[Fraction, ...], ...], c: tuple[Fraction, ...]) -> None:
    """The active-set projection is the one found by enumeration, lies in the cone, and splits c as Moreau says."""
    v = project(K, c)
    assert v == project_by_enumeration(K, c)
    assert in_cone(K, v)
    rho = nnls(K, c)
    assert all(x >= 0 for x in rho)
    assert dot(v, combine(rho, K, 2)) == 0


@quick
@given(rational_matrix(4, 2), vector(2))
def test_feasible_finds_a_combination_or_a_separating_direction(
    columns: tuple[tuple[Fraction, ...], ...], b: tuple[Fraction, ...]
) -> None:
    """Either b is a non-negative combination, or the residual separates it from the cone (Farkas)."""
    x = feasible(columns, b)
    if x is not None:
        assert combine(x, columns, 2) == b
        assert all(a >= 0 for a in x)
    else:
        normal = sub(b, combine(nnls(columns, b), columns, 2))
        assert dot(normal, b) > 0
        assert all(dot(normal, c) <= 0 for c in columns)


def test_vertices_of_a_square_are_four() -> None:
    """{alpha >= 0 : alpha_1 + alpha_2 = 1, alpha_3 + alpha_4 = 1} has four vertices, dimension two, middle 1/2."""
    q = [vec([1, 0]), vec([1, 0]), vec([0, 1]), vec([0, 1])]
    found = polytope.vertices(q, vec([1, 1]))
    assert len(found) == 4
    assert polytope.dimension(found) == 2
    assert polytope.barycentre(found) == (Fraction(1, 2),) * 4
    assert polytope.least_norm(q, vec([1, 1])) == (Fraction(1, 2),) * 4


@quick
@given(st.lists(vector(2), min_size=1, max_size=4), st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_least_norm_is_the_projection_of_zero(q: list[tuple[Fraction, ...]], weights: list[int]) -> None:
    """alpha.(beta - alpha) >= 0 for a feasible beta that was known beforehand."""
    beta = tuple(Fraction(w) for w in weights[: len(q)])
    b = combine(beta, q, 2)
    alpha = polytope.least_norm(q, b)
    assert alpha is not None
    assert combine(alpha, q, 2) == b
    assert dot(alpha, beta) >= norm2(alpha)


@quick
@given(planted_lasso(), st.integers(0, 6))
def test_exact_lasso_is_optimal_at_every_lambda(planted, twice) -> None:  # type: ignore[no-untyped-def]
    """Zero duality gap: P(w) = D(r) with r dual feasible, at lambda > 0; stationarity of least squares at 0."""
    p = planted.problem.at(Fraction(twice, 2))
    w = solve_lasso(p)
    if twice:
        assert is_optimal(p, w)
        assert (objective(p, w) - dual_value(p, residual(p, w))).sign() == 0
    else:
        grid = product((-1, 0, 1), repeat=len(w))
        steps = [tuple((a[0] + Fraction(s, 4),) for a, s in zip(w, g, strict=True)) for g in grid]
        allowed = [z for z in steps if all(k[0] * x[0] <= 0 for b, x in zip(p.blocks, z, strict=True) for k in b.K)]
        assert all(norm2(residual(p, z)) >= norm2(residual(p, w)) for z in allowed)


def test_a_piece_of_the_path_ends_where_a_weight_vanishes() -> None:
    """X = I, y = (3, 1): below lambda = 1 both weights are on, the second vanishes at 1, the first at 3."""
    p = problem([[1, 0], [0, 1]], [1, 1], [3, 1], 1)
    low, high = piece(p, Fraction(1, 2)), piece(p, Fraction(2))
    assert (low.low, low.high) == (0, 1)
    assert (high.low, high.high) == (1, 3)
    assert left_limit(p, Fraction(1)) == right_limit(p, Fraction(1)) == ((Fraction(2),), (Fraction(0),))


@quick
@given(rational_matrix(4, 2))
def test_patterns_are_those_of_many_sampled_directions(Z: tuple[tuple[Fraction, ...], ...]) -> None:
    """Every direction of a fine grid has a listed pattern, every listed witness has its pattern."""
    found = patterns(Z)
    for u in product(range(-5, 6), repeat=2):
        assert pattern_of(Z, vec(u)) in found.all
    assert all(pattern_of(Z, u) == p for u, p in zip(found.witness, found.all, strict=True))
    assert set(found.open) <= set(found.all)


def test_patterns_of_the_coordinate_axes() -> None:
    """Z = I_3 has 8 patterns, all open; Z = (1, -1)' has 3 of which 2 are open; Z = 0 has one."""
    assert (len(patterns(eye(3)).all), len(patterns(eye(3)).open)) == (8, 8)
    assert (len(patterns(mat([[1], [-1]])).all), len(patterns(mat([[1], [-1]])).open)) == (3, 2)
    assert patterns(mat([[0, 0]])).all == ((True,),)


def test_dual_numbers_differentiate() -> None:
    """d/dx sqrt(x) x/(x + 1) at x = 4, by hand: 7/25."""
    x = Dual(Fraction(4), Fraction(1))
    f = x.sqrt() * x / (x + Dual(Fraction(1)))
    # f = x^(3/2)/(x + 1): f' = (3/2 sqrt(x)(x + 1) - x^(3/2))/(x + 1)^2 = (15 - 8)/25
    assert f == Dual(Fraction(8, 5), Fraction(7, 25))


def test_solve_columns_refuses_what_has_no_solution() -> None:
    """(1, 0) is not a multiple of (1, 1)."""
    assert solve_columns([vec([1, 1])], vec([1, 0])) is None
    assert solve_columns([], vec([0, 0])) == ()


@settings(max_examples=40, derandomize=True, deadline=None, database=None)
@given(st.integers(1, 5).flatmap(lambda d: rational_matrix(4, d)))
def test_patterns_are_counted_in_two_ways(Z) -> None:  # type: ignore[no-untyped-def]
    """Composing cocircuits and Farkas' lemma, pattern by pattern, agree for up to five features."""
    assert count_patterns(Z) == len(patterns(Z).all)


def test_every_pattern_of_the_identity_is_counted() -> None:
    """Z = I_5 has all 2^5 patterns; two opposite rows are never off together."""
    assert count_patterns(eye(5)) == len(patterns(eye(5)).all) == 32
    assert has_pattern(eye(2), (True, False))
    assert not has_pattern(mat([[1, 0], [-1, 0]]), (False, False))
