"""prop:l2-convergence: the l2-penalised solution tends to the min-norm solution, with exact limits.

For blocks of size one, once the active columns P no longer change with delta, the penalised weights are
(X_P'X_P + delta I)^-1 (X_P'y - lambda s), whose limit is the least-norm solution of X_P'X_P a = X_P'y - lambda.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.claims.lemma_l2_reformulation import extended
from properties.exact.lasso import nonnegative_lasso, signed_columns
from properties.exact.linalg import Vector, dot, norm2, null_space, project_out, solve, sub
from properties.exact.polytope import least_norm, support
from properties.model import Claim, Outcome, Property, expect, fails, first_failure, vacuous
from properties.strategies import PlantedCGL, planted_lasso

LABEL = "prop:l2-convergence"
STATEMENT = "As delta -> 0 the solution of the l2-penalised problem tends to the min-norm solution."


def penalised(planted: PlantedCGL, root: Fraction) -> Vector:
    """The exact weights of the penalised problem on the signed columns, delta = root^2."""
    p = extended(planted.problem, root)
    return nonnegative_lasso(signed_columns(p).columns, p.y, p.lam)


def limit(planted: PlantedCGL, passive: tuple[int, ...]) -> Vector:
    """lim_{delta -> 0} of the penalised weights with these active columns."""
    x = signed_columns(planted.problem).columns
    out = [Fraction(0)] * len(x)
    if passive:
        gram = tuple(tuple(dot(x[i], x[j]) for j in passive) for i in passive)
        s = solve(gram, tuple(dot(x[i], planted.problem.y) - planted.problem.lam for i in passive))
        if s is None:
            raise ArithmeticError("the stationarity system has no solution on the limit support")
        for i, a in zip(passive, project_out(s, null_space(gram)), strict=True):
            out[i] = a
    return tuple(out)


@st.composite
def instances(draw: DrawFn) -> tuple[PlantedCGL, Vector]:
    """A lasso, and two square roots of delta."""
    k = draw(st.integers(10, 14))
    return draw(planted_lasso()), (Fraction(1, 2**k), Fraction(1, 4**k))


def check(instance: tuple[PlantedCGL, Vector]) -> Outcome:
    """|w_delta| <= |w*| and w_delta is nearer than the norms tell; the exact limit is w*."""
    planted, roots = instance
    best = least_norm([planted.q[b] for b in planted.E], planted.yhat)
    if best is None:
        return fails("no solution")
    target = tuple(wb[0] for wb in planted.weights(planted.embed(best)))
    labels = signed_columns(planted.problem).labels

    def fold(a: Vector) -> Vector:
        w = [Fraction(0)] * len(planted.v)
        for (b, sign), x in zip(labels, a, strict=True):
            w[b] += sign * x
        return tuple(w)

    path = [penalised(planted, root) for root in roots]
    supports = {support(a) for a in path}
    bounds = [
        expect(
            norm2(sub(target, fold(a))) <= norm2(target) - norm2(fold(a)),
            "a penalised solution is longer than w*, or farther from it than the norms allow",
        )
        for a in path
    ]
    if len(supports) > 1:
        return first_failure(*bounds, vacuous("the active columns still change"))
    end = fold(limit(planted, *supports))
    return first_failure(*bounds, expect(end == target, f"the limit is {_show(end)}, w* is {_show(target)}"))


def _show(w: Vector) -> str:
    return "(" + ", ".join(map(str, w)) + ")"


CLAIM = Claim(LABEL, "Convergence of the l2-penalised problem", Property(STATEMENT, instances(), check))
