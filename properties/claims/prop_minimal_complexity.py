"""prop:minimal-complexity: an optimal and minimal network has at most n neurons (the running time is not checked
here).
"""

from __future__ import annotations

from properties.claims.m_star_dim_span import instances
from properties.exact.polytope import support
from properties.exact.problem import is_optimal
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import PlantedReLU

LABEL = "prop:minimal-complexity"
STATEMENT = "Every minimal optimal network has at most n neurons, so m* <= n."


def check(planted: PlantedReLU) -> Outcome:
    """All minimal networks; the planted convex solution is optimal over all of D_Z."""
    widest = max(len(support(alpha)) for alpha in planted.vertices)
    return first_failure(
        expect(is_optimal(planted.problem, planted.convex.w), "the planted solution is not optimal over D_Z"),
        expect(widest <= len(planted.y), f"a minimal network with {widest} neurons on {len(planted.y)} points"),
    )


CLAIM = Claim(LABEL, "The width of minimal networks", Property(STATEMENT, instances(), check))
