"""Checks on their edges: what is exactly at a bound, and what each check keeps out that no other one does."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb, isqrt
from typing import Any

import pytest
from flint import fmpq, fmpq_mat

import verify
from tests.verify.cover.plant import tree
from tests.verify.oracle.brute import mat, vec
from tests.verify.score import entries
from verify import Declined, Rejected, Usage
from verify.certificate import Report
from verify.cover.faces import check_star, meeting
from verify.cover.strict import unit
from verify.cover.tree import Reader
from verify.facts import PRIMAL, Facts
from verify.numbers.bounds import column, matrix
from verify.numbers.coalitions import check_cones, check_form, check_leaf, check_win, check_wins
from verify.numbers.patterns import Patterns
from verify.numbers.polynomials import at_least, at_most, bernstein, never_negative
from verify.numbers.roots import can_vanish, sign_of_sum
from verify.optimal.ball import Ball, Class
from verify.optimal.multipliers import batches, check_multipliers
from verify.problem.blocks import written_out
from verify.problem.input import Input, read_input
from verify.problem.problem import OBJECTIVE, Problem, read_problem
from verify.problem.variants import ELASTIC, LOGISTIC, under
from verify.rule import plain
from verify.rules import cover_set, optimal_set
from verify.rules.jump import Beside, check_beside, series
from verify.rules.min_norm import check_min_norm
from verify.rules.primal import Primal, check_primal
from verify.sets.classes import read_class, read_relu
from verify.sets.masses import shared_masses
from verify.sets.outs import check_outs
from verify.sets.shortest import check_exact, check_shortest
from verify.sets.solutions import System, lifted
from verify.sets.split import check_forced, is_void, read_mixed, silent_on
from verify.sets.superclasses import Candidates, read_rows, same_kernels
from verify.sets.ties import Optimum as ExactOptimum
from verify.sets.ties import Tied, check_farkas
from verify.statement import statement
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
        ([[[1], [0]], [[-1], [0]]], False),  # nothing along their sum, which is 0
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


def test_leaves_round_outwards() -> None:
    """Roots are rounded so that a tie stays one: 2 root 2 against two root 2, and root 2 against itself turned away."""
    with pytest.raises(Rejected, match="not at generator 0"):
        check_leaf([[[2, 2], [1, 1], [1, 1]]], [0], [1, 2], node(None))
    check_leaf([[[3, 3], [1, 1], [1, 1]]], [0], [1, 2], node(None))
    with pytest.raises(Rejected, match="not at generator 0"):
        check_leaf([[[1, 1], [-1, -1]], [[1, 1], [3, 3]]], [0, 1], [], node(None))
    check_leaf([[[2, 2], [-1, -1]], [[1, 1], [3, 3]]], [0, 1], [], node(None))
    with pytest.raises(Rejected, match="not at generator 0"):
        check_leaf([[[1]], [[-1]]], [0], [], node(None))  # nothing against nothing


def test_forms_of_three_vectors() -> None:
    """Every later row is reduced: 1 2 0; 2 3 0; 0 0 1 has the pivots 1, -1, 1."""
    basis = [[[1, 0, 0], [0]], [[2, 0, 0], [1]], [[0, 0, 1], [0]]]
    with pytest.raises(Rejected, match="pivot 1"):
        check_form(basis, [0], [1], node("1"))
    check_form([basis[0], [[2, 2, 0], [1]], basis[2]], [0], [1], node("1"))


def test_both_signs_of_a_basis() -> None:
    """Where the sum of two vectors is won, their difference may be lost: its cone is looked at, too."""
    basis = [[[3], [1]], [[3], [2]]]
    with pytest.raises(Rejected, match="not at generator 0"):
        check_cones(basis, [0], [1], node([None, None]))


def test_factors_of_a_cut_are_bounded() -> None:
    """Below 10^15."""
    basis = [[[5, 0], [1]], [[0, 5], [1]]]
    largest = 10**15 - 1
    check_cones(basis, [0], [1], node([[0, 1, largest, largest], None, None, None]))
    for cut in ([0, 1, 10**15, 1], [0, 1, 1, 10**15]):
        with pytest.raises(Rejected, match="an index below 1000000000000000"):
            check_cones(basis, [0], [1], node([cut, None, None, None]))


def test_how_many_blocks_are_tried() -> None:
    """Sixteen without one that wins alone; more only with one that does."""
    two = [{"plus": [0, 1], "t": " ".join(["1/14"] * 14)}]
    with pytest.raises(Rejected, match=r"a coalition that wins within one sign of -\+|a coalition that wins within"):
        check_wins(tuple(range(16)), [[[99], [99], *[[1]] * 14]], node(two))
    more = [{"plus": [0, 1], "t": " ".join(["1/15"] * 15)}]
    with pytest.raises(Declined, match="at most 16 blocks, or one that wins alone"):
        check_wins(tuple(range(17)), [[[99], [99], *[[1]] * 15]], node(more))
    alone = [{"plus": [0], "t": " ".join(["1/16"] * 16)}]
    check_wins(tuple(range(17)), [[[99], *[[1]] * 16]], node(alone))


@pytest.mark.parametrize(
    ("win", "said"),
    [
        ({"plus": [2], "t": "1"}, None),
        ({"plus": [2], "cuts": [None]}, None),
        ({"plus": [2], "t": "1", "cuts": [None]}, "the key cuts|unknown key"),
        ({"plus": [], "t": "1 1"}, "blocks of "),
        ({"plus": [3], "t": "1"}, "blocks of "),
        ({"plus": [2, 3], "t": "1"}, "blocks of "),
        ({"plus": [5], "t": "1"}, "below 5"),
        ({"plus": [4], "t": "1"}, "pivot 0"),
        ({"plus": [4], "cuts": [None]}, "a positive bound"),
        ([2], "an object"),
    ],
)
def test_a_win_names_some_blocks(win: Any, said: str | None) -> None:
    """Blocks of the support, at least one, and one of the two proofs: here block 2 is longer than block 4."""
    if said is None:
        assert check_win((2, 4), [[[3], [1]]], node(win)) == 1
    else:
        with pytest.raises(Rejected, match=said):
            check_win((2, 4), [[[3], [1]]], node(win))


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
        ({"weights": "2 2", "mu": "2"}, "F alpha = g in row 0"),
        ({"weights": "1 1", "mu": "2"}, r"F_a.mu up to radius .* for class 0, found 1"),
        ({"weights": "2 0", "mu": "2"}, r"F_a.mu up to radius .* for class 1, found 0"),
        ({"weights": "1 9/8", "radius": "1/9"}, "for class 1, found 9/8"),
        ({"radius": "-1"}, "a number >= 0"),
        ({"weights": "3 -1"}, "a weight >= 0"),
        ({"bits": 1}, "an index below 1"),
    ):
        with pytest.raises(Rejected, match=said):
            check_min_norm(system, node({**stated, **change}))
    assert check_min_norm(system, node({**stated, "weights": "1 9/8", "radius": "1/8"})).radius == Fraction(1, 8)
    level = exact([[1, 0], [0, 1]], 1, 0)
    assert check_min_norm(level, node({**stated, "weights": "1 0", "mu": "1 0"})).weights == vec(1, 0)
    with pytest.raises(Rejected, match=r"F_a.mu up to radius .* for class 1, found 0"):
        check_min_norm(level, node({**stated, "weights": "1 0", "mu": "1 1"}))


def test_weights_of_classes_that_are_never_active() -> None:
    """They are 0, whatever the equations say of the others."""
    system = replace(exact([[1, 1]], 2), names=(0, 2), total=3)
    stated = {"bits": 0, "weights": "1 0 1", "radius": "0", "mu": "1"}
    assert check_min_norm(system, node(stated)).weights == vec(1, 0, 1)
    with pytest.raises(Rejected, match="0 if it is never active, for class 1, found 1"):
        check_min_norm(system, node({**stated, "weights": "1 1 1"}))


def test_no_vertex_is_nearer() -> None:
    """alpha.p >= |alpha|^2 at all vertices, with equality on a segment; and alpha is a point of the polytope."""
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
    with pytest.raises(Rejected, match="a weight that grows from 0 for the tied neuron 2"):  # it stays 0
        check_beside(beside((2, 1, 0), (1, 0, 0), (0, 2), -1, tilted), {"active": node([]), "farkas": node("")})
    other = fmpq_mat(3, 3, [1, 0, 0, 0, 1, 0, 0, 0, 0]) - fmpq_mat(3, 3, [0, 0, 0, 0, 1, 0, 0, 0, 0])
    check = beside((2, 1, 0), (1, 0, 0), (0,), -1, other)
    with pytest.raises(Rejected, match=r"h.q > 0 on this side"):
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


# ------------------------------------------------------------------------------------------------ statements


def problem_text(**more: Any) -> dict[str, Any]:
    """A problem of one feature."""
    return {"model": "relu", "objective": OBJECTIVE, "lambda": "1", "Z": ["1", "-1"], "y": "1 -1", **more}


def test_what_a_claim_needs_is_said() -> None:
    """Each variant in its own words, joined by commas; nothing for the plain problem."""
    one = Problem("relu", Fraction(1), ((Fraction(1),),), vec(1))
    csv = Input("", "csv")
    assert under(one, csv) == ""
    assert under(replace(one, model="gated"), csv) == "gated networks"
    assert under(replace(one, patterns=(1,)), csv) == "over the 1 listed pattern only"
    assert under(replace(one, patterns=(1, 0)), csv) == "over the 2 listed patterns only"
    assert under(replace(one, free=("skip",)), csv) == "with these terms free of penalty: skip"
    assert under(replace(one, delta=Fraction(1, 2)), csv) == "with delta = 1/2"
    assert under(replace(one, logistic=True), csv) == "for the logistic loss"
    assert under(replace(one, model="gated", patterns=(1,)), csv) == "gated networks, over the 1 listed pattern only"


def test_what_is_stated() -> None:
    """What the certificate has chosen is there, what it does not have is not, and lists are joined."""
    text = problem_text(free=["output-bias", "skip"])
    top = node({"input": {"sha256": "0", "bias": False}, "problem": text, "facts": {"value": {"gap": "1/2"}}})
    said = statement(Report(top, read_problem(node(text)), []), data=True, network=False)
    assert said["free"] == "output-bias,skip" and said["gap"] == "1/2" and said["lambda"] == "1"
    assert said["data"] == "compared" and said["bias"] == "false" and said["patterns"] == "all" and said["n"] == "2"
    assert not {"delta", "lo", "hi", "network", "network-gap"} & said.keys()
    top.value["facts"]["network"] = {"file": {"sha256": "1", "origin": ""}}
    said = statement(Report(top, read_problem(node(text)), []), data=False, network=True)
    assert said["network"] == "compared" and said["data"].startswith("not compared")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (problem_text(), None),
        (problem_text(objective=LOGISTIC), None),
        (problem_text(objective=LOGISTIC, y="1 2"), "labels 1 and -1"),
        (problem_text(objective=LOGISTIC, y="1 0"), "labels 1 and -1"),
        (problem_text(objective=ELASTIC, delta="1"), None),
        (problem_text(objective=ELASTIC, delta="0"), "delta > 0"),
        (problem_text(objective=ELASTIC, delta="-1"), "delta > 0"),
        (problem_text(objective=ELASTIC), "delta with the elastic objective only"),
        (problem_text(delta="1"), "delta"),
        (problem_text(**{"lambda": "0"}), "lambda > 0"),
        (problem_text(**{"lambda": "-1"}), "lambda > 0"),
        (problem_text(Z=[]), "at least one row and one column"),
        (problem_text(Z=["", ""]), "at least one row and one column"),
        (problem_text(patterns=[]), "at least one pattern, and each pattern once"),
        (problem_text(patterns=["10", "10"]), "at least one pattern, and each pattern once"),
        (problem_text(free=[]), "some of output-bias, biases, skip, in this order"),
        (problem_text(free=["skip", "output-bias"]), "in this order"),
        (problem_text(free=["skip", "skip"]), "in this order"),
        (problem_text(free=["biases"]), "biases only where the last column of Z is ones"),
        (problem_text(free=["skip"], patterns=["10"]), "free terms with ReLU networks over all patterns"),
        (problem_text(free=["skip"], model="gated"), "free terms with ReLU networks"),
        (problem_text(free=["skip"], objective=ELASTIC, delta="1"), "free terms with ReLU networks"),
    ],
)
def test_problems(text: dict[str, Any], said: str | None) -> None:
    """What a problem is; labels, numbers and lists that it cannot have."""
    if said is None:
        found = read_problem(node(text))
        assert found.logistic == (text["objective"] == LOGISTIC) and found.delta == Fraction(text.get("delta", 0))
    else:
        with pytest.raises(Rejected, match=said):
            read_problem(node(text))


@pytest.mark.parametrize("change", [{}, {"delta": Fraction(1)}, {"logistic": True}, {"free": ("skip",)}])
def test_plain_problems(change: dict[str, Any]) -> None:
    """A variant is not plain; free columns are a lift; with free biases sets are proved over a cover alone."""
    one = replace(Problem("relu", Fraction(1), ((Fraction(1),),), vec(1)), **change)
    assert plain(one) == (not change)
    assert lifted(one) == (not change or "free" in change)
    free = replace(one, biases=True)
    assert not optimal_set.RULE.applies(free) and cover_set.RULE.applies(free) == optimal_set.RULE.applies(one)


def test_a_refutation_has_no_data() -> None:
    """It holds its own instance: data or a network beside it are an error of use, not of the file."""
    entry = next(entry for entry in entries() if entry.kind == "refutation" and entry.right)
    text = entry.certificate.read_bytes()
    for beside_it in ({"data": b"1"}, {"network": b"1"}):
        with pytest.raises(Usage, match="no raw data"):
            verify.check(text, **beside_it)
    found = verify.certificate.read(text)
    assert statement(found, data=False, network=False) == {"refuted": json.loads(text)["statement"]}
    with pytest.raises(Declined, match="version 1"):
        verify.check(text.replace(b'"version": 1', b'"version": 2').replace(b'"version":1', b'"version":2'))


# ------------------------------------------------------------------------------------------------ classes and sets


def face(kinks: list[int], basis: list[int], fixed: str, idle: tuple[int, ...] = ()) -> dict[str, Node]:
    """The fields of a class with the pattern 1000."""
    fields = {"sign": "+", "pattern": "1000", "kinks": kinks, "basis": basis, "idle": list(idle), "fixed": fixed}
    return {key: node(value) for key, value in fields.items()}


def test_loose_kinks_from_both_sides() -> None:
    """v = 10 e_1 on e_2, e_3 and -(e_2 + e_3), all bending down: with the part 1/2 all multipliers are -1/2."""
    Z = mat([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, -1]])
    theta = vec(10, -1, -1, -1)
    ball = Ball(Problem("relu", Fraction(10), Z, theta), theta, Fraction(1, 10**6))
    assert read_relu(ball, face([1, 2, 3], [1, 2], "1/2")).kinks == (1, 2, 3)
    for part, said in (("0", "at 1"), ("1", "at 1"), ("2", "a part between 0 and 1"), ("-1", "a part between 0 and 1")):
        with pytest.raises(Rejected, match=said):
            read_relu(ball, face([1, 2, 3], [1, 2], part))
    for kinks, basis, idle, said in (
        ([1, 2, 3], [1, 2, 3], (), "independent vectors"),
        ([1, 2, 3], [1], (), "numbers|a basis that spans"),
        ([1, 3], [1], (), "a basis that spans the kinks that are not idle"),
        ([1], [1, 2], (), "some of the kinks"),
        ([1, 2], [1, 2], (2,), "some of the kinks that are not in the basis"),
    ):
        with pytest.raises(Rejected, match=said):
            read_relu(ball, face(kinks, basis, "1/2" if len(kinks) - len(basis) == 1 else "", idle))
    wide = replace(ball, R_squared=Fraction(1))  # (l - p)^2 = 1 is not more than |a|^2 R^2 = 1
    with pytest.raises(Rejected, match="at"):
        read_relu(wide, face([1, 2, 3], [1, 2], "1/2"))


def test_mixed_classes_ascend() -> None:
    """Each is above all before it, not above the first only."""
    found = Candidates(
        Ball(Problem("gated", Fraction(1), ((Fraction(1),),), vec(1)), vec(1), Fraction(0)), [], (), None
    )  # type: ignore[arg-type]
    five = replace(found, classes=[None] * 5)  # type: ignore[list-item]
    for order in ([1, 3, 2], [3, 3], [2, 1]):
        with pytest.raises(Rejected, match="classes in ascending order"):
            read_mixed(five, node([[a, ""] for a in order]))
    with pytest.raises(Rejected, match="at least one mixed class"):
        read_mixed(five, node([]))


def test_a_tie_is_not_out() -> None:
    """|Z'D theta| = lambda, and not less: such a pattern needs a class."""
    problem = Problem("gated", Fraction(2), mat([[1], [-1]]), vec(3, 1))
    patterns = Patterns([0b01, 0b10], {0b01: 0, 0b10: 0}, 2)
    ball = Ball(problem, vec(2, 1), Fraction(0))
    one = read_class(ball, patterns, node({"pattern": "10"}))
    check_outs(ball, patterns, [one], node(None), node(None))
    with pytest.raises(Rejected, match="a class for the pattern 10"):
        check_outs(ball, patterns, [], node(None), node(None))
    with pytest.raises(Rejected, match="no two classes of the same block"):
        check_outs(ball, patterns, [one, one], node(None), node(None))
    for bounds, out in ((node(None), node([])), (node([]), node(None))):
        with pytest.raises(Rejected, match="null"):
            check_outs(ball, patterns, [one], bounds, out)
    with pytest.raises(Rejected, match="the fact patterns, which this rests on"):
        check_outs(ball, None, [one], node(None), node(None))
    with pytest.raises(Rejected, match="the fact patterns, which the multipliers of a network rest on"):
        check_multipliers(problem, None, vec(2, 1), Fraction(4), node(None))
    check_multipliers(problem, patterns, vec(2, 1), Fraction(4), node(None))
    with pytest.raises(Rejected, match="<= 399/100, found 4"):
        check_multipliers(problem, patterns, vec(2, 1), Fraction(399, 100), node(None))


