"""app:general-losses: with the printed 1/2 L the correlation is c = -1/2 X' grad L, not X' grad L.

Planted for L(z, y) = sum (z_k - y_k)^2 + (z_k - y_k)^4: with e = yhat - y the vector -1/2 grad L = -(e + 2 e^3) plays
the part of the residual. Optimality is decided by comparing objectives, so no formula for c is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.cone import project
from properties.exact.linalg import Vector, is_zero, norm2, sub, vec
from properties.exact.problem import CGL, Weights, fit, group_norm, positive_ratio, problem
from properties.exact.roots import RootSum
from properties.model import HOLDS, Claim, Outcome, Property, Slip, Witness, expect, fails, vacuous
from properties.strategies import PlantedCGL, feasible_weights, planted_cgl, vector

LABEL = "app:general-losses"
STATEMENT = (
    "For the loss 1/2 L the results hold with c_b = X_b' grad L: active blocks are w_b = alpha_b Proj(c_b), |.| = "
    "lambda."
)
REPAIRED = "They hold with c_b = -1/2 X_b' grad L."


@dataclass(frozen=True)
class General:
    """A planted problem whose residual is -1/2 grad L at the fit, e = yhat - y, and another feasible point."""

    planted: PlantedCGL
    e: Vector
    other: Weights

    @property
    def problem(self) -> CGL:
        """The problem with the targets of the general loss."""
        p = self.planted.problem
        return CGL(p.blocks, sub(self.planted.yhat, self.e), p.lam2)


@st.composite
def instances(draw: DrawFn) -> General:
    """e first, then the blocks for r = -(e + 2 e^3), then a feasible point to compare with."""
    e = draw(st.integers(1, 3).flatmap(lambda n: vector(n, 2)).filter(any))
    planted = draw(planted_cgl(residual=tuple(-(x + 2 * x**3) for x in e), max_active=3))
    return General(planted, e, draw(feasible_weights(planted.problem)))


def gradient(z: Vector, y: Vector) -> Vector:
    """grad L at z: 2 e + 4 e^3."""
    return tuple(2 * e + 4 * e**3 for e in sub(z, y))


def objective(p: CGL, w: Weights) -> RootSum:
    """1/2 L(Xw, y) + lambda sum |w_b|"""
    errors = sub(fit(p, w), p.y)
    return group_norm(w).times(p.lam) + (norm2(errors) + norm2([e * e for e in errors])) / 2


def check_with(factor: Fraction, instance: General) -> Outcome:
    """The planted point is not beaten, and its active blocks obey w_b = alpha_b Proj(factor X_b' grad L)."""
    p, w = instance.problem, instance.planted.w
    if objective(p, instance.other) < objective(p, w):
        return fails("the planted point is not optimal")
    g = gradient(fit(p, w), p.y)
    seen = False
    for b, (block, wb) in enumerate(zip(p.blocks, w, strict=True)):
        if is_zero(wb):
            continue
        seen = True
        v = project(block.K, tuple(factor * x for x in block.correlation(g)))
        if norm2(v) != p.lam2 or positive_ratio(wb, v) is None:
            return fails(f"block {b}: w_b = {_show(wb)} is not alpha v_b with |v_b| = lambda for v_b = {_show(v)}")
    return HOLDS if seen else vacuous("no active block")


def _show(x: Vector) -> str:
    return "(" + ", ".join(map(str, x)) + ")"


def check(instance: General) -> Outcome:
    """c = X' grad L"""
    return check_with(Fraction(1), instance)


def check_repaired(instance: General) -> Outcome:
    """c = -1/2 X' grad L"""
    return check_with(Fraction(-1, 2), instance)


def attained_at_zero(slope: Fraction) -> Outcome:
    """lambda = 0 has a minimiser for the strictly convex smooth L(z) = sqrt(1 + z^2) - slope z.

    L' = z/sqrt(1 + z^2) - slope has the limits +-1 - slope, which it does not attain: it vanishes iff |slope| < 1.
    """
    return expect(abs(slope) < 1, f"L' = z/sqrt(1 + z^2) - ({slope}) has one sign at every z: no minimiser")


_P = problem([[1]], [1], [4], 9)
_W = General(PlantedCGL(_P, vec([3]), (vec([3]),), (Fraction(1, 3),)), vec([-1]), (vec([0]),))

CLAIM = Claim(
    LABEL,
    "Other losses",
    Property(STATEMENT, instances(), check),
    witnesses=(Witness("X = 1, y = 2, lambda = 3, L = e^2 + e^4", _W),),
    repaired=Property(REPAIRED, instances(), check_repaired),
    slips=(
        Slip(
            "lambda = 0 always has a solution",
            attained_at_zero,
            Witness("L(z) = sqrt(1 + z^2) - z", Fraction(1)),
        ),
    ),
)
