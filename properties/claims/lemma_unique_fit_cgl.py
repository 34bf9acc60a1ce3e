"""lemma:unique-fit-cgl, by quadratic growth: P(w') >= p* + 1/2 |Xw' - yhat|^2 for every feasible w'.

That inequality is exact and implies the lemma: an optimal w' has the planted fit, hence the planted group norm.
"""

from __future__ import annotations

from properties.exact.linalg import norm2, sub
from properties.exact.problem import Weights, fit, group_norm, is_optimal, objective
from properties.model import HOLDS, Claim, Outcome, Property, fails
from properties.strategies import PlantedCGL, planted_cgl, with_feasible

LABEL = "lemma:unique-fit-cgl"
STATEMENT = "All solutions have the same fit Xw and, for lambda > 0, the same sum of group norms."


def check(instance: tuple[PlantedCGL, Weights]) -> Outcome:
    """Quadratic growth at the planted solution, and equality of fit and norms wherever it is attained."""
    planted, w = instance
    excess = objective(planted.problem, w) - objective(planted.problem, planted.w)
    distance = norm2(sub(fit(planted.problem, w), planted.yhat))
    if excess.sign() == 0 and (group_norm(w) - group_norm(planted.w)).sign() != 0:
        return fails("an optimal point has another sum of group norms")
    if excess < distance / 2:
        return fails(f"|Xw - yhat|^2 = {distance}, but the objective grows by less than half of it")
    if (excess.sign() == 0) != is_optimal(planted.problem, w):
        return fails("the least objective and the optimality conditions disagree")
    return HOLDS


CLAIM = Claim(LABEL, "Unique fit", Property(STATEMENT, with_feasible(planted_cgl()), check))
