"""lemma:lambda-convergence: limits of solutions as lambda -> 0 are least-squares solutions of least group norm.

For blocks of size one the limit is exact, and the least group norm over {a >= 0 : sum a_j x_j = yhat(0)} on the
signed columns is attained at a vertex.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.lasso import right_limit, signed_columns, solve_lasso
from properties.exact.polytope import vertices
from properties.exact.problem import CGL, Weights, fit
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import planted_lasso

LABEL = "lemma:lambda-convergence"
STATEMENT = "Every limit point of solutions as lambda -> 0 is a least-squares solution of least group norm."


@st.composite
def instances(draw: DrawFn) -> tuple[CGL, Weights]:
    """A lasso and its limit lambda -> 0."""
    p = draw(planted_lasso()).problem
    return p, right_limit(p, Fraction(0))


def check(instance: tuple[CGL, Weights]) -> Outcome:
    """The exact limit against the vertices of the least-squares solutions."""
    p, limit = instance
    yhat = fit(p, solve_lasso(p.at(Fraction(0))))
    least = min(sum(a) for a in vertices(signed_columns(p).columns, yhat))
    size = sum((abs(wb[0]) for wb in limit), Fraction(0))
    return first_failure(
        expect(size == least, f"the limit has group norm {size}, the least is {least}"),
        expect(fit(p, limit) == yhat, "the limit is not a least-squares solution"),
    )


CLAIM = Claim(LABEL, "The limit lambda -> 0", Property(STATEMENT, instances(), check))
