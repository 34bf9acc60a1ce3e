"""sec:convex-reformulations: "if m >= m*, every solution of the convex program maps to a network".

Width m* holds some solution, not every one: a solution needs as many neurons as it has distinct active directions.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.claims.m_star_dim_span import BOX, instances
from properties.exact.linalg import Vector
from properties.exact.network import network_objective
from properties.exact.polytope import barycentre, support
from properties.exact.problem import dual_value
from properties.model import Claim, Outcome, Property, Witness, expect, first_failure
from properties.strategies import PlantedReLU
from properties.strategies.networks import PlantedNetwork, planted_network

LABEL = "m >= m*"
STATEMENT = "If m >= m*, every solution of the convex program maps to an optimal network of width m."
ACTIVE = (
    "A solution with k active neurons maps to an optimal network of every width m >= k, and m* <= n + 1 of them do."
)


@st.composite
def with_weights(draw: DrawFn) -> tuple[PlantedReLU, Vector]:
    """Planted data and the weights of one optimal network."""
    planted = draw(instances())
    corners = [draw(st.sampled_from(planted.vertices)) for _ in range(draw(st.integers(1, 3)))]
    return planted, barycentre(corners)


def check(instance: tuple[PlantedReLU, Vector]) -> Outcome:
    """The solution's neurons fit into width m = m*."""
    planted, alpha = instance
    width = len(support(alpha))
    return expect(width <= planted.m_star, f"m* = {planted.m_star}, but this solution has {width} neurons")


def with_m_star(network: PlantedNetwork) -> tuple[PlantedNetwork, int]:
    """The network with m*."""
    return network, network.planted.m_star


def check_active(instance: tuple[PlantedNetwork, int]) -> Outcome:
    """The planted solution's network has the optimal objective, and m* <= n + 1."""
    network, m_star = instance
    planted = network.planted
    value = network_objective(planted.Z, planted.y, network.lam, network.net)
    return first_failure(
        expect(m_star <= len(planted.y) + 1, f"m* = {m_star} > n + 1"),
        expect(m_star == planted.m_star, f"m* = {planted.m_star}, not {m_star}"),
        expect(value == dual_value(planted.problem, planted.r), "the mapped network is not optimal"),
    )


CLAIM = Claim(
    LABEL,
    "Width and the convex program",
    Property(STATEMENT, with_weights(), check),
    witnesses=(Witness(BOX.name, (BOX.instance, barycentre(BOX.instance.vertices))),),
    repaired=Property(ACTIVE, planted_network().map(with_m_star), check_active),
)
