"""sec:convex-reformulations: D_Z is defined with ">=". The patterns of lower faces are harmless for ReLU, not for
gated ReLU.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.lasso import solve_lasso
from properties.exact.linalg import Matrix, Vector, mat, norm2, vec
from properties.exact.patterns import gated_problem, patterns
from properties.exact.problem import objective
from properties.model import Claim, Outcome, Property, Witness, expect, first_failure
from properties.strategies import (
    PlantedReLU,
    planted_box,
    planted_kink,
    planted_relu,
    positive_rationals,
    rational_matrix,
    vector,
)

LABEL = "D_Z with >="
STATEMENT = "The gated optimum is the same over D_Z = {1(Zu >= 0)} and over the patterns of open cells."
REPAIRED = "The ReLU optimum is: every optimal neuron is carried by an open cell, and lambda_max is attained there."


@st.composite
def gated(draw: DrawFn) -> tuple[Matrix, Vector, Fraction]:
    """One feature, so that both problems are solved exactly."""
    n = draw(st.integers(1, 4))
    return draw(rational_matrix(n, 1)), draw(vector(n)), draw(positive_rationals())


def check(instance: tuple[Matrix, Vector, Fraction]) -> Outcome:
    """Both exact optima."""
    Z, y, lam = instance
    found = patterns(Z)
    values = []
    for chosen in (found.all, found.open):
        p = gated_problem(Z, chosen, y, lam * lam)
        values.append(objective(p, solve_lasso(p)).as_fraction())
    return expect(values[0] == values[1], f"optimum {values[0]} over D_Z, {values[1]} over the open cells")


def check_repaired(planted: PlantedReLU) -> Outcome:
    """Every neuron has a carrier whose pattern is an open cell; the dual bound is the same."""
    found = patterns(planted.Z)
    cells = {2 * i + minus for i, p in enumerate(found.all) if p in found.open for minus in (0, 1)}
    return first_failure(
        expect(all(set(blocks) & cells for blocks in planted.carriers), "a neuron is carried by no open cell"),
        expect(max(norm2(planted.v[b]) for b in cells) == planted.lam2, "the open cells miss the largest correlation"),
    )


CLAIM = Claim(
    LABEL,
    "Patterns of lower faces",
    Property(STATEMENT, gated(), check),
    witnesses=(Witness("Z = (1,-1)', y = (2,-2), lambda = 1", (mat([[1], [-1]]), vec([2, -2]), Fraction(1))),),
    repaired=Property(REPAIRED, st.one_of(planted_relu(), planted_kink(), planted_box(max_d=2)), check_repaired),
)
