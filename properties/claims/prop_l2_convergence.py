"""prop:l2-convergence: the l2-penalised solution tends to the min-norm solution, with exact limits.

For blocks of size one, once the active columns P no longer change with delta, the penalised weights are
(X_P'X_P + delta I)^-1 (X_P'y - lambda s), whose limit is the least-norm solution of X_P'X_P a = X_P'y - lambda.
"""

from __future__ import annotations

from fractions import Fraction

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


def check(planted: PlantedCGL) -> Outcome:
    """|w_delta| <= |w*| and w_delta is nearer than the norms tell; the exact limit is w*."""
    best = least_norm([planted.q[b] for b in planted.E], planted.yhat)
    if best is None:
        return fails("no solution")
    target = [x for wb in planted.weights(planted.embed(best)) for x in wb]
    labels = signed_columns(planted.problem).labels

    def fold(a: Vector) -> Vector:
        w = [Fraction(0)] * len(planted.v)
        for (b, sign), x in zip(labels, a, strict=True):
            w[b] += sign * x
        return tuple(w)

    small, smaller = penalised(planted, Fraction(1, 2**12)), penalised(planted, Fraction(1, 2**24))
    bounds = [
        expect(norm2(fold(a)) <= norm2(target), "a penalised solution is longer than the min-norm solution")
        for a in (small, smaller)
    ]
    bounds += [
        expect(
            norm2(sub(tuple(target), fold(a))) <= norm2(target) - norm2(fold(a)),
            "a penalised solution is farther from w* than the norms allow",
        )
        for a in (small, smaller)
    ]
    if support(small) != support(smaller):
        return first_failure(*bounds, vacuous("the active columns still change at delta = 2^-24"))
    end = fold(limit(planted, support(smaller)))
    return first_failure(*bounds, expect(end == tuple(target), f"the limit is {end}, the min-norm solution {target}"))


CLAIM = Claim(LABEL, "Convergence of the l2-penalised problem", Property(STATEMENT, planted_lasso(), check))