def test_multipliers_come_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many fit into one, all rows come, once and in order."""
    rows = [(k, [k], 1) for k in range(5)]
    assert list(batches(rows, 1)) == [rows]
    monkeypatch.setattr("verify.optimal.multipliers.BATCH_BITS", 129)
    assert list(batches(rows, 1)) == [rows[:2], rows[2:4], rows[4:]]


def test_dependent_outputs_are_more_than_one_solution() -> None:
    """h = 0 keeps nothing out: with two equal outputs in use the solution is not the only one."""
    problem = Problem("cgl", Fraction(1), mat([[1, 1], [0, 1]]), vec(3, 1))
    optimum = ExactOptimum(Ball(problem, vec(1, 0), Fraction(0)), vec(1, 0), node(None))
    twins = [Tied((0, 0), vec(1), vec(1, 0)), Tied((0, 1), vec(1), vec(1, 0))]
    with pytest.raises(Rejected, match="independent outputs of the active neurons, found 2 that are dependent"):
        check_farkas(optimum, twins, vec(1, 1), node("0 0"))
    apart = [twins[0], Tied((0, 1), vec(1), vec(1, 1))]
    check_farkas(optimum, apart, vec(1, 1), node("0 0"))
    check_farkas(optimum, apart, vec(1, 0), node("0 1"))
    check_farkas(optimum, [*apart, Tied((0, 2), vec(1), vec(2, 1))], vec(1, 0, 0), node("0 1"))
    for h in ("0 0", "0 -1", "1 0"):
        with pytest.raises(Rejected, match=r"h.q [=>] 0 for the tied neuron"):
            check_farkas(optimum, apart, vec(1, 0), node(h))


# ------------------------------------------------------------------------------------------------ roots


@pytest.mark.parametrize(
    ("radicands", "vanishes"),
    [
        ([1, 1], True),
        ([1, 4], False),
        ([1, 4, 9], True),
        ([2, 8, 18], True),
        ([2, 3], False),
        ([2, 8, 18, 3], False),
        ([2, 2, 3, 3], True),
        ([2, 2, 3, 12], False),
        ([4, 9, 25, 16], True),
        ([], True),
    ],
)
def test_signed_sums_of_roots(radicands: list[int], vanishes: bool) -> None:
    """They vanish for some signs iff the part of every square class does."""
    assert can_vanish(radicands) is vanishes
    signs = product((1, -1), repeat=len(radicands))
    assert any(sign_of_sum(list(s), radicands) == 0 for s in signs) is vanishes


@pytest.mark.parametrize(
    ("signs", "radicands", "sign"),
    [
        ([1, -1], [2, 2], 0),
        ([1, -1, -1], [18, 2, 8], 0),
        ([1, -1], [3, 2], 1),
        ([1, -1], [2, 3], -1),
        ([1, 1, -1], [2, 3, 10], -1),  # 3.146 - 3.162
        ([1, 1, -1], [2, 3, 9], 1),
        ([1, -1], [10**60 + 1, 10**60], 1),
        ([-1, 1], [10**60 + 1, 10**60], -1),
        ([1], [0], 0),
    ],
)
def test_signs_of_sums_of_roots(signs: list[int], radicands: list[int], sign: int) -> None:
    """Exactly, also where 64 bits do not tell."""
    assert sign_of_sum(signs, radicands) == sign


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_bounds_by_bernstein_are_attained_at_the_ends(m: int) -> None:
    """(1 + tau)^m and (1 - tau)^m are 0 at an end and 2^m at the other, and that is what the bounds say."""
    for sign in (1, -1):
        c = [Fraction(comb(m, k) * sign**k) for k in range(m + 1)]
        assert at_least(c) == 0 and at_most(c) == 2**m and never_negative(c)
        assert not never_negative([c[0] - Fraction(1, 10**9), *c[1:]])


@pytest.mark.parametrize(("m", "rows"), [(0, [[1]]), (1, [[1, -1], [1, 1]]), (2, [[1, -1, 1], [1, 0, -1], [1, 1, 1]])])
def test_coefficients_of_bernstein(m: int, rows: list[list[int]]) -> None:
    """Made afresh, whatever was kept of an earlier call."""
    assert bernstein.__wrapped__(m) == fmpq_mat([[fmpq(x) for x in row] for row in rows])


# ------------------------------------------------------------------------------------------------ lifts and masses


def of(*columns: tuple[Any, ...], key: int = 1) -> Class:
    """A class by the columns of its B, which has two rows."""
    return Class((1, key), (), 0, matrix(zip(*columns, strict=True), len(columns)), Fraction(2))


def read_lift(ball: Ball, classes: list[Class], at: Node) -> Candidates:
    """The classes with their lift."""
    return Candidates(ball, classes, *read_rows(ball.residuals, at))


def lift_of(y: tuple[Any, ...], R_squared: int = 0) -> Candidates:
    """Outputs (1, 0) and (1, 1) at theta = (1, 0), and the lift (0, 1)."""
    problem = Problem("relu", Fraction(1), mat([[1], [1]]), vec(*y))
    ball = Ball(problem, vec(1, 0), Fraction(R_squared))
    return read_lift(ball, [of((1, 0)), of((1, 1), key=2), of((1, 0), (0, 1), key=3)], node(["0 1"]))


def test_rows_that_say_nothing_are_void() -> None:
    """l.y = 0, and all of B'l is 0 for all active classes."""
    found, row = lift_of((2, 0)), vec(0, 1)
    assert silent_on(found, [0, 1, 2], row) == {0}
    assert silent_on(found, [2, 0], row) == {1}
    assert is_void(found, [0], row)
    assert not is_void(found, [0, 1], row) and not is_void(found, [2], row)
    assert not is_void(lift_of((2, 1)), [0], row)


