"""sec:conclusion, the conjecture: the min-norm path is always continuous. It is not; three exact instances.

Two exact arguments give the limit of the solution at lambda0 from one side.

Local (`side_limit`): if on that side a set A of blocks with independent outputs satisfies the optimality conditions
strictly, the solution there is unique, supported on A, and tends to the one solution at lambda0 supported on A. In mu
= lambda^2/2, with M = I + sum alpha_a X_a X_a' and q_a = X_a v_a:  alpha' = -(Q'M^-1 Q)^-1 1,  r' = M^-1 Q (Q'M^-1
Q)^-1 1,  and for a block outside A (|v_b|^2/2 - mu)' = q_b.r' - 1, which vanishes if q_b is an affine combination sum
beta_a q_a; then the second derivative is |X_b'r'|^2 - sum beta_a |X_a'r'|^2.

Whole path (`alone`): one block b alone, w_b = a c_b with c_b = (I + a X_b'X_b)^-1 X_b'y, solves the problem at
lambda(a) = |c_b| as long as every other block stays within lambda(a). This decides the case where another block
touches lambda with a double zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from properties.exact.cone import in_cone
from properties.exact.lasso import left_limit, right_limit
from properties.exact.linalg import (
    Matrix,
    Vector,
    add,
    combine,
    dot,
    eye,
    inverse,
    mat,
    matmul,
    matvec,
    norm2,
    scale,
    solve_columns,
    transpose,
    vec,
    zeros,
)
from properties.exact.patterns import gated_problem, patterns, relu_problem
from properties.exact.polytope import least_norm
from properties.exact.problem import CGL, Block, dual_vectors, is_optimal, problem, residual
from properties.model import Claim, Outcome, Property, Witness, expect, vacuous
from properties.strategies import PlantedCGL, planted_cgl, planted_lasso, positive_rationals

LABEL = "conjecture: min-norm path"
STATEMENT = "The min-norm solution's path is always continuous in lambda."
REPAIRED = "The min-norm path is continuous at every lambda where the solution is unique."


@dataclass(frozen=True)
class SinglePath:
    """Blocks and y, the block that is active alone, and its weight a0 at the suspected jump."""

    blocks: tuple[Block, ...]
    y: Vector
    b: int
    a0: Fraction


def alone(path: SinglePath, a: Fraction) -> PlantedCGL | None:
    """The optimum at lambda(a) if block b alone is a solution there, with its equicorrelation set; else None."""
    block = path.blocks[path.b]
    Xt = transpose(block.X)
    shifted = tuple(add(e, scale(a, row)) for e, row in zip(eye(block.size), matmul(Xt, block.X), strict=True))
    regular = inverse(shifted)
    if regular is None:
        raise ArithmeticError("I + a X'X is regular for a >= 0")
    c = matvec(regular, matvec(Xt, path.y))
    p = CGL(path.blocks, path.y, norm2(c))
    w = tuple(scale(a, c) if b == path.b else zeros(x.size) for b, x in enumerate(path.blocks))
    if not in_cone(block.K, c) or not is_optimal(p, w):
        return None
    r = tuple(y - q for y, q in zip(path.y, matvec(block.X, scale(a, c)), strict=True))
    alpha = tuple(a if b == path.b else Fraction(0) for b in range(len(path.blocks)))
    return PlantedCGL(p, r, tuple(x.dual_vector(r) for x in path.blocks), alpha)


def min_norm2(planted: PlantedCGL) -> Fraction:
    """|w|^2 = lambda^2 |alpha|^2 of the min-norm solution."""
    best = least_norm([planted.q[b] for b in planted.E], planted.yhat)
    if best is None:
        raise ArithmeticError("the optimal set is not empty")
    return planted.problem.lam2 * norm2(best)


def check(instance: SinglePath | PlantedCGL) -> Outcome:
    """The min-norm solution at lambda0 against its limits from the sides."""
    return check_path(instance) if isinstance(instance, SinglePath) else check_sides(instance)


def check_path(path: SinglePath) -> Outcome:
    """|w|^2 at a0, and along a = a0 (1 +- 1/k), where the solution must be block b alone, uniquely.

    There |w|^2 = a^2 lambda(a)^2 is a continuous function of a, so its limit at a0 is its value there.
    """
    here = alone(path, path.a0)
    if here is None:
        return vacuous("the block is not a solution alone")
    at, limit = min_norm2(here), here.problem.lam2 * path.a0**2
    for k in (10, 100, 1000, 10**6):
        for sign in (1, -1):
            near = alone(path, path.a0 * (1 + Fraction(sign, k)))
            if near is None or not near.unique or (near.problem.lam2 < here.problem.lam2) != (sign > 0):
                return vacuous("the solution nearby is not the block alone")
    return expect(at == limit, _jump(here.problem.lam2, at, [limit, limit]))


def _jump(lam2: Fraction, at: Fraction, limits: list[Fraction]) -> str:
    return (
        f"at lambda^2 = {lam2} the min-norm |w|^2 is {at}; it tends to {' and '.join(map(str, limits))} from the sides"
    )


def side_limit(planted: PlantedCGL, side: int) -> Vector | None:
    """The limit of the solution's weights as lambda tends to lambda0 from above (side = 1) or below, if decided."""
    found = side_branch(planted, side)
    return None if found is None else found[0]


