"""prop:non-negative-regression: the regression's rho is dual optimal on zero blocks; by Moreau on active ones too."""

from __future__ import annotations

from properties.exact.cone import nnls
from properties.exact.linalg import Vector, combine, dot, is_zero, norm2, sub
from properties.exact.problem import Weights, positive_ratio
from properties.model import HOLDS, Claim, Outcome, Property, fails
from properties.strategies import PlantedCGL, planted_cgl, with_solution

LABEL = "prop:non-negative-regression"
STATEMENT = "If w_b = 0 in a solution, any rho_b minimising |K_b rho - c_b| over rho >= 0 is dual optimal for b."
EVERY = "The same rho_b is dual optimal for every block, active or not, and c_b - K_b rho_b is the canonical v_b."


def _violation(planted: PlantedCGL, w: Weights, b: int) -> str:
    """What eq:kkt-cgl misses on block b with the regression's multipliers, or nothing."""
    block = planted.problem.blocks[b]
    c = block.correlation(planted.r)
    rho = nnls(block.K, c)
    v = sub(c, combine(rho, block.K, block.size))
    if any(x < 0 for x in rho):
        return "rho < 0"
    if any(x * dot(k, w[b]) for x, k in zip(rho, block.K, strict=True)):
        return "complementary slackness fails"
    if is_zero(w[b]):
        return "" if norm2(v) <= planted.problem.lam2 else "|c - K rho| > lambda on a zero block"
    stationary = norm2(v) == planted.problem.lam2 and positive_ratio(w[b], v) is not None
    if not stationary or v != planted.v[b]:
        return "c - K rho is not lambda w/|w| on an active block"
    return ""


def check(instance: tuple[PlantedCGL, Vector]) -> Outcome:
    """Zero blocks of a solution."""
    planted, alpha = instance
    w = planted.weights(alpha)
    for b in (b for b, wb in enumerate(w) if is_zero(wb)):
        if why := _violation(planted, w, b):
            return fails(f"block {b}: {why}")
    return HOLDS


def check_every(instance: tuple[PlantedCGL, Vector]) -> Outcome:
    """All blocks of a solution."""
    planted, alpha = instance
    w = planted.weights(alpha)
    for b in range(len(w)):
        if why := _violation(planted, w, b):
            return fails(f"block {b}: {why}")
    return HOLDS


CLAIM = Claim(
    LABEL,
    "Dual parameters by regression",
    Property(STATEMENT, with_solution(planted_cgl()), check),
    repaired=Property(EVERY, with_solution(planted_cgl()), check_every),
)
