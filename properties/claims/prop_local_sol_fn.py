"""prop:local-sol-fn: the matrix D needs lambda M(w), not M(w), and diag(rho) K' in its lower left corner.

The Jacobian is not compared with another formula: w + eps dw and rho + eps drho are put into the optimality conditions
in dual numbers, and the first-order part must vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from properties.claims.lemma_second_order_stationary import hessian
from properties.exact.cone import nnls
from properties.exact.dual import Dual, dual_dot, lift
from properties.exact.linalg import Matrix, Vector, dot, inverse, matvec, scale, transpose, unit, vec, zeros
from properties.exact.problem import problem
from properties.model import HOLDS, Claim, Outcome, Property, Slip, Witness, fails, vacuous
from properties.strategies import PlantedCGL, planted_smooth

LABEL = "prop:local-sol-fn"
STATEMENT = "With D = [[X'X + M(w), K], [diag(rho)K', diag(K'w)]]: dw/dy = [D^-1]_A X', dw/dlambda = -[D^-1]_A u."
REPAIRED = "The same with D = [[X'X + lambda M(w), K], [diag(rho)K', diag(K'w)]]."


def multipliers(planted: PlantedCGL) -> Vector:
    """rho of all blocks, from the non-negative regression."""
    return tuple(x for b in planted.problem.blocks for x in nnls(b.K, b.correlation(planted.r)))


def constraint_columns(planted: PlantedCGL) -> list[Vector]:
    """The columns of the block-diagonal K, each as long as w."""
    sizes = [b.size for b in planted.problem.blocks]
    out = []
    for i, b in enumerate(planted.problem.blocks):
        before, after = sum(sizes[:i]), sum(sizes[i + 1 :])
        out += [(*zeros(before), *k, *zeros(after)) for k in b.K]
    return out


def matrix_D(planted: PlantedCGL, factor: Fraction, corner: Sequence[Vector]) -> Matrix:
    """[[X'X + factor M, K], [diag(rho) corner, diag(K'w)]]"""
    H = hessian(planted, planted.alpha, factor)
    K, rho = constraint_columns(planted), multipliers(planted)
    w = tuple(x for wb in planted.w for x in wb)
    top = [(*H[i], *(k[i] for k in K)) for i in range(len(H))]
    bottom = []
    for j, k in enumerate(K):
        diagonal = [Fraction(0)] * len(K)
        diagonal[j] = dot(k, w)
        bottom.append((*scale(rho[j], corner[j]), *diagonal))
    return (*top, *bottom)


def first_order_defect(planted: PlantedCGL, change: Vector, dy: Vector, dlam: Fraction) -> str:
    """What is left of the optimality conditions to first order, if anything, for (dw, drho) = change."""
    blocks, lam = planted.problem.blocks, Dual(planted.problem.lam, dlam)
    flat = tuple(x for wb in planted.w for x in wb)
    w = lift(flat, change[: len(flat)])
    rho = lift(multipliers(planted), change[len(flat) :])
    columns = [lift(c) for c in planted.problem.columns]
    fitted = [dual_dot([c[k] for c in columns], w) for k in range(planted.problem.n)]
    gap = [f - y for f, y in zip(fitted, lift(planted.problem.y, dy), strict=True)]
    start = first = 0
    for b in blocks:
        wb, rhob = w[start : start + b.size], rho[first : first + len(b.K)]
        norm = dual_dot(wb, wb).sqrt()
        for j in range(b.size):
            force = dual_dot([lift((k[j],))[0] for k in b.K], rhob)
            stationary = dual_dot(columns[start + j], gap) + force + lam * wb[j] / norm
            if stationary != Dual(Fraction(0)):
                return f"stationarity fails to first order by {stationary.b}"
        for k, x in zip(b.K, rhob, strict=True):
            if (x * dual_dot(lift(k), wb)).b:
                return "complementary slackness fails to first order"
        start += b.size
        first += len(b.K)
    return ""


def check_with(planted: PlantedCGL, D: Matrix) -> Outcome:
    """All partial derivatives from D, put into the optimality conditions."""
    D_inverse = inverse(D)
    if D_inverse is None:
        return fails("D is singular")
    p = planted.problem
    pad = zeros(len(multipliers(planted)))
    u = tuple(x / p.lam for v in planted.v for x in v)
    change = matvec(D_inverse, (*scale(-1, u), *pad))
    if why := first_order_defect(planted, change, zeros(p.n), Fraction(1)):
        return fails(f"dw/dlambda: {why}")
    X = transpose(p.columns)
    for k in range(p.n):
        change = matvec(D_inverse, (*X[k], *pad))
        if why := first_order_defect(planted, change, unit(p.n, k), Fraction(0)):
            return fails(f"dw/dy_{k + 1} = ({', '.join(map(str, change))}): {why}")
    return HOLDS


def check(planted: PlantedCGL) -> Outcome:
    """D with M(w), as printed."""
    return check_with(planted, matrix_D(planted, Fraction(1), constraint_columns(planted)))


def check_repaired(planted: PlantedCGL) -> Outcome:
    """D with lambda M(w)."""
    return check_with(planted, matrix_D(planted, planted.problem.lam, constraint_columns(planted)))


def check_corner(planted: PlantedCGL) -> Outcome:
    """D with lambda M(w), and diag(rho) K in the corner."""
    K = constraint_columns(planted)
    if len(K) != len(planted.problem.columns):
        return vacuous("K is not square")
    return check_with(planted, matrix_D(planted, planted.problem.lam, transpose(K)))


_P = problem([[1, 0], [0, 1]], [2], [6, 8], 25)
_SQUARE = problem([[1, 0], [0, 1]], [2], [1, 2], 1, [[[1, 0], [1, -1]]])

CLAIM = Claim(
    LABEL,
    "The solution's Jacobian",
    Property(STATEMENT, planted_smooth(), check),
    witnesses=(Witness("X = I2, y = (6, 8), lambda = 5", PlantedCGL(_P, vec([3, 4]), (vec([3, 4]),), vec([1]))),),
    repaired=Property(REPAIRED, planted_smooth(), check_repaired),
    slips=(
        Slip(
            "the corner rho (.) K of D, as an element-wise product of the columns of K",
            check_corner,
            Witness(
                "X = I2, y = (1, 2), lambda = 1, K = ((1, 1), (0, -1))",
                PlantedCGL(_SQUARE, vec([1, 1]), (vec([0, 1]),), vec([1])),
            ),
        ),
    ),
)