def side_branch(planted: PlantedCGL, side: int) -> tuple[Vector, tuple[int, ...]] | None:
    """That limit, and the blocks that are active on that side."""
    for alpha in planted.vertices:
        M_inverse = inverse(_kernel(planted, alpha))
        if M_inverse is None:
            raise ArithmeticError("I + sum alpha G is regular")
        free = [b for b in planted.E if not alpha[b]]
        for size in range(len(free) + 1):
            for extra in combinations(free, size):
                A = [*(b for b in planted.E if alpha[b]), *extra]
                if A and _strict(planted, M_inverse, A, len(A) - size, side):
                    return alpha, tuple(sorted(A))
    return None


def _kernel(planted: PlantedCGL, alpha: Vector) -> Matrix:
    """M = I + sum alpha_a X_a X_a'"""
    M = eye(planted.problem.n)
    for a, block in zip(alpha, planted.problem.blocks, strict=True):
        if a:
            G = matmul(block.X, transpose(block.X))
            M = tuple(add(row, scale(a, g)) for row, g in zip(M, G, strict=True))
    return M


def _strict(planted: PlantedCGL, M_inverse: Matrix, A: list[int], used: int, side: int) -> bool:
    """The optimality conditions hold strictly on this side, for blocks A of which the first `used` are active."""
    Q = [planted.q[b] for b in A]
    MQ = [matvec(M_inverse, q) for q in Q]
    regular = inverse(tuple(tuple(dot(q, m) for m in MQ) for q in Q))
    if regular is None:
        return False
    rates = matvec(regular, (Fraction(1),) * len(A))
    if any(-side * rate <= 0 for rate in rates[used:]):
        return False
    dr = combine(rates, MQ, planted.problem.n)
    return all(_falls_behind(planted, A, b, dr, side) for b in planted.E if b not in A)


def _falls_behind(planted: PlantedCGL, A: list[int], b: int, dr: Vector, side: int) -> bool:
    """|v_b| falls below lambda on this side: by the first derivative or, if it vanishes, the second."""
    slope = dot(planted.q[b], dr) - 1
    if slope:
        return side * slope < 0
    beta = solve_columns([planted.q[a] for a in A], planted.q[b])
    if beta is None:
        return False
    curvature = norm2(planted.problem.blocks[b].correlation(dr))
    return curvature < sum(
        (x * norm2(planted.problem.blocks[a].correlation(dr)) for x, a in zip(beta, A, strict=True)), Fraction(0)
    )


