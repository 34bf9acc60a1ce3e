"""cor:relu-continuity: the path of a p-unique network is continuous modulo splits, not modulo permutations only.

Z = (1, -1)', y = (y1, y2), y1 > y2 > 0, width 2. For lambda in [y2, y1) one neuron is active and the second is free,
so it may carry a part of the first. For lambda < y2 both are needed: the split network at y2 is not a limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import mat
from properties.exact.polytope import support
from properties.model import Claim, Outcome, Property, Witness, expect, fails, first_failure
from properties.strategies import PlantedReLU, plant_relu, positive_rationals

LABEL = "cor:relu-continuity"
STATEMENT = "Where the network is p-unique on an interval, its path is continuous up to permutations."
REPAIRED = "Where the network is p-unique on an interval, its path is continuous up to permutations and splits."


@dataclass(frozen=True)
class Approach:
    """Targets y1 > y2 > 0, the fraction of the split neuron, and lambda = y2 - gap."""

    y1: Fraction
    y2: Fraction
    share: Fraction
    gap: Fraction


@st.composite
def instances(draw: DrawFn) -> Approach:
    """Any such targets; the gap is a small part of y2."""
    y2 = draw(positive_rationals())
    share = Fraction(1, draw(st.integers(2, 5)))
    return Approach(y2 + draw(positive_rationals()), y2, share, y2 / draw(st.integers(2, 1000)))


def at(a: Approach, lam: Fraction) -> PlantedReLU:
    """The optimum at lambda <= y2: residual (lambda, lambda), images y1 - lambda and y2 - lambda."""
    found = plant_relu(mat([[1], [-1]]), (lam, lam), ((a.y2 - lam) / lam, (a.y1 - lam) / lam))
    if found is None or found.y != (a.y1, a.y2) or found.lam2 != lam**2:
        raise ArithmeticError("the residual of this problem is (lambda, lambda)")
    return found


def check(a: Approach) -> Outcome:
    """The split network at y2 against all optimal networks of width 2 at y2 - gap.

    There the network is p-unique and uses both neurons, one with W < 0. Both parts of the split have W > 0 with
    W^2 = share (y1 - y2) or more, so the squared distance is at least that, however small the gap.
    """
    near = at(a, a.y2 - a.gap)
    widths = [len(support(alpha)) for alpha in near.vertices]
    negative = any(v[0] < 0 for i, (_, v) in enumerate(near.neurons) if near.alpha[i] > 0)
    distance = min(a.share, 1 - a.share) * (a.y1 - a.y2)
    if near.p_unique and at(a, a.y2).p_unique and widths == [2] and negative and distance > 0:
        return fails(f"p-unique, but the split network at lambda = {a.y2} stays at squared distance {distance}")
    return expect(True, "")


def check_repaired(a: Approach) -> Outcome:
    """Merged images: both move by exactly the gap."""
    here, near = at(a, a.y2), at(a, a.y2 - a.gap)
    images = [sorted(alpha * v[0] for alpha, (_, v) in zip(p.alpha, p.neurons, strict=True)) for p in (here, near)]
    return first_failure(
        expect(here.p_unique and near.p_unique, "not p-unique"),
        expect(
            all(abs(x - y) == a.gap for x, y in zip(*images, strict=True)),
            "the merged network moves by more than the change of lambda",
        ),
    )


CLAIM = Claim(
    LABEL,
    "Continuity of the path",
    Property(STATEMENT, instances(), check),
    witnesses=(
        Witness(
            "Z = (1,-1)', y = (3,2), m = 2, lambda = 2",
            Approach(Fraction(3), Fraction(2), Fraction(1, 2), Fraction(1, 100)),
        ),
    ),
    repaired=Property(REPAIRED, instances(), check_repaired),
)
