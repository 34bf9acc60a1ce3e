"""Beyond the paper: if Z'r* = 0, optimal neurons come in antipodal pairs, and more than rank Z pairs are always
dependent.

r.(Zv)_+ - r.(-Zv)_+ = r.Zv = 0, so v and -v are equally good for one sign; and (Zv)_+ - (-Zv)_+ = Zv, so k pairs span
at most k + rank Z dimensions.
"""

from __future__ import annotations

from hypothesis import strategies as st

from properties.exact.linalg import dot, matvec, rank, scale, sub, transpose
from properties.model import Claim, Outcome, Property, expect, first_failure, vacuous
from properties.strategies import PlantedReLU, planted_antipodal, planted_box

LABEL = "robust: antipodal pairs"
STATEMENT = (
    "If Z'r* = 0, neurons come in pairs v, -v of one sign; k pairs have rank at most k + rank Z, so k > rank Z ties "
    "break p-uniqueness."
)


def check(planted: PlantedReLU) -> Outcome:
    """Pairs, their outputs, and dependence; with all weights positive, more than one network."""
    if any(dot(column, planted.r) for column in transpose(planted.Z)):
        return vacuous("Z'r is not zero")
    output = dict(zip(planted.neurons, planted.q, strict=True))
    pairs = len(output) // 2
    opposite = [output.get((xi, scale(-1, v))) for xi, v in planted.neurons]
    differences = all(
        o is not None and sub(output[xi, v], o) == scale(xi, matvec(planted.Z, v))
        for (xi, v), o in zip(planted.neurons, opposite, strict=True)
    )
    crowded = pairs > rank(planted.Z)
    return first_failure(
        expect(all(o is not None for o in opposite), "a neuron without its antipode"),
        expect(differences, "the outputs of a pair do not differ by Zv"),
        expect(rank(planted.q) <= pairs + rank(planted.Z), "the outputs of the pairs span too much"),
        expect(
            not (crowded and all(planted.alpha) and planted.p_unique), "more than rank Z pairs in use, yet p-unique"
        ),
    )


CLAIM = Claim(
    LABEL,
    "Antipodal pairs",
    Property(STATEMENT, st.one_of(planted_antipodal(), planted_box()), check),
)
