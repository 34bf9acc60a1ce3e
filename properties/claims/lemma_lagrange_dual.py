"""lemma:lagrange-dual: the constraint rho >= 0 is missing. With it the dual is right and attained by eta = v.

With eta + K rho = X'theta the dual objective is 1/2 |y|^2 - 1/2 |P(theta - y)|^2, P the projector onto the range of X.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.cone import nnls
from properties.exact.linalg import Vector, combine, least_squares, norm2, scale, sub, vec
from properties.exact.problem import CGL, Weights, objective, problem
from properties.exact.roots import RootSum, rational_sqrt
from properties.model import HOLDS, Claim, Outcome, Property, Witness, expect, first_failure, vacuous
from properties.strategies import PlantedCGL, planted_cgl, vector

LABEL = "lemma:lagrange-dual"
STATEMENT = "The printed program (rho free) is a dual of CGL: its value never exceeds p*."
REPAIRED = (
    "With rho >= 0 it is: weak duality holds for every feasible (eta, rho), eta = v attains p*, and where K = 0 no "
    "other eta does."
)


@dataclass(frozen=True)
class DualPoint:
    """A problem with its solution, and theta, rho with eta = X'theta - K rho."""

    planted: PlantedCGL
    theta: Vector
    rho: tuple[Vector, ...]


def eta(point: DualPoint) -> Weights:
    """eta_b = X_b'theta - K_b rho_b"""
    return tuple(
        sub(b.correlation(point.theta), combine(rho, b.K, b.size))
        for b, rho in zip(point.planted.problem.blocks, point.rho, strict=True)
    )


def dual_objective(p: CGL, theta: Vector) -> Fraction:
    """-1/2 g'(X'X)^+ g + 1/2 |y|^2 with g = X'(theta - y): g'(X'X)^+ g is the squared length of the projection."""
    gap = sub(theta, p.y)
    x = least_squares(p.columns, gap)
    return norm2(p.y) / 2 - norm2(combine(x, p.columns, p.n)) / 2


def check(point: DualPoint) -> Outcome:
    """|eta_b| <= lambda, rho of any sign: the value must not exceed p*."""
    p = point.planted.problem
    if any(norm2(e) > p.lam2 for e in eta(point)):
        return vacuous("not dual feasible")
    best = objective(p, point.planted.w)
    value = dual_objective(p, point.theta)
    return expect(best >= value, f"dual value {value} exceeds p* = {best.as_fraction()}")


def shrunk(point: DualPoint) -> DualPoint:
    """theta and rho scaled down until |eta_b| <= lambda; with equality where the factor is rational."""
    excess = max(norm2(e) for e in eta(point)) / point.planted.problem.lam2
    factor = Fraction(1)
    while excess * factor**2 > 1:
        factor /= 2
    exact = rational_sqrt(excess)
    if exact is not None and exact > 1:
        factor = 1 / exact
    return DualPoint(point.planted, scale(factor, point.theta), tuple(scale(factor, x) for x in point.rho))


@st.composite
def free_points(draw: DrawFn) -> DualPoint:
    """Any theta, and rho of any sign; most are scaled down until they are feasible."""
    planted = draw(planted_cgl())
    rho = tuple(draw(vector(len(b.K), 2)) for b in planted.problem.blocks)
    point = DualPoint(planted, draw(vector(planted.problem.n)), rho)
    return shrunk(point) if draw(st.integers(0, 3)) else point


@st.composite
def feasible_points(draw: DrawFn) -> DualPoint:
    """rho >= 0 from the regression for theta, both scaled down until they are feasible."""
    planted = draw(planted_cgl())
    theta = draw(st.one_of(vector(planted.problem.n), st.just(planted.r)))
    rho = tuple(nnls(b.K, b.correlation(theta)) for b in planted.problem.blocks)
    return shrunk(DualPoint(planted, theta, rho))


def check_repaired(point: DualPoint) -> Outcome:
    """Weak duality with rho >= 0, strong duality at (v, rho*), and for K = 0 only at eta = c."""
    if any(x < 0 for rho in point.rho for x in rho):
        return vacuous("rho is not >= 0")
    weak = check(point)
    if weak != HOLDS:
        return weak
    planted, p = point.planted, point.planted.problem
    gaps = [objective(p, planted.w) - RootSum.rational(dual_objective(p, x)) for x in (point.theta, planted.r)]
    attains, attained = (gap.sign() == 0 for gap in gaps)
    c = tuple(b.correlation(planted.r) for b in p.blocks)
    return first_failure(
        expect(not attains or any(b.K for b in p.blocks) or eta(point) == c, "another eta attains p* where K = 0"),
        expect(attained, "eta = v does not attain p*"),
    )


_P = problem([[1]], [1], [-2], Fraction(1, 4), [[[1]]])
_HALF = Fraction(1, 2)
_PLANTED = PlantedCGL(_P, (-_HALF,), ((-_HALF,),), (Fraction(3),))

CLAIM = Claim(
    LABEL,
    "A Lagrange dual",
    Property(STATEMENT, free_points(), check),
    witnesses=(
        Witness("X = 1, y = -2, lambda = 1/2, K = 1, eta = 0, rho = -2", DualPoint(_PLANTED, vec([-2]), (vec([-2]),))),
    ),
    repaired=Property(REPAIRED, feasible_points(), check_repaired),
)
