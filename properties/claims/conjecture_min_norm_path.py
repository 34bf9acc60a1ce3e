"""sec:conclusion, the conjecture: the min-norm path is always continuous. It is not; four exact instances.

Two exact arguments give the limit of the solution at lambda0 from one side.

Local (`side_limit`): if on that side a set A of blocks with independent outputs satisfies the optimality conditions
strictly, the solution there is unique, supported on A, and tends to the one solution at lambda0 supported on A. In mu
= lambda^2/2, with M = I + sum alpha_a X_a X_a' and q_a = X_a v_a:  alpha' = -(Q'M^-1 Q)^-1 1,  r' = M^-1 Q (Q'M^-1
Q)^-1 1,  and for a block outside A (|v_b|^2/2 - mu)' = q_b.r' - 1, which vanishes if q_b is an affine combination sum
beta_a q_a; then the second derivative is |X_b'r'|^2 - sum beta_a |X_a'r'|^2.

Whole path (`alone`): one block b alone, of weight a, has the residual r(a) = (I + a X_b X_b')^-1 y and solves the
problem at lambda(a) = |X_b' r(a)|, which decreases, as long as no other block j has |X_j' r(a)| > lambda(a). Both
squares are rational functions of a, so the first term of the Taylor series of their difference at a0 that is not zero
gives the sign on either side; times det(I + a X_b X_b')^2 the difference has degree < 2n, so it is zero if 2n terms
are. Blocks that tie all the way do not matter if the outputs are independent at one a, hence at all but finitely many.
This decides ties that the derivatives leave open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from properties.exact.lasso import left_limit, right_limit
from properties.exact.linalg import (
    Matrix,
    Vector,
    add,
    combine,
    dot,
    eye,
    independent,
    inverse,
    mat,
    matmul,
    matvec,
    norm2,
    regular_inverse,
    scale,
    solve_columns,
    transpose,
    vec,
    zeros,
)
from properties.exact.patterns import gated_problem, patterns, relu_problem
from properties.exact.polytope import least_norm, subsets, support
from properties.exact.problem import CGL, Block, dual_vectors, is_optimal, problem, residual
from properties.model import HOLDS, Claim, Outcome, Property, Witness, expect, fails, vacuous
from properties.strategies import PlantedCGL, planted_cgl, planted_lasso, positive_rationals

LABEL = "conjecture: min-norm path"
STATEMENT = "The min-norm solution's path is always continuous in lambda."
REPAIRED = "The min-norm path is continuous at every lambda where the solution is unique."
SIDES = (1, -1)
SOMEWHERE = Fraction(22, 7)  # any number does at which the outputs are not dependent by accident


@dataclass(frozen=True)
class SinglePath:
    """Blocks and y, the block that is active alone, and its weight a0 at the suspected jump."""

    blocks: tuple[Block, ...]
    y: Vector
    b: int
    a0: Fraction


def kernel(blocks: Sequence[Block], alpha: Vector, n: int) -> Matrix:
    """M = I + sum alpha_a X_a X_a'"""
    M = eye(n)
    for a, block in zip(alpha, blocks, strict=True):
        G = matmul(block.X, transpose(block.X))
        M = tuple(add(row, scale(a, g)) for row, g in zip(M, G, strict=True))
    return M


def shifted_inverse(path: SinglePath, a: Fraction) -> Matrix:
    """(I + a X_b X_b')^-1"""
    return regular_inverse(kernel([path.blocks[path.b]], (a,), len(path.y)))


def alone(path: SinglePath, a: Fraction) -> PlantedCGL | None:
    """The optimum at lambda(a) if block b alone is a solution there, with its equicorrelation set; else None."""
    r = matvec(shifted_inverse(path, a), path.y)
    p = CGL(path.blocks, path.y, norm2(path.blocks[path.b].correlation(r)))
    alpha = tuple(a * (b == path.b) for b in range(len(path.blocks)))
    found = PlantedCGL(p, r, dual_vectors(p, r), alpha)
    return found if path.b in found.E and is_optimal(p, found.w) else None


def min_norm2(planted: PlantedCGL) -> Fraction:
    """|w|^2 = lambda^2 |alpha|^2 of the min-norm solution."""
    best = least_norm([planted.q[b] for b in planted.E], planted.yhat)
    if best is None:
        raise ArithmeticError("the optimal set is empty")
    return planted.problem.lam2 * norm2(best)


def inside(planted: PlantedCGL) -> bool:
    """Every dual vector of length lambda lies inside its cone, so that v_b = X_b'r near lambda0, too."""
    return all(dot(k, planted.v[b]) < 0 for b in planted.E for k in planted.problem.blocks[b].K if any(k))


def check(instance: SinglePath | PlantedCGL) -> Outcome:
    """The min-norm solution at lambda0 against its limits from the sides."""
    return check_path(instance) if isinstance(instance, SinglePath) else check_sides(instance)


