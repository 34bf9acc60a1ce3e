"""lemma:l2-reformulation: the l2-penalised problem is CGL with X~ = [X; sqrt(delta) I], which has full column rank."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import norm2, rank
from properties.exact.problem import CGL, Block, Weights, objective
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import PlantedCGL, feasible_weights, planted_cgl, positive_rationals

LABEL = "lemma:l2-reformulation"
STATEMENT = (
    "P(w) + delta/2 |w|^2 is the CGL objective of X~ = [X; sqrt(delta) I], y~ = (y, 0); X~ has full column rank."
)


def extended(p: CGL, root: Fraction) -> CGL:
    """X~ and y~ for delta = root^2."""
    width = sum(b.size for b in p.blocks)
    blocks, start = [], 0
    for b in p.blocks:
        extra = tuple(tuple(root if i == start + j else Fraction(0) for j in range(b.size)) for i in range(width))
        blocks.append(Block((*b.X, *extra), b.K))
        start += b.size
    return CGL(tuple(blocks), (*p.y, *(Fraction(0),) * width), p.lam2)


@st.composite
def instances(draw: DrawFn) -> tuple[PlantedCGL, Weights, Fraction, CGL]:
    """A problem, a point, sqrt(delta), and the extended problem."""
    planted, root = draw(planted_cgl(max_active=3)), draw(positive_rationals())
    return planted, draw(feasible_weights(planted.problem)), root, extended(planted.problem, root)


def check(instance: tuple[PlantedCGL, Weights, Fraction, CGL]) -> Outcome:
    """Both objectives are equal at the point, X~ has full column rank, and X~, y~ are the printed ones."""
    planted, w, root, p = instance
    penalised = objective(planted.problem, w) + root**2 / 2 * sum((norm2(wb) for wb in w), Fraction(0))
    return first_failure(
        expect((objective(p, w) - penalised).sign() == 0, "the objectives differ"),
        expect(rank(p.columns) == len(p.columns), "X~ is rank deficient"),
        expect(p == extended(planted.problem, root), "X~ or y~ is another one"),
    )


CLAIM = Claim(LABEL, "The l2-penalised problem", Property(STATEMENT, instances(), check))
