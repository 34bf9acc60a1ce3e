"""prop:min-norm-interp: the interpolant of least group norm may leave the row space, in exact numbers.

X = [1 2 | 0; 1 0 | 2], y = (1, 1): w_g = (2/5, 3/10, 3/10), with the dual certificate u = (3/10, 1/2). The instance is
moved by rational orthogonal maps of the rows and scaled, which changes nothing in the claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, dot, in_span, independent, mat, matmul, matvec, norm2, scale, vec
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import orthogonal, positive_rationals

LABEL = "prop:min-norm-interp"
STATEMENT = "Some X, y have a unique interpolant of least group norm, and it is not in Row(X_A)."

X: Matrix = mat([[1, 2, 0], [1, 0, 2]])
Y = vec([1, 1])
W_G = vec(["2/5", "3/10", "3/10"])
U = vec(["3/10", "1/2"])
SIZES = (2, 1)


@dataclass(frozen=True)
class Moved:
    """The printed instance in rotated rows, y scaled by s."""

    rotation: Matrix
    s: Fraction


@st.composite
def moved(draw: DrawFn) -> Moved:
    """A rational rotation of the rows and a scale."""
    return Moved(draw(orthogonal(2)), draw(positive_rationals()))


def blocks_of(w: Vector) -> tuple[Vector, ...]:
    """w split as the printed blocks {1, 2}, {3}."""
    return w[:2], w[2:]


def check(instance: Moved) -> Outcome:
    """Interpolates; u certifies the least group norm; unique; not in the row space of the active blocks."""
    rows = matmul(instance.rotation, X)
    y = scale(instance.s, matvec(instance.rotation, Y))
    w = scale(instance.s, W_G)
    u = matvec(instance.rotation, U)
    columns = tuple(zip(*rows, strict=True))
    slopes = blocks_of(tuple(dot(c, u) for c in columns))
    tight = all(
        norm2(g) == 1 and dot(g, wb) ** 2 == norm2(wb) and dot(g, wb) > 0
        for g, wb in zip(slopes, blocks_of(w), strict=True)
    )
    outputs = [matvec(tuple(r[:2] for r in rows), slopes[0]), matvec(tuple(r[2:] for r in rows), slopes[1])]
    return first_failure(
        expect(matvec(rows, w) == y, "w does not interpolate"),
        expect(tight, "u does not certify the least group norm"),
        expect(independent(outputs), "the interpolant of least group norm is not unique"),
        expect(not in_span(w, rows), "w is in the row space"),
    )


CLAIM = Claim(LABEL, "Interpolants outside the row space", Property(STATEMENT, moved(), check))
