"""lemma:bounded-solutions-cgl: no solution has a larger sum of group norms than a least-squares solution.

On problems with blocks of size one, exactly, at two values of lambda and in the limit lambda -> 0. The bound is the
least sum of group norms of all least-squares solutions of the constrained problem, attained at a vertex of {a >= 0 :
sum a_j x_j = yhat(0)} on the signed columns: that of the solution of least l2 norm cannot be smaller.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.lasso import right_limit, signed_columns, solve_lasso
from properties.exact.polytope import vertices
from properties.exact.problem import Weights, fit, group_norm, is_optimal
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
    yhat = fit(p, solve_lasso(p.at(Fraction(0))))
    bound = min(sum(a) for a in vertices(signed_columns(p).columns, yhat))
    return first_failure(
        expect(group_norm(planted.w) <= bound, "the planted solution exceeds the bound"),
        expect(group_norm(w) <= bound, "a solution at another lambda exceeds the bound"),
        expect(group_norm(small) <= bound, "the limit lambda -> 0 exceeds the bound"),
        expect(is_optimal(p.at(lam), w), "this is no solution at the other lambda"),
        expect(fit(p, small) == yhat, "the limit is not a least-squares solution"),
    )


CLAIM = Claim(LABEL, "Solutions are bounded", Property(STATEMENT, instances(), check))
