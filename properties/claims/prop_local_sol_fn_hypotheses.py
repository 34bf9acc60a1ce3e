"""prop:local-sol-fn, hypotheses: LICQ and SCS do not exclude a block of E that is about to enter: E = A is needed.

For blocks of size one and K = 0 both qualifications are empty, M(w) = 0, and one-sided derivatives are exact quotients.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.lasso import solve_lasso
from properties.exact.linalg import Vector, add, least_squares, scale, sub, unit, vec
from properties.exact.polytope import support
from properties.exact.problem import CGL, problem
from properties.model import Claim, Outcome, Property, Witness, expect, vacuous
from properties.strategies import PlantedCGL, nonzero_vector, planted_cgl, planted_lasso

LABEL = "prop:local-sol-fn (hypotheses)"
STATEMENT = "LICQ on A and SCS on E (both empty for K = 0) make the minimal solution differentiable at (lambda, y)."
REPAIRED = "If moreover E = A (and the outputs are independent) both one-sided derivatives are the formula's."


@st.composite
def instances(draw: DrawFn, lassos: st.SearchStrategy[PlantedCGL]) -> tuple[PlantedCGL, int]:
    """A lasso and a row k of y to be moved."""
    planted = draw(lassos)
    return planted, draw(st.integers(0, planted.problem.n - 1))


def in_use() -> st.SearchStrategy[PlantedCGL]:
    """Few candidates, all of them active."""
    return nonzero_vector(3).flatmap(
        lambda r: planted_cgl(max_size=1, residual=r, max_active=3, min_weight=1, constrained=False)
    )


def one_sided(p: CGL, direction: Vector) -> Vector:
    """lim (w(y + t d) - w(y))/t as t decreases to 0, exactly: halve t until the quotient's piece starts at w(y)."""
    start = tuple(wb[0] for wb in solve_lasso(p))
    t = Fraction(1)
    while True:
        far, near = (
            tuple(wb[0] for wb in solve_lasso(CGL(p.blocks, add(p.y, scale(s, direction)), p.lam2))) for s in (t, t / 2)
        )
        if sub(scale(2, near), far) == start:
            return scale(1 / t, sub(far, start))
        t /= 2


def formula(planted: PlantedCGL, dy: Vector) -> Vector:
    """dw on A = (X_A'X_A)^-1 X_A' dy, zero elsewhere."""
    on = support(planted.alpha)
    change = dict(zip(on, least_squares([planted.problem.columns[i] for i in on], dy), strict=True))
    return tuple(change.get(i, Fraction(0)) for i in range(len(planted.alpha)))


def check(instance: tuple[PlantedCGL, int]) -> Outcome:
    """Unique solution: both one-sided derivatives against the formula."""
    planted, k = instance
    if not planted.unique:
        return vacuous("the solution is not unique")
    e = unit(planted.problem.n, k)
    expected = formula(planted, e)
    right, left = one_sided(planted.problem, e), scale(-1, one_sided(planted.problem, scale(-1, e)))
    show = ["(" + ", ".join(map(str, x)) + ")" for x in (left, right, expected)]
    return expect(
        left == right == expected, f"dw/dy_{k + 1} is {show[0]} from below and {show[1]} from above; formula {show[2]}"
    )


def check_repaired(instance: tuple[PlantedCGL, int]) -> Outcome:
    """The same where E = A."""
    planted, _ = instance
    if planted.E != support(planted.alpha):
        return vacuous("E is larger than A")
    return check(instance)


_P = problem([[1, 0], [0, 1]], [1, 1], [2, 1], 1)

CLAIM = Claim(
    LABEL,
    "Where the Jacobian exists",
    Property(STATEMENT, instances(planted_lasso(constrained=False)), check),
    witnesses=(
        Witness(
            "X = I2, y = (2, 1), lambda = 1, blocks of size one",
            (PlantedCGL(_P, vec([1, 1]), (vec([1]), vec([1])), vec([1, 0])), 1),
        ),
    ),
    repaired=Property(REPAIRED, instances(in_use()), check_repaired),
)
