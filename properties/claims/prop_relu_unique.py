"""prop:relu-unique: nnz(D_i) >= p d does not make the blocks independent, nor the network p-unique.

The cube (see `properties.strategies.cube`) has eight patterns with 24 = 8 * 3 rows on each, all eight neurons active
in the relative interior, and dependent outputs: on an open set of (Z, y), of positive probability. Its dependence needs
the patterns only. If sum_T beta_T D_T[k] D_T[l] = 0 for all rows k, l, then sum beta_T (D_T Z)(D_T Z)' = 0 for every Z.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import (
    Matrix,
    Vector,
    add,
    combine,
    dependencies,
    dot,
    independent,
    mat,
    matvec,
    norm2,
    rank,
    scale,
    transpose,
    unit,
)
from properties.exact.patterns import Pattern, patterns, relu_block, relu_problem
from properties.exact.problem import CGL, Weights, dual_vectors, is_optimal
from properties.model import HOLDS, Claim, Outcome, Property, Slip, Witness, expect, fails, first_failure, vacuous
from properties.strategies import Cube, nonzero_vector, planted_cube, rational_matrix, vector
from properties.strategies.cube import cube

LABEL = "prop:relu-unique"
STATEMENT = (
    "If nnz(D_i) >= p d for all i and E has no two blocks with one pattern, the sub-sampled problem is p-unique a.s."
)
REPAIRED = (
    "If sum_T beta_T D_T[k] D_T[l] = 0 for all rows (cube: s1 s2 s3), "
    "sum beta q = 0 and sum beta |v|^2 = 0 for all Z, r."
)


@dataclass(frozen=True)
class Sampled:
    """Z, some patterns, the residual r, lambda^2, and a weight alpha_b of v_b for each pattern with +1 and with -1."""

    Z: Matrix
    patterns: tuple[Pattern, ...]
    r: Vector
    lam2: Fraction
    alpha: Vector

    @cached_property
    def v(self) -> Weights:
        """v_b = Proj(X_b'r)"""
        return dual_vectors(relu_problem(self.Z, self.patterns, self.r, self.lam2), self.r)

    @cached_property
    def q(self) -> tuple[Vector, ...]:
        """X_b v_b"""
        blocks = [relu_block(self.Z, p, xi) for p in self.patterns for xi in (1, -1)]
        return tuple(matvec(b.X, v) for b, v in zip(blocks, self.v, strict=True))

    @property
    def problem(self) -> CGL:
        """The convex program, y = r + sum alpha_b q_b."""
        return relu_problem(self.Z, self.patterns, add(self.r, combine(self.alpha, self.q, len(self.r))), self.lam2)

    def weights(self, alpha: Vector) -> Weights:
        """w_b = alpha_b v_b"""
        return tuple(scale(a, v) for a, v in zip(alpha, self.v, strict=True))


def of_cube(c: Cube) -> Sampled:
    """The eight neurons with sign +1, nothing with sign -1."""
    return Sampled(c.Z, c.patterns, c.r, Fraction(9), tuple(x for a in c.alpha for x in (a, Fraction(0))))


@st.composite
def small(draw: DrawFn) -> Sampled:
    """One or two patterns of data with few features, lambda as large as r allows."""
    d = draw(st.integers(1, 2))
    p = draw(st.integers(1, 2))
    Z = draw(rational_matrix(draw(st.integers(p * d, 6)), d))
    r = draw(nonzero_vector(len(Z)))
    many = [x for x in patterns(Z).all if sum(x) >= p * d] or [(True,) * len(Z)]
    chosen = tuple(draw(st.lists(st.sampled_from(many), min_size=1, max_size=p, unique=True)))
    v = dual_vectors(relu_problem(Z, chosen, r, Fraction(1)), r)
    lam2 = max(norm2(vb) for vb in v) or Fraction(1)
    alpha = tuple(Fraction(draw(st.integers(0, 2)) if norm2(vb) == lam2 else 0) for vb in v)
    return Sampled(Z, chosen, r, lam2, alpha)


def overlaps(p: Pattern) -> Vector:
    """D[k] D[l] for all rows k, l."""
    return tuple(Fraction(a * b) for a in p for b in p)


def check(s: Sampled) -> Outcome:
    """Independent outputs on E: one network. Dependent ones refute where they stay dependent for all (Z, y) nearby.

    Suppose E is in use, every v_b strictly inside its cone, so that v_b = X_b'r nearby, and every dependence of the
    outputs one of the patterns, sum beta_b D_b[k] D_b[l] = 0. Then sum beta = 0, since sum beta |v_b|^2 = 0. Hold the
    weights outside a largest independent set of outputs fixed: the ties |v_b| = lambda of this set determine r and its
    weights nearby (regular Jacobian), the other ties follow from the dependences, and the weights stay positive.
    """
    if any(sum(p) < len(s.patterns) * len(s.Z[0]) for p in s.patterns):
        return vacuous("nnz(D_i) < p d")
    if not is_optimal(s.problem, s.weights(s.alpha)):
        return vacuous("the planted weights are not optimal")
    E = [b for b, v in enumerate(s.v) if norm2(v) == s.lam2]
    if len({b // 2 for b in E}) < len(E):
        return vacuous("E has two blocks with one pattern")
    q = [s.q[b] for b in E]
    if independent(q):
        return HOLDS
    strict = all(s.alpha[b] and all(dot(z, s.v[b]) for z in s.Z) for b in E)
    lasting = len(dependencies([overlaps(s.patterns[b // 2]) for b in E]))
    if strict and rank(q) + lasting == len(E):
        return fails(
            f"two solutions, on an open set of (Z, y): {rank(q)} of {len(E)} outputs independent, all else strict"
        )
    return vacuous("two solutions, but perhaps on a set of measure zero")


@dataclass(frozen=True)
class Cancelling:
    """Data, patterns with coefficients whose overlaps cancel, and a residual."""

    Z: Matrix
    patterns: tuple[Pattern, ...]
    beta: Vector
    r: Vector


@st.composite
def cancelling(draw: DrawFn) -> Cancelling:
    """The cube with its signs, or any strings of bits with a dependence of their overlaps; any data, any residual."""
    if draw(st.integers(0, 3)) == 0:
        c = draw(planted_cube(rows=2))
        return Cancelling(c.Z, c.patterns, tuple(Fraction(prod(T)) for T in c.signs), draw(vector(len(c.Z))))
    n = draw(st.integers(1, 3))
    Z = draw(rational_matrix(n, draw(st.integers(1, 3))))
    bits = st.tuples(*[st.booleans()] * n)
    size = n * (n + 1) // 2 + 1  # one more than the overlaps can be independent
    chosen = tuple(draw(st.lists(bits, min_size=size, max_size=size)))
    basis = dependencies([overlaps(p) for p in chosen])
    beta = combine([Fraction(draw(st.integers(-2, 2))) for _ in basis], basis, size)
    return Cancelling(Z, chosen, beta if any(beta) else basis[0], draw(vector(n)))


def check_repaired(c: Cancelling) -> Outcome:
    """The sums of squared norms and of outputs vanish, for this residual; the overlaps of the patterns do cancel."""
    blocks = [relu_block(c.Z, p, 1) for p in c.patterns]
    v = [b.correlation(c.r) for b in blocks]
    outputs = [matvec(b.X, vb) for b, vb in zip(blocks, v, strict=True)]
    shared = [overlaps(p) for p in c.patterns]
    cancel = not any(combine(c.beta, shared, len(shared[0])))
    return first_failure(
        expect(dot(c.beta, [norm2(vb) for vb in v]) == 0, "the squared norms do not cancel"),
        expect(not any(combine(c.beta, outputs, len(c.r))), "the outputs do not cancel"),
        HOLDS if cancel else vacuous("the overlaps of the patterns do not cancel"),
    )


def full_rank(instance: tuple[Matrix, tuple[Pattern, ...]]) -> Outcome:
    """The proof's stronger fact: nnz(D_i) >= p d makes all columns of the D_i Z independent."""
    Z, chosen = instance
    d = len(Z[0])
    if not set(chosen) <= set(patterns(Z).all) or any(sum(p) < len(chosen) * d for p in chosen):
        return vacuous("not patterns of Z, or too few rows on")
    columns = [c for p in chosen for c in transpose(relu_block(Z, p, 1).X)]
    return expect(rank(columns) == len(columns), f"rank {rank(columns)} < {len(columns)} = p d")


def _rows() -> Matrix:
    """48 rows near +-e_k, eight near each, in no special position."""
    out = []
    for g in range(6):
        for i in range(8):
            jitter = tuple(Fraction((i * (3 * j + 2) + i * i * (j + 1) + 5 * g + 3 * j) % 11 - 5, 60) for j in range(3))
            out.append(add(scale(1 if g % 2 == 0 else -1, unit(3, g // 2)), jitter))
    return tuple(out)


def _cube48() -> Sampled:
    found = cube(_rows(), (Fraction(1),) * 8)
    if found is None:
        raise ArithmeticError("eight rows near each axis carry any correlation")
    return of_cube(found)


CUBE48 = Witness("cube: 8 patterns, n = 48, rows near +-e_k, v = (+-1,+-2,+-2), lambda = 3", _cube48())
_FAN = mat([[1, 0], [2, 1], [1, 1], [1, 2], [0, 1]])
_ALL = (True,) * 5
_LINE = mat([[1], [1], [1], [-1], [-1], [-1]])

CLAIM = Claim(
    LABEL,
    "p-uniqueness of sub-sampled problems",
    Property(STATEMENT, st.one_of(small(), small(), planted_cube(rows=8).map(of_cube)), check),
    witnesses=(CUBE48,),
    repaired=Property(REPAIRED, cancelling(), check_repaired),
    slips=(
        Slip(
            "proof: the p d columns of the D_i Z are independent",
            full_rank,
            Witness("adjacent patterns, p = d = 2, n = 5", (_FAN, (_ALL, (False, *_ALL[1:])))),
        ),
        Slip(
            "the same for D_3 = D_1 + D_2",
            full_rank,
            Witness(
                "Z = (1,1,1,-1,-1,-1)', p = 3",
                (_LINE, ((True,) * 3 + (False,) * 3, (False,) * 3 + (True,) * 3, (True,) * 6)),
            ),
        ),
    ),
)
