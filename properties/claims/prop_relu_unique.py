"""prop:relu-unique: nnz(D_i) >= p d does not make the blocks independent, nor the network p-unique.

The cube (see `properties.strategies.cube`) has eight patterns with 24 = 8 * 3 rows on each, all eight neurons active
in the relative interior, and dependent outputs. The dependence is an identity in Z and r, seven outputs are
independent, and everything else is strict: so it persists on an open set of (Z, y), of positive probability.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import (
    Matrix,
    Vector,
    add,
    dependencies,
    dot,
    mat,
    matvec,
    norm2,
    rank,
    scale,
    total,
    transpose,
    unit,
    zeros,
)
from properties.exact.patterns import Pattern, patterns, relu_block
from properties.exact.problem import Weights, dual_vectors, is_optimal
from properties.model import HOLDS, Claim, Outcome, Property, Slip, Witness, expect, fails, first_failure, vacuous
from properties.strategies import Cube, planted_cube, vector
from properties.strategies.cube import cube

LABEL = "prop:relu-unique"
STATEMENT = (
    "If nnz(D_i) >= p d for all i and E has no two blocks with one pattern, the sub-sampled problem is p-unique a.s."
)
REPAIRED = (
    "sum_T s1 s2 s3 (D_T Z)(D_T Z)' = 0 for every Z near the cube: ties and dependence hold for every residual r."
)


def weights(instance: Cube, alpha: Vector) -> Weights:
    """The eight neurons with sign +1, nothing with sign -1."""
    out: list[Vector] = []
    for a, v in zip(alpha, instance.directions, strict=True):
        out += [scale(a, v), zeros(3)]
    return tuple(out)


def check(instance: Cube) -> Outcome:
    """Hypotheses by count; then a second solution, verified by the KKT conditions."""
    p, d = len(instance.patterns), 3
    problem = instance.problem
    if any(sum(pattern) < p * d for pattern in instance.patterns):
        return vacuous("nnz(D_i) < p d")
    if not is_optimal(problem, weights(instance, instance.alpha)):
        return vacuous("the planted weights are not optimal")
    v = dual_vectors(problem, instance.r)
    E = [b for b, vb in enumerate(v) if norm2(vb) == problem.lam2]
    if len({b // 2 for b in E}) < len(E):
        return vacuous("E has two blocks with one pattern")
    q = [matvec(problem.blocks[b].X, v[b]) for b in E]
    basis = dependencies(q)
    if not basis or len(E) != p:
        return expect(not basis, "dependent outputs, but not all neurons in use")
    t = min(abs(a / b) for a, b in zip(instance.alpha, basis[0], strict=True) if b) / 2
    other = add(instance.alpha, scale(t, basis[0]))
    if other == instance.alpha or not is_optimal(problem, weights(instance, other)):
        return HOLDS
    # Strict: one more than the rank in use with positive weights, every v_T inside its cone, the other blocks below
    # lambda. Then a solution with p - 1 of the neurons moves continuously with (Z, y), and the last one stays tied.
    inside = all(dot(z, v) != 0 for z in instance.Z for v in instance.directions)
    if rank(q) == p - 1 and all(a > 0 for a in instance.alpha) and inside:
        return fails(f"two solutions, on an open set of (Z, y): {rank(q)} of {p} outputs independent, all else strict")
    return vacuous("two solutions, but perhaps on a set of measure zero")


@st.composite
def with_residual(draw: DrawFn) -> tuple[Cube, Vector]:
    """Data near the cube and any residual."""
    instance = draw(planted_cube())
    return instance, draw(vector(len(instance.r)))


def check_repaired(instance: tuple[Cube, Vector]) -> Outcome:
    """The signed sums of outputs and of squared norms vanish, for this residual and as a matrix identity."""
    data, r = instance
    outputs, norms = [], Fraction(0)
    n = len(r)
    kernel = [[Fraction(0)] * n for _ in range(n)]
    for T, pattern in zip(data.signs, data.patterns, strict=True):
        block = relu_block(data.Z, pattern, 1)
        v = block.correlation(r)
        outputs.append(scale(prod(T), matvec(block.X, v)))
        norms += prod(T) * norm2(v)
        for i in range(n):
            for j in range(n):
                if pattern[i] and pattern[j]:
                    kernel[i][j] += prod(T) * dot(data.Z[i], data.Z[j])
    return first_failure(
        expect(not any(any(row) for row in kernel), "the kernels do not cancel"),
        expect(not any(total(outputs, n)), "the outputs do not cancel"),
        expect(norms == 0, "the squared norms do not cancel"),
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


def _cube48() -> Cube:
    found = cube(_rows(), (Fraction(1),) * 8)
    if found is None:
        raise ArithmeticError("eight rows near each axis carry any correlation")
    return found


CUBE48 = Witness("cube: 8 patterns, n = 48, rows near +-e_k, v = (+-1,+-2,+-2), lambda = 3", _cube48())
_FAN = mat([[1, 0], [2, 1], [1, 1], [1, 2], [0, 1]])
_ALL = (True,) * 5
_LINE = mat([[1], [1], [1], [-1], [-1], [-1]])

CLAIM = Claim(
    LABEL,
    "p-uniqueness of sub-sampled problems",
    Property(STATEMENT, planted_cube(rows=8), check),
    witnesses=(CUBE48,),
    repaired=Property(REPAIRED, with_residual(), check_repaired),
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
