"""Planted constrained group lasso problems: the residual and the dual vectors come first, the data afterwards.

Fix r and lambda. For an active candidate take v_b = lambda u_b with a rational unit vector u_b; columns of K_b
orthogonal to v_b with multipliers rho >= 0, or with k.v_b < 0 and rho = 0; c_b = v_b + K_b rho_b; and

    X_b = r c_b'/|r|^2 + N_b,   N_b' r = 0,   N_b v_b = p_b

so X_b' r = c_b, whose projection onto the cone is v_b, and X_b v_b = lambda^2 r/|r|^2 + p_b with p_b orthogonal to r
and free: the optimal set is the fibre of the point configuration {p_b}. Other blocks get |v_b| < lambda.
With y = sum alpha_b X_b v_b + r, any alpha >= 0 is a solution and everything about the optimal set is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from properties.exact import polytope
from properties.exact.cone import project
from properties.exact.linalg import (
    Matrix,
    Vector,
    add,
    combine,
    dot,
    independent,
    matvec,
    norm2,
    null_space,
    scale,
    sub,
    total,
)
from properties.exact.problem import CGL, Block, Weights
from properties.strategies.numbers import nonzero_vector, positive_rationals, small_ints, unit_vector, vector


@dataclass(frozen=True)
class PlantedCGL:
    """A problem with its residual r*, canonical dual vectors v, and one solution w_b = alpha_b v_b."""

    problem: CGL
    r: Vector
    v: Weights
    alpha: Vector

    @cached_property
    def yhat(self) -> Vector:
        """The fit of every solution."""
        return sub(self.problem.y, self.r)

    @cached_property
    def E(self) -> tuple[int, ...]:
        """The equicorrelation set of the canonical dual: |v_b| = lambda."""
        return tuple(b for b, v in enumerate(self.v) if norm2(v) == self.problem.lam2)

    @cached_property
    def q(self) -> tuple[Vector, ...]:
        """The outputs X_b v_b of all blocks."""
        return tuple(matvec(b.X, v) for b, v in zip(self.problem.blocks, self.v, strict=True))

    @cached_property
    def vertices(self) -> tuple[Vector, ...]:
        """The vertices of the optimal set, as weights alpha on all blocks (zero off E)."""
        found = polytope.vertices([self.q[b] for b in self.E], self.yhat)
        return tuple(self.embed(alpha) for alpha in found)

    @cached_property
    def S(self) -> tuple[int, ...]:
        """S_lambda: the blocks that some solution uses."""
        return tuple(b for b in range(len(self.v)) if any(alpha[b] for alpha in self.vertices))

    @property
    def unique(self) -> bool:
        """There is one solution."""
        return len(self.vertices) == 1

    @property
    def dimension(self) -> int:
        """The dimension of the optimal set."""
        return polytope.dimension(self.vertices)

    @property
    def m_star(self) -> int:
        """The least number of active blocks of a solution."""
        return min(len(polytope.support(alpha)) for alpha in self.vertices)

    @property
    def M_star(self) -> int:
        """The largest number of active blocks of a minimal solution."""
        return max(len(polytope.support(alpha)) for alpha in self.vertices)

    def embed(self, alpha: Vector) -> Vector:
        """Weights on E as weights on all blocks."""
        out = [Fraction(0)] * len(self.v)
        for b, a in zip(self.E, alpha, strict=True):
            out[b] = a
        return tuple(out)

    def weights(self, alpha: Vector) -> Weights:
        """w_b = alpha_b v_b"""
        return tuple(scale(a, v) for a, v in zip(alpha, self.v, strict=True))

    @property
    def w(self) -> Weights:
        """The planted solution."""
        return self.weights(self.alpha)


def orthogonal_to(r: Vector, g: Vector) -> Vector:
    """g without its part along r."""
    return sub(g, scale(dot(g, r) / norm2(r), r))


@st.composite
def _cone(draw: DrawFn, v: Vector, count: int, tight: bool) -> tuple[tuple[Vector, ...], Vector]:
    """Columns k with k.v <= 0 and multipliers rho >= 0 that are zero where k.v < 0."""
    columns, rho = [], []
    s = norm2(v)
    for _ in range(count):
        k = draw(vector(len(v), 2))
        if s and (tight or draw(st.booleans())):
            k = sub(k, scale(dot(k, v) / s, v))
        if dot(k, v) > 0:
            k = scale(-1, k)
        columns.append(k)
        multiplier = Fraction(draw(st.integers(1 if tight else 0, 2)))
        rho.append(multiplier if dot(k, v) == 0 else Fraction(0))
    return tuple(columns), tuple(rho)


@st.composite
def planted_block(draw: DrawFn, r: Vector, v: Vector, p: Vector, count: int, tight: bool) -> Block:
    """X_b and K_b with X_b' r = v + K rho and, where v is not zero, X_b v = |v|^2 r/|r|^2 + p."""
    K, rho = draw(_cone(v, count, tight))
    return draw(block_in_cone(r, v, p, K, rho))


