"""Parts of the rules by hand: each condition is asked for by itself, and each bound is the number it should be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest
from flint import fmpq

import verify
from tests.verify.corpus.accepted_cases import accepted
from tests.verify.corpus.rejected_cases import changed
from tests.verify.cover.plant import planted
from tests.verify.oracle.brute import mat, vec
from verify import Rejected
from verify.facts import DUAL, Facts
from verify.numbers.bounds import column, matrix
from verify.optimal.ball import Ball, Class, Face
from verify.problem.problem import Problem
from verify.rules import load
from verify.rules.curve import same_region
from verify.rules.derivatives import Linear, check_sure, within
from verify.rules.elastic.dual import check_elastic
from verify.rules.faces import at_kinks, check_break, check_idle_direction, check_leaving
from verify.rules.jump import Beside, check_farkas, kernel
from verify.sets.neurons import Neuron
from verify.sets.ties import Tied
from verify.text import Node

ZERO = F(0)
ROW = matrix(mat([[1]]), 1)


def nodes(**fields: Any) -> dict[str, Node]:
    """The fields of an entry."""
    return {key: Node(value, None, key) for key, value in fields.items()}


def relu(Z: Any, **more: Any) -> Problem:
    """A ReLU problem over these rows."""
    return Problem("relu", F(1), mat(Z), vec(*[1] * len(Z)), **more)


def cgl(K: Any = None, X: Any = ((1, 0), (0, 1)), lam: int = 1, **more: Any) -> Problem:
    """A direct problem of one block."""
    constraints = None if K is None else mat(K)
    return Problem("cgl", F(lam), mat(X), vec(*[1] * len(X)), groups=((0, 1),), K=(constraints,), **more)


# ------------------------------------------------------------------------------------------------ where rules apply


@pytest.mark.parametrize("name", ["cover", "cover_lambda_max", "leaders"])
def test_proofs_without_a_list_are_for_plain_networks(name: str) -> None:
    """ReLU networks over all patterns with delta = 0, and no other problem."""
    plain = relu([[1]])
    assert load(name, plain).applies(plain)
    for other in (replace(plain, patterns=(1,)), replace(plain, delta=F(1)), replace(plain, model="gated"), cgl()):
        assert not load(name, plain).applies(other)


# ------------------------------------------------------------------------------------------------ curve


def known(key: tuple[int, int], zeros: int = 0) -> Class:
    """A class by its sign and pattern."""
    return Class(key, (), zeros, ROW, F(1))


def test_regions_by_hand() -> None:
    """Rows 0 and 1 fix signs, row 2 is surely off (theta = -1, R = 1/2), row 3 is zero: only the first two count, but
    for kinks of the class at the point."""
    ball = Ball(relu([[1, 0], [0, 1], [1, 1], [0, 0]]), vec(1, 1, -1, 1), F(1, 4))
    piece = known((1, 0b0011))
    same_region(ball, known((1, 0b0011)), piece, Node(None))
    same_region(ball, known((1, 0b1111)), piece, Node(None))
    same_region(ball, known((1, 0b0001), zeros=0b0010), piece, Node(None))
    same_region(ball, known((1, 0b0001), zeros=0b0010), known((1, 0b0001), zeros=0b0010), Node(None))
    for class_, other in (
        (known((-1, 0b0011)), piece),
        (known((1, 0b0001)), piece),
        (known((1, 0b0010)), piece),
        (known((1, 0b0011)), known((1, 0b0011), zeros=0b0010)),
    ):
        with pytest.raises(Rejected, match="in the region"):
            same_region(ball, class_, other, Node(None))
    wide = replace(ball, R_squared=F(1))
    with pytest.raises(Rejected, match="in the region"):
        same_region(wide, known((1, 0b0111)), piece, Node(None))
    with pytest.raises(Rejected, match="in the region"):
        same_region(Ball(ball.problem, vec(1, 1, 0, 1), ZERO), known((1, 0b0111)), piece, Node(None))
    with pytest.raises(Rejected, match="in the region"):
        same_region(Ball(ball.problem, vec(-1, -1, -1, 1), ZERO), known((-1, 0b0111)), known((-1, 0b0011)), Node(None))
    direct = Ball(cgl(), vec(1, 1), ZERO)
    same_region(direct, known((0, 0)), known((0, 0)), Node(None))
    with pytest.raises(Rejected, match="the class of the piece"):
        same_region(direct, known((0, 1)), known((0, 0)), Node(None))


# ------------------------------------------------------------------------------------------------ derivatives


def test_distance_of_derivatives_by_hand() -> None:
    """B = (1), alpha = 3, Q = (2), g = 1: M = 4. For dr = 5, da = 7, dy = 1, dlam = 2 the first row misses by 33, R
    |da| and error |dr|, the second by 8 and R |dr|; mu = 4, sigma = 1/2: the ratio is 4."""

    def far(R: F, error: F, sigma: F, mu: F = F(4)) -> F:
        one = Linear([ROW], [F(3)], matrix(mat([[2]]), 1), vec(1), R, error, mu, sigma)
        return one.distance(column(vec(5)), column(vec(7)), column(vec(1)), F(2))

    assert far(ZERO, ZERO, F(1, 2)) == max(33 + 4 * 8, 4 * 33 + 16 * 8)
    assert far(F(1, 10), ZERO, F(1, 2)) == 4 * (33 + F(7, 10)) + 16 * (8 + F(1, 2))
    assert far(ZERO, F(1, 5), F(1, 2)) == 4 * 34 + 16 * 8
    assert far(ZERO, ZERO, F(4)) == 33 + F(1, 2) * 8
    assert far(ZERO, ZERO, F(4), F(16)) == 33 + 8


def test_sure_by_hand() -> None:
    """theta = (3, 4), s = 2, freedom 5 +- 1/8: |theta|^2 - n s^2 + 2 s^2 freedom = 57, off by 10 R + R^2 + 1."""
    R = F(1, 10)

    def sure(value: str, radius: str) -> tuple[F, F]:
        fields = {"noise": "2", "value": value, "radius": radius}
        return check_sure(relu([[1], [1]]), vec(3, 4), R, (F(5), F(1, 8)), Node(fields, None, "sure"))

    assert sure("57", "201/100") == (57, F(201, 100))
    for value, radius in (("56", "201/100"), ("57", "2"), ("57", "401/200")):
        with pytest.raises(Rejected):
            sure(value, radius)
    within(F(1), F(1), Node(None))
    with pytest.raises(Rejected, match="a radius >="):
        within(F(1001, 1000), F(1), Node(None))


# ------------------------------------------------------------------------------------------------ elastic


def test_the_elastic_dual_by_hand() -> None:
    """Two blocks with |X_b'theta| = 3 and 4, lambda = 2, delta = 1/2: what is longer than lambda is listed, in order,
    with a length that is long enough, and costs (s - lambda)^2 / (2 delta)."""
    problem = Problem("cgl", F(2), mat([[3, 4]]), vec(1), groups=((0,), (1,)), K=(None, None), delta=F(1, 2))

    def dual(excess: Any, theta: str = "1") -> Any:
        fields = {"theta": theta, "multipliers": [None, None], "excess": excess}
        return check_elastic(problem, Facts(), Node(fields, None, "dual"))[DUAL]

    assert dual([[0, "3"], [1, "4"]]).cost == 1 + 4
    assert dual([[0, "4"], [1, "5"]]).cost == 4 + 9
    assert dual([], "1/2").cost == 0
    for excess, message in (
        ([[0, "3"]], "block 1"),
        ([[1, "4"]], "block 0"),
        ([[0, "3"], [1, "39/10"]], "block 1"),
        ([[1, "4"], [0, "3"]], "ascending"),
        ([[0, "3"], [0, "3"]], "ascending"),
        ([[0, "2"], [1, "4"]], "a length > lambda"),
        ([[0, "1"], [1, "4"]], "a length > lambda"),
        ([[0, "3"], [2, "4"]], "an index below 2"),
    ):
        with pytest.raises(Rejected, match=message):
            dual(excess)


# ------------------------------------------------------------------------------------------------ faces


def neuron(v: Any, key: tuple[int, int] = (1, 0), face: Face | None = None, blocks: int = 1, q: Any = ()) -> Neuron:
    """A tied neuron."""
    return Neuron(key, True, independent=True, face=face, v=vec(*v), q=vec(*q), blocks=blocks)


def face(kinks: tuple[int, ...], idle: tuple[int, ...]) -> Face:
    """A face; what is not asked for is empty."""
    basis = tuple(k for k in kinks if k not in idle)
    return Face(kinks, basis, idle, {}, ROW, ())


def test_idle_directions_by_hand() -> None:
    """Kinks (0, 1, 0), in the basis, (0, 0, 1), idle with rows on one side, (0, 1, 1), with rows on both: u must be 0
    at the first and the last, and below 0 at the second."""
    problem = relu([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1], [0, -1, -1]])
    one = neuron((1, 0, 0), face=face((1, 2), (2,)))
    check_idle_direction(problem, one, nodes(u="0 0 -1", h=""))
    check_idle_direction(problem, one, nodes(u="5 0 -1", h=""))
    for u, message in (
        ("0 0 1", "<= 0 at the kink 2"),
        ("0 1 -1", "0 at the kink 1"),
        ("0 -1 -1", "0 at the kink 1"),
        ("1 0 0", "leaves the face"),
    ):
        with pytest.raises(Rejected, match=message):
            check_idle_direction(problem, one, nodes(u=u, h=""))
    with pytest.raises(Rejected):
        check_idle_direction(problem, one, nodes(u="0 0 -1", h="1"))
    with pytest.raises(Rejected, match="a neuron with kinks"):
        check_idle_direction(problem, neuron((1, 0, 0), face=face((), ())), nodes(u="0 0 -1", h=""))
    with pytest.raises(Rejected, match="a neuron with kinks"):
        check_idle_direction(problem, neuron((1, 0, 0)), nodes(u="0 0 -1", h=""))
    both = neuron((1, 0, 0), face=face((3,), (3,)))
    with pytest.raises(Rejected, match="0 at the kink 3"):
        check_idle_direction(problem, both, nodes(u="0 0 -1", h=""))
    block = cgl([[0], [1]])
    check_idle_direction(block, neuron((1, 0), (0, 0), face((0,), (0,))), nodes(u="0 -1", h=""))
    with pytest.raises(Rejected, match="<= 0 at the kink 0"):
        check_idle_direction(block, neuron((1, 0), (0, 0), face((0,), (0,))), nodes(u="0 1", h=""))


def test_gains_at_kinks_by_hand() -> None:
    """Rows (1, 0), (0, 1) and zero, theta = (2, -3, 5), v = (2, 0): along (0, 1) the second row turns on and 3 is lost,
    along (0, -1) nothing is; xi = -1 turns theta round. A block: the pull of its constraint."""
    problem, theta = relu([[1, 0], [0, 1], [0, 0]]), vec(2, -3, 5)
    at = Node(None)
    tight, gain, moved = at_kinks(problem, theta, neuron((2, 0)), vec(0, 1), at)
    assert (tight, gain, moved) == (mat([[0, 1]]), -3, (0, 1, 0))
    assert at_kinks(problem, theta, neuron((2, 0)), vec(1, -1), at)[1:] == (0, (1, 0, 0))
    minus = at_kinks(problem, vec(-2, 3, 5), neuron((2, 0), (-1, 0)), vec(0, 1), at)
    assert minus[1:] == (-3, (0, -1, 0))
    off = at_kinks(problem, theta, neuron((-2, 0)), vec(1, 0), at)
    assert off[1:] == (2, (0, 0, 0))
    with pytest.raises(Rejected, match="a neuron with a cone"):
        at_kinks(replace(problem, model="gated"), theta, neuron((2, 0)), vec(0, 1), at)
    block = cgl([[0, 1, 0], [1, 1, 0]])
    one = neuron((2, 0), (0, 0))
    assert at_kinks(block, vec(2, 5), one, vec(0, -1), at) == (mat([[0, 1]]), -5, (0, -1))
    for u in (vec(0, 1), vec(1, 1)):
        with pytest.raises(Rejected, match="into the cone"):
            at_kinks(block, vec(2, 5), one, u, at)
    two = cgl([[0, 0], [1, -1]])
    assert at_kinks(two, vec(2, 5), one, vec(1, 0), at)[0] == mat([[0, 1], [0, -1]])
    with pytest.raises(Rejected, match="into the cone"):
        at_kinks(two, vec(2, 5), one, vec(0, -1), at)


def test_leaving_by_hand() -> None:
    """Along (0, -1) the second row stays off: no loss, and the kink is left; along (1, 0) it is not left, along (0, 1)
    there is a loss."""
    problem, theta = relu([[1, 0], [0, 1]]), vec(2, -3)
    neurons = [neuron((2, 0), q=(2, 0))]
    assert check_leaving(problem, theta, neurons, 0, nodes(u="0 -1", h="")).strict is False
    assert check_leaving(problem, theta, neurons, 0, nodes(u="0 -1", h="")).breaks is False
    for u, message in (("0 1", "the gain is 0"), ("1 0", "leaves the face")):
        with pytest.raises(Rejected, match=message):
            check_leaving(problem, theta, neurons, 0, nodes(u=u, h=""))


def test_breaks_by_hand() -> None:
    """A concave kink, u across the face, h orthogonal to all outputs and not to what moves."""
    problem, theta = relu([[1, 0], [0, 1], [0, 1]]), vec(2, -3, 0)
    tight, u, moved = mat([[0, 1], [0, 1]]), vec(0, 1), vec(0, 1, 1)

    def broken(h: str, theta: Any = theta, blocks: int = 1, u: Any = u, q: Any = (2, 0, 0)) -> None:
        some = [neuron((2, 0), q=q, blocks=blocks)]
        check_break(problem, theta, some, 0, tight, moved, nodes(u=" ".join(map(str, u)), h=h))

    broken("0 1 0")
    for wrong, message in (
        ({"h": "1 1 0"}, "h.q = 0"),
        ({"h": "0 1 -1"}, "not orthogonal"),
        ({"h": "0 1 0", "blocks": 2}, "several blocks"),
        ({"h": "0 1 0", "u": vec(1, 1)}, "a combination of the tight constraints"),
        ({"h": "0 1 0", "theta": vec(2, 3, 0)}, "is not concave"),
        ({"h": "0 1 0", "theta": vec(2, 0, 0)}, "is not concave"),
    ):
        with pytest.raises(Rejected, match=message):
            broken(**wrong)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ fit, jump


def test_the_center_of_a_fit_may_be_left_out_without_a_list() -> None:
    """Null where no patterns are listed; where they are, and for other centers, it is rejected."""
    corner, xor = planted("corner"), accepted("xor, planted")
    assert verify.check(changed(corner, {"facts.fit.center": None}), corner.raw)
    for case, center in ((xor, None), (corner, "3 5"), (corner, "3")):
        with pytest.raises(Rejected, match="center"):
            verify.check(changed(case, {"facts.fit.center": center}), case.raw)


def test_kernels_of_jumps_by_hand() -> None:
    """X X' of a block strictly inside its cone, of a pattern, of the rows where a neuron is on; none on a boundary."""
    block = Ball(cgl([[0], [1]], X=((1, 2), (0, 1))), vec(1, 1), ZERO)
    assert kernel(block, Tied((0, 0), vec(3, -1), ()), Node(None)).entries() == [5, 2, 2, 1]
    with pytest.raises(Rejected, match="strictly inside their cones"):
        kernel(block, Tied((0, 0), vec(3, 0), ()), Node(None))
    rows = Ball(relu([[1, 0], [1, -1], [0, 0]]), vec(1, 1, 1), ZERO)
    assert kernel(rows, Tied((1, 0), vec(2, 1), ()), Node(None)).entries() == [1, 1, 0, 1, 2, 0, 0, 0, 0]
    assert kernel(rows, Tied((1, 0), vec(1, 2), ()), Node(None)).entries() == [1, 0, 0, 0, 0, 0, 0, 0, 0]
    with pytest.raises(Rejected, match="on no kink"):
        kernel(rows, Tied((1, 0), vec(1, 1), ()), Node(None))
    gated = Ball(replace(rows.problem, model="gated"), vec(1, 1, 1), ZERO)
    assert kernel(gated, Tied((0, 0b010), vec(1, 1), ()), Node(None)).entries() == [0, 0, 0, 0, 2, 0, 0, 0, 0]