def test_what_is_forced_to_zero() -> None:
    """h in the span of the void rows with h.q > 0, also after the ball has moved q, for every class not active."""
    found = replace(lift_of((2, 0)), classes=lift_of((2, 0)).classes[:2])
    assert check_forced(found, [0], node("0 1")) == ()
    assert check_forced(found, [0, 1], node("")) == found.lift
    for h, said in (
        ("0 0", r"h.q > 0 for class 1, whose split is 0, found 0"),
        ("0 -1", r"h.q > 0 for class 1, whose split is 0, found -1"),
        ("1 0", "a vector in the span of the 1 void rows"),
        ("1 1", "a vector in the span of the 1 void rows"),
    ):
        with pytest.raises(Rejected, match=said):
            check_forced(found, [0], node(h))
    with pytest.raises(Rejected, match="a vector in the span of the 0 void rows"):
        check_forced(replace(found, ball=lift_of((2, 1)).ball), [0], node("0 1"))
    with pytest.raises(Rejected, match="for class 1, whose split is 0, found 1"):
        check_forced(replace(found, ball=lift_of((2, 0), 1).ball), [0], node("0 1"))  # g R |h| = 2


def test_lifts_are_independent_and_orthogonal_to_theta() -> None:
    """A basis, each row of which theta does not see."""
    ball = lift_of((2, 0)).ball
    with pytest.raises(Rejected, match="independent rows"):
        read_lift(ball, [], node(["0 1", "0 2"]))
    with pytest.raises(Rejected, match="a row orthogonal to the residual"):
        read_lift(ball, [], node(["1 1"]))


