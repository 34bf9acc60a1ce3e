"""prop:minimal-complexity: an optimal and minimal network has at most n neurons (the running time is not checked
here).
"""

from __future__ import annotations

from properties.claims.m_star_dim_span import Listed, with_networks
from properties.exact.polytope import support
from properties.exact.problem import is_optimal
from properties.model import Claim, Outcome, Property, expect, first_failure

LABEL = "prop:minimal-complexity"
STATEMENT = "Every minimal optimal network has at most n neurons, so m* <= n."


def check(instance: Listed) -> Outcome:
    """All minimal networks; the planted convex solution is optimal over all of D_Z."""
    planted, networks = instance
    widest = max(len(support(alpha)) for alpha in networks)
    return first_failure(
        expect(widest <= len(planted.y), f"a minimal network with {widest} neurons on {len(planted.y)} points"),
        expect(networks == planted.vertices, "these are not the minimal networks"),
        expect(is_optimal(planted.problem, planted.convex.w), "the planted solution is not optimal over D_Z"),
    )


CLAIM = Claim(LABEL, "The width of minimal networks", Property(STATEMENT, with_networks(), check))
