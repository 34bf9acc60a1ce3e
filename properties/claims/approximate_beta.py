"""sec:pruning: "using beta~ is optimal when {X_b w_b} are dependent" needs the random b_j to be in the dependence."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Vector, in_span, independent, least_squares, scale, vec
from properties.exact.polytope import barycentre, support
from properties.exact.problem import is_optimal, problem
from properties.exact.prune import apply_step, signed_step
from properties.model import Claim, Outcome, Property, Witness, expect, first_failure, vacuous
from properties.strategies import PlantedCGL, planted_cgl, with_solution

LABEL = "beta~ when dependent"
STATEMENT = "If {X_b w_b} on A are dependent, the least-squares beta~ of any b_j in A gives an optimal pruning step."
IN_IT = "If X_j w_j is in the span of the other active outputs, the step with beta~ (and beta_j = -1) is optimal."

Instance = tuple[PlantedCGL, Vector, int]


@st.composite
def instances(draw: DrawFn) -> Instance:
    """A solution and one of its active blocks (or block 0 if it has none)."""
    planted, alpha = draw(with_solution(planted_cgl(max_n=draw(st.integers(2, 3)), min_active=3, min_weight=1)))
    if draw(st.integers(0, 3)):
        alpha = barycentre(planted.vertices)
    return planted, alpha, draw(st.sampled_from(support(alpha) or (0,)))


def _step(instance: Instance) -> Outcome:
    planted, alpha, j = instance
    on = [b for b in support(alpha) if b != j]
    target = scale(alpha[j], planted.q[j])
    solution = least_squares([scale(alpha[b], planted.q[b]) for b in on], target)
    beta = [Fraction(0)] * len(alpha)
    for b, x in zip(on, solution, strict=True):
        beta[b] = x
    beta[j] = Fraction(-1)
    end = apply_step(alpha, tuple(beta), signed_step(tuple(beta)))
    return first_failure(
        expect(is_optimal(planted.problem, planted.weights(end)), f"beta~ = {_show(solution)} leaves the optimal set"),
        expect(set(support(end)) < set(support(alpha)), "nothing is pruned"),
    )


def _show(x: Vector) -> str:
    return "(" + ", ".join(map(str, x)) + ")"


def check(instance: Instance) -> Outcome:
    """Dependent outputs, any j."""
    planted, alpha, _ = instance
    if independent([planted.q[b] for b in support(alpha)]):
        return vacuous("independent outputs")
    return _step(instance)


def check_in_it(instance: Instance) -> Outcome:
    """j in the span of the others."""
    planted, alpha, j = instance
    if alpha[j] == 0 or not in_span(planted.q[j], [planted.q[b] for b in support(alpha) if b != j]):
        return vacuous("the block is not in a dependence")
    return _step(instance)


_P = problem([[1, 1, 0], [0, 0, 1]], [1, 1, 1], [3, 2], 1)
_ONE = vec([1])

CLAIM = Claim(
    LABEL,
    "Approximate pruning",
    Property(STATEMENT, instances(), check),
    witnesses=(
        Witness(
            "X = [[1,1,0],[0,0,1]], y = (3,2), lambda = 1, w = (1,1,1), j = 3",
            (PlantedCGL(_P, vec([1, 1]), (_ONE, _ONE, _ONE), vec([1, 1, 1])), vec([1, 1, 1]), 2),
        ),
    ),
    repaired=Property(IN_IT, instances(), check_in_it),
)