def test_kernels_that_only_the_lift_tells_apart() -> None:
    """With (0, 1) in L the first two classes are one superclass, and the third, which has nothing more, too."""
    assert lift_of((2, 0)).members == [[0, 1, 2]]
    found = lift_of((2, 0))
    assert read_lift(found.ball, [*found.classes], node([])).members == [[0], [1], [2]]
    assert same_kernels([of((1, 0)).B, of((-1, 0)).B, of((2, 0)).B]) == [[0, 1], [2]]


def test_masses_that_classes_share() -> None:
    """Every mass is above its error; the classes of a superclass share it, and all of them can be active; the first has
    it alone in one network."""
    found = lift_of((2, 0))
    one = shared_masses(found, vec(3), Fraction(1), node(""))
    assert (one.classes, one.dimension, one.kinked, one.bends) == (3, 2, 0, 0)
    assert [(neuron.active, neuron.weight) for neuron in one.neurons] == [(True, 3), (True, 0), (True, 0)]
    assert one.system.g == vec(3) and one.system.g_error == vec(1) and one.weight_error == 1
    two = read_lift(found.ball, [*found.classes, of((2, 0), key=4)], node(["0 1"]))
    assert shared_masses(two, vec(3, 2), Fraction(1), node("")).dimension == 2
    for some, masses in ((found, vec(1)), (found, vec("1/2")), (two, vec(3, 1)), (two, vec(1, 3))):
        with pytest.raises(Rejected, match="masses above 1, so that all classes tie"):
            shared_masses(some, masses, Fraction(1), node(""))


