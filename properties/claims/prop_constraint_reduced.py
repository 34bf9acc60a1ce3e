"""prop:constraint-reduced: the active part of a minimal solution is the unique solution of the reduced problem.

An instance carries the reduced problem. In a solution of it every block is a multiple beta_b >= 0 of w_b, because all
of them are active; so it is unique iff beta = 1 is the only way to the fit.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact import polytope
from properties.exact.linalg import Vector, matvec
from properties.exact.problem import CGL, fit, is_optimal
from properties.model import Claim, Outcome, Property, expect, first_failure, vacuous
from properties.strategies import PlantedCGL, planted_cgl, with_solution

LABEL = "prop:constraint-reduced"
STATEMENT = "If w is minimal, its active blocks are the unique solution of the problem reduced to A(w)."


@st.composite
def instances(draw: DrawFn) -> tuple[PlantedCGL, Vector, CGL]:
    """A planted problem, the weights of a solution, and the problem reduced to its active blocks."""
    planted, alpha = draw(with_solution(planted_cgl()))
    return planted, alpha, planted.problem.restrict(polytope.support(alpha))


def check(instance: tuple[PlantedCGL, Vector, CGL]) -> Outcome:
    """Solve the reduced problem from its own data: optimal there, and its optimal set is one point."""
    planted, alpha, reduced = instance
    if alpha not in planted.vertices:
        return vacuous("not minimal")
    on = polytope.support(alpha)
    w = tuple(planted.weights(alpha)[b] for b in on)
    outputs = [matvec(block.X, wb) for block, wb in zip(reduced.blocks, w, strict=True)]
    solutions = polytope.vertices(outputs, fit(reduced, w))
    return first_failure(
        expect(solutions == ((Fraction(1),) * len(on),), f"the reduced problem has {len(solutions)} minimal solutions"),
        expect(is_optimal(reduced, w), "the active blocks do not solve the reduced problem"),
        expect(reduced == planted.problem.restrict(on), "the problem is not reduced to the active blocks"),
    )


CLAIM = Claim(LABEL, "The reduced problem", Property(STATEMENT, instances(), check))
