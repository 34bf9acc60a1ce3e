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


Moved = tuple[PlantedCGL, int, Fraction]


@st.composite
def instances(draw: DrawFn, lassos: st.SearchStrategy[PlantedCGL]) -> Moved:
    """A lasso, a row k of y to be moved, and a step t so short that the path is linear up to it on both sides."""
    planted = draw(lassos)
    k, t = draw(st.integers(0, planted.problem.n - 1)), Fraction(1)
    while any(one_sided(planted.problem, scale(s, unit(planted.problem.n, k)), t) is None for s in (1, -1)):
        t /= 2
    return planted, k, t


def in_use() -> st.SearchStrategy[PlantedCGL]:
    """Few candidates, all of them active."""
    return nonzero_vector(3).flatmap(
        lambda r: planted_cgl(max_size=1, residual=r, max_active=3, min_weight=1, constrained=False)
    )


def one_sided(p: CGL, direction: Vector, t: Fraction) -> Vector | None:
    """lim (w(y + s d) - w(y))/s as s decreases to 0: the quotient at t, if the path is linear up to t.

    It is if w at t/2 is the mean of w at 0 and at t, and no weight changes sign: an active block has c_b = +-lambda at
    t/2, so at both ends, so all the way; the others are zero all the way.
    """
    start, near, far = (
        tuple(wb[0] for wb in solve_lasso(CGL(p.blocks, add(p.y, scale(s, direction)), p.lam2))) for s in (0, t / 2, t)
    )
    linear = add(start, far) == scale(2, near) and all(a * b >= 0 for a, b in zip(start, far, strict=True))
    return scale(1 / t, sub(far, start)) if linear else None


def formula(planted: PlantedCGL, dy: Vector) -> Vector:
    """dw on A = (X_A'X_A)^-1 X_A' dy, zero elsewhere."""
    on = support(planted.alpha)
    change = dict(zip(on, least_squares([planted.problem.columns[i] for i in on], dy), strict=True))
    return tuple(change.get(i, Fraction(0)) for i in range(len(planted.alpha)))


def check(instance: Moved) -> Outcome:
    """Unique solution: both one-sided derivatives against the formula."""
    planted, k, t = instance
    if not planted.unique:
        return vacuous("the solution is not unique")
    e = unit(planted.problem.n, k)
    expected = formula(planted, e)
    right, minus = one_sided(planted.problem, e, t), one_sided(planted.problem, scale(-1, e), t)
    if right is None or minus is None:
        return vacuous("the path is not linear up to t")
    left = scale(-1, minus)
    show = ["(" + ", ".join(map(str, x)) + ")" for x in (left, right, expected)]
    return expect(
        left == right == expected, f"dw/dy_{k + 1} is {show[0]} from below and {show[1]} from above; formula {show[2]}"
    )


def check_repaired(instance: Moved) -> Outcome:
    """The same where E = A."""
    planted = instance[0]
    if support(planted.alpha) != planted.E:
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
            (PlantedCGL(_P, vec([1, 1]), (vec([1]), vec([1])), vec([1, 0])), 1, Fraction(1)),
        ),
    ),
    repaired=Property(REPAIRED, instances(in_use()), check_repaired),
)