# ------------------------------------------------------------------------------------------------ trees of cones


@pytest.mark.parametrize(
    ("byte", "pair"),
    [
        *[(0, (1, 1)), (1, (1, 1)), (2, (2, 1)), (3, (3, 1)), (4, (4, 1)), (5, (6, 1)), (7, (12, 1))],
        *[(126, (2**63, 1)), (127, (3 * 2**62, 1)), (128, (1, 1)), (131, (1, 3)), (255, (1, 3 * 2**62))],
    ],
)
def test_multipliers_of_a_bisection(byte: int, pair: tuple[int, int]) -> None:
    """m = 2^s, or 3 2^s / 2 where bit 0 is set, for the first generator, or where bit 7 is set for the second."""
    reader = Reader(node(tree([], [], [byte])), 2)
    assert reader.multiplier() == pair
    reader.end()
    with pytest.raises(Rejected, match="an entry for every node, found too few"):
        reader.multiplier()


@pytest.mark.parametrize(
    ("u", "mask", "good"),
    [
        *[((1, 1), 0b11, True), ((2, 1), 0b11, True), ((1, 0), 0b01, True), ((0, 3), 0b10, True), ((1, 0), 0b11, True)],
        *[((1, 1), 0b01, False), ((1, 1), 0b10, False), ((1, -1), 0b11, False), ((-1, 0), 0b11, False)],
        *[((1, 0), 0b10, False), ((0, 1), 0b01, False), ((1, 0), 0, False)],
    ],
)
def test_stars_inside_a_cone(u: tuple[int, int], mask: int, good: bool) -> None:
    """u = x_1 e_1 + x_2 e_2 with x >= 0, and a child for every x_i > 0."""
    if good:
        check_star([(1, 0), (0, 1)], u, mask, node(None))
    else:
        with pytest.raises(Rejected, match="a vector inside the cone"):
            check_star([(1, 0), (0, 1)], u, mask, node(None))


