"""cor:uniqueness-cond-cgl: two solutions differ by an element of N_lambda; N_lambda = {0} makes the solution unique."""

from __future__ import annotations

from properties.exact.linalg import independent, matvec, rank, sub, total
from properties.exact.problem import Weights, is_optimal
from properties.model import HOLDS, Claim, Outcome, Property, fails, vacuous
from properties.strategies import PlantedCGL, planted_cgl, with_candidate

LABEL = "cor:uniqueness-cond-cgl"
STATEMENT = "Solutions differ by z with z_b = alpha_b v_b on E and X z = 0; if only z = 0 does that, w is unique."


def check(instance: tuple[PlantedCGL, Weights]) -> Outcome:
    """For an optimal point: its difference from the planted solution; and uniqueness where N_lambda = {0}."""
    planted, w = instance
    if not is_optimal(planted.problem, w):
        return vacuous("not a solution")
    z = tuple(sub(a, b) for a, b in zip(w, planted.w, strict=True))
    if independent([planted.q[b] for b in planted.E]) and any(any(zb) for zb in z):
        return fails("N_lambda = {0}, yet there are two solutions")
    if any(any(zb) and (b not in planted.E or rank([zb, planted.v[b]]) > 1) for b, zb in enumerate(z)):
        return fails("the difference of two solutions leaves the lines of v on E")
    if any(total((matvec(b.X, zb) for b, zb in zip(planted.problem.blocks, z, strict=True)), planted.problem.n)):
        return fails("the difference of two solutions is not in the null space of X")
    return HOLDS


CLAIM = Claim(LABEL, "Null directions", Property(STATEMENT, with_candidate(planted_cgl()), check))
