"""Beyond the paper: if Z'r* = 0, optimal neurons come in antipodal pairs, and more than rank Z pairs are always
dependent.

r.(Zv)_+ - r.(-Zv)_+ = r.Zv = 0, so v and -v are equally good for one sign; and (Zv)_+ - (-Zv)_+ = Zv, so k pairs span
at most k + rank Z dimensions.
"""

from __future__ import annotations

from hypothesis import strategies as st

from properties.exact.linalg import Vector, matvec, rank, scale, sub, transpose
from properties.exact.polytope import vertices
from properties.model import HOLDS, Claim, Outcome, Property, expect, first_failure, vacuous
from properties.strategies import PlantedReLU, planted_antipodal, planted_box

LABEL = "robust: antipodal pairs"
STATEMENT = (
    "If Z'r* = 0, neurons come in pairs v, -v of one sign; k pairs have rank at most k + rank Z, so k > rank Z ties "
    "break p-uniqueness."
)


def instances() -> st.SearchStrategy[tuple[PlantedReLU, tuple[Vector, ...]]]:
    """Planted networks with Z'r* = 0, and the outputs xi (Zv)_+ of their neurons."""
    return st.one_of(planted_antipodal(), planted_box()).map(lambda planted: (planted, planted.q))


def check(instance: tuple[PlantedReLU, tuple[Vector, ...]]) -> Outcome:
    """Pairs, their outputs, and dependence; with all weights positive, more than one network."""
    planted, q = instance
    output = dict(zip(planted.neurons, q, strict=True))
    opposite = [output.get((xi, scale(-1, v))) for xi, v in planted.neurons]
    differences = all(
        o is None or sub(output[xi, v], o) == scale(xi, matvec(planted.Z, v))
        for (xi, v), o in zip(planted.neurons, opposite, strict=True)
    )
    pairs, span = len(output) // 2, rank(planted.Z)
    crowded = pairs > span and all(planted.alpha)
    return first_failure(
        expect(rank(q) <= pairs + span, "the outputs of the pairs span too much"),
        expect(None not in opposite, "a neuron without its antipode"),
        expect(differences, "the outputs of a pair do not differ by Zv"),
        expect(not crowded or len(vertices(q, planted.yhat)) > 1, "more than rank Z pairs in use, yet p-unique"),
        vacuous("Z'r is not zero") if any(matvec(transpose(planted.Z), planted.r)) else HOLDS,
    )


CLAIM = Claim(
    LABEL,
    "Antipodal pairs",
    Property(STATEMENT, instances(), check),
)
