"""prop:non-negative-regression: the regression's rho is dual optimal on zero blocks; by Moreau on active ones too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.cone import nnls
from properties.exact.linalg import Vector, add, combine, dependencies, dot, is_zero, norm2, scale, sub
from properties.exact.problem import Block, Weights, positive_ratio
from properties.model import HOLDS, Claim, Outcome, Property, expect, first_failure, vacuous
from properties.strategies import PlantedCGL, planted_cgl, with_solution

LABEL = "prop:non-negative-regression"
STATEMENT = "If w_b = 0 in a solution, any rho_b minimising |K_b rho - c_b| over rho >= 0 is dual optimal for b."
EVERY = "The same rho_b is dual optimal for every block, active or not, and c_b - K_b rho_b is the canonical v_b."


@dataclass(frozen=True)
class Regression:
    """A problem, the weights of a solution, and for every block a rho that minimises |K rho - c| over rho >= 0."""

    planted: PlantedCGL
    alpha: Vector
    rho: Weights


@st.composite
def regressions(draw: DrawFn) -> Regression:
    """The minimiser is not unique where columns of K_b are dependent: then a step along a dependence."""
    planted, alpha = draw(with_solution(planted_cgl()))
    out = []
    for block in planted.problem.blocks:
        rho = nnls(block.K, block.correlation(planted.r))
        for z in dependencies(block.K):
            t = min((x / -e for x, e in zip(rho, z, strict=True) if e < 0), default=Fraction(2))
            rho = add(rho, scale(t * draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)])), z))
        out.append(rho)
    return Regression(planted, alpha, tuple(out))


def minimises(block: Block, c: Vector, rho: Vector) -> bool:
    """rho >= 0, K'(K rho - c) >= 0, and the product is zero."""
    slopes = [-dot(k, sub(c, combine(rho, block.K, block.size))) for k in block.K]
    return all(x >= 0 and s >= 0 and x * s == 0 for x, s in zip(rho, slopes, strict=True))


def _violation(i: Regression, b: int) -> str:
    """What eq:kkt-cgl misses on block b with these multipliers, or nothing."""
    block, lam2, wb = i.planted.problem.blocks[b], i.planted.problem.lam2, i.planted.weights(i.alpha)[b]
    v = sub(block.correlation(i.planted.r), combine(i.rho[b], block.K, block.size))
    if any(x < 0 for x in i.rho[b]):
        return "rho < 0"
    if any(x * dot(k, wb) for x, k in zip(i.rho[b], block.K, strict=True)):
        return "complementary slackness fails"
    if is_zero(wb):
        return "" if norm2(v) <= lam2 else "|c - K rho| > lambda on a zero block"
    if norm2(v) != lam2 or positive_ratio(wb, v) is None:
        return "c - K rho is not lambda w/|w| on an active block"
    return ""


def _judged(i: Regression, chosen: Sequence[int]) -> Outcome:
    """The multipliers of these blocks are dual optimal, and all of them solve the regression."""
    found = [f"block {b}: {why}" for b in chosen if (why := _violation(i, b))]
    solved = [
        minimises(block, block.correlation(i.planted.r), rho)
        for block, rho in zip(i.planted.problem.blocks, i.rho, strict=True)
    ]
    return first_failure(
        expect(not found, "; ".join(found)), HOLDS if all(solved) else vacuous("rho does not solve the regression")
    )


def check(i: Regression) -> Outcome:
    """Zero blocks of a solution."""
    return _judged(i, [b for b, wb in enumerate(i.planted.weights(i.alpha)) if is_zero(wb)])


def check_every(i: Regression) -> Outcome:
    """All blocks of a solution; and c_b - K_b rho_b is the planted v_b."""
    blocks = i.planted.problem.blocks
    v = tuple(sub(b.correlation(i.planted.r), combine(rho, b.K, b.size)) for b, rho in zip(blocks, i.rho, strict=True))
    return first_failure(
        _judged(i, range(len(blocks))), expect(v == i.planted.v, "c - K rho is not the canonical dual vector")
    )


CLAIM = Claim(
    LABEL,
    "Dual parameters by regression",
    Property(STATEMENT, regressions(), check),
    repaired=Property(EVERY, regressions(), check_every),
)