def test_signs_beside_a_jump_by_hand() -> None:
    """c_1 e + c_2 e^2 + ...: the first that is not 0 counts, an odd power turns round on the other side."""
    for side, signs in ((1, (1, 1, -1)), (-1, (-1, 1, 1))):
        beside = Beside(Ball(relu([[1]]), vec(1), ZERO), [], vec(), (), side)
        parts = ([3], [0, 2], [0, 0, -5])
        assert tuple(beside.sign([fmpq(x) for x in c]) for c in parts) == signs
        assert beside.sign([fmpq(0), fmpq(0)]) == 0


def test_farkas_beside_a_jump_by_hand() -> None:
    """y = (1, 0), h = (0, 1): the neuron (1, 1) ties with (1, 0) wherever h.s = 0, and h.q > 0 where s_2 grows."""
    one, both, other = (matrix(mat(A), 2) for A in ([[1, 0], [0, 0]], [[1, 1], [1, 1]], [[2, 0], [0, 1]]))
    problem = Problem("cgl", F(1), mat([[1, 1], [0, 1]]), vec(1, 0), groups=((0,), (1,)), K=(None, None))

    def farkas(h: str, rising: Any, third: Any = both) -> None:
        beside = Beside(Ball(problem, vec(1, 0), ZERO), [one, third], vec(1, 0), (0,), 1)
        s = [column(vec(1, -1)), column(vec(*rising))]
        check_farkas(beside, s, [1], vec(*h.split(" ")), Node(None))

    farkas("0 1", (0, 1))
    for h, rising, third in (
        ("0 0", (0, 1), both),
        ("1 1", (0, 1), both),
        ("1 0", (0, 1), both),
        ("0 1", (0, -1), both),
        ("0 1", (0, 0), both),
        ("0 1", (0, 1), other),
        ("0 -1", (0, 1), both),
    ):
        with pytest.raises(Rejected):
            farkas(h, rising, third)