@st.composite
def block_in_cone(draw: DrawFn, r: Vector, v: Vector, p: Vector, K: tuple[Vector, ...], rho: Vector) -> Block:
    """The same for given constraints and multipliers."""
    c = add(v, combine(rho, K, len(v)))
    s = norm2(v)
    columns = []
    free = [orthogonal_to(r, draw(vector(len(r), 2))) if len(v) > 1 else (Fraction(0),) * len(r) for _ in v]
    drift = combine(v, free, len(r))
    for j, cj in enumerate(c):
        column = scale(cj / norm2(r), r)
        if s:  # N = p v'/|v|^2 + G (I - v v'/|v|^2)
            column = add(column, scale(v[j] / s, sub(p, drift)))
        columns.append(add(column, free[j]))
    X: Matrix = tuple(zip(*columns, strict=True))
    return Block(X, K)


@st.composite
def planted_cgl(
    draw: DrawFn,
    *,
    max_n: int = 4,
    max_size: int = 3,
    min_active: int = 1,
    min_weight: int = 0,
    max_active: int = 5,
    max_inactive: int = 2,
    constrained: bool = True,
    tight: bool = False,
    residual: Vector | None = None,
) -> PlantedCGL:
    """A constrained group lasso with its exact optimal set; half of the draws have more than one solution.

    `constrained=False` plants K = 0 (the group lasso). `tight` makes every constraint of a candidate active with a
    positive multiplier. `residual` prescribes r (not zero). `min_active` candidates of weight `min_weight` or more in
    few rows make the solution not unique.
    """
    n = draw(st.integers(1, max_n)) if residual is None else len(residual)
    r = residual or draw(nonzero_vector(n))
    lam = draw(positive_rationals())
    blocks, vs, alphas = [], [], []
    ps: list[Vector] = []
    for _ in range(draw(st.integers(min_active, max_active))):
        size = draw(st.integers(1, max_size))
        v = scale(lam, draw(unit_vector(size)))
        old = draw(st.integers(0, 2)) if len(ps) > 1 else 0
        p = scale(Fraction(1, 2), add(ps[-1], ps[-2])) if old == 2 else orthogonal_to(r, draw(vector(n, 2)))
        ps.append(p)
        count = draw(st.integers(0, 2)) if constrained else 0
        blocks.append(draw(planted_block(r, v, p, count, tight)))
        vs.append(v)
        alphas.append(Fraction(draw(st.integers(min_weight, 3)), draw(st.integers(1, 2))))
    for _ in range(draw(st.integers(0, max_inactive))):
        size = draw(st.integers(1, max_size))
        v = scale(lam * draw(st.sampled_from([Fraction(1, 2), Fraction(0), Fraction(4, 5)])), draw(unit_vector(size)))
        count = draw(st.integers(0, 2)) if constrained else 0
        blocks.append(draw(planted_block(r, v, orthogonal_to(r, draw(vector(n, 2))), count, False)))
        vs.append(v)
        alphas.append(Fraction(0))
    q = [matvec(b.X, v) for b, v in zip(blocks, vs, strict=True)]
    y = add(r, total((scale(a, qb) for a, qb in zip(alphas, q, strict=True)), n))
    return PlantedCGL(CGL(tuple(blocks), y, lam * lam), r, tuple(vs), tuple(alphas))


def planted_lasso(*, constrained: bool = True) -> SearchStrategy[PlantedCGL]:
    """All blocks of size one: exact solutions are known at every lambda (`properties.exact.lasso`)."""
    return planted_cgl(max_size=1, max_n=3, max_active=4, constrained=constrained)


@st.composite
def planted_corner(draw: DrawFn) -> PlantedCGL:
    """Neurons where several constraints are tight: often dependent (no LICQ), often without a multiplier (no strict
    complementarity). One or two blocks with weight, one perhaps without."""
    n = draw(st.integers(1, 3))
    r, lam = draw(nonzero_vector(n)), draw(positive_rationals())
    blocks, vs, alphas = [], [], []
    for _ in range(draw(st.integers(1, 3))):
        size = draw(st.integers(2, 3))
        v = scale(lam, draw(unit_vector(size)))
        across = null_space([v])
        K = tuple(
            combine([Fraction(draw(small_ints(1))) for _ in across], across, size)
            for _ in range(draw(st.integers(1, 4)))
        )
        rho = tuple(Fraction(draw(st.integers(0, 2))) for _ in K)
        blocks.append(draw(block_in_cone(r, v, orthogonal_to(r, draw(vector(n, 2))), K, rho)))
        vs.append(v)
        alphas.append(Fraction(draw(st.integers(0, 2))))
    q = [matvec(b.X, v) for b, v in zip(blocks, vs, strict=True)]
    y = add(r, total((scale(a, qb) for a, qb in zip(alphas, q, strict=True)), n))
    return PlantedCGL(CGL(tuple(blocks), y, lam * lam), r, tuple(vs), tuple(alphas))


