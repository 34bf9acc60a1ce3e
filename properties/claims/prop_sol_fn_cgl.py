"""prop:sol-fn-cgl: the optimal set from the support set S and the dual vectors v, against the KKT conditions."""

from __future__ import annotations

from properties.exact.cone import nnls
from properties.exact.linalg import add, combine, is_zero, norm2, sub
from properties.exact.problem import Weights, fit, is_optimal, positive_ratio, problem
from properties.model import HOLDS, Claim, Outcome, Property, Slip, Witness, expect, fails, yes
from properties.strategies import PlantedCGL, planted_cgl, with_candidate

LABEL = "prop:sol-fn-cgl"
STATEMENT = "The optimal set is {w : w_b = alpha_b v_b, alpha_b >= 0 on S, w_b = 0 off S, Xw = yhat}."


def in_formula(planted: PlantedCGL, w: Weights) -> bool:
    """w is in the printed set."""
    for b, wb in enumerate(w):
        if not is_zero(wb) and (b not in planted.S or positive_ratio(wb, planted.v[b]) is None):
            return False
    return fit(planted.problem, w) == planted.yhat


def check(instance: tuple[PlantedCGL, Weights]) -> Outcome:
    """The printed set and the optimality conditions agree on the point."""
    planted, w = instance
    optimal, member = is_optimal(planted.problem, w), in_formula(planted, w)
    return expect(optimal == member, f"the point is optimal: {yes(optimal)}; in the printed set: {yes(member)}")


def printed_sign(instance: tuple[PlantedCGL, Weights]) -> Outcome:
    """The proof's stationarity of zero blocks: |c_b + K_b rho_b| <= lambda."""
    planted, w = instance
    for b, wb in enumerate(w):
        block = planted.problem.blocks[b]
        c = block.correlation(planted.r)
        dual_fit = combine(nnls(block.K, c), block.K, len(c))
        if is_zero(wb) and norm2(add(c, dual_fit)) > planted.problem.lam2:
            plus, minus = norm2(add(c, dual_fit)), norm2(sub(c, dual_fit))
            return fails(f"|c + K rho|^2 = {plus} > lambda^2, while |c - K rho|^2 = {minus}")
    return HOLDS


# X = 1, y = 2, lambda = 1, w <= 0: w = 0, c = 2, rho = 2
_SIGN = problem([[1]], [1], [2], 1, [[[1]]])
SIGN_WITNESS = Witness(
    "X = 1, K = 1, y = 2, lambda = 1",
    (PlantedCGL(_SIGN, _SIGN.y, ((_SIGN.y[0] * 0,),), (_SIGN.y[0] * 0,)), ((_SIGN.y[0] * 0,),)),
)

CLAIM = Claim(
    LABEL,
    "The optimal set",
    Property(STATEMENT, with_candidate(planted_cgl()), check),
    slips=(Slip("proof: stationarity of a zero block reads |c + K rho| <= lambda", printed_sign, SIGN_WITNESS),),
)
