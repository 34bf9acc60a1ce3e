"""Beyond the paper: an exact dependence of kernels makes ties and dependent outputs for every residual.

If sum beta_a G_a = 0 with G_a = X_a X_a', then for every r the outputs q_a = X_a v_a, v_a = X_a'r, satisfy sum beta_a
q_a = 0 and sum beta_a |v_a|^2 = 0. Equal blocks are the case beta = (1, -1); the eight patterns of the cube are
another.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, combine, dependencies, dot, matvec, norm2, zeros
from properties.exact.patterns import Pattern, patterns, relu_block
from properties.model import HOLDS, Claim, Outcome, Property, expect, first_failure, vacuous
from properties.strategies import planted_cube, rational_matrix, vector

LABEL = "robust: kernel dependence"
STATEMENT = "If sum beta_a X_a X_a' = 0, then sum beta_a q_a = 0 and sum beta_a |v_a|^2 = 0 for every residual."


@dataclass(frozen=True)
class Dependence:
    """Data, patterns, coefficients beta of their kernels, and a residual."""

    Z: Matrix
    patterns: tuple[Pattern, ...]
    beta: Vector
    r: Vector


@st.composite
def instances(draw: DrawFn) -> Dependence:
    """Data with all its patterns or with many strings of bits, or a cube; a dependence of the kernels, any residual."""
    kind = draw(st.sampled_from(["patterns", "bits", "bits", "cube"]))
    Z = draw(rational_matrix(draw(st.integers(1, 3)), draw(st.integers(1, 2))))
    bits = st.tuples(*[st.booleans()] * len(Z))
    chosen = tuple(draw(st.lists(bits, min_size=7, max_size=7))) if kind == "bits" else patterns(Z).all
    if kind == "cube":
        cube = draw(planted_cube())
        Z, chosen = cube.Z, cube.patterns
    basis = dependencies([flat_kernel(Z, p) for p in chosen])
    mixed = combine([Fraction(draw(st.integers(-2, 2))) for _ in basis], basis, len(chosen))
    beta = mixed if any(mixed) else (*basis, zeros(len(chosen)))[0]
    return Dependence(Z, chosen, beta, draw(vector(len(Z))))


def flat_kernel(Z: Matrix, p: Pattern) -> Vector:
    """(D Z)(D Z)' as one long vector."""
    return tuple(i * j * dot(a, b) for a, i in zip(Z, p, strict=True) for b, j in zip(Z, p, strict=True))


def check(d: Dependence) -> Outcome:
    """The sums of squared norms and of outputs vanish, for the residual drawn; beta is a dependence of the kernels."""
    blocks = [relu_block(d.Z, p, 1) for p in d.patterns]
    v = [b.correlation(d.r) for b in blocks]
    q = [matvec(b.X, vb) for b, vb in zip(blocks, v, strict=True)]
    kernels = [flat_kernel(d.Z, p) for p in d.patterns]
    dependent = any(d.beta) and not any(combine(d.beta, kernels, len(kernels[0])))
    return first_failure(
        expect(dot(d.beta, [norm2(vb) for vb in v]) == 0, "the squared norms do not cancel"),
        expect(not any(combine(d.beta, q, len(d.r))), "the outputs do not cancel"),
        HOLDS if dependent else vacuous("beta is no dependence of the kernels"),
    )


CLAIM = Claim(LABEL, "Dependence of kernels", Property(STATEMENT, instances(), check))
