"""Beyond the paper: for gated ReLU, patterns that differ only where r*_k = 0 tie exactly, and differ by span{e_k} in
output.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, matvec, norm2
from properties.exact.patterns import gated_problem, patterns
from properties.model import HOLDS, Claim, Outcome, Property, fails, vacuous
from properties.strategies import rational_matrix

LABEL = "robust: interpolated points"
STATEMENT = (
    "Gated ReLU: patterns that differ only at points with r*_k = 0 have the same dual vector, and outputs equal off "
    "them."
)


@st.composite
def instances(draw: DrawFn) -> tuple[Matrix, Vector]:
    """Data and a residual with zeros."""
    n, d = draw(st.integers(2, 4)), draw(st.integers(1, 2))
    r = tuple(Fraction(draw(st.sampled_from([0, 0, 1, -1, 2]))) for _ in range(n))
    return draw(rational_matrix(n, d)), r


def check(instance: tuple[Matrix, Vector]) -> Outcome:
    """All pairs of patterns of D_Z that agree where r is not zero."""
    Z, r = instance
    found = patterns(Z).all
    blocks = gated_problem(Z, found, r, norm2(r)).blocks
    met = False
    for i, p in enumerate(found):
        for j in range(i):
            if any(rk and a != b for rk, a, b in zip(r, p, found[j], strict=True)):
                continue
            met = True
            v, u = blocks[i].correlation(r), blocks[j].correlation(r)
            if v != u:
                return fails("two tied patterns have different dual vectors")
            outputs = zip(matvec(blocks[i].X, v), matvec(blocks[j].X, u), r, strict=True)
            if any(a != b and rk for a, b, rk in outputs):
                return fails("their outputs differ at a point that is not interpolated")
    return HOLDS if met else vacuous("no two patterns agree off the interpolated points")


CLAIM = Claim(LABEL, "Interpolated points", Property(STATEMENT, instances(), check))
