"""prop:minimal-solutions: minimal iff the active outputs are independent; and these are the vertices.

Minimality is decided by its definition: for every active block, is there a solution without it on the same
support? That is one exact feasibility question each, and uses neither independence nor vertices.
"""

from __future__ import annotations

from properties.exact.cone import feasible
from properties.exact.linalg import Vector, independent, scale
from properties.exact.polytope import support
from properties.model import Claim, Outcome, Property, expect, first_failure, yes
from properties.strategies import PlantedCGL, planted_cgl, with_solution

LABEL = "prop:minimal-solutions"
STATEMENT = "A solution is minimal iff {X_b w_b : b active} are independent; minimal solutions are the vertices."


def is_minimal(planted: PlantedCGL, alpha: Vector) -> bool:
    """No solution has a strictly smaller support."""
    on = support(alpha)
    return all(feasible([planted.q[i] for i in on if i != j], planted.yhat) is None for j in on)


def check(instance: tuple[PlantedCGL, Vector]) -> Outcome:
    """Minimal by definition = independent = vertex."""
    planted, alpha = instance
    minimal = is_minimal(planted, alpha)
    free = independent([scale(alpha[b], planted.q[b]) for b in support(alpha)])
    vertex = alpha in planted.vertices
    return first_failure(
        expect(minimal == free, f"minimal: {yes(minimal)}; independent outputs: {yes(free)}"),
        expect(minimal == vertex, f"minimal: {yes(minimal)}; vertex: {yes(vertex)}"),
    )


CLAIM = Claim(LABEL, "Minimal solutions", Property(STATEMENT, with_solution(planted_cgl()), check))
