"""prop:row-ce: at lambda = 1 the printed instance has the unique solution (7/25, 21/100, 11/100), not in Row(X)."""

from __future__ import annotations

from fractions import Fraction

from properties.claims.prop_min_norm_interp import Moved, X, Y, blocks_of, moved
from properties.exact.linalg import in_span, independent, matmul, matvec, scale, vec
from properties.exact.problem import CGL, Block, active, is_optimal, residual
from properties.model import Claim, Outcome, Property, expect, first_failure

LABEL = "prop:row-ce"
STATEMENT = "K = 0: for some X, y and lambda > 0 the min-norm solution's active part is not in Row(X_A)."
W = vec(["7/25", "21/100", "11/100"])


def check(instance: Moved) -> Outcome:
    """The moved instance: optimal, unique, both blocks active, outside the row space."""
    rows = matmul(instance.rotation, X)
    blocks = (Block(tuple(r[:2] for r in rows)), Block(tuple(r[2:] for r in rows)))
    y = scale(instance.s, matvec(instance.rotation, Y))
    p = CGL(blocks, y, instance.s**2 * Fraction(1))
    w = blocks_of(scale(instance.s, W))
    outputs = [matvec(b.X, b.correlation(residual(p, w))) for b in blocks]
    return first_failure(
        expect(is_optimal(p, w), "not a solution"),
        expect(active(w) == (0, 1) and independent(outputs), "not the only solution on both blocks"),
        expect(not in_span((*w[0], *w[1]), rows), "the solution is in the row space"),
    )


CLAIM = Claim(LABEL, "The min-norm solution outside the row space", Property(STATEMENT, moved(), check))
