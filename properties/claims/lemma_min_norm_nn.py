"""lemma:min-norm-nn: the min-norm convex solution may map to collinear neurons, carried by two patterns at a kink.

r(W1, w2) = sum |W_i|^4 + w2_i^4 = 2 lambda^2 |alpha|^2 for a balanced network. Over the blocks the least |alpha| may
split one neuron; over the distinct neurons (merge first) it is the least r among networks without merge symmetries.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from properties.exact.linalg import Vector, combine, dot, mat, norm2, vec
from properties.exact.network import Network
from properties.exact.polytope import least_norm
from properties.model import Claim, Outcome, Property, Witness, expect, fails, first_failure, vacuous
from properties.strategies import PlantedReLU, plant_relu, planted_box, planted_kink, planted_relu
from properties.strategies.networks import PlantedNetwork, planted_network

LABEL = "lemma:min-norm-nn"
STATEMENT = (
    "The min-norm convex solution is the optimal network of least r = sum |W|^4 + w2^4 and has no merge symmetry."
)
REPAIRED = "The least-norm weights on the distinct neurons give the least r among networks without merge symmetries."
MOST_BLOCKS = 8


def r_value(planted: PlantedReLU, alpha: tuple[Fraction, ...]) -> Fraction:
    """2 lambda^2 |alpha|^2"""
    return 2 * planted.lam2 * norm2(alpha)


def check(planted: PlantedReLU) -> Outcome:
    """The least-norm block weights must not use two blocks for one neuron."""
    convex = planted.convex
    if len(convex.E) > MOST_BLOCKS:
        return vacuous("too many blocks to try all supports")
    best = least_norm([convex.q[b] for b in convex.E], planted.yhat)
    merged = least_norm(planted.q, planted.yhat)
    if best is None or merged is None:
        return fails("no solution")
    used = [(b % 2, convex.v[b]) for b, a in zip(convex.E, best, strict=True) if a]
    low, high = r_value(planted, best), r_value(planted, merged)
    return expect(
        len(set(used)) == len(used),
        f"r = {low} with {len(used)} neurons of which some are collinear; merge-free least r = {high}",
    )


def fourth_powers(net: Network) -> Fraction:
    """r(W_1, w_2) = sum |W_i|^4 + w2_i^4"""
    return sum((norm2(i.W) ** 2 + i.w2**4 for i in net), Fraction(0))


def with_least_norm(network: PlantedNetwork) -> tuple[PlantedNetwork, Vector | None]:
    """The network with the least-norm weights on its distinct neurons."""
    return network, least_norm(network.planted.q, network.planted.yhat)


def check_repaired(instance: tuple[PlantedNetwork, Vector]) -> Outcome:
    """r = 2 lambda^2 |alpha|^2, and best.(beta - best) >= 0 at all minimal networks beta: least at all optimal ones."""
    network, best = instance
    planted = network.planted
    return first_failure(
        expect(all(dot(best, other) >= norm2(best) for other in planted.vertices), "a merge-free network is shorter"),
        expect(min(best) >= 0 and combine(best, planted.q, len(planted.y)) == planted.yhat, "this is no network"),
        expect(fourth_powers(network.net) == r_value(planted, planted.alpha), "r is not 2 lambda^2 |alpha|^2"),
    )


def _corner() -> PlantedReLU:
    found = plant_relu(mat([[1, 0], [0, 1]]), vec([1, 0]), (2,))
    if found is None or found.y != vec([3, 0]):
        raise ArithmeticError("Z = I2, r = (1, 0) plants y = (3, 0) with weight 2")
    return found


def instances() -> st.SearchStrategy[PlantedReLU]:
    """Kinks, boxes, anything."""
    return st.one_of(planted_kink(), planted_box(max_d=2), planted_relu())


CLAIM = Claim(
    LABEL,
    "The min-norm network",
    Property(STATEMENT, instances(), check),
    witnesses=(Witness("Z = I2, y = (3, 0), lambda = 1", _corner()),),
    repaired=Property(REPAIRED, planted_network().map(with_least_norm), check_repaired),
)
