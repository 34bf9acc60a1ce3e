"""Experiments, the max-l2 program: maximising sum alpha over the optimal set selects nothing, the sum is constant.

r.(X_b v_b) = c_b.v_b = lambda^2 for every b in E, so sum alpha = r.yhat / lambda^2 for every solution. A convex norm
is largest at a vertex.
"""

from __future__ import annotations

from properties.claims.prop_minimal_sol_characterization import WITHOUT
from properties.exact.linalg import Vector, dot, norm2
from properties.model import HOLDS, Claim, Outcome, Property, expect, fails, first_failure, vacuous
from properties.strategies import PlantedCGL, planted_cgl, with_solution

LABEL = "max-l2 program"
STATEMENT = "max sum alpha over the optimal set approximates the solution of largest l2 norm."
REPAIRED = "sum alpha = r.yhat/lambda^2 on the whole optimal set, and the largest l2 norm is attained at a vertex."


def check(instance: tuple[PlantedCGL, Vector]) -> Outcome:
    """Vertices with different norms must have different sums, the larger the larger."""
    planted, _ = instance
    ordered = sorted(planted.vertices, key=norm2)
    low, high = ordered[0], ordered[-1]
    if norm2(low) == norm2(high):
        return vacuous("all vertices have one norm")
    if sum(high) <= sum(low):
        return fails(f"|alpha|^2 = {norm2(low)} and {norm2(high)}, but sum alpha = {sum(low)} at both: no preference")
    return HOLDS


def check_repaired(instance: tuple[PlantedCGL, Vector]) -> Outcome:
    """The constant sum, and the maximum of the norm."""
    planted, alpha = instance
    total = dot(planted.r, planted.yhat) / planted.problem.lam2
    return first_failure(
        expect(all(sum(a) == total for a in (*planted.vertices, alpha)), "sum alpha is not r.yhat/lambda^2"),
        expect(norm2(alpha) <= max(norm2(a) for a in planted.vertices), "a solution is longer than every vertex"),
    )


CLAIM = Claim(
    LABEL,
    "The solution of largest norm",
    Property(STATEMENT, with_solution(planted_cgl()), check),
    witnesses=(type(WITHOUT)(WITHOUT.name, (WITHOUT.instance, WITHOUT.instance.alpha)),),
    repaired=Property(REPAIRED, with_solution(planted_cgl()), check_repaired),
)
