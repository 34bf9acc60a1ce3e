"""After prop:minimal-complexity: m* is at most dim span{(Z W_i)_+}, and this dimension "under group dependence".

Equality needs a nondegenerate polytope of weights: then every minimal network has exactly that many neurons.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from properties.exact.linalg import Vector, mat, rank, vec
from properties.exact.polytope import barycentre, dimension, support
from properties.model import Claim, Outcome, Property, Witness, expect, first_failure, yes
from properties.strategies import PlantedReLU, plant_relu, planted_box, planted_relu

LABEL = "m* = dim span"
STATEMENT = "m* is the dimension of span{(Z W_i)_+} of an optimal network (the largest such span is used here)."
NONDEGENERATE = "m* <= dim span always; all minimal networks have dim span neurons iff the polytope is nondegenerate."

Listed = tuple[PlantedReLU, tuple[Vector, ...]]


def spans(q: Sequence[Vector], networks: Sequence[Vector]) -> tuple[int, tuple[int, ...]]:
    """dim span of the outputs of a network in the relative interior, and the widths of the minimal networks."""
    return rank([q[i] for i in support(barycentre(networks))]), tuple(len(support(alpha)) for alpha in networks)


def check(planted: PlantedReLU) -> Outcome:
    """m* against the span."""
    span, widths = spans(planted.q, planted.vertices)
    return expect(min(widths) == span, f"m* = {min(widths)}, dim span = {span}")


def check_nondegenerate(instance: Listed) -> Outcome:
    """Nondegenerate: at every minimal network exactly dim P of the weights in use vanish."""
    planted, networks = instance
    span, widths = spans(planted.q, networks)
    used = len(support(barycentre(networks)))
    simple = all(used - width == dimension(networks) for width in widths)
    full = all(width == span for width in widths)
    return first_failure(
        expect(min(widths) <= span, f"m* = {min(widths)} exceeds dim span = {span}"),
        expect(simple == full, f"nondegenerate: {yes(simple)}; widths {widths}, span {span}"),
        expect(networks == planted.vertices, "these are not the minimal networks"),
    )


def _box() -> PlantedReLU:
    """Z = ((3,0),(-3,0),(0,4),(0,-4)), r = 1: four neurons (+-3, +-4), y = (10, 10, 17, 17)."""
    found = plant_relu(mat([[3, 0], [-3, 0], [0, 4], [0, -4]]), vec([1, 1, 1, 1]), (1, 0, 0, 1))
    if found is None or found.y != vec([10, 10, 17, 17]) or found.lam2 != 25:
        raise ArithmeticError("the box instance is not the one of the ledger")
    return found


BOX = Witness("Z = ((3,0),(-3,0),(0,4),(0,-4)), y = (10,10,17,17), lambda = 5", _box())


def instances() -> st.SearchStrategy[PlantedReLU]:
    """Boxes, where neurons tie, and any planted data."""
    return st.one_of(planted_box(), planted_relu())


def with_networks() -> st.SearchStrategy[Listed]:
    """With all minimal networks."""
    return instances().map(lambda planted: (planted, planted.vertices))


CLAIM = Claim(
    LABEL,
    "Minimal width and the span",
    Property(STATEMENT, instances(), check),
    witnesses=(BOX,),
    repaired=Property(NONDEGENERATE, with_networks(), check_nondegenerate),
)
