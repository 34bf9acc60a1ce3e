"""lemma:second-order-stationary: X_A'X_A + lambda M(w) is positive definite at a minimal solution.

The proof's step X_A w - X_A w~ = 0 for w~ in the null space of the Hessian does not follow (X_A w~ = 0 does); the lemma
holds. The check also says that without minimality the Hessian may be singular.
"""

from __future__ import annotations

from fractions import Fraction

from properties.exact.linalg import Matrix, Vector, dot, positive_definite, transpose
from properties.exact.polytope import support
from properties.model import Claim, Outcome, Property, expect, yes
from properties.strategies import PlantedCGL, planted_cgl, with_solution

LABEL = "lemma:second-order-stationary"
STATEMENT = "At a minimal solution the Hessian X_A'X_A + lambda M(w) of the reduced problem is positive definite."


def projection_blocks(planted: PlantedCGL, alpha: Vector, factor: Fraction) -> Matrix:
    """factor * M(w): blocks (I - u u')/|w_b| with u = v_b/lambda and |w_b| = alpha_b lambda."""
    on = support(alpha)
    lam = planted.problem.lam
    size = sum(len(planted.v[b]) for b in on)
    out = [[Fraction(0)] * size for _ in range(size)]
    start = 0
    for b in on:
        v = planted.v[b]
        for i in range(len(v)):
            for j in range(len(v)):
                entry = Fraction(int(i == j)) - v[i] * v[j] / planted.problem.lam2
                out[start + i][start + j] = factor * entry / (alpha[b] * lam)
        start += len(v)
    return tuple(tuple(row) for row in out)


def hessian(planted: PlantedCGL, alpha: Vector, factor: Fraction) -> Matrix:
    """X_A'X_A + factor M(w)"""
    columns = [c for b in support(alpha) for c in transpose(planted.problem.blocks[b].X)]
    M = projection_blocks(planted, alpha, factor)
    return tuple(tuple(dot(a, c) + M[i][j] for j, c in enumerate(columns)) for i, a in enumerate(columns))


def check(instance: tuple[PlantedCGL, Vector]) -> Outcome:
    """Positive definite iff the solution is minimal (a vertex of the optimal set)."""
    planted, alpha = instance
    minimal = alpha in planted.vertices
    definite = positive_definite(hessian(planted, alpha, planted.problem.lam))
    return expect(definite == minimal, f"minimal: {yes(minimal)}; Hessian positive definite: {yes(definite)}")


CLAIM = Claim(LABEL, "Second-order stationarity", Property(STATEMENT, with_solution(planted_cgl()), check))
