"""prop:cgl-alternate: the optimal set on the equicorrelation set, with the constraints written out.

Printed, for a dual optimal rho (here: zero wherever zero is dual optimal, as the least-norm dual has it, else from
the non-negative regression). Stronger: with the canonical v, E may replace S for any K with no further constraint.
"""

from __future__ import annotations

from properties.exact.cone import in_cone, nnls
from properties.exact.linalg import Vector, combine, dot, is_zero, norm2, sub
from properties.exact.problem import Weights, fit, is_optimal, positive_ratio
from properties.model import Claim, Outcome, Property, expect
from properties.strategies import PlantedCGL, planted_cgl, with_candidate

LABEL = "prop:cgl-alternate"
STATEMENT = "The optimal set is {w : w_b = alpha_b v_b on E, 0 off E, Xw = yhat, K'w <= 0, <rho, K'w> = 0}."
CANONICAL = "With v_b = Proj(c_b), E may replace S for any K: the constraints K'w <= 0, <rho, K'w> = 0 are implied."


def sparse_dual(planted: PlantedCGL, b: int) -> Vector:
    """A dual optimal rho_b: zero if b is in no solution's support and |c_b| <= lambda, else the regression's."""
    block = planted.problem.blocks[b]
    c = block.correlation(planted.r)
    if b not in planted.S and norm2(c) <= planted.problem.lam2:
        return (c[0] * 0,) * len(block.K)
    return nnls(block.K, c)


def in_printed(planted: PlantedCGL, w: Weights) -> bool:
    """w is in the printed set, with the dual above."""
    for b, wb in enumerate(w):
        if is_zero(wb):
            continue
        block, rho = planted.problem.blocks[b], sparse_dual(planted, b)
        v = sub(block.correlation(planted.r), combine(rho, block.K, block.size))
        if norm2(v) != planted.problem.lam2 or positive_ratio(wb, v) is None or not in_cone(block.K, wb):
            return False
        if any(x * dot(k, wb) for x, k in zip(rho, block.K, strict=True)):
            return False
    return fit(planted.problem, w) == planted.yhat


def in_canonical(planted: PlantedCGL, w: Weights) -> bool:
    """w is on the rays of E with the right fit."""
    rays = all(
        is_zero(wb) or (b in planted.E and positive_ratio(wb, planted.v[b]) is not None) for b, wb in enumerate(w)
    )
    return rays and fit(planted.problem, w) == planted.yhat


def check(instance: tuple[PlantedCGL, Weights]) -> Outcome:
    """The printed set and the optimality conditions agree on the point."""
    planted, w = instance
    return expect(is_optimal(planted.problem, w) == in_printed(planted, w), "printed set and KKT disagree")


def check_canonical(instance: tuple[PlantedCGL, Weights]) -> Outcome:
    """The set without constraints and the optimality conditions agree on the point."""
    planted, w = instance
    return expect(is_optimal(planted.problem, w) == in_canonical(planted, w), "canonical set and KKT disagree")


CLAIM = Claim(
    LABEL,
    "The optimal set, explicitly",
    Property(STATEMENT, with_candidate(planted_cgl()), check),
    repaired=Property(CANONICAL, with_candidate(planted_cgl()), check_canonical),
)
