"""prop:p-unique: a unique convex solution makes the network p-unique; the test on E needs the canonical dual.

The converse fails robustly (a neuron that is zero on a data point is carried by two patterns), so p-uniqueness has its
own criterion: the outputs of the distinct neurons, not of the blocks.
"""

from __future__ import annotations

from hypothesis import strategies as st

from properties.exact.linalg import independent
from properties.exact.polytope import support
from properties.model import HOLDS, Claim, Outcome, Property, expect, fails, vacuous, yes
from properties.strategies import PlantedReLU, planted_antipodal, planted_box, planted_kink, planted_relu

LABEL = "prop:p-unique"
STATEMENT = (
    "If the convex ReLU problem has a unique solution (or {D_i Z v_i} on E independent) the network is p-unique."
)
NEURONS = "The network is p-unique iff the outputs of the distinct neurons that some solution uses are independent."


def instances() -> st.SearchStrategy[PlantedReLU]:
    """Planted networks of all kinds."""
    return st.one_of(planted_relu(), planted_kink(), planted_box(max_d=2), planted_antipodal(max_n=4))


def check(planted: PlantedReLU) -> Outcome:
    """Both conditions, with the canonical dual vectors, against the list of minimal networks."""
    convex = planted.convex
    free = independent([convex.q[b] for b in convex.E])
    if free and not convex.unique:
        return fails("independent outputs on E, but two convex solutions")
    if not convex.unique:
        return vacuous("the convex solution is not unique")
    return expect(planted.p_unique, "one convex solution, but two networks")


def check_neurons(planted: PlantedReLU) -> Outcome:
    """One minimal network iff independent outputs on the neurons in use."""
    used = sorted({i for alpha in planted.vertices for i in support(alpha)})
    free = independent([planted.q[i] for i in used])
    if free != planted.p_unique:
        return fails(f"p-unique: {yes(planted.p_unique)}; independent outputs: {yes(free)}")
    return HOLDS


CLAIM = Claim(
    LABEL,
    "p-uniqueness",
    Property(STATEMENT, instances(), check),
    repaired=Property(NEURONS, instances(), check_neurons),
)
