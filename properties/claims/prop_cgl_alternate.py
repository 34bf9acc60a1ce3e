"""prop:cgl-alternate: the optimal set on the equicorrelation set, with the constraints written out.

Printed, for any dual optimal rho. Stronger: with the canonical v, E may replace S for any K with no further constraint.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.cone import in_cone, nnls
from properties.exact.linalg import Vector, combine, dot, is_zero, norm2, scale, sub
from properties.exact.problem import Weights, fit, is_optimal, positive_ratio
from properties.model import HOLDS, Claim, Outcome, Property, expect, first_failure, vacuous
from properties.strategies import PlantedCGL, planted_cgl, with_candidate

LABEL = "prop:cgl-alternate"
STATEMENT = "The optimal set is {w : w_b = alpha_b v_b on E, 0 off E, Xw = yhat, K'w <= 0, <rho, K'w> = 0}."
CANONICAL = "With v_b = Proj(c_b), E may replace S for any K: the constraints K'w <= 0, <rho, K'w> = 0 are implied."


@dataclass(frozen=True)
class Point:
    """A problem, a point that may or may not be optimal, and multipliers rho of all blocks."""

    planted: PlantedCGL
    w: Weights
    rho: Weights

    def v(self, b: int) -> Vector:
        """c_b - K_b rho_b"""
        block = self.planted.problem.blocks[b]
        return sub(block.correlation(self.planted.r), combine(self.rho[b], block.K, block.size))


@st.composite
def points(draw: DrawFn) -> Point:
    """Where a block is in no solution, rho_b is often zero (the least-norm dual) or another multiple of nnls."""
    planted, w = draw(with_candidate(planted_cgl()))
    rho: list[Vector] = []
    for b, block in enumerate(planted.problem.blocks):
        c = block.correlation(planted.r)
        canonical = nnls(block.K, c)
        other = scale(draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(2)])), canonical)
        allowed = norm2(sub(c, combine(other, block.K, block.size))) <= planted.problem.lam2
        rho.append(other if b not in planted.S and allowed else canonical)
    return Point(planted, w, tuple(rho))


def dual_optimal(p: Point) -> bool:
    """rho >= 0, |v_b| <= lambda, and v_b = lambda w_b/|w_b| where a solution is active (slackness follows)."""
    return all(
        all(x >= 0 for x in p.rho[b])
        and norm2(p.v(b)) <= p.planted.problem.lam2
        and (b not in p.planted.S or p.v(b) == p.planted.v[b])
        for b in range(len(p.rho))
    )


def in_printed(p: Point) -> bool:
    """w is in the printed set."""
    problem = p.planted.problem
    for b, wb in enumerate(p.w):
        if is_zero(wb):
            continue
        block, v = problem.blocks[b], p.v(b)
        if norm2(v) != problem.lam2 or positive_ratio(wb, v) is None or not in_cone(block.K, wb):
            return False
        if any(x * dot(k, wb) for x, k in zip(p.rho[b], block.K, strict=True)):
            return False
    return fit(problem, p.w) == p.planted.yhat


def in_canonical(planted: PlantedCGL, w: Weights) -> bool:
    """w is on the rays of E with the right fit."""
    rays = all(
        is_zero(wb) or (b in planted.E and positive_ratio(wb, planted.v[b]) is not None) for b, wb in enumerate(w)
    )
    return rays and fit(planted.problem, w) == planted.yhat


def check(p: Point) -> Outcome:
    """The printed set and the optimality conditions agree on the point."""
    return first_failure(
        expect(is_optimal(p.planted.problem, p.w) == in_printed(p), "printed set and KKT disagree"),
        HOLDS if dual_optimal(p) else vacuous("rho is not dual optimal"),
    )


def check_canonical(instance: tuple[PlantedCGL, Weights]) -> Outcome:
    """The set without constraints and the optimality conditions agree on the point."""
    planted, w = instance
    return expect(is_optimal(planted.problem, w) == in_canonical(planted, w), "canonical set and KKT disagree")


CLAIM = Claim(
    LABEL,
    "The optimal set, explicitly",
    Property(STATEMENT, points(), check),
    repaired=Property(CANONICAL, with_candidate(planted_cgl()), check_canonical),
)
