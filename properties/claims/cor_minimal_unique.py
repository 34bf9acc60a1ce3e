"""cor:minimal-unique: a minimal solution is the only one on its support."""

from __future__ import annotations

from properties.claims.prop_minimal_solutions import is_minimal
from properties.exact import polytope
from properties.exact.linalg import Vector
from properties.model import Claim, Outcome, Property, expect, vacuous
from properties.strategies import PlantedCGL, planted_cgl, with_solution

LABEL = "cor:minimal-unique"
STATEMENT = "A minimal solution is the unique solution with its support."


def check(instance: tuple[PlantedCGL, Vector]) -> Outcome:
    """All solutions supported on A(w): the vertices of the smaller polytope."""
    planted, alpha = instance
    if not is_minimal(planted, alpha):
        return vacuous("not minimal")
    on = polytope.support(alpha)
    there = polytope.vertices([planted.q[b] for b in on], planted.yhat)
    return expect(
        there == (tuple(alpha[b] for b in on),), f"{len(there)} vertices of the optimal set on the minimal support"
    )


CLAIM = Claim(LABEL, "Minimal solutions are alone", Property(STATEMENT, with_solution(planted_cgl()), check))
