"""Classes over a cover: what the ball can do to kinks that are looked at from one side."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.verify.oracle.brute import mat, vec
from verify import Rejected
from verify.optimal.ball import Ball, Class
from verify.problem.problem import Problem
from verify.sets.classes import read_relu
from verify.text import Node

R = Fraction(1, 1000)


def with_part(part: str, side: int, t: tuple[str, str], pull: int = 0) -> Class:
    """v = 10 e_1 on the kinks e_2 and e_3, which bend down (t), and e_2 + e_3, which bends up (1/10), with its part;
    the first row pulls at both kinks."""
    Z = mat([[1, pull, pull], [0, 1, 0], [0, 0, 1], [0, 1, 1]])
    theta = vec(10, *t, "1/10")
    fields = {"sign": "+", "pattern": "1000", "kinks": [1, 2, 3], "basis": [1, 2], "idle": [], "fixed": part}
    nodes = {key: Node(value, None, key) for key, value in fields.items()}
    return read_relu(Ball(Problem("relu", Fraction(10), Z, theta), theta, R**2), nodes, {3: side})


def test_parts_beyond_one_are_perturbed_by_more() -> None:
    """With the part 100 the multiplier of e_2 is -100 r_3: 1/100 above its bound at theta, and below it at the residual
    r_3 + R of the ball. The ball moves it by 100 R, not by R."""
    t_1, r_3 = Fraction("-1001/100"), Fraction(1, 10)
    assert t_1 < -100 * r_3
    assert not t_1 < -100 * (r_3 + R)
    with pytest.raises(Rejected, match="strictness that the ball cannot end at 1"):
        with_part("100", 1, (str(t_1), str(t_1)))
    assert with_part("100", 1, ("-15", "-15")).kinks == (1, 2, 3)
    assert with_part("1", 1, (str(t_1), str(t_1))).kinks == (1, 2, 3)


@pytest.mark.parametrize(("part", "side"), [("0", -1), ("-1/100", -1), ("1", 1), ("101/100", 1)])
def test_parts_on_the_right_side(part: str, side: int) -> None:
    """A part of 0 is on side -1, a part of 1 on side 1, and so are those beyond."""
    assert with_part(part, side, ("-11", "-11"), pull=1).kinks == (1, 2, 3)


@pytest.mark.parametrize(("part", "side"), [("1/2", 1), ("1/2", -1), ("-1", 1), ("2", -1), ("99/100", 1), ("1/2", 0)])
def test_parts_on_the_wrong_side(part: str, side: int) -> None:
    """A kink that bends up has a part >= 1 on its side 1 and <= 0 on its side -1, and none from both."""
    with pytest.raises(Rejected):
        with_part(part, side, ("-11", "-11"))
