"""prop:min-norm-program: the min-norm solution by a QP in alpha. The printed norm |w|^2 = lambda |alpha|^2 is a slip.

The QP's solution is checked as the projection of zero onto the optimal set: w.(w' - w) >= 0 at every vertex w'.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Vector, dot, norm2, vec
from properties.exact.polytope import least_norm
from properties.exact.problem import Weights, is_optimal, problem
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, first_failure
from properties.strategies import PlantedCGL, planted_cgl

LABEL = "prop:min-norm-program"
STATEMENT = (
    "The min-norm solution is w_b = alpha_b v_b with alpha of least norm in {alpha >= 0: sum alpha X_b v_b = yhat}."
)
NORM = "|w|^2 = lambda^2 |alpha|^2 (not lambda |alpha|^2) for every solution w = alpha v."


def flat(w: Weights) -> tuple[Fraction, ...]:
    """All weights in one vector."""
    return tuple(x for wb in w for x in wb)


@st.composite
def programs(draw: DrawFn) -> tuple[PlantedCGL, Vector]:
    """A problem, and the solution alpha of the program on E."""
    planted = draw(planted_cgl())
    alpha = least_norm([planted.q[b] for b in planted.E], planted.yhat)
    if alpha is None:
        raise ArithmeticError("the planted weights are feasible")
    return planted, planted.embed(alpha)


def check(instance: tuple[PlantedCGL, Vector]) -> Outcome:
    """The least-norm alpha on S gives a solution that is the projection of 0 onto the optimal set."""
    planted, alpha = instance
    w = planted.weights(alpha)
    nearest = all(dot(flat(w), flat(planted.weights(v))) >= norm2(flat(w)) for v in planted.vertices)
    best = least_norm([planted.q[b] for b in planted.S], planted.yhat)
    return first_failure(
        expect(nearest, "some vertex is nearer to zero in the program's direction"),
        expect(is_optimal(planted.problem, w), "the program's point is not a solution"),
        expect(best == tuple(alpha[b] for b in planted.S), "this is not the program's point"),
    )


def check_norm(planted: PlantedCGL) -> Outcome:
    """The norm identity at the planted solution and at all vertices."""
    return expect(
        all(
            norm2(flat(planted.weights(alpha))) == planted.problem.lam2 * norm2(alpha)
            for alpha in (planted.alpha, *planted.vertices)
        ),
        "|w|^2 is not lambda^2 |alpha|^2",
    )


def printed_norm(planted: PlantedCGL) -> Outcome:
    """|w|^2 = lambda |alpha|^2, as the proof prints it."""
    left, right = norm2(flat(planted.w)), planted.problem.lam * norm2(planted.alpha)
    return expect(left == right, f"|w|^2 = {left}, lambda |alpha|^2 = {right}")


_ONE = problem([[1]], [1], [4], 4)

CLAIM = Claim(
    LABEL,
    "The min-norm program",
    Property(STATEMENT, programs(), check),
    repaired=Property(NORM, planted_cgl(), check_norm),
    slips=(
        Slip(
            "proof: |w|^2 = lambda |alpha|^2",
            printed_norm,
            Witness("X = 1, y = 4, lambda = 2", PlantedCGL(_ONE, vec([2]), (vec([2]),), vec([1]))),
        ),
    ),
)
