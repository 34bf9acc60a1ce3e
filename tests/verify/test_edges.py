"""Checks on their edges: what is exactly at a bound, and what each check keeps out that no other one does."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq, fmpq_mat

from tests.verify.brute import vec
from verify import Rejected
from verify.bounds import column
from verify.classes import Ball
from verify.coalitions import check_cones, check_form, check_leaf, check_wins
from verify.problem import Problem
from verify.rules.jump import Beside, check_beside
from verify.shortest import check_exact, check_min_norm, check_shortest
from verify.system import System
from verify.text import Node


def node(value: Any) -> Node:
    """A value, as if it was read."""
    return Node(value, None, "here")


# ------------------------------------------------------------------------------------------------ coalitions

# Vectors of two blocks: P = [0] has two entries, M = [1] has one.
E1 = [[1, 0], [0]]


@pytest.mark.parametrize(
    ("basis", "t", "said"),
    [
        ([E1], "1", None),
        ([[[2, 0], [1]]], "1", None),
        ([[[2, 0], [1]]], "1/2", None),  # 4 - 2
        ([[[2, 0], [1]]], "1/4", "pivot 0"),  # 4 - 4
        ([[[1, 0], [1]]], "1", "pivot 0"),
        ([E1, [[1, 1], [0]]], "1", None),  # 1 1; 1 2
        ([E1, [[1, 1], [1]]], "1", "pivot 1"),  # 1 1; 1 1
        ([[[2, 0], [0]], [[3, 1], [1]]], "1", "pivot 1"),  # 4 6; 6 9
        ([[[2, 0], [0]], [[3, 2], [1]]], "1", None),  # 4 6; 6 12
        ([[[2, 0], [1]], [[1, 2], [1]]], "1", None),  # 3 1; 1 4
        ([E1], "0", "sum at most 1"),
        ([E1], "-1", "sum at most 1"),
        ([E1], "1000001/1000000", "sum at most 1"),
    ],
)
def test_forms_that_are_just_definite(basis: Any, t: str, said: str | None) -> None:
    """The squares of P less those of M over t are a positive definite form, and t > 0 adds up to at most 1."""
    if said is None:
        check_form(basis, [0], [1], node(t))
    else:
        with pytest.raises(Rejected, match=said):
            check_form(basis, [0], [1], node(t))


def test_weights_of_a_form_add_up() -> None:
    """Two blocks that lose share the 1: halves are enough for a vector that is twice as long, thirds and a half not."""
    basis = [[[3], [1], [1]]]  # 9 - 1/t1 - 1/t2
    check_form(basis, [0], [1, 2], node("1/2 1/2"))
    with pytest.raises(Rejected, match="sum at most 1"):
        check_form(basis, [0], [1, 2], node("1/2 2/3"))
    with pytest.raises(Rejected, match="pivot 0"):
        check_form([[[2], [1], [1]]], [0], [1, 2], node("1/2 1/2"))


@pytest.mark.parametrize(
    ("cone", "good"),
    [
        ([[[3], [2]]], True),
        ([[[2], [2]]], False),  # 2 - 2
        ([[[2], [3]]], False),
        ([[[3, 4], [4]]], True),  # 5 - 4
        ([[[3, 4], [5]]], False),  # 5 - 5
        ([[[1, 1], [1, 0]]], True),  # root 2 - 1
        ([[[1, 0], [1, 1]]], False),
        ([[[3, 0], [1]], [[0, 3], [1]]], True),  # 3/root 2 - 1
        ([[[3, 0], [2]], [[0, 3], [2]]], True),
        ([[[3, 0], [3]], [[0, 3], [2]]], False),
        ([[[3, 0], [2]], [[-2, 1], [0]]], False),  # the second one is turned away from the sum
    ],
)
def test_leaves_of_cones(cone: Any, good: bool) -> None:
    """The first block is longer, along the sum of the generators, than the second at every generator, and not equal."""
    if good:
        check_leaf(cone, [0], [1], node(None))
    else:
        with pytest.raises(Rejected, match="a positive bound at every generator"):
            check_leaf(cone, [0], [1], node(None))


def test_cuts_of_cones() -> None:
    """Both cones of two vectors need a leaf, a cut two; nothing is left over, and a cut names two generators."""
    basis = [[[5, 0], [1]], [[0, 5], [1]]]
    check_cones(basis, [0], [1], node([None, None]))
    check_cones(basis, [0], [1], node([[0, 1, 1, 1], None, None, None]))
    check_cones(basis, [0], [1], node([[1, 0, 2, 3], None, None, None]))
    for cuts, said in (
        ([None], "cuts for every cone, found too few"),
        ([None, None, None], "no more cuts"),
        ([[0, 1, 1, 1], None, None], "cuts for every cone, found too few"),
        ([[0, 0, 1, 1], None, None, None], "two different generators"),
        ([[0, 2, 1, 1], None, None, None], "two different generators below 2"),
        ([[2, 0, 1, 1], None, None, None], "two different generators below 2"),
        ([[0, 1, 0, 1], None, None, None], "two positive factors"),
        ([[0, 1, 1, 0], None, None, None], "two positive factors"),
    ):
        with pytest.raises(Rejected, match=said):
            check_cones(basis, [0], [1], node(cuts))


def test_a_cut_splits_its_cone() -> None:
    """Generators that are far apart fail as one cone; cut by p g_i + q g_j, both parts hold."""
    basis = [[[7, 0], [5, 0]], [[0, 7], [0, 5]]]
    for cuts in ([None, None], [[0, 1, 1, 1], None, None, None], [[0, 1, 9, 1], None, None, None]):
        with pytest.raises(Rejected, match="a positive bound"):
            check_cones(basis, [0], [1], node(cuts))
    check_cones(basis, [0], [1], node([[0, 1, 1, 1], None, None, [0, 1, 1, 1], None, None]))


@pytest.mark.parametrize(
    ("wins", "said"),
    [
        ([[0]], None),
        ([[1]], None),
        ([[0, 1], [0, 2], [1, 2]], None),
        ([[0, 1], [1, 2]], r"within one sign of \+-\+|within one sign of -\+-"),
        ([[0, 1, 2]], "a coalition that wins"),
        ([], "found none of 0"),
    ],
)
def test_some_coalition_is_within_one_sign(wins: list[list[int]], said: str | None) -> None:
    """Each win is proved, and whatever the signs of three blocks are, two of one sign win."""
    basis = [[[9], [9], [9]]]

    def t(plus: list[int]) -> str:
        return " ".join([str(Fraction(1, 3 - len(plus)))] * (3 - len(plus))) if len(plus) < 3 else ""

    entries = [{"plus": plus, "t": t(plus)} for plus in wins]
    big = [[[90 if [i] in wins else 9] for i in range(3)]] if any(len(plus) == 1 for plus in wins) else basis
    if said is None:
        check_wins((0, 1, 2), big, node(entries))
    else:
        with pytest.raises(Rejected, match=said):
            check_wins((0, 1, 2), basis, node(entries))


# ------------------------------------------------------------------------------------------------ the shortest point


def exact(F: list[list[int]], *g: int) -> System:
    """An exact system in all its classes."""
    zero = (Fraction(0),) * len(g)
    k = len(F[0])
    entries = [fmpq(x) for row in F for x in row]
    return System(fmpq_mat(len(F), k, entries), vec(*g), zero, zero, tuple(range(k)), k, {}, exact=True)


def test_the_shortest_point_is_in_the_polytope() -> None:
    """alpha = (F'mu)_+ is not enough: F alpha = g, too; the slopes where alpha is 0 are at most 0."""
    system = exact([[1, 1]], 2)
    stated = {"bits": 0, "weights": "1 1", "radius": "0", "mu": "1"}
    assert check_min_norm(system, node(stated)).weights == vec(1, 1)
    for change, said in (
        ({"weights": "2 2", "mu": "2"}, r"F alpha = g in row 0, found 2"),
        ({"weights": "1 1", "mu": "2"}, r"F_a.mu = 1 for class 0, found 2"),
        ({"weights": "2 0", "mu": "2"}, r"F_a.mu = <= 0 for class 1, found 2"),
        ({"radius": "1"}, "0 where the polytope is known exactly"),
        ({"radius": "-1"}, "a number >= 0"),
        ({"weights": "3 -1"}, "a weight >= 0"),
        ({"bits": 1}, "0, because the polytope is known exactly"),
    ):
        with pytest.raises(Rejected, match=said):
            check_min_norm(system, node({**stated, **change}))
    level = exact([[1, 0], [0, 1]], 1, 0)
    assert check_min_norm(level, node({**stated, "weights": "1 0", "mu": "1 0"})).weights == vec(1, 0)
    with pytest.raises(Rejected, match="F_a.mu = <= 0 for class 1, found 1"):
        check_min_norm(level, node({**stated, "weights": "1 0", "mu": "1 1"}))


def test_no_vertex_is_nearer() -> None:
    """alpha.p >= |alpha|^2 at all vertices, with equality where the polytope is a segment; and alpha is a point of it."""
    system = exact([[1, 1]], 2)
    ends: list[dict[int, Fraction]] = [{0: Fraction(2)}, {1: Fraction(2)}]
    check_exact(system, ends, vec(1, 1), node(""))
    with pytest.raises(Rejected, match=r"alpha.p >= \|alpha\|\^2 = 4 at vertex 1, found 0"):
        check_exact(system, ends, vec(2, 0), node(""))
    with pytest.raises(Rejected, match="F alpha = g in row 0, found -1"):
        check_exact(system, ends, vec("1/2", "1/2"), node(""))
    stated = {"weights": "1 1", "radius": "0"}
    assert check_shortest(system, ends, node(None)) is None
    found = check_shortest(system, ends, node(stated))
    assert found is not None and found.radius == 0
    for weights in ("2 0", "1/2 1/2"):
        with pytest.raises(Rejected):
            check_shortest(system, ends, node({**stated, "weights": weights}))


# ------------------------------------------------------------------------------------------------ beside a jump


def beside(y: tuple[Any, ...], limit: tuple[Any, ...], active: tuple[int, ...], side: int, *more: fmpq_mat) -> Beside:
    """Outputs q_1 = s_1 e_1, q_2 = s_2 e_2 at lambda = 1 and theta = (1, 1, 0), and perhaps more kernels."""
    kernels = [fmpq_mat(3, 3, [int(i == j == k) for i in range(3) for j in range(3)]) for k in (0, 1)]
    problem = Problem("gated", Fraction(1), ((Fraction(1),),) * 3, vec(*y))
    return Beside(Ball(problem, vec(1, 1, 0), Fraction(0)), [*kernels, *more], vec(*limit), active, side)


def test_what_grows_and_falls_beside_lambda() -> None:
    """A neuron without weight at lambda is active on the side where its weight grows; left out, it must fall there."""
    fields = {"active": node([]), "farkas": node("")}
    check_beside(beside((2, 1, 0), (1, 0), (0, 1), 1), fields)
    with pytest.raises(Rejected, match="a weight that grows from 0 for the tied neuron 1"):
        check_beside(beside((2, 1, 0), (1, 0), (0, 1), -1), fields)
    check_beside(beside((2, 1, 0), (1, 0), (0,), -1), fields)
    with pytest.raises(Rejected, match=r"\|v\|\^2 below 1 on this side for the tied neuron 1, found above 1"):
        check_beside(beside((2, 1, 0), (1, 0), (0,), 1), fields)
    with pytest.raises(Rejected, match="independent outputs of the active neurons"):
        same = fmpq_mat(3, 3, [1, 0, 0, 0, 0, 0, 0, 0, 0])
        check_beside(beside((2, 1, 0), (1, 0, 0), (0, 2), -1, same), fields)


def test_what_stays_tied_beside_lambda() -> None:
    """A neuron that ties with an active one all along is kept out by h: h.y = 0, silent on the active ones, h.q > 0."""
    u = column(vec(1, 0, 1))
    tilted = u * u.transpose()  # q = (s_1 + s_3)(e_1 + e_3): with s_3 = 0 as long as q_1
    staying = beside((2, 1, 0), (1, 0, 0), (0,), -1, tilted)
    for farkas, said in (
        ("", "3 numbers"),
        ("0 0 0", "h != 0 with h.y = 0"),
        ("0 0 1", "h.q > 0 on this side, and 0 at lambda, for the tied neuron 2"),
        ("1 -2 0", "h.y = 0 and G_a h = 0 for the active neurons"),
        ("0 1 1", "h.y = 0 and G_a h = 0"),
    ):
        with pytest.raises(Rejected, match=said):
            check_beside(staying, {"active": node([]), "farkas": node(farkas)})
    other = fmpq_mat(3, 3, [1, 0, 0, 0, 1, 0, 0, 0, 0]) - fmpq_mat(3, 3, [0, 0, 0, 0, 1, 0, 0, 0, 0])
    check = beside((2, 1, 0), (1, 0, 0), (0,), -1, other)
    with pytest.raises(Rejected, match="h.q > 0 on this side"):
        check_beside(check, {"active": node([]), "farkas": node("0 0 1")})


@pytest.mark.parametrize(
    ("coefficients", "side", "sign"),
    [
        ([0, 0, 0], 1, 0),
        ([2], 1, 1),
        ([2], -1, -1),
        ([-2], 1, -1),
        ([-2], -1, 1),
        ([0, 3], 1, 1),
        ([0, 3], -1, 1),
        ([0, -3], -1, -1),
        ([0, 0, 5], -1, -1),
        ([0, 0, 5, 7], 1, 1),
        ([1, -9], 1, 1),
    ],
)
def test_signs_of_series(coefficients: list[int], side: int, sign: int) -> None:
    """The first coefficient that is not 0 decides; odd powers turn round on the other side."""
    assert beside((2, 1, 0), (1, 0), (0,), side).sign([fmpq(c) for c in coefficients]) == sign
