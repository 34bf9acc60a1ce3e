"""Optima in fields of algebraic numbers: guessed from digits, proved exactly, their polytopes walked in the field."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product as pairs

import numpy as np
import pytest
from flint import arb, ctx, fmpq_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.api import certify
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import decide
from relu_cert.data.dataset import Source
from relu_cert.driver.optimum import LambdaChoice, find_facts
from relu_cert.exact import matrix, vector
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, problem_from_json, relu
from relu_cert.problem.problem import Problem
from relu_cert.prove.classes import equal_entries
from relu_cert.prove.exact_optimum import algebraic_set
from relu_cert.prove.facts import AlgebraicSet, Facts
from relu_cert.prove.field import Field, guessed_residual, reduced_rows, solve
from relu_cert.prove.listed import listed_facts, listed_lambda_max
from relu_cert.prove.polytope.polytope import Unlisted
from relu_cert.prove.projection import Bounds, shortest
from relu_cert.report.progress import Progress
from verify import check

GAP = Fraction(1, 10**9)
SMALL = st.fractions(min_value=-4, max_value=4, max_denominator=5)
SOURCE = Source("problem.json", "0" * 64, "json")
GRID = [[a, b] for a, b in pairs((-1, 0, 1), repeat=2)]


def root_field(square: int) -> Field:
    """Q(sqrt m)"""
    low = Fraction(int(square**0.5))
    return Field(fmpq_poly([-square, 0, 1]), low, low + 1)


def digits_of(radicands: tuple[int, ...], coefficients: tuple[Fraction, ...], digits: int) -> Fraction:
    """sum c_i sqrt(m_i), to so many digits."""
    with ctx.workprec(4 * digits + 64):
        total = sum(
            (arb(c.numerator) / c.denominator * arb(m).sqrt() for m, c in zip(radicands, coefficients, strict=True)),
            arb(0),
        )
        mantissa, exponent = total.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def facts_of(problem: Problem, lam: Fraction) -> Facts:
    """What is proved about a problem."""
    with Progress(quiet=True) as stages:
        return find_facts(problem, LambdaChoice(value=lam), GAP, stages)


@settings(derandomize=True, max_examples=25, deadline=None)
@given(st.lists(SMALL, min_size=3, max_size=3), st.lists(SMALL, min_size=3, max_size=3))
def test_numbers_of_the_field(a: list[Fraction], b: list[Fraction]) -> None:
    """A field is one: (x y) / y = x, x (y - x) + x x = x y; signs agree with floats; rounding is as near as it says."""
    field = Field(fmpq_poly([-2, 0, 0, 1]), Fraction(1), Fraction(2))
    x, y = field.number(a), field.number(b)
    assert x * (y - x) + x * x == x * y
    if any(b):
        assert (x * y) / y == x
        assert (y / y).coefficients() == (1, 0, 0)
    assert x.coefficients() == tuple(a)
    assert (x < y) == (float(x) < float(y)) or abs(float(x) - float(y)) < 1e-12
    off = x - x.rounded(40)
    assert -Fraction(1, 2**40) < off.near() < Fraction(1, 2**40)


@pytest.mark.parametrize("lam", [Fraction(1, 10), Fraction("0.0509901951359")])
def test_a_residual_is_guessed_from_its_digits(lam: Fraction) -> None:
    """r_k = y_k - lambda s_k with s in Q(sqrt 2, sqrt 3), of degree 4, two entries rational, is found exactly."""
    y = vector([1, 2, 0, 1])
    parts = ((1, 0, 0), (0, Fraction(1, 3), 0), (2, 1, Fraction(-1, 2)), (Fraction(3, 7), 0, 0))
    exact = [tuple(Fraction(c) for c in part) for part in parts]
    theta = tuple(y_k - lam * digits_of((1, 2, 3), part, 250) for y_k, part in zip(y, exact, strict=True))
    found = guessed_residual(y, lam, theta, 250)
    assert found is not None
    assert found[0].field.degree == 4
    assert found[0] == 1 - lam
    assert found[3] == 1 - lam * Fraction(3, 7)
    sqrt_2 = (2 - found[1]) * 3 / lam
    assert sqrt_2 * sqrt_2 == 2
    sqrt_3 = (2 + sqrt_2 + found[2] / lam) * 2
    assert sqrt_3 * sqrt_3 == 3


def test_what_is_not_algebraic_is_not_guessed() -> None:
    """Digits of pi are in no field of small degree."""
    with ctx.workprec(1200):
        mantissa, exponent = arb.pi().mid().man_exp()
    pi = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    assert guessed_residual(vector([4]), Fraction(1), (4 - pi,), 250) is None


def test_linear_algebra_in_the_field() -> None:
    """Elimination finds the rank that sqrt 2 makes, and the only solution where there is one."""
    field = root_field(2)
    t, one = field.number([0, 1]), field.rational(1)
    assert reduced_rows([[one, t], [t, field.rational(2)]])[1] == [0]
    assert reduced_rows([[one, t], [t, one]])[1] == [0, 1]
    assert solve([[one, t], [t, one]], [1 + t, 1 + t]) == [one, one]
    assert solve([[one, t], [t, field.rational(2)]], [one, one]) is None


@settings(derandomize=True, max_examples=20, deadline=None)
@given(st.lists(st.tuples(SMALL, SMALL), min_size=4, max_size=4), st.lists(SMALL, min_size=4, max_size=4))
def test_shortest_vectors_agree_with_the_rational_ones(
    rows: list[tuple[Fraction, Fraction]], t: list[Fraction]
) -> None:
    """On rational boxes the field finds the same shortest vector; scaled by sqrt 2, that times sqrt 2."""
    field, zero = root_field(2), Fraction(0)
    root = field.number([0, 1])
    Z = matrix(rows)
    box = [Bounds(x, None) if x > 0 else Bounds(x, zero) for x in t]
    best = shortest(Z, box, t)
    for unit in (field.rational(1), root):
        sides = [Bounds(unit * x, None if x > 0 else field.rational(0)) for x in t]
        assert shortest(Z, sides, tuple(unit * x for x in t)).v == tuple(unit * x for x in best.v)


def diagonal(y: list[int], model: str = "relu") -> Problem:
    """Z = I, so that r = lambda y / |y| for targets >= 0."""
    Z = matrix([[int(i == j) for j in range(len(y))] for i in range(len(y))])
    return (relu if model == "relu" else gated)(Z, vector(y), enumerate_patterns(Z))


@pytest.mark.parametrize(("model", "tied", "solutions"), [("relu", 1, 1), ("gated", 2, 2)])
def test_a_residual_that_is_zero_for_no_ball(model: str, tied: int, solutions: int) -> None:
    """y = (0, 1, 2): r = lambda y / sqrt 5, and r_0 = 0, which no ball shows. One ReLU neuron; two gates that tie."""
    lam = Fraction(1, 3)
    facts = facts_of(diagonal([0, 1, 2], model), lam)
    found = facts.optimal_set
    assert isinstance(found, AlgebraicSet)
    assert found.field.degree == 2
    r = found.residual
    assert [r[0], r[1] * 2, r[1] * r[1] * 5] == [found.field.rational(0), r[2], lam**2]
    assert (len(found.tied), len(found.solutions)) == (tied, solutions)
    assert facts.polytope is not None
    assert facts.polytope.dimension == solutions - 1


def test_what_is_not_optimal_is_refused() -> None:
    """A residual near the right one, too long, too short, or right but for its sign, is no optimum."""
    problem = diagonal([0, 1, 2])
    facts = listed_facts(problem, Fraction(1, 3), listed_lambda_max(problem), GAP)
    assert isinstance(facts.optimal_set, AlgebraicSet)
    r = facts.optimal_set.residual
    assert algebraic_set(facts, r) is not None
    tiny = Fraction(1, 10**60)
    for wrong in (
        [x * (1 + tiny) for x in r],
        [x * (1 - tiny) for x in r],
        [-x for x in r],
        [r[0] + tiny, *r[1:]],
        [r[0], r[2], r[1]],
    ):
        assert algebraic_set(facts, wrong) is None


CONES = """{"X": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], "groups": [[0, 1], [2, 3]],
 "K": [[[1], [-1]], null], "y": [2, 1, 1, 2]}"""


def test_cones_in_a_field() -> None:
    """X = I, w_0 <= w_1 in the first block, y = (2, 1, 1, 2), lambda = 1: the cone pushes the first block on its face,
    r = (1, 1)/sqrt 2 + (1, -1)/2 there, and r = (1, 2)/sqrt 5 in the free one. The multiplier is 1/2."""
    facts = facts_of(problem_from_json(CONES), Fraction(1))
    field = Field(fmpq_poly([9, 0, -14, 0, 1]), Fraction(3), Fraction(4))
    t = field.number([0, 1])  # sqrt 2 + sqrt 5, and t^3 = 17 sqrt 2 + 11 sqrt 5
    sqrt_2, sqrt_5 = (t * t * t - 11 * t) / 6, (17 * t - t * t * t) / 6
    assert [sqrt_2 * sqrt_2, sqrt_5 * sqrt_5] == [field.rational(2), field.rational(5)]
    half = Fraction(1, 2)
    r = [sqrt_2 / 2 + half, sqrt_2 / 2 - half, sqrt_5 / 5, sqrt_5 * 2 / 5]
    found = algebraic_set(facts, r)
    assert found is not None
    assert found.multipliers == ((0, (field.rational(half),)),)
    assert len(found.tied) == 2
    assert len(found.solutions) == 1
    known = replace(facts, optimal_set=found, vertices=Unlisted())
    claims = decide(known, ("p-unique", "convex-unique"))
    assert {str(claim.verdict) for claim in claims} == {"PROVED"}
    text = dumps(certificate(SOURCE, known, claims))
    assert [line.verdict for line in check(text.encode())] == ["PROVED", "PROVED"]


def test_the_checkerboard() -> None:
    """Nine squares in two colours: twelve neurons tie by symmetry, and the optimal set is listed in a field."""
    found = certify(GRID, [1 - 2 * ((a + b) % 2) for a, b in GRID], "1/10", bias=True)
    facts = found.facts
    exact = facts.optimal_set
    assert isinstance(exact, AlgebraicSet)
    assert facts.polytope is not None
    assert facts.polytope.tied == 12
    for alpha in exact.solutions:
        for k, y_k in enumerate(facts.problem.y):
            fit = sum((a * one.q[k] for a, one in zip(alpha, exact.tied, strict=True)), y_k * 0)
            assert fit == y_k - exact.residual[k]


def test_equal_entries_are_proposed() -> None:
    """Entries that are equal or opposite to an earlier one make a row of the lift each; zeros make none."""
    found = equal_entries(np.array([0.5, -0.25, 0.5, 0.0, 0.25, 0.5, 0.125]))
    assert [[int(x) for x in row] for row in found] == [
        [-1, 0, 1, 0, 0, 0, 0],
        [0, 1, 0, 0, 1, 0, 0],
        [-1, 0, 0, 0, 0, 1, 0],
    ]


def test_ties_of_an_orbit_are_settled_over_the_ball() -> None:
    """On a grid with targets even in the first coordinate r* is even: the gated optimum is not unique, and that is
    proved by a lift of differences, whatever the degree of the numbers."""
    even = {(1, -1): 3, (1, 0): -7, (1, 1): 4, (0, -1): 9, (0, 0): -2, (0, 1): 1}
    found = certify(GRID, [even[abs(a), b] for a, b in GRID], lambda_ratio="1/10", model="gated", bias=True)
    assert str(found.claims["p-unique"].verdict) in ("PROVED", "REFUTED")
    assert str(found.claims["convex-unique"].verdict) in ("PROVED", "REFUTED")


def test_weights_that_are_tiny() -> None:
    """Repeated points of exclusive or, one label wrong, at a lambda of twelve digits next to a breakpoint: two weights
    are about 1e-12, and the set is proved with them."""
    points = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2
    found = certify(points, [0, 1, 1, 0, 0, 1, 1, 1], "848528137423/1000000000000")
    assert isinstance(found.facts.optimal_set, AlgebraicSet)
    weights = sorted(float(x) for x in found.facts.optimal_set.solutions[0])
    assert 0 < weights[0] < 1e-11 < weights[2]
    assert str(found.claims["p-unique"].verdict) == "PROVED"
