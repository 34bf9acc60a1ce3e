"""prop:row-ce: at lambda = 1 the printed instance has the unique solution (7/25, 21/100, 11/100), not in Row(X)."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.claims.prop_min_norm_interp import X, Y, blocks_of
from properties.exact.linalg import in_span, independent, matmul, matvec, norm2, scale, transpose, vec
from properties.exact.problem import CGL, Block, Weights, active, dual_vectors, is_optimal, residual
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import orthogonal, positive_rationals

LABEL = "prop:row-ce"
STATEMENT = "K = 0: for some X, y and lambda > 0 the min-norm solution's active part is not in Row(X_A)."
W = vec(["7/25", "21/100", "11/100"])


@st.composite
def moved(draw: DrawFn) -> tuple[CGL, Weights]:
    """The printed instance in rotated rows, y and lambda scaled, and its solution."""
    rotation, s = draw(orthogonal(2)), draw(positive_rationals())
    rows = matmul(rotation, X)
    blocks = (Block(tuple(r[:2] for r in rows)), Block(tuple(r[2:] for r in rows)))
    return CGL(blocks, scale(s, matvec(rotation, Y)), s**2), blocks_of(scale(s, W))


def check(instance: tuple[CGL, Weights]) -> Outcome:
    """K = 0; optimal, unique, and the active part is outside the row space of the active blocks."""
    p, w = instance
    v = dual_vectors(p, residual(p, w))
    outputs = [matvec(b.X, vb) for b, vb in zip(p.blocks, v, strict=True) if norm2(vb) == p.lam2]
    on = active(w)
    columns = [c for b in on for c in transpose(p.blocks[b].X)]
    return first_failure(
        expect(not any(b.K for b in p.blocks), "there are constraints"),
        expect(is_optimal(p, w), "not a solution"),
        expect(independent(outputs), "not the only solution"),
        expect(not in_span(tuple(x for b in on for x in w[b]), transpose(columns)), "the solution is in the row space"),
    )


CLAIM = Claim(LABEL, "The min-norm solution outside the row space", Property(STATEMENT, moved(), check))
