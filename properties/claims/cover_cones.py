"""Beyond the paper: a cone is the union of the cones in which a point of it takes the place of one generator at a time.

u = sum tau_i g_i and p = sum x_i g_i with tau, x >= 0, x != 0. For the i with the least tau_i / x_i among x_i > 0, u =
(tau_i / x_i) p + sum over j != i of (tau_j - x_j tau_i / x_i) g_j, all coefficients >= 0. Bisection is x = m e_i + e_j.
Nothing is said of the generators: they may be dependent.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Matrix, Vector, combine, mat, solve, transpose, vec
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, vacuous
from properties.strategies import rational_matrix

LABEL = "cover: bisection and star"
STATEMENT = (
    "Every point of cone(g) lies in a cone in which p = sum x_i g_i, x >= 0, has the place of a g_i with x_i > 0; "
    "with two positive x_i this is bisection."
)


@dataclass(frozen=True)
class Star:
    """Generators, p and a point of the cone by their coordinates."""

    generators: Matrix
    x: Vector
    tau: Vector


@st.composite
def instances(draw: DrawFn) -> Star:
    """Up to four generators in up to three dimensions, some of them dependent; half of all are bisections."""
    k, d = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    x = [Fraction(draw(st.integers(0, 3))) for _ in range(k)]
    if k > 1 and draw(st.booleans()):
        i, j = draw(st.permutations(range(k)))[:2]
        x = [Fraction({i: 1, j: draw(st.sampled_from((1, 2, 3, 6)))}.get(l, 0)) for l in range(k)]
    tau = tuple(Fraction(draw(st.integers(0, 6)), draw(st.integers(1, 3))) for _ in range(k))
    return Star(draw(rational_matrix(k, d)), tuple(x), tau)


def child(star: Star, i: int) -> Vector | None:
    """Coordinates >= 0 of the point in the child in which p has the place of g_i; None if these are not."""
    least = star.tau[i] / star.x[i]
    found = tuple(least if j == i else t - y * least for j, (t, y) in enumerate(zip(star.tau, star.x, strict=True)))
    return found if min(found) >= 0 else None


def check(star: Star) -> Outcome:
    """Some child has the point, and its coordinates give it."""
    if not any(star.x) or any(t < 0 for t in (*star.x, *star.tau)):
        return vacuous("x is zero, or a coordinate is negative")
    d = len(star.generators[0])
    p, u = combine(star.x, star.generators, d), combine(star.tau, star.generators, d)
    for i, x in enumerate(star.x):
        if x > 0 and (found := child(star, i)) is not None:
            replaced = [*star.generators[:i], p, *star.generators[i + 1 :]]
            return expect(combine(found, replaced, d) == u, "the coordinates give another point")
    return expect(False, "no child has the point")


def without_one(star: Star) -> Outcome:
    """One of the children may be left out: here the first, of independent generators."""
    positive = [i for i, x in enumerate(star.x) if x > 0]
    d = len(star.generators[0])
    u, p = combine(star.tau, star.generators, d), combine(star.x, star.generators, d)
    for i in positive[1:]:
        replaced = (*star.generators[:i], p, *star.generators[i + 1 :])
        found = solve(transpose(replaced), u)
        if found is not None and min(found) >= 0:
            return expect(True, "")
    return expect(False, "no other child has the point")


CLAIM = Claim(
    LABEL,
    "Cones that cover a cone",
    Property(STATEMENT, instances(), check),
    slips=(
        Slip(
            "One of the children may be left out",
            without_one,
            Witness("the side of the child that is missing", Star(mat([[1, 0], [0, 1]]), vec([1, 1]), vec([0, 1]))),
        ),
    ),
)
