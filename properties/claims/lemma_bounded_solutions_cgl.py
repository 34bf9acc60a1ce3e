"""lemma:bounded-solutions-cgl: no solution has a larger sum of group norms than a least-squares solution.

On problems with blocks of size one, exactly, at two values of lambda; the least-squares solution there is any
solution of the constrained problem at lambda = 0, which includes the one of least l2 norm.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.lasso import right_limit, solve_lasso
from properties.exact.linalg import norm2
from properties.exact.problem import Weights, group_norm, is_optimal, residual
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import PlantedCGL, planted_lasso, positive_rationals

LABEL = "lemma:bounded-solutions-cgl"
STATEMENT = "Every solution at lambda > 0 has sum |w_b| at most that of the least-squares solution of least l2 norm."


@st.composite
def instances(draw: DrawFn) -> tuple[PlantedCGL, Fraction, Weights, Weights]:
    """A lasso, another lambda with its solution, and the limit lambda -> 0."""
    planted, lam = draw(planted_lasso()), draw(positive_rationals())
    return planted, lam, solve_lasso(planted.problem.at(lam)), right_limit(planted.problem, Fraction(0))


def check(instance: tuple[PlantedCGL, Fraction, Weights, Weights]) -> Outcome:
    """Solutions at lambda0, at another lambda, and in the limit lambda -> 0, against least squares."""
    planted, lam, w, small = instance
    p = planted.problem
    zero = solve_lasso(p.at(Fraction(0)))
    bound = group_norm(zero)
    return first_failure(
        expect(group_norm(planted.w) <= bound, "the planted solution exceeds the bound"),
        expect(group_norm(w) <= bound, "a solution at another lambda exceeds the bound"),
        expect(group_norm(small) <= bound, "the limit lambda -> 0 exceeds the bound"),
        expect(is_optimal(p.at(lam), w), "this is no solution at the other lambda"),
        expect(norm2(residual(p, small)) == norm2(residual(p, zero)), "the limit is not a least-squares solution"),
    )


CLAIM = Claim(LABEL, "Solutions are bounded", Property(STATEMENT, instances(), check))