def check_path(path: SinglePath) -> Outcome:
    """|w|^2 at a0, and its limit along the path on which block b alone is the only solution: a0^2 lambda(a0)^2."""
    here = alone(path, path.a0)
    if here is None or not inside(here):
        return vacuous("the block is not a solution alone")
    r = residual_series(path)
    staying = []
    for j in here.E:
        terms = [(k, x) for k, x in enumerate(advantage(path, r, j)) if x]
        if not terms:
            staying.append(path.blocks[j])
        elif _negative_nearby(*terms[0]):
            return vacuous("another block is longer nearby")
    there = matvec(shifted_inverse(path, SOMEWHERE), path.y)
    if not independent([matvec(x.X, x.correlation(there)) for x in staying]):
        return vacuous("there may be other solutions nearby")
    at, limit = min_norm2(here), here.problem.lam2 * path.a0**2
    return expect(at == limit, _jump(here.problem.lam2, at, [limit, limit]))


def _negative_nearby(k: int, x: Fraction) -> bool:
    """x t^k is negative on one side of t = 0, or on both."""
    return {x, (-1) ** k * x} != {abs(x)}


def residual_series(path: SinglePath) -> list[Vector]:
    """More than 2n Taylor coefficients of r(a0 - t) at t = 0: each is (I + a0 X_b X_b')^-1 X_b X_b' times the last."""
    block, M_inverse = path.blocks[path.b], shifted_inverse(path, path.a0)
    r = [matvec(M_inverse, path.y)]
    for _ in (*path.y, *path.y):
        r.append(matvec(M_inverse, matvec(block.X, block.correlation(r[-1]))))
    return r


def advantage(path: SinglePath, r: list[Vector], j: int) -> list[Fraction]:
    """The Taylor coefficients of |X_b' r|^2 - |X_j' r|^2."""
    ours, theirs = ([path.blocks[b].correlation(x) for x in r] for b in (path.b, j))
    return [_square(ours, k) - _square(theirs, k) for k in range(len(r))]


def _square(c: list[Vector], k: int) -> Fraction:
    """Term k of |c|^2."""
    return Fraction(sum(dot(c[i], c[k - i]) for i in range(k + 1)))


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
        M_inverse = regular_inverse(kernel(planted.problem.blocks, alpha, planted.problem.n))
        for A in subsets(planted.E):
            if set(support(alpha)) <= set(A) and _strict(planted, M_inverse, alpha, A, side):
                return alpha, A
    return None


def _strict(planted: PlantedCGL, M_inverse: Matrix, alpha: Vector, A: tuple[int, ...], side: int) -> bool:
    """The optimality conditions hold strictly on this side, for blocks A that have the weights alpha at lambda0."""
    Q = [planted.q[b] for b in A]
    MQ = [matvec(M_inverse, q) for q in Q]
    regular = inverse(tuple(tuple(dot(q, m) for m in MQ) for q in Q))
    if regular is None:
        return False
    rates = matvec(regular, (Fraction(1),) * len(A))
    if any(side * rate >= 0 for b, rate in zip(A, rates, strict=True) if not alpha[b]):
        return False
    dr = combine(rates, MQ, planted.problem.n)
    return all(_falls_behind(planted, A, b, dr, side) for b in planted.E if b not in A)


def _falls_behind(planted: PlantedCGL, A: tuple[int, ...], b: int, dr: Vector, side: int) -> bool:
    """|v_b| falls below lambda on this side: by the first derivative or, if it vanishes, the second."""
    slope = side * (dot(planted.q[b], dr) - 1)
    beta = solve_columns([planted.q[a] for a in A], planted.q[b])
    if beta is None:
        return slope < 0
    lengths = [norm2(planted.problem.blocks[a].correlation(dr)) for a in (b, *A)]
    return (slope, dot((Fraction(1), *scale(-1, beta)), lengths)) < zeros(2)


def check_sides(planted: PlantedCGL) -> Outcome:
    """Both one-sided limits, where the derivatives decide them, against the min-norm solution at lambda0."""
    if not inside(planted):
        return vacuous("a dual vector lies on the boundary of its cone")
    if planted.unique:
        return vacuous("unique at lambda0")
    at = min_norm2(planted)
    limits = [side_limit(planted, side) for side in SIDES]
    norms = [planted.problem.lam2 * norm2(alpha) for alpha in limits if alpha is not None]
    if any(x != at for x in norms):
        return fails(_jump(planted.problem.lam2, at, norms))
    return vacuous("the derivatives do not decide") if None in limits else HOLDS


@st.composite
def single_paths(draw: DrawFn) -> SinglePath:
    """The blocks and the residual of a group lasso, with weight on one tied block only."""
    planted = draw(planted_cgl(constrained=False, max_n=3, max_active=3))
    b, a0 = draw(st.sampled_from(planted.E)), draw(positive_rationals(3, 2))
    return SinglePath(planted.problem.blocks, add(planted.r, scale(a0, planted.q[b])), b, a0)


def instances() -> SearchStrategy[SinglePath | PlantedCGL]:
    """Group lassos, problems with cones, and single paths."""
    free, cones = (
        planted_cgl(constrained=constrained, max_n=2, min_active=2, max_active=3, min_weight=1)
        for constrained in (False, True)
    )
    return st.one_of(free, cones, single_paths())


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
