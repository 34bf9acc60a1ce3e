"""prop:model-fit-continuity: the fit is continuous, for every K and not only K = 0.

r*(lambda)/lambda is the projection of y/lambda onto a fixed convex set. So at lambda = t lambda0 the residual lies in
the ball of radius |r| |t - 1| around t r, and r*(lambda)/lambda moves by at most |y| |1/lambda - 1/lambda0|.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.lasso import solve_lasso
from properties.exact.linalg import norm2, scale, sub
from properties.exact.problem import Weights, group_norm, is_optimal, residual
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import PlantedCGL, planted_lasso, positive_rationals

LABEL = "prop:model-fit-continuity"
STATEMENT = "K = 0: the fit yhat(lambda) is continuous, and so is the sum of group norms for lambda > 0."
EVERY_K = "For every K the fit is continuous: r*/lambda is the projection of y/lambda onto a fixed convex set."


@st.composite
def pairs(draw: DrawFn, constrained: bool) -> tuple[PlantedCGL, Fraction, Weights]:
    """A lasso, a ratio t, and the exact solution at t lambda0."""
    planted, t = draw(planted_lasso(constrained=constrained)), draw(positive_rationals(5, 5))
    return planted, t, solve_lasso(planted.problem.at(t * planted.problem.lam))


def check(instance: tuple[PlantedCGL, Fraction, Weights]) -> Outcome:
    """Exact solutions at lambda0 and t lambda0: the residual is within |r| |t - 1| of t r, the norm within a bound."""
    planted, t, w = instance
    lam = planted.problem.lam
    p = planted.problem.at(t * lam)
    r = residual(p, w)
    theta, theta0 = scale(1 / (t * lam), r), scale(1 / lam, planted.r)
    drop = group_norm(w) - group_norm(planted.w)
    return first_failure(
        expect(
            norm2(sub(theta, theta0)) <= norm2(p.y) * (1 / (t * lam) - 1 / lam) ** 2,
            "r/lambda moves faster than y/lambda",
        ),
        expect(
            norm2(sub(r, scale(t, planted.r))) <= norm2(planted.r) * (t - 1) ** 2,
            "the residual moves more than |r| |t - 1| from t r",
        ),
        # p* is concave with derivative sum |w_b|: the sum falls as lambda grows
        expect(drop.sign() * (t - 1) <= 0, "the sum of group norms grows with lambda"),
        expect(is_optimal(p, w), "this is no solution at t lambda0"),
    )


CLAIM = Claim(
    LABEL,
    "The fit is continuous",
    Property(STATEMENT, pairs(False), check),
    repaired=Property(EVERY_K, pairs(True), check),
)