def check_sides(planted: PlantedCGL) -> Outcome:
    """Both one-sided limits, where the derivatives decide them, against the min-norm solution at lambda0."""
    inside = all(dot(k, planted.v[b]) < 0 for b in planted.E for k in planted.problem.blocks[b].K if any(k))
    if not inside:
        return vacuous("a dual vector lies on the boundary of its cone")
    if planted.unique:
        return vacuous("unique at lambda0")
    limits = [alpha for alpha in (side_limit(planted, 1), side_limit(planted, -1)) if alpha is not None]
    if not limits:
        return vacuous("the derivatives do not decide")
    at = min_norm2(planted)
    norms = [planted.problem.lam2 * norm2(alpha) for alpha in limits]
    return expect(all(x == at for x in norms), _jump(planted.problem.lam2, at, norms))


@st.composite
def single_paths(draw: DrawFn) -> SinglePath:
    """The blocks and the residual of a group lasso, with weight on one tied block only."""
    planted = draw(planted_cgl(constrained=False, max_n=3, max_active=3))
    b, a0 = draw(st.sampled_from(planted.E)), draw(positive_rationals(3, 2))
    return SinglePath(planted.problem.blocks, add(planted.r, scale(a0, planted.q[b])), b, a0)


def instances() -> SearchStrategy[SinglePath | PlantedCGL]:
    """Group lassos, problems with cones, and single paths."""
    free = planted_cgl(constrained=False, max_n=3, max_active=4)
    return st.one_of(free, planted_cgl(max_n=3, max_active=3), single_paths())


def check_repaired(planted: PlantedCGL) -> Outcome:
    """A unique solution: both exact one-sided limits of the path are it."""
    if not planted.unique:
        return vacuous("not unique")
    lam = planted.problem.lam
    return expect(left_limit(planted.problem, lam) == right_limit(planted.problem, lam) == planted.w, "the path jumps")


def _group_lasso() -> SinglePath:
    p = problem([[5, 0, 3], [0, 10, 8]], [2, 1], [6, 10], 625)
    return SinglePath(p.blocks, p.y, 0, Fraction(1, 25))


def _smallest() -> PlantedCGL:
    """Found by search and shrunk: at lambda = 1 both blocks have the output (1, 1)."""
    p = problem([[0, 1, 1], [1, 1, 1]], [2, 1], [2, 1], 1)
    return PlantedCGL(p, vec([1, 0]), (vec([0, 1]), vec([1])), vec([1, 0]))


def _gated() -> SinglePath:
    Z, y = mat([[1, 0], [0, 2], [4, -3]]), vec([6, 10, 0])
    chosen = patterns(Z).all
    return SinglePath(
        gated_problem(Z, chosen, y, Fraction(25)).blocks, y, chosen.index((True, True, False)), Fraction(1)
    )


def _relu() -> PlantedCGL:
    Z, y = mat([[1, 1, 1, 1], [0, -2, -1, 1], [-4, 0, -2, 2]]), vec([20, 18, 33])
    chosen = patterns(Z).all
    p = relu_problem(Z, chosen, y, Fraction(64))
    all_on = 2 * chosen.index((True, True, True))
    w = tuple(vec([0, 0, 0, 16]) if b == all_on else zeros(4) for b in range(len(p.blocks)))
    if not is_optimal(p, w):
        raise ArithmeticError("the neuron (0, 0, 0, 16) alone is optimal at lambda = 8")
    r = residual(p, w)
    return PlantedCGL(p, r, dual_vectors(p, r), tuple(Fraction(2 * (b == all_on)) for b in range(len(p.blocks))))


CLAIM = Claim(
    LABEL,
    "Continuity of the min-norm path",
    Property(STATEMENT, instances(), check),
    witnesses=(
        Witness("group lasso X = [0 1 | 1; 1 1 | 1], y = (2,1), lambda = 1", _smallest()),
        Witness("group lasso X = [5 0 | 3; 0 10 | 8], y = (6,10), lambda = 25", _group_lasso()),
        Witness("gated ReLU, all of D_Z: Z = ((1,0),(0,2),(4,-3)), y = (6,10,0), lambda = 5", _gated()),
        Witness("ReLU, all of D_Z: Z = ((1,1,1,1),(0,-2,-1,1),(-4,0,-2,2)), y = (20,18,33), lambda = 8", _relu()),
    ),
    repaired=Property(REPAIRED, planted_lasso(), check_repaired),
)
