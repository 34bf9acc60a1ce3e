"""min-norm: the optimal weights of least norm (prop:min-norm-program), exactly or enclosed.

Every neuron is merged, w_a = alpha_a v_a for the tied neurons a with |v_a| = lambda, so |w|^2 = lambda^2 |alpha|^2: the
shortest weights are the point of the polytope that is nearest to zero. There is only one, because the norm is strictly
convex.
"""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.claims.optimal_set import counted, nouns
from relu_cert.exact import norm_squared
from relu_cert.prove.facts import Facts
from relu_cert.report.text import at_most, decimal, short

NAME = "min-norm"
STATEMENT = "The optimal weights of least norm are known, exactly or within the radius."


def applies(facts: Facts) -> bool:
    """Always."""
    return True


def decide(facts: Facts) -> Result:
    """The shortest point of the polytope of optimal weights."""
    if facts.lam**2 >= facts.lambda_max.squared:
        return Result(NAME, Verdict.PROVED, "zero", "lambda >= lambda_max: all weights are 0.")
    found = facts.min_norm
    if found is None:
        open_part = facts.unsettled or "the signs of the shortest weights are not proved"
        return Result(NAME, Verdict.UNDECIDED, "", f"{open_part}.")
    squared = facts.lam**2 * norm_squared(found.weights)
    size = short(squared, 20) if not found.radius else decimal(squared, 10)
    within = "exactly" if not found.radius else f"weights within {at_most(found.radius)}"
    group = "group" if nouns(facts)[0] == "groups" else "neuron"
    active = counted(sum(map(bool, found.weights)), group, f"{group}s")
    how = "exact" if not found.radius else "enclosed"
    return Result(NAME, Verdict.PROVED, how, f"|w|^2 = {size} on {active}, {within}.")