def test_generators_of_a_star_are_independent() -> None:
    """Else u has many coordinates."""
    with pytest.raises(Rejected, match="independent generators at a star"):
        check_star([(1, 0), (2, 0)], (1, 0), 0b11, node(None))


@pytest.mark.parametrize(
    ("face", "facet", "found"),
    [
        ([(1, 1, 0), (0, 0, 1)], 2, (1, 1, 0)),
        ([(1, 1, 0), (0, 0, 1)], 0, (0, 0, 1)),
        ([(-2, -2, 0), (0, 0, 1)], 2, (1, 1, 0)),
        ([(1, 2, 1), (1, 1, 1)], 1, (1, 0, 1)),
        ([(3, 1, 0), (0, 1, 3)], 2, (3, 1, 0)),
        ([(1, 0, 0), (0, 1, 0)], 2, "a plane that is not in the facet"),
        ([(1, 1, 0), (0, 0, 1)], 3, "a plane and a facet"),
        ([(1, 1, 0)], 0, "a plane and a facet"),
    ],
)
def test_where_planes_meet_facets(face: Any, facet: int, found: Any) -> None:
    """The primitive vector of the plane without a part of one generator, on the side of the cone; never zero."""
    axes = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    if isinstance(found, str):
        with pytest.raises(Rejected, match=found):
            meeting(axes, face, facet, node(None))
    else:
        assert meeting(axes, face, facet, node(None)) == found


