"""prop:general-position-relation: neither position implies the other; the proof's ball must be the sphere.

One column x_1 against the block I_2: group general position fails iff x_1 is on the unit circle (not in the disc);
general position of the columns fails iff x_1 = +-(a, b) with a + b = +-1 or a - b = +-1 or a degenerate case.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from properties.exact.linalg import Vector, norm2, rank, scale, sub, unit, vec
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, first_failure

LABEL = "prop:general-position-relation"
STATEMENT = "Group general position does not imply general position of the columns, nor the other way round."


def group_position(x: Vector) -> bool:
    """GGP of {x_1}, {e_1, e_2}: no unit z_1 = +-1, z_2 with x_1 z_1 = z_2. So: |x_1| != 1."""
    return norm2(x) != 1


def columns_position(x: Vector) -> bool:
    """No column lies on a line through two others, each with either sign (nor on one of them)."""
    columns = (x, unit(2, 0), unit(2, 1))
    for i, j, k in [(0, 1, 2), (1, 0, 2), (2, 0, 1)]:
        for s, t in product((1, -1), repeat=2):
            a, b = scale(s, columns[j]), scale(t, columns[k])
            if rank([sub(columns[i], a), sub(b, a)]) < 2:
                return False
    return True


@st.composite
def instances(draw: DrawFn) -> tuple[Vector, Vector]:
    """A rational point of the unit circle and one of the line a + b = 1, neither on an axis."""
    t = Fraction(draw(st.integers(1, 6)), draw(st.integers(7, 12)))
    a = Fraction(draw(st.sampled_from([-3, -2, -1, 1, 2, 3])), draw(st.sampled_from([4, 5, 7])))
    circle = (2 * t / (1 + t * t), (1 - t * t) / (1 + t * t))
    signs = draw(st.sampled_from([1, -1])), draw(st.sampled_from([1, -1]))
    return (signs[0] * circle[0], signs[1] * circle[1]), (a, 1 - a)


def check(instance: tuple[Vector, Vector]) -> Outcome:
    """The first point: GP without GGP. The second: GGP without GP."""
    circle, line = instance
    return first_failure(
        expect(columns_position(circle) and not group_position(circle), "the first point is not in GP only"),
        expect(group_position(line) and not columns_position(line), "the second point is not in GGP only"),
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
