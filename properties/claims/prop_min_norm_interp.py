"""prop:min-norm-interp: the interpolant of least group norm may leave the row space, in exact numbers.

X = [1 2 | 0; 1 0 | 2], y = (1, 1): w_g = (2/5, 3/10, 3/10), with the dual certificate u = (3/10, 1/2). The instance is
moved by rational orthogonal maps of the rows and scaled, which changes nothing in the claim.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import (
    Matrix,
    Vector,
    dot,
    in_span,
    independent,
    mat,
    matmul,
    matvec,
    norm2,
    scale,
    transpose,
    vec,
)
from properties.model import Claim, Outcome, Property, expect, first_failure
from properties.strategies import orthogonal, positive_rationals

LABEL = "prop:min-norm-interp"
STATEMENT = "Some X, y have a unique interpolant of least group norm, and it is not in Row(X_A)."

X: Matrix = mat([[1, 2, 0], [1, 0, 2]])
Y = vec([1, 1])
W_G = vec(["2/5", "3/10", "3/10"])
U = vec(["3/10", "1/2"])


@dataclass(frozen=True)
class Interpolant:
    """X (the first two columns are a block, the third is another), y, an interpolant w, and a dual certificate u."""

    X: Matrix
    y: Vector
    w: Vector
    u: Vector


@st.composite
def moved(draw: DrawFn) -> Interpolant:
    """The printed instance in rotated rows, y scaled."""
    rotation, s = draw(orthogonal(2)), draw(positive_rationals())
    y = scale(s, matvec(rotation, Y))
    return Interpolant(matmul(rotation, X), y, scale(s, W_G), matvec(rotation, U))


def blocks_of(w: Vector) -> tuple[Vector, ...]:
    """w split as the printed blocks {1, 2}, {3}."""
    return w[:2], w[2:]


def check(i: Interpolant) -> Outcome:
    """Interpolates; u certifies the least group norm; unique; not in the row space of the active blocks."""
    slopes = blocks_of(matvec(transpose(i.X), i.u))
    # X_b'u is the unit vector w_b/|w_b|: sum |w_b| = u.y, and every interpolant has sum |w_b| >= u.y
    tight = all(
        norm2(g) == 1 and dot(g, wb) ** 2 == norm2(wb) and dot(g, wb) > 0
        for g, wb in zip(slopes, blocks_of(i.w), strict=True)
    )
    blocks = zip(*map(blocks_of, i.X), strict=True)
    outputs = [matvec(columns, g) for columns, g in zip(blocks, slopes, strict=True)]
    return first_failure(
        expect(matvec(i.X, i.w) == i.y, "w does not interpolate"),
        expect(tight, "u does not certify the least group norm"),
        expect(independent(outputs), "the interpolant of least group norm is not unique"),
        expect(not in_span(i.w, i.X), "w is in the row space"),
    )


CLAIM = Claim(LABEL, "Interpolants outside the row space", Property(STATEMENT, moved(), check))
