"""prop:constraint-reduced: the active part of a minimal solution is the unique solution of the reduced problem."""

from __future__ import annotations

from properties.exact import polytope
from properties.exact.linalg import Vector, norm2, sub
from properties.exact.problem import dual_vectors, is_optimal, residual
from properties.model import Claim, Outcome, Property, expect, first_failure, vacuous
from properties.strategies import PlantedCGL, planted_cgl, with_solution

LABEL = "prop:constraint-reduced"
STATEMENT = "If w is minimal, its active blocks are the unique solution of the problem reduced to A(w)."


def check(instance: tuple[PlantedCGL, Vector]) -> Outcome:
    """Solve the reduced problem from its own data: optimal there, and its optimal set is one point."""
    planted, alpha = instance
    if alpha not in planted.vertices:
        return vacuous("not minimal")
    on = polytope.support(alpha)
    reduced = planted.problem.restrict(on)
    w = tuple(planted.weights(alpha)[b] for b in on)
    r = residual(reduced, w)
    v = dual_vectors(reduced, r)
    here = PlantedCGL(reduced, r, v, tuple(alpha[b] for b in on))
    return first_failure(
        expect(is_optimal(reduced, w), "the active blocks do not solve the reduced problem"),
        expect(all(norm2(vb) == reduced.lam2 for vb in v), "an active block left the equicorrelation set"),
        expect(sub(reduced.y, r) == planted.yhat and here.unique, "the reduced problem has another solution"),
    )


CLAIM = Claim(LABEL, "The reduced problem", Property(STATEMENT, with_solution(planted_cgl()), check))
