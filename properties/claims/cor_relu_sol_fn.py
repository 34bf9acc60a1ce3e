"""cor:relu-sol-fn: the formula of the optimal set, on rational networks; the width must hold all non-zero alphas.

Global optimality of a network is exact here: r* is dual feasible over all of D_Z, so D(r*) bounds every network.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.claims.m_star_dim_span import BOX
from properties.exact.linalg import norm2, scale, sub
from properties.exact.network import Network, merge, network_fit, network_objective
from properties.exact.polytope import barycentre, support
from properties.exact.problem import dual_feasible, dual_value, positive_ratio
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, first_failure
from properties.strategies import PlantedReLU
from properties.strategies.networks import PlantedNetwork, any_network, optimal_network, planted_network, split

LABEL = "cor:relu-sol-fn"
STATEMENT = (
    "The optimal networks, up to permutations and splits: W_i = sqrt(alpha_i/lambda) v_i, w2_i = xi sqrt(alpha_i "
    "lambda)."
)


@st.composite
def instances(draw: DrawFn) -> tuple[PlantedNetwork, Network]:
    """A planted network and a candidate: itself split, with other weights, or any network."""
    planted = draw(planted_network())
    kind = draw(st.sampled_from(["split", "rays", "any"]))
    if kind == "split":
        return planted, draw(split(planted.net))
    if kind == "rays":
        roots = tuple(abs(draw(st.fractions(0, 2, max_denominator=2))) for _ in planted.net)
        return planted, optimal_network(planted.planted, planted.lam, roots)
    return planted, draw(any_network(len(planted.planted.Z[0])))


def in_formula(instance: PlantedNetwork, net: Network) -> bool:
    """Balanced, every merged image on the ray of some neuron of its sign, and the right fit."""
    planted = instance.planted
    balanced = all(norm2(i.W) == i.w2**2 for i in net)
    rays = all(
        any(xi == sign and positive_ratio(u, v) is not None for xi, v in planted.neurons) for sign, u in merge(net)
    )
    return balanced and rays and network_fit(planted.Z, net) == planted.yhat


def check(instance: tuple[PlantedNetwork, Network]) -> Outcome:
    """D(r*) is a lower bound that the planted network attains; the candidate attains it iff it is in the formula."""
    data, net = instance
    planted, lam = data.planted, data.lam
    bound = dual_value(planted.problem, planted.r)
    value = network_objective(planted.Z, planted.y, lam, net)
    return first_failure(
        expect(value >= bound, "a network is better than the bound"),
        expect(dual_feasible(planted.problem, planted.r), "r* is not dual feasible over D_Z"),
        expect(_formula_identities(data), "W w2 = alpha v or the balance of norms fails"),
        expect(network_objective(planted.Z, planted.y, lam, data.net) == bound, "the formula misses the optimum"),
        expect((value == bound) == in_formula(data, net), "optimal and in the formula are not the same"),
    )


def _formula_identities(data: PlantedNetwork) -> bool:
    """W |w2| = alpha v and |W|^2 = alpha lambda = w2^2 for every neuron, and their outputs add up to the fit."""
    lam, planted = data.lam, data.planted
    for alpha, (_, v), i in zip(planted.alpha, planted.neurons, data.net, strict=True):
        if i.image != scale(alpha, v) or norm2(i.W) != alpha * lam or i.w2**2 != alpha * lam:
            return False
    return not any(sub(network_fit(planted.Z, data.net), planted.yhat))


def width_suffices(planted: PlantedReLU) -> Outcome:
    """Width m = m* holds every solution of the convex program."""
    width = len(support(barycentre(planted.vertices)))
    return expect(width <= planted.m_star, f"m* = {planted.m_star}, but a solution has {width} non-zero alphas")


CLAIM = Claim(
    LABEL,
    "The optimal networks",
    Property(STATEMENT, instances(), check),
    slips=(
        Slip("hypothesis m >= m* makes every alpha fit into width m", width_suffices, Witness(BOX.name, BOX.instance)),
    ),
)