@pytest.mark.parametrize("g", [(3, 4), (1, 2), (-5, 7), (0, 1), (2**40 + 12345, 2**39 + 999), (-(2**50) - 1, 3, 2**33)])
def test_unit_vectors(g: tuple[int, ...]) -> None:
    """g, shifted to 29 bits, times 2^30, divided by its length (isqrt), rounded down: as FORMAT.md has it."""
    longest = max(abs(x) for x in g).bit_length()
    shift = [x * 2 ** (29 - longest) if longest <= 29 else x // 2 ** (longest - 29) for x in g]
    assert unit(g) == [x * 2**30 // isqrt(sum(x * x for x in shift)) for x in shift]


# ------------------------------------------------------------------------------------------------ input and primal


@pytest.mark.parametrize("delimiter", ["", ";;", "a", "7", '"', "+", "-", ".", "/", "\n", "\r", "\0"])
def test_delimiters(delimiter: str) -> None:
    """One character that is no part of a number, no quote and no line end."""
    fields = {"sha256": "0" * 64, "kind": "csv", "numbers": "decimal", "bias": False, "target": 0}
    problem = read_problem(node(problem_text()))
    assert read_input(node({**fields, "delimiter": ";", "header": True}), problem).header
    with pytest.raises(Rejected, match="one character that is no quote"):
        read_input(node({**fields, "delimiter": delimiter, "header": True}), problem)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"target": 2}, "an index below 2"),
        ({"bias": True}, "a last column of ones"),
        ({"sha256": "0" * 63}, "64 lower-case hexadecimal digits"),
        ({"sha256": "0" * 65}, "64 lower-case hexadecimal digits"),
        ({"sha256": "A" * 64}, "64 lower-case hexadecimal digits"),
        ({"kind": "json"}, "csv"),
        ({"numbers": "float"}, "decimal"),
        ({"header": 1}, "true or false|a flag"),
    ],
)
def test_inputs(change: dict[str, Any], said: str) -> None:
    """How a table was read: a target among its columns, a bias only where Z has it."""
    fields = {"sha256": "0" * 64, "kind": "csv", "numbers": "decimal", "bias": False, "target": 1, "delimiter": ","}
    problem = read_problem(node(problem_text()))
    assert read_input(node({**fields, "header": False}), problem).target == 1
    with pytest.raises(Rejected, match=said):
        read_input(node({**fields, "header": False, **change}), problem)


def test_points_add_up() -> None:
    """Fits, norms and squares of all neurons; a norm may be larger than |w| and not smaller, w is not 0."""
    problem = Problem("relu", Fraction(1), mat([[1, 0], [0, -1]]), vec(1, 1))
    one, two = {"sign": "+", "w": "3 4", "norm": "5"}, {"sign": "-", "w": "-5 -12", "norm": "14"}
    found = check_primal(problem, Facts(), node({"neurons": [one, two]}))[PRIMAL]
    assert found == Primal(vec(3, -12), 2, Fraction(19), Fraction(194))
    for change, said in (({"norm": "4"}, "norm >= "), ({"norm": "-5"}, "norm >= "), ({"w": "0 0"}, "other than zero")):
        with pytest.raises(Rejected, match=said):
            check_primal(problem, Facts(), node({"neurons": [{**one, **change}]}))
    free = replace(problem, free=("skip",), outputs=((Fraction(1), Fraction(2)),))
    assert check_primal(free, Facts(), node({"neurons": [one], "free": "2"}))[PRIMAL].fit == vec(5, 4)
    unseen = replace(problem, biases=True)
    assert check_primal(unseen, Facts(), node({"neurons": [{**one, "norm": "3"}]}))[PRIMAL].penalty == 3


def test_blocks_of_a_point() -> None:
    """Each block at most once, inside its cone, the boundary included."""
    problem = Problem("cgl", Fraction(1), mat([[1, 2, 3]]), vec(1), ((0, 1), (2,)), (mat([[1], [-1]]), None))
    one = {"block": 0, "w": "1 1", "norm": "2"}
    found = check_primal(problem, Facts(), node({"neurons": [one, {"block": 1, "w": "-1", "norm": "1"}]}))[PRIMAL]
    assert found == Primal(vec(0), 2, Fraction(3), Fraction(3))
    with pytest.raises(Rejected, match="each block at most once"):
        check_primal(problem, Facts(), node({"neurons": [one, one]}))
    with pytest.raises(Rejected, match=r"K_j.w <= 0 for the constraint 0 of block 0, found 1"):
        check_primal(problem, Facts(), node({"neurons": [{**one, "w": "2 1", "norm": "3"}]}))