@st.composite
def planted_smooth(draw: DrawFn, *, constrained: bool = True) -> PlantedCGL:
    """Where the solution function is differentiable: E = A, independent outputs, strict complementarity, LICQ.

    Blocks have size 2, or size 3 with one active constraint: in smaller ones lambda M(w) cannot be seen.
    A block whose output depends on the earlier ones is left out.
    """
    n = draw(st.integers(2, 4))
    r = draw(nonzero_vector(n))
    lam = draw(positive_rationals())
    blocks: list[Block] = []
    vs: list[Vector] = []
    q: list[Vector] = []
    alphas: list[Fraction] = []
    for _ in range(draw(st.integers(1, 2))):
        kinks = draw(st.integers(0, 1)) if constrained else 0
        v = scale(lam, draw(unit_vector(2 + kinks)))
        block = draw(planted_block(r, v, orthogonal_to(r, draw(vector(n, 2))), kinks, True))
        output = matvec(block.X, v)
        if independent([*q, output]):
            blocks.append(Block(block.X, tuple(k for k in block.K if any(k))))
            vs.append(v)
            q.append(output)
            alphas.append(draw(positive_rationals(3, 2)))
    y = add(r, total((scale(a, qb) for a, qb in zip(alphas, q, strict=True)), n))
    return PlantedCGL(CGL(tuple(blocks), y, lam * lam), r, tuple(vs), tuple(alphas))


@st.composite
def feasible_weights(draw: DrawFn, p: CGL) -> Weights:
    """Any feasible point: integer vectors projected onto the cones, some blocks zero."""
    return tuple(
        project(b.K, draw(vector(b.size, 2))) if draw(st.booleans()) else (Fraction(0),) * b.size for b in p.blocks
    )


@st.composite
def candidate(draw: DrawFn, planted: PlantedCGL) -> Weights:
    """A point that may or may not be optimal: of the optimal set, near it, on its rays, or anywhere."""
    kind = draw(st.sampled_from(["mixture", "rays", "disturbed", "anywhere"]))
    if kind == "anywhere":
        return draw(feasible_weights(planted.problem))
    if kind == "rays":
        size = len(planted.E)
        alpha = planted.embed(tuple(Fraction(draw(st.integers(0, 3)), draw(st.integers(1, 2))) for _ in range(size)))
        return planted.weights(alpha)
    corners = [draw(st.sampled_from(planted.vertices)) for _ in range(draw(st.integers(1, 3)))]
    w = planted.weights(polytope.barycentre(corners))
    if kind == "mixture":
        return w
    b = draw(st.integers(0, len(w) - 1))
    moved = tuple(x + Fraction(draw(small_ints(1)), 2) for x in w[b])
    return tuple(moved if i == b else wb for i, wb in enumerate(w))


@st.composite
def with_candidate(draw: DrawFn, instances: SearchStrategy[PlantedCGL]) -> tuple[PlantedCGL, Weights]:
    """A planted problem and a point that may or may not be optimal for it."""
    planted = draw(instances)
    return planted, draw(candidate(planted))


@st.composite
def with_feasible(draw: DrawFn, instances: SearchStrategy[PlantedCGL]) -> tuple[PlantedCGL, Weights]:
    """A planted problem and any feasible point, or a point of its optimal set."""
    planted = draw(instances)
    if draw(st.booleans()):
        return planted, draw(feasible_weights(planted.problem))
    return planted, planted.weights(draw(solution(planted)))


@st.composite
def solution(draw: DrawFn, planted: PlantedCGL) -> Vector:
    """The weights alpha of some solution: a mean of one to four vertices of the optimal set."""
    corners = [draw(st.sampled_from(planted.vertices)) for _ in range(draw(st.integers(1, 4)))]
    return polytope.barycentre(corners)


@st.composite
def with_solution(draw: DrawFn, instances: SearchStrategy[PlantedCGL]) -> tuple[PlantedCGL, Vector]:
    """A planted problem and the weights alpha of one of its solutions."""
    planted = draw(instances)
    return planted, draw(solution(planted))
