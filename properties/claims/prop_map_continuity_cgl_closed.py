"""prop:map-continuity-cgl, first part: the solution map is closed, and continuous where the solution is unique.

On problems with blocks of size one the path is piecewise linear and its one-sided limits are exact: they must be
solutions, and where the solution is unique they must be that solution. The remark that a singleton map is open iff
it is closed needs boundedness: T(x) = {1/x}, T(0) = {0} is closed and not open at 0.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.lasso import left_limit, right_limit
from properties.exact.linalg import Vector
from properties.exact.problem import Weights, is_optimal
from properties.model import HOLDS, Claim, Outcome, Property, Slip, Witness, expect, fails, first_failure
from properties.strategies import PlantedCGL, planted_lasso

LABEL = "prop:map-continuity-cgl (closed)"
STATEMENT = "W* is closed for lambda > 0, and where the solution is unique on an interval it is continuous there."


@st.composite
def with_limits(draw: DrawFn) -> tuple[PlantedCGL, Weights, Weights]:
    """A lasso with the limits of its path from below and from above."""
    planted = draw(planted_lasso())
    p = planted.problem
    return planted, left_limit(p, p.lam), right_limit(p, p.lam)


def check(instance: tuple[PlantedCGL, Weights, Weights]) -> Outcome:
    """Both limits at the planted lambda are solutions; where the solution is unique they are it."""
    planted, left, right = instance
    p = planted.problem
    return first_failure(
        expect(is_optimal(p, left), "the limit from below is not a solution"),
        expect(is_optimal(p, right), "the limit from above is not a solution"),
        expect(not planted.unique or left == right == planted.w, "the path jumps where the solution is unique"),
        expect((left, right) == (left_limit(p, p.lam), right_limit(p, p.lam)), "these are not the limits"),
    )


def closed_implies_open(values: Vector) -> Outcome:
    """If T(1), T(1/2), ... grow by 1 or more they leave every bound: T is closed at 0 whatever T(0), and not open."""
    if all(b - a >= 1 for a, b in pairwise(values)):
        return fails(
            f"T(1/{len(values)}) = {values[-1]}: the values leave every bound, so T is closed, but not open at 0"
        )
    return HOLDS


CLAIM = Claim(
    LABEL,
    "The solution map is closed",
    Property(STATEMENT, with_limits(), check),
    slips=(
        Slip(
            "singleton maps are open iff they are closed (no bound assumed)",
            closed_implies_open,
            Witness("T(x) = {1/x}, T(0) = {0}", tuple(Fraction(k) for k in range(1, 50))),
        ),
    ),
)
