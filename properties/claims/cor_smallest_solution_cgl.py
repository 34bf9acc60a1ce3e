"""cor:smallest-solution-cgl: a solution with independent active outputs exists: prune the planted one to it.

An instance carries the end of that walk, and the check asks whether it is what the corollary promises.
"""

from __future__ import annotations

from properties.exact.linalg import Vector, independent
from properties.exact.polytope import support
from properties.exact.problem import is_optimal
from properties.exact.prune import Choice, prune, signed_step
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import PlantedCGL, planted_cgl

LABEL = "cor:smallest-solution-cgl"
STATEMENT = "Some solution has linearly independent {X_b w_b : b active}."


def pruned(planted: PlantedCGL) -> tuple[PlantedCGL, Vector]:
    """The problem and the end of a walk from its planted solution."""
    return planted, prune(planted.alpha, planted.q, signed_step, Choice()).iterates[-1]


def check(instance: tuple[PlantedCGL, Vector]) -> Outcome:
    """The end is optimal by the KKT conditions and its outputs are independent."""
    planted, end = instance
    return first_failure(
        expect(is_optimal(planted.problem, planted.weights(end)), "the walk left the optimal set"),
        expect(independent([planted.q[b] for b in support(end)]), "the walk ended at dependent outputs"),
    )


CLAIM = Claim(LABEL, "A minimal solution exists", Property(STATEMENT, planted_cgl().map(pruned), check))
