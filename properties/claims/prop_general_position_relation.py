"""prop:general-position-relation: neither position implies the other; the proof's ball must be the sphere.

One column x_1 against the block I_2: group general position fails iff x_1 is on the unit circle (not in the disc);
general position of the columns fails iff x_1 = +-(a, b) with a + b = +-1 or a - b = +-1 or a degenerate case.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Vector, norm2, rank, scale, sub, unit, vec
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, vacuous
from properties.strategies import rationals

LABEL = "prop:general-position-relation"
STATEMENT = "Group general position does not imply general position of the columns, nor the other way round."


def group_position(x: Vector) -> bool:
    """GGP of {x_1}, {e_1, e_2}: no unit z_1 = +-1, z_2 with x_1 z_1 = z_2. So: |x_1| != 1."""
    return norm2(x) != 1


def columns_position(x: Vector) -> bool:
    """No signed column lies on the line through two others (none of them opposite)."""
    columns = (x, unit(2, 0), unit(2, 1))
    for i, j, k in [(0, 1, 2), (1, 0, 2), (2, 0, 1)]:
        for s, t in product((1, -1), repeat=2):
            a, b = scale(s, columns[j]), scale(t, columns[k])
            if rank([sub(columns[i], a), sub(b, a)]) < 2:
                return False
    return all(rank([a, b]) == 2 or a not in (b, scale(-1, b)) for a, b in combinations(columns, 2))


@st.composite
def instances(draw: DrawFn) -> tuple[Vector, Vector]:
    """A rational point of the unit circle, and a rational point of the line a + b = 1."""
    a = draw(rationals(5, 5))
    t = Fraction(draw(st.integers(1, 6)), draw(st.integers(1, 6)))
    s = 1 + t * t
    return (2 * t / s * draw(st.sampled_from([1, -1])), (1 - t * t) / s), (a, 1 - a)


def check(instance: tuple[Vector, Vector]) -> Outcome:
    """On the circle: GP without GGP. On the line: GGP without GP. (The few exceptions lie on both.)"""
    circle, line = instance
    if not all(circle) or norm2(line) == 1:
        return vacuous("the point lies on an axis or on both curves")
    return expect(
        columns_position(circle) and not group_position(circle) and group_position(line) and not columns_position(line),
        "the two conditions do not separate these points",
    )


def ball(x: Vector) -> Outcome:
    """The proof: GGP is violated iff x_1 is in the unit ball."""
    inside = norm2(x) <= 1
    return expect(inside != group_position(x), f"|x_1|^2 = {norm2(x)}: in the ball, yet GGP holds")


CLAIM = Claim(
    LABEL,
    "Two general positions",
    Property(STATEMENT, instances(), check),
    slips=(Slip("proof: GGP is violated iff x_1 is in X_2 B", ball, Witness("x_1 = (1/2, 1/2)", vec(["1/2", "1/2"]))),),
)
