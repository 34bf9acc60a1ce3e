"""prop:value-continuity-cgl: p*(lambda) is continuous, by an exact bracket; it is concave too.

With a solution (w, r) at lambda0 and lambda = t lambda0, w is feasible and t r is dual feasible, so p*(lambda) lies
between D(t r) and P(w), whose distance is exactly |r|^2 (t - 1)^2 / 2.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.lasso import solve_lasso
from properties.exact.linalg import norm2, scale
from properties.exact.problem import dual_feasible, dual_value, is_feasible, objective
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import PlantedCGL, planted_cgl, planted_lasso, positive_rationals

LABEL = "prop:value-continuity-cgl"
STATEMENT = "lambda -> p*(lambda) is continuous (for lambda > 0: p* is pinched between bounds that meet)."
CONCAVE = "p*(lambda) is continuous and concave on [0, infinity)."


@st.composite
def instances(draw: DrawFn) -> tuple[PlantedCGL, Fraction]:
    """A planted problem and a ratio t = lambda / lambda0."""
    return draw(planted_cgl()), draw(positive_rationals(5, 5))


def check(instance: tuple[PlantedCGL, Fraction]) -> Outcome:
    """The bracket of p*(t lambda0) is valid and has width |r|^2 (t - 1)^2 / 2."""
    planted, t = instance
    p = planted.problem.at(t * planted.problem.lam)
    width = objective(p, planted.w) - dual_value(p, scale(t, planted.r))
    return first_failure(
        expect(is_feasible(p, planted.w), "the solution is not feasible at another lambda"),
        expect(dual_feasible(p, scale(t, planted.r)), "the scaled residual is not dual feasible"),
        expect(width.as_fraction() == norm2(planted.r) * (t - 1) ** 2 / 2, "the bracket has another width"),
    )


@st.composite
def chords(draw: DrawFn) -> tuple[PlantedCGL, Fraction, Fraction, Fraction]:
    """A lasso, two values of lambda >= 0, and a weight in (0, 1)."""
    lam = draw(positive_rationals(5, 4))
    low = Fraction(draw(st.integers(0, 4)), 3)
    return draw(planted_lasso()), low, low + lam, Fraction(1, draw(st.integers(2, 5)))


def check_concave(instance: tuple[PlantedCGL, Fraction, Fraction, Fraction]) -> Outcome:
    """p* at a mean of two lambdas is at least the mean of p*, by exact solutions; and it grows with lambda."""
    planted, low, high, s = instance
    values = []
    for lam in (low, high, (1 - s) * low + s * high):
        p = planted.problem.at(lam)
        values.append(objective(p, solve_lasso(p)))
    a, b, middle = values
    return first_failure(
        expect(middle >= a.times(1 - s) + b.times(s), "p* lies below its chord"),
        expect(a <= b, "p* decreases"),
        expect(b <= a.times(high / low) if low else True, "p*(lambda)/lambda increases"),
    )


CLAIM = Claim(
    LABEL,
    "The value is continuous",
    Property(STATEMENT, instances(), check),
    repaired=Property(CONCAVE, chords(), check_concave),
)
