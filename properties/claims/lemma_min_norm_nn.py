"""lemma:min-norm-nn: the min-norm convex solution may map to collinear neurons, carried by two patterns at a kink.

r(W1, w2) = sum |W_i|^4 + w2_i^4 = 2 lambda^2 |alpha|^2 for a balanced network. Over the blocks the least |alpha| may
split one neuron; over the distinct neurons (merge first) it is the least r among networks without merge symmetries.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from properties.exact.linalg import dot, mat, norm2, vec
from properties.exact.polytope import barycentre, least_norm
from properties.model import HOLDS, Claim, Outcome, Property, Witness, expect, fails, vacuous
from properties.strategies import PlantedReLU, plant_relu, planted_box, planted_kink, planted_relu

LABEL = "lemma:min-norm-nn"
STATEMENT = (
    "The min-norm convex solution is the optimal network of least r = sum |W|^4 + w2^4 and has no merge symmetry."
)
REPAIRED = "The least-norm weights on the distinct neurons give the least r among networks without merge symmetries."


def r_value(planted: PlantedReLU, alpha: tuple[Fraction, ...]) -> Fraction:
    """2 lambda^2 |alpha|^2"""
    return 2 * planted.lam2 * norm2(alpha)


def check(planted: PlantedReLU) -> Outcome:
    """The least-norm block weights must not use two blocks for one neuron."""
    convex = planted.convex
    if len(convex.E) > 8:
        return vacuous("too many blocks to try all supports")
    best = least_norm([convex.q[b] for b in convex.E], planted.yhat)
    if best is None:
        return fails("no solution")
    used = [(b % 2, convex.v[b]) for b, a in zip(convex.E, best, strict=True) if a]
    if len(set(used)) == len(used):
        return HOLDS
    merged = least_norm(planted.q, planted.yhat)
    low = r_value(planted, best)
    high = r_value(planted, merged) if merged else None
    return fails(f"r = {low} with {len(used)} neurons of which some are collinear; merge-free least r = {high}")


def check_repaired(planted: PlantedReLU) -> Outcome:
    """The least-norm weights on neurons: alpha.(beta - alpha) >= 0 at all minimal networks, so least at all of them."""
    best = least_norm(planted.q, planted.yhat)
    if best is None:
        return fails("no solution")
    others = [*planted.vertices, barycentre(planted.vertices)]
    return expect(
        all(dot(best, other) >= norm2(best) for other in others)
        and all(r_value(planted, other) >= r_value(planted, best) for other in others),
        "another merge-free network has a smaller r",
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
    repaired=Property(REPAIRED, instances(), check_repaired),
)
