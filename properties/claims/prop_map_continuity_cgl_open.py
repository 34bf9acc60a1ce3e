"""prop:map-continuity-cgl, second part: "open iff X has full column rank" needs K = 0."""

from __future__ import annotations

from fractions import Fraction

from properties.exact.lasso import signed_columns, solve_lasso
from properties.exact.linalg import Vector, dependencies, dot, matvec, norm2, rank, transpose
from properties.exact.problem import CGL, problem
from properties.exact.roots import RootSum
from properties.model import Claim, Outcome, Property, Witness, expect, fails, vacuous
from properties.strategies import planted_lasso

LABEL = "prop:map-continuity-cgl (open)"
STATEMENT = "W* is open on [0, infinity) only if X has full column rank."
REPAIRED = "K = 0: without full column rank W*(0) is unbounded, W*(lambda) bounded, and W* is not open at 0."


def always_zero(p: CGL) -> bool:
    """W*(lambda) = {0} for every lambda >= 0: every admissible signed column has x.y < 0, strictly."""
    return all(dot(x, p.y) < 0 for x in signed_columns(p).columns)


def check(p: CGL) -> Outcome:
    """A rank-deficient X with a singleton, constant solution map refutes the statement."""
    if rank(p.columns) == len(p.columns):
        return vacuous("full column rank")
    if always_zero(p):
        return fails("X is rank deficient, but W*(lambda) = {0} for all lambda >= 0, which is open")
    return vacuous("rank deficient, and the map is not a constant singleton")


def _group_norm(w: Vector) -> RootSum:
    return sum((RootSum.sqrt(norm2((x,))) for x in w), RootSum())


def check_free(p: CGL) -> Outcome:
    """An exact solution at 0 that is farther out than every solution at lambda > 0 can be.

    Every solution at lambda > 0 has group norm at most that of any least-squares solution
    (lemma:bounded-solutions-cgl).
    """
    null = dependencies(p.columns)
    if not null or any(b.K for b in p.blocks):
        return vacuous("full column rank, or constraints")
    base = tuple(wb[0] for wb in solve_lasso(p.at(Fraction(0))))
    bound = sum((abs(x) for x in base), Fraction(0))
    z = null[0]
    far = tuple(x + (2 * bound + 1) / max(abs(t) for t in z) * t for x, t in zip(base, z, strict=True))
    X = transpose(p.columns)
    if matvec(transpose(X), tuple(a - b for a, b in zip(matvec(X, far), p.y, strict=True))) != (Fraction(0),) * len(
        far
    ):
        return fails("the far point is not a least-squares solution")
    near = sum((abs(wb[0]) for wb in solve_lasso(p)), Fraction(0))
    if near > bound:
        return fails("a solution at lambda > 0 has a larger group norm than a least-squares solution")
    return expect(_group_norm(far) > bound, "the far point is within the bound")


CLAIM = Claim(
    LABEL,
    "Openness and column rank",
    Property(STATEMENT, planted_lasso().map(lambda planted: planted.problem), check),
    witnesses=(Witness("X = [1 1], w >= 0, y = -1", problem([[1, 1]], [1, 1], [-1], 1, [[[-1]], [[-1]]])),),
    repaired=Property(REPAIRED, planted_lasso(constrained=False).map(lambda planted: planted.problem), check_free),
)