def test_fine_pieces_that_are_out() -> None:
    """A piece that the multipliers leave at lambda has one entry of `out`, which is shorter, and no other has one."""
    problem = Problem("relu", Fraction(1), mat([[1], [-1]]), vec(1, 1))
    patterns = Patterns([0b01, 0b10], {0b01: 0, 0b10: 0}, 2)
    ball = Ball(problem, vec("1/2", "1/2"), Fraction(0))
    bounds = node({"+": [["10", [0], "1"], ["01", [], ""]], "-": [["00", [], ""]]})
    short, far = ["10", [], ""], ["10", [0], "1"]
    check_outs(ball, patterns, [], bounds, node({"+": [short], "-": []}))
    for entries_, said in (
        ([], r"a class or an entry for every fine piece that is not out, found none for 10"),
        ([far], r"\|Z'm\|\^2 < 1, found 1"),
        ([short, short], "a fine piece that is not out otherwise, has no class and no entry yet"),
        ([["01", [], ""]], "a fine piece that is not out otherwise, has no class and no entry yet"),
        ([["10", [0], "1/4"]], "a value for row 0 that is >= 1/2"),
        ([["10", [1], "1/4"]], "a value for row 1 that is <= 0"),
    ):
        with pytest.raises(Rejected, match=said):
            check_outs(ball, patterns, [], bounds, node({"+": entries_, "-": []}))
    one = read_class(
        ball, patterns, node({"sign": "+", "pattern": "10", "kinks": [], "basis": [], "idle": [], "fixed": ""})
    )
    check_outs(ball, patterns, [one], bounds, node({"+": [], "-": []}))
    with pytest.raises(Rejected, match="has no class and no entry yet"):
        check_outs(ball, patterns, [one], bounds, node({"+": [short], "-": []}))
    zero = replace(problem, seen=mat([[1], [-1], [0]]), y=vec(1, 1, 1))  # a row of zeros tells no pieces apart
    wide = Ball(zero, vec("1/2", "1/2", "1/2"), Fraction(0))
    more = Patterns([0b101, 0b110], {0b101: 0, 0b110: 0}, 2)
    bounds = node({"+": [["101", [0], "1"], ["011", [], ""]], "-": [["000", [], ""]]})
    check_outs(wide, more, [], bounds, node({"+": [["100", [], ""]], "-": []}))
    rays = {"sign": "+", "pattern": "100", "kinks": [], "basis": [], "idle": [], "fixed": ""}
    check_outs(wide, more, [read_class(wide, more, node(rays))], bounds, node({"+": [], "-": []}))


def test_strictness_that_the_ball_cannot_end() -> None:
    """x > 0 and x^2 more than what the ball moves, not the same."""
    ball = Ball(Problem("relu", Fraction(1), mat([[1]]), vec(1)), vec(1), Fraction(0))
    ball.holds([Fraction(1)], Fraction(99, 100), node(None), 0)
    ball.holds([Fraction(1, 9)], Fraction(0), node(None), 0)
    for x, moved in (("1", "1"), ("1", "2"), ("0", "0"), ("-1", "0"), ("0", "1"), ("-2", "1")):
        with pytest.raises(Rejected, match="strictness that the ball cannot end at 7"):
            ball.holds([Fraction(x)], Fraction(moved), node(None), 7)


def test_networks_written_out() -> None:
    """A block for each pattern and sign, so marked; too many numbers are refused before they are written."""
    problem = Problem("relu", Fraction(1), mat([[1, 2], [3, 4]]), vec(1, 1))
    written = written_out(problem, [0b01, 0b11])
    assert written.blocks == ((1, 0b01), (-1, 0b01), (1, 0b11), (-1, 0b11))
    assert mat([[1, 2, -1, -2, 1, 2, -1, -2], [0, 0, 0, 0, 3, 4, -3, -4]]) == written.Z
    assert mat([[0, 0], [3, 4]]) == written_out(replace(problem, model="gated"), [0b10]).Z
    wide = replace(problem, seen=(vec(*[1] * 1024),) * 4, y=vec(1, 1, 1, 1))
    for model, most in (("relu", 2**13), ("gated", 2**14)):
        with pytest.raises(Declined, match="numbers in blocks"):
            written_out(replace(wide, model=model), Sized(most + 1))  # type: ignore[arg-type]


class Sized:
    """Nothing but a length."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size


@pytest.mark.parametrize("lam", [1, 3])
@pytest.mark.parametrize("length", ["1", "2", "1/3"])
@pytest.mark.parametrize("c", [1, -1])
def test_a_vector_that_keeps_a_tied_neuron_out(lam: int, length: str, c: int) -> None:
    """v = (s_1 + s_2, s_2) is active; with c s_3 added to its second entry it ties wherever s_3 = 0, and h = e_3, of
    any length, has h.q = c s_2: above 0 on one side of lambda for c = 1, on the other for c = -1."""
    one, two, tilted = (column(vec(*u)) for u in ((1, 1, 0), (0, 1, 0), (0, 1, c)))
    kernels = [one * one.transpose() + u * u.transpose() for u in (two, tilted)]
    problem = Problem("gated", Fraction(lam), mat([[1], [1], [1]]), vec(2 * lam, lam, 0))  # s + G s at s = (1, 0, 0)
    verdicts = []
    for side in (1, -1):
        at = Beside(Ball(problem, vec(lam, 0, 0), Fraction(0)), kernels, vec(1, 0), (0,), side)
        s = series(at, node([]))[0]
        assert s[0] == column(vec(1, 0, 0)) and s[1] == column(vec(Fraction(lam, 3), Fraction(-lam, 3), 0))
        try:
            check_beside(at, {"active": node([]), "farkas": node(f"0 0 {length}")})
            verdicts.append(side)
        except Rejected as error:
            assert "h.q > 0 on this side" in str(error)
    assert verdicts == [-c]  # s_2 falls by 1/3


def test_gated_neurons_need_the_patterns() -> None:
    """A pattern is one of D_Z only by the fact that lists them."""
    problem = Problem("gated", Fraction(1), mat([[1]]), vec(1))
    fact = {"neurons": [{"pattern": "1", "w": "1", "norm": "1"}]}
    with pytest.raises(Rejected, match="by the fact patterns"):
        check_primal(problem, Facts(), node(fact))
