"""Planted constrained group lasso problems: the residual and the dual vectors come first, the data afterwards.

Fix r and lambda. For an active candidate take v_b = lambda u_b with a rational unit vector u_b; columns of K_b
orthogonal to v_b with multipliers rho >= 0, or with k.v_b < 0 and rho = 0; c_b = v_b + K_b rho_b; and

    X_b = r c_b'/|r|^2 + N_b,   N_b' r = 0,   N_b v_b = p_b

so X_b' r = c_b, whose projection onto the cone is v_b, and X_b v_b = lambda^2 r/|r|^2 + p_b with p_b orthogonal to r
and free: the optimal set is the fibre of the point configuration {p_b}. Other blocks get |v_b| < lambda.
With y = sum alpha_b X_b v_b + r, any alpha >= 0 is a solution and everything about the optimal set is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from properties.exact import polytope
from properties.exact.cone import project
from properties.exact.linalg import Vector, add, combine, independent, matvec, norm2, null_space, scale, sub
from properties.exact.problem import CGL, Block, Weights
from properties.strategies.numbers import points, positive_rationals, rationals, several, vector
from properties.strategies.sketch import Sketch, first, fitted, fitted_in_cone, output, sketches

WEIGHTS = tuple(Fraction(w) for w in ("0", "1", "2", "1/2", "1", "3", "3/2", "1"))
POSITIVE = tuple(w for w in WEIGHTS if w)
SHORT = tuple(Fraction(w) for w in ("1/2", "0", "4/5"))


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


def plant_cgl(
    r: Vector, lam: Fraction, active: Sequence[Sketch], inactive: Sequence[Sketch] = (), *, tight: bool = False
) -> PlantedCGL:
    """The problem with residual r and these candidates; the weight of an inactive sketch is |v_b| / lambda."""
    blocks, vs, alphas = [], [], []
    before: list[tuple[Fraction, Vector]] = []
    for sketch in active:
        v, p = scale(lam, sketch.direction), output(sketch, r, before)
        before.append((sketch.weight, p))
        blocks.append(fitted(sketch, r, v, p, tight))
        vs.append(v)
        alphas.append(sketch.weight)
    for sketch in inactive:
        vs.append(scale(lam * sketch.weight, sketch.direction))
        blocks.append(fitted(sketch, r, vs[-1], output(sketch, r)))
        alphas.append(Fraction(0))
    q = [matvec(b.X, v) for b, v in zip(blocks, vs, strict=True)]
    y = add(r, combine(alphas, q, len(r)))
    return PlantedCGL(CGL(tuple(blocks), y, lam * lam), r, tuple(vs), tuple(alphas))


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
    most = max_n if residual is None else len(residual)
    weights = tuple(w for w in WEIGHTS if w >= min_weight)
    columns = 2 if constrained else 0
    active = sketches(most, weights, max_size=max_size, columns=columns)
    inactive = sketches(most, SHORT, max_size=max_size, columns=columns)
    n = draw(st.integers(1, max_n)) if residual is None else most
    r = residual or first(n, draw(vector(most)))
    lam = draw(positive_rationals())
    candidates = draw(several(active, min_active, max_active))
    return plant_cgl(r, lam, candidates, draw(several(inactive, 0, max_inactive)), tight=tight)


def planted_lasso(*, constrained: bool = True) -> SearchStrategy[PlantedCGL]:
    """All blocks of size one: exact solutions are known at every lambda (`properties.exact.lasso`)."""
    return planted_cgl(max_size=1, max_n=3, max_active=4, constrained=constrained)


@st.composite
def planted_corner(draw: DrawFn) -> PlantedCGL:
    """Neurons where several constraints are tight: often dependent (no LICQ), often without a multiplier (no strict
    complementarity). One or two blocks with weight, one perhaps without."""
    n = draw(st.integers(1, 3))
    r, lam = first(n, draw(vector(3))), draw(positive_rationals())
    flat = sketches(3, tuple(map(Fraction, range(3))), min_size=2, columns=0, places=("new",))
    tight = several(st.tuples(points(2, 1), st.integers(0, 2)), 1, 4)
    blocks, vs, alphas = [], [], []
    for sketch, constraints in draw(several(st.tuples(flat, tight), 1, 3)):
        v = scale(lam, sketch.direction)
        across = null_space([v])
        K = tuple(combine(c[: len(across)], across, len(v)) for c, _ in constraints)
        rho = tuple(Fraction(multiplier) for _, multiplier in constraints)
        blocks.append(fitted_in_cone(sketch, r, v, output(sketch, r), K, rho))
        vs.append(v)
        alphas.append(sketch.weight)
    q = [matvec(b.X, v) for b, v in zip(blocks, vs, strict=True)]
    y = add(r, combine(alphas, q, n))
    return PlantedCGL(CGL(tuple(blocks), y, lam * lam), r, tuple(vs), tuple(alphas))


@st.composite
def planted_smooth(draw: DrawFn, *, constrained: bool = True) -> PlantedCGL:
    """Where the solution function is differentiable: E = A, independent outputs, strict complementarity, LICQ.

    Blocks have size 2, or size 3 with one active constraint: in smaller ones lambda M(w) cannot be seen.
    A block whose output depends on the earlier ones is left out.
    """
    n = draw(st.integers(2, 4))
    r = first(n, draw(vector(4)))
    flat = sketches(4, POSITIVE, min_size=2, max_size=2, columns=0, places=("new",))
    bent = sketches(4, POSITIVE, min_size=3, max_size=3, columns=1, places=("new",))
    drawn = several(st.one_of(flat, bent) if constrained else flat, 1, 2)
    whole = plant_cgl(r, draw(positive_rationals()), draw(drawn), tight=True)
    kept: list[int] = []
    for b in range(len(whole.v)):
        if independent([whole.q[k] for k in (*kept, b)]):
            kept.append(b)
    blocks = tuple(Block(b.X, tuple(k for k in b.K if any(k))) for b in whole.problem.blocks)
    y = add(r, combine([whole.alpha[b] for b in kept], [whole.q[b] for b in kept], n))
    part = CGL(blocks, y, whole.problem.lam2).restrict(kept)
    return PlantedCGL(part, r, tuple(whole.v[b] for b in kept), tuple(whole.alpha[b] for b in kept))


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
        alpha = planted.embed(draw(st.tuples(*[st.sampled_from(WEIGHTS)] * size)))
        return planted.weights(alpha)
    corners = [draw(st.sampled_from(planted.vertices)) for _ in range(draw(st.integers(1, 3)))]
    w = planted.weights(polytope.barycentre(corners))
    if kind == "mixture":
        return w
    b = draw(st.integers(0, len(w) - 1))
    moved = tuple(x + draw(rationals(1, 1)) / 2 for x in w[b])
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
