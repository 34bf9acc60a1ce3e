"""lemma:maximal-sol: some solution uses every block that any solution uses."""

from __future__ import annotations

from properties.exact.cone import feasible
from properties.exact.polytope import barycentre, support
from properties.exact.problem import is_optimal
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import PlantedCGL, planted_cgl

LABEL = "lemma:maximal-sol"
STATEMENT = "There is a solution with support exactly S_lambda."


def reachable(planted: PlantedCGL, b: int) -> bool:
    """Some solution has alpha_b > 0, decided without vertices.

    From the planted alpha, alpha_b can be raised iff some direction d has d_b > 0, sum d_a q_a = 0 and d_a >= 0 where
    alpha_a = 0: iff -q_b is in the cone of the outputs and of the negative outputs of the active blocks (of which b
    may be one).
    """
    minus = [tuple(-x for x in q) for q in planted.q]
    columns = [planted.q[a] for a in planted.E] + [minus[a] for a in planted.E if planted.alpha[a] > 0]
    return feasible(columns, minus[b]) is not None


def check(planted: PlantedCGL) -> Outcome:
    """The mean of the vertices is optimal and its support is S, where S is decided block by block."""
    middle = barycentre(planted.vertices)
    S = tuple(b for b in planted.E if reachable(planted, b))
    return first_failure(
        expect(is_optimal(planted.problem, planted.weights(middle)), "the mean of the vertices is not optimal"),
        expect(support(middle) == S, f"support {support(middle)} is not S = {S}"),
    )


CLAIM = Claim(LABEL, "Maximal support", Property(STATEMENT, planted_cgl(), check))
