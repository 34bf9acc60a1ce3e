"""Two sides of one line, each with its neuron and class; margins and balls at their edges."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import verify
from tests.verify.corpus.rejected_cases import changed
from tests.verify.cover.along import PIECE, corner_path
from tests.verify.cover.sides import CASES, LEFT, RIGHT, WRONG, sides
from tests.verify.oracle.brute import mat, vec
from verify.cover import check
from verify.cover.check import Cover, check_cover
from verify.cover.lines import lines_of
from verify.facts import PRIMAL, Facts, proved
from verify.numbers.bounds import column
from verify.optimal.ball import Ball, Class
from verify.path import around
from verify.path.around import check_around, region
from verify.path.moving import read_moving
from verify.problem.problem import Problem
from verify.rules.cover import read_theta
from verify.rules.primal import Primal
from verify.text import Node


@pytest.mark.parametrize("name", CASES)
def test_both_are_accepted(name: str) -> None:
    """All claims are proved."""
    case = CASES[name]()
    assert all(line.verdict == "PROVED" for line in verify.check(case.text, case.raw))


@pytest.mark.parametrize(("name", "reason"), [wrong[:2] for wrong in WRONG])
def test_wrong_sides_are_rejected(name: str, reason: str) -> None:
    """Each for its own reason."""
    change, message = next(wrong[2:] for wrong in WRONG if wrong[:2] == (name, reason))
    with pytest.raises(verify.Rejected, match=message):
        verify.check(changed(CASES[name](), change), CASES[name]().raw)


def node(value: Any) -> Node:
    """A value, as if it was read."""
    return Node(value, None, "here")


def ball_and_classes() -> tuple[Ball, dict[str, Class]]:
    """The two neurons for lambda = 1, and a class of the other sign with the pattern of one of them."""
    Z, theta = mat([[1, 0], [-1, 0], [0, 1]]), vec("3/5", "3/5", "4/5")
    ball = Ball(Problem("relu", Fraction(1), Z, theta), theta, Fraction(0))
    found = {name: read_moving(ball, None, column(theta), node(c)) for name, c in (("right", RIGHT), ("left", LEFT))}
    return ball, {**found, "minus": replace(found["left"], key=(-1, found["left"].key[1]))}


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (["right", "left"], None),
        (["left", "right"], None),
        (["right", "left", "minus"], None),
        (["right"], 1),
        (["left"], 0),
        (["right", "minus"], 1),
        ([], 0),
    ],
)
def test_every_tie_has_a_class(names: list[str], missing: int | None) -> None:
    """One of its sign and side is enough, and no other one will do."""
    ball, classes = ball_and_classes()
    evidence = node(sides().certificate["facts"]["cover"]["proof"])
    if missing is None:
        check_around(ball, [classes[name] for name in names], evidence)
    else:
        with pytest.raises(verify.Rejected, match=f"a class whose region holds all leaves of tie {missing}"):
            check_around(ball, [classes[name] for name in names], evidence)


@pytest.mark.parametrize(
    ("theta", "pattern", "zeros", "side"),
    [
        ("3/5 3/5 4/5", "101", 0, [1, 1]),
        ("3/5 3/5 4/5", "011", 0, [-1, 1]),
        ("3/5 3/5 4/5", "010", 0, [-1, -1]),
        ("3/5 3/5 4/5", "011", 0b011, [0, 1]),
        ("3/5 3/5 4/5", "010", 0b100, [-1, 0]),
        ("3/5 -1 4/5", "111", 0, [1, 1]),
        ("-1 3/5 4/5", "111", 0, [-1, 1]),
        ("-1 3/5 4/5", "001", 0, [1, 1]),
        ("-1 -1 -1", "110", 0, [0, 0]),
        ("3/5 3/5 4/5", "111", 0, None),
        ("3/5 3/5 4/5", "001", 0, None),
        ("0 0 4/5", "111", 0, None),
    ],
)
def test_sides_that_a_class_has(theta: str, pattern: str, zeros: int, side: list[int] | None) -> None:
    """Rows that may be positive name the sides, but for kinks; two rows of one line name the same."""
    ball, classes = ball_and_classes()
    cover = check_cover(ball.problem, ball.theta, Fraction(1), node(sides().certificate["facts"]["cover"]["proof"]))
    ball = replace(ball, theta=vec(*theta.split(" ")))
    one = replace(classes["right"], key=(1, int(pattern[::-1], 2)), zeros=zeros)
    if side is None:
        with pytest.raises(verify.Rejected, match="one side of every line, found both at row 1"):
            region(ball, cover, one, node(None))
    else:
        assert region(ball, cover, one, node(None)) == side


def test_zero_rows_name_no_side() -> None:
    """A row of zeros lies on no line, whatever its bit in the pattern is."""
    Z, theta = mat([[1, 0], [0, 0], [0, 1]]), vec("3/5", 1, "4/5")
    problem = Problem("relu", Fraction(1), Z, theta)
    cover = Cover(lines_of(problem), {}, (), {}, {})
    for pattern, side in ((0b001, [1, -1]), (0b011, [1, -1]), (0b101, [1, 1]), (0b111, [1, 1])):
        one = Class((1, pattern), (), 0, column(theta), Fraction(1))
        assert region(Ball(problem, theta, Fraction(0)), cover, one, node(None)) == side
        one = replace(one, zeros=0b100)
        assert region(Ball(problem, theta, Fraction(0)), cover, one, node(None)) == [1, 0]


def test_margins_around_the_ball(monkeypatch: pytest.MonkeyPatch) -> None:
    """|Z| R must be below slack lambda: 1/2 < 2 slack."""
    problem = Problem("relu", Fraction(2), mat([[1]]), vec(1))
    for slack, good in (("26/100", True), ("1/4", False), ("1/8", False)):
        cover = Cover(lines_of(problem), {}, (), {}, {1: Fraction(slack), -1: Fraction(1)})
        asked: list[Any] = []
        monkeypatch.setattr(
            around, "check_cover", lambda *given, cover=cover, asked=asked: asked.append(given) or cover
        )
        if good:
            check_around(Ball(problem, vec(1), Fraction(1, 4)), [], node(None))
            assert asked[0][2] == 4  # lambda^2
        else:
            with pytest.raises(verify.Rejected, match=r"found too small for \+1"):
                check_around(Ball(problem, vec(1), Fraction(1, 4)), [], node(None))


def test_theta_from_the_residual() -> None:
    """tau floor(2^bits r) / 2^bits with r = y - fit, rounded down, also below 0."""
    problem = Problem("relu", Fraction(1), mat([[1], [1], [1]]), vec(1, 1, 0))
    facts = proved(PRIMAL, Primal(vec("1/3", "-1/7", "1/3"), 1, Fraction(1), Fraction(1)))
    assert read_theta(problem, facts, node({"tau": "1/2", "bits": 3})) == vec("5/16", "9/16", "-3/16")
    assert read_theta(problem, facts, node("1 2 3")) == vec(1, 2, 3)
    moved = {"tau": "2", "bits": 3, "moves": [[0, "1/8"], [2, "-1"], [2, "1/8"]]}
    assert read_theta(problem, facts, node(moved)) == vec("3/2", "9/4", "-5/2")
    with pytest.raises(verify.Rejected, match="an index below 3"):
        read_theta(problem, facts, node({**moved, "moves": [[3, "1"]]}))
    with pytest.raises(verify.Rejected, match="an index below 4096"):
        read_theta(problem, facts, node({"tau": "1", "bits": 4096}))
    with pytest.raises(verify.Rejected, match="the fact primal"):
        read_theta(problem, Facts(), node({"tau": "1", "bits": 1}))


@pytest.mark.parametrize(("radius", "good"), [("55/100", True), ("577/1000", True), ("578/1000", False), ("1", False)])
def test_the_margin_is_just_enough(radius: str, good: bool) -> None:
    """A margin of 1 at 44 bits holds for |Z|_F times the radius below 2^-44, |Z|_F = root 3, and no more."""
    case = corner_path()
    text = changed(case, {f"{PIECE}.radius": str(Fraction(radius) / 2**44)})
    if good:
        assert len(verify.check(text, case.raw)) == 2
    else:
        with pytest.raises(verify.Rejected, match="a cover whose margin holds for the whole ball"):
            verify.check(text, case.raw)


def test_limits_of_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 12 directions and 255 ties, and as many are read."""
    monkeypatch.setattr(check, "read_tie", lambda *_: None)
    units = [" ".join(str(int(i == j)) for j in range(13)) for i in range(13)]
    problem = Problem("relu", Fraction(1), mat([[1, *[0] * 12]]), vec(1))
    for basis, ties, many in (
        (units[:12], [], None),
        (units, [], "at most 12 vectors"),
        (units[:1], [None] * 255, None),
        (units[:1], [None] * 256, "at most 255"),
    ):
        fields = {"basis": basis, "ties": ties, "margin": 0, "+": None, "-": None}
        with pytest.raises((verify.Rejected, AttributeError)) as error:
            check_cover(problem, vec(1), Fraction(1), node(fields))
        assert ("at most" in str(error.value)) is (many is not None) and (many or "") in str(error.value)
