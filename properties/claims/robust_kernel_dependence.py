"""Beyond the paper: an exact dependence of kernels makes ties and dependent outputs for every residual.

If sum beta_a G_a = 0 with G_a = X_a X_a', then for every r the outputs q_a = X_a v_a, v_a = X_a'r, satisfy sum beta_a
q_a = 0 and sum beta_a |v_a|^2 = 0. Equal blocks are the case beta = (1, -1); the eight patterns of the cube are
another.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, combine, dependencies, dot, matvec, norm2
from properties.exact.patterns import Pattern, patterns, relu_block
from properties.model import HOLDS, Claim, Outcome, Property, fails, vacuous
from properties.strategies import planted_cube, rational_matrix, vector

LABEL = "robust: kernel dependence"
STATEMENT = "If sum beta_a X_a X_a' = 0, then sum beta_a q_a = 0 and sum beta_a |v_a|^2 = 0 for every residual."

Instance = tuple[Matrix, tuple[Pattern, ...], Vector]


@st.composite
def instances(draw: DrawFn) -> Instance:
    """Data with all its patterns, or a cube with its eight, and any residual."""
    if draw(st.booleans()):
        cube = draw(planted_cube())
        return cube.Z, cube.patterns, draw(vector(len(cube.r)))
    n, d = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    Z = draw(rational_matrix(n, d))
    return Z, patterns(Z).all, draw(vector(n))


def flat_kernel(Z: Matrix, p: Pattern) -> Vector:
    """(D Z)(D Z)' as one long vector."""
    return tuple(
        dot(a, b) if i and j else Fraction(0) for a, i in zip(Z, p, strict=True) for b, j in zip(Z, p, strict=True)
    )


def check(instance: Instance) -> Outcome:
    """Every basis dependence of the kernels, for the residual drawn."""
    Z, chosen, r = instance
    basis = dependencies([flat_kernel(Z, p) for p in chosen])
    if not basis:
        return vacuous("independent kernels")
    blocks = [relu_block(Z, p, 1) for p in chosen]
    v = [b.correlation(r) for b in blocks]
    q = [matvec(b.X, vb) for b, vb in zip(blocks, v, strict=True)]
    for beta in basis:
        if any(combine(beta, q, len(r))):
            return fails("the outputs do not cancel")
        if sum((x * norm2(vb) for x, vb in zip(beta, v, strict=True)), Fraction(0)):
            return fails("the squared norms do not cancel")
    return HOLDS


CLAIM = Claim(LABEL, "Dependence of kernels", Property(STATEMENT, instances(), check))
