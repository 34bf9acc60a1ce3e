"""prop:map-continuity-cgl, first part: the solution map is closed, and continuous where the solution is unique.

On problems with blocks of size one the path is piecewise linear and its one-sided limits are exact: they must be
solutions, and where the solution is unique they must be that solution. The remark that a singleton map is open iff
it is closed needs boundedness: T(x) = {1/x}, T(0) = {0} is closed and not open at 0.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from properties.exact.lasso import left_limit, right_limit
from properties.exact.problem import is_optimal
from properties.model import HOLDS, Claim, Outcome, Property, Slip, Witness, expect, fails, first_failure
from properties.strategies import PlantedCGL, planted_lasso

LABEL = "prop:map-continuity-cgl (closed)"
STATEMENT = "W* is closed for lambda > 0, and where the solution is unique on an interval it is continuous there."


def check(planted: PlantedCGL) -> Outcome:
    """Both limits at the planted lambda are solutions; where the solution is unique they are it."""
    p = planted.problem
    left, right = left_limit(p, p.lam), right_limit(p, p.lam)
    outcomes = [
        expect(is_optimal(p, left), "the limit from below is not a solution"),
        expect(is_optimal(p, right), "the limit from above is not a solution"),
    ]
    if planted.unique:
        outcomes.append(expect(left == right == planted.w, "the path jumps where the solution is unique"))
    return first_failure(*outcomes)


def singleton_map(x: Fraction) -> Fraction:
    """T(x) = {1/x} for x != 0, T(0) = {0}."""
    return 1 / x if x else Fraction(0)


def closed_implies_open(steps: int) -> Outcome:
    """For the singleton map T: no sequence T(1/k) converges, so T is closed at 0; does T(1/k) tend to T(0)?"""
    values = [singleton_map(Fraction(1, k)) for k in range(1, steps)]
    leaves_every_bound = all(b - a >= 1 for a, b in pairwise(values))
    if leaves_every_bound and singleton_map(Fraction(0)) == 0:
        return fails(
            f"T(1/{steps - 1}) = {values[-1]}: the values leave every bound, so T is closed, but not open at 0"
        )
    return HOLDS


CLAIM = Claim(
    LABEL,
    "The solution map is closed",
    Property(STATEMENT, planted_lasso(), check),
    slips=(
        Slip(
            "singleton maps are open iff they are closed (no bound assumed)",
            closed_implies_open,
            Witness("T(x) = {1/x}, T(0) = {0}", 50),
        ),
    ),
)
