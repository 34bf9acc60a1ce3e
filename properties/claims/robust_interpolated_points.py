"""Beyond the paper: for gated ReLU, patterns that differ only where r*_k = 0 tie exactly, and differ by span{e_k} in
output.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, matvec, norm2
from properties.exact.patterns import Pattern, gated_problem, patterns
from properties.model import HOLDS, Claim, Outcome, Property, expect, first_failure, vacuous
from properties.strategies import rational_matrix

LABEL = "robust: interpolated points"
STATEMENT = (
    "Gated ReLU: patterns that differ only at points with r*_k = 0 have the same dual vector, and outputs equal off "
    "them."
)


Instance = tuple[Matrix, Vector, Pattern, Pattern]


@st.composite
def instances(draw: DrawFn) -> Instance:
    """Data, a residual with zeros, a pattern of D_Z, and one that differs from it at some of the zeros."""
    n, d = draw(st.integers(2, 4)), draw(st.integers(1, 2))
    r = tuple(Fraction(draw(st.sampled_from([0, 0, 1, -1, 2]))) for _ in range(n))
    Z = draw(rational_matrix(n, d))
    p = draw(st.sampled_from(patterns(Z).all))
    return Z, r, p, tuple(on if rk else draw(st.booleans()) for on, rk in zip(p, r, strict=True))


def check(instance: Instance) -> Outcome:
    """The dual vectors are equal, the outputs equal where r is not zero; the patterns differ there at most."""
    Z, r, first, second = instance
    a, b = gated_problem(Z, (first, second), r, norm2(r)).blocks
    v, u = a.correlation(r), b.correlation(r)
    outputs = zip(matvec(a.X, v), matvec(b.X, u), r, strict=True)
    return first_failure(
        expect(v == u, "two tied patterns have different dual vectors"),
        expect(all(x == z for x, z, rk in outputs if rk), "their outputs differ at a point that is not interpolated"),
        HOLDS
        if all(on == other for on, other, rk in zip(first, second, r, strict=True) if rk)
        else vacuous("the patterns differ at a point that is not interpolated"),
    )


CLAIM = Claim(LABEL, "Interpolated points", Property(STATEMENT, instances(), check))
