"""Small functions of the checker by hand, at their edges: one more or one less would be noticed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest

import verify.optimal.leaders
from tests.verify.build.leaders import CELL, cell, leader, leading
from tests.verify.build.plain import Case
from tests.verify.corpus.rejected_cases import changed
from tests.verify.cover.plant import CORNER_MINUS, CORNER_PLUS, covered, one_class, packed, planted, proof, tie, tree
from tests.verify.cover.test_cover_classes import with_part
from tests.verify.oracle.brute import mat, vec
from tests.verify.test_bounds_of_parts import system
from verify import Declined, Rejected
from verify.child import Over, limited
from verify.claims.polytope import components, connected, staircase
from verify.cover import tree as tree_
from verify.cover.check import Cover
from verify.cover.lines import lines_of, weights_of
from verify.cover.tree import RULE, SIGN, Reader, Walk, stream
from verify.facts import POLYTOPE, proved
from verify.network.directions import apart
from verify.network.nearest import moved_squared, read_point
from verify.network.optimum import Known, Optimum
from verify.numbers.bounds import fraction, identity
from verify.numbers.patterns import describe_indices
from verify.numbers.roots import sign_of_sum
from verify.optimal.ball import Ball
from verify.optimal.leaders import check_leaders, semidefinite
from verify.problem.data import nearest_double
from verify.problem.problem import Problem
from verify.problem.variants import check_chances
from verify.rules.cover_set import surely_concave
from verify.rules.polytope import Polytope, read_corner
from verify.sets.shortest import check_shortest
from verify.text import Node, bit_text, describe

NODE = Node(None)


# ------------------------------------------------------------------------------------------------ leaders


def test_zero_matrices_are_semidefinite() -> None:
    """No row, or rows of zeros only."""
    assert semidefinite([[0]]) and semidefinite([[0, 0], [0, 0]])
    assert not semidefinite([[0, 0], [0, -1]])


def test_the_rest_has_a_dominant_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a factor of zeros the matrix itself is the rest: |a_ij| <= a_ii passes, more by one does not, and neither
    does a diagonal below 0."""
    monkeypatch.setattr(verify.optimal.leaders, "cholesky", lambda M: [[0] * len(M) for _ in M])
    assert semidefinite([[1, 1], [1, 1]])
    assert semidefinite([[2, 1, 1], [1, 2, -1], [1, -1, 2]])
    assert not semidefinite([[64, 65], [65, 65]])
    assert not semidefinite([[2, 1, 1], [1, 2, -1], [1, -1, 1]])


def evidence(rows: list[list[int]], theta: str, centres: list[str], cells: list[Any], lam: str) -> None:
    """Check the sign + in hundredths; nothing is to pay for -."""
    minus = {"centres": [], "cells": [cell(51)]}
    content = {"unit": "1/100", "theta": theta, "+": {"centres": centres, "cells": cells}, "-": minus}
    y = vec(*[1] * len(rows))
    check_leaders(Problem("relu", F(lam), mat(rows), y), Node(content, None, "leaders"))


def test_the_entropy_at_its_ends() -> None:
    """0 <= y theta <= 1, both ends included; beyond them it is rejected, and with another loss nothing is asked."""
    labels = Problem("relu", F(1), mat([[1], [1]]), vec(1, -1), logistic=True)
    for theta in (0, 1):
        check_chances(labels, vec(theta, -theta), NODE)
    for theta in (vec("-1/1000", 0), vec("1001/1000", 0), vec(0, "1/9"), vec(0, "-10/9")):
        with pytest.raises(Rejected, match="0 <= y_k theta_k <= 1"):
            check_chances(labels, theta, NODE)
        check_chances(replace(labels, logistic=False), theta, NODE)


def test_a_row_with_a_zero_needs_its_leader() -> None:
    """(1, 0) is no row of zeros: without an entry it is rejected; (0, 0) needs none."""
    with pytest.raises(Rejected, match="an entry for row 0"):
        evidence([[1, 0], [0, 1]], "100 0", [], [cell(51)], "2")
    evidence([[0, 0]], "100", [], [cell(51)], "2")
    with pytest.raises(Rejected, match="an entry for row 0"):
        verify.check(changed(leading("single"), {f"{CELL}.leaders": []}))


def test_squares_of_normals_are_those_of_their_cell() -> None:
    """Centres 1, -1 and -3: the normal of cell 0 to centre 2 has length 4, to centre 1 length 2. What a square takes
    off is 2 r |u| |c_i - c_j|: the bound holds with the one length and not with the other."""
    rest = [cell(60, [leader(0, 100)]) for _ in range(2)]
    own = cell(60, [leader(0, 100)], normals=[1, 2], excess="0 0", squares="1 1")
    evidence([[1]], "100", ["1", "-1", "-3"], [own, *rest], "2")
    for squares, nu in (("0 50", 60), ("50 0", 60), ("0 9", 26)):
        with pytest.raises(Rejected):
            one = cell(nu, [leader(0, 100)], normals=[1, 2], excess="0 0", squares=squares)
            evidence([[1]], "100", ["1", "-1", "-3"], [one, *rest], "1")


# ------------------------------------------------------------------------------------------------ covers


def reader(**streams: list[int]) -> Reader:
    """The four streams."""
    return Reader(Node(tree(streams.pop("codes", [RULE]), **streams), None, "+"), 2)


def test_multipliers_by_hand() -> None:
    """Byte k: the lowest bit chooses 1 or 3/2, six bits the power of two, the highest one whose multiple it is; every
    byte is what that says, and halves are cut."""
    for k in range(256):
        power, top = k >> 1 & 63, k >> 7
        m = (3 << power) >> 1 if k & 1 else 1 << power
        assert reader(multipliers=[k]).multiplier() == ((1, m) if top else (m, 1)), k
    assert reader(multipliers=[0]).multiplier() == (1, 1)
    assert reader(multipliers=[1]).multiplier() == (1, 1)
    assert reader(multipliers=[3]).multiplier() == (3, 1)
    assert reader(multipliers=[130]).multiplier() == (1, 2)


def test_rows_of_splits_by_hand() -> None:
    """Two bytes, the lower one first; as many as there are."""
    node = Node(tree([SIGN, RULE, RULE] * 2, rows=[1, 2, 255, 255]), None, "+")
    found = Walk(node, 2, 2**16, {}).run([[(1, 0), (0, 1)]] * 2)
    assert [signs for _, signs in sorted(found.signs.items())] == [((n, s),) for n in (513, 65535) for s in (0, 1)]
    for rows in ([], [1]):
        with pytest.raises(Rejected, match="an entry for every node, found too few"):
            Walk(Node(tree([SIGN], rows=rows), None, "+"), 2, 9, {}).run([[(1, 0), (0, 1)]])


def test_atoms_by_hand() -> None:
    """Weights but for the last, which is what is left of 256."""
    assert reader(data=[1, 7, 8]).atoms() == [(256, b"\7\10")]
    assert reader(data=[2, 255, 7, 8, 1, 1]).atoms() == [(255, b"\7\10"), (1, b"\1\1")]
    for data in ([0], [2, 0, 1, 1, 1, 1], [3, 255, 1, 1, 1, 1, 1, 1, 1], [3, 128, 1, 1, 128, 1, 1, 1, 1]):
        with pytest.raises(Rejected, match="weights > 0 that add up to 256"):
            reader(data=data).atoms()


def test_long_streams_are_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream of more bytes than the limit is declined, of as many read."""
    monkeypatch.setattr(tree_, "MOST_BYTES", 8)
    assert stream(Node(packed([5] * 8), None, "codes")) == bytes([5] * 8)
    with pytest.raises(Declined, match="at most 8 bytes"):
        stream(Node(packed([5] * 9), None, "codes"))


def test_lambda_max_is_attained_by_a_vector_of_any_length() -> None:
    """The direction counts, not its length."""
    for u in ("3/1000 1/250", "3000 4000"):
        assert verify.check(changed(planted("corner"), {"facts.cover_lambda_max.attained.u": u}))


def test_a_line_without_weight_does_not_cross_a_leaf() -> None:
    """The corner and a third row (1, -1) with the residual 0: it bends neither way at theta, and may bend up at another
    residual. The bounds hold; the class of the neuron, which is on one side of it, does not hold the whole leaf. With
    the residual -1/4 it surely bends down, and the class does."""
    proof_ = proof(("1 0", "0 1"), CORNER_PLUS, CORNER_MINUS, [tie("+", "3 4", "")])
    Z, neuron = mat([[1, 0], [0, 1], [1, -1]]), (vec(3, 4), F(5))

    def flat(third: str) -> Case:
        theta = vec(3, 4, third)
        return covered("flat", Z, vec(6, 8, third), F(5), neuron, theta, proof_, [one_class("+", "110", [])])

    with pytest.raises(Rejected, match="a class whose region holds all leaves of tie 0"):
        verify.check(flat("0").text)
    assert verify.check(changed(flat("0"), {"facts.cover_set": ..., "claims": []})) == []
    assert verify.check(flat("-1/4").text)


# ------------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize(
    "x",
    [
        *(0.1, -0.1, 1.0, 2.0**-1074, 2.0**-1022, 1.7976931348623157e308, -1.7976931348623157e308, 2.0**53 + 2),
        *(5e-324, 1.5, 3.0, 2.0**52 - 0.5, 2.0**-1073, 4.9e-322),
    ],
)
def test_doubles_are_their_own_nearest(x: float) -> None:
    """Every double is; a third of the way to the next it is so still, two thirds of the way the next is."""
    from math import inf, nextafter

    here = F(x)
    assert nearest_double(here, "") == here
    if abs(x) < 1e308:
        next_ = F(nextafter(x, inf))
        assert nearest_double(here + (next_ - here) / 3, "") == here
        assert nearest_double(here + (next_ - here) * 2 / 3, "") == next_
        assert nearest_double((here + next_) / 2, "") == F(float((here + next_) / 2))


def test_numbers_beyond_all_doubles() -> None:
    """2^1024 less a quarter of the last place is the largest double, less half of it is too large, and so is more."""
    top = F(2) ** 1024
    last = F(2) ** 971
    assert nearest_double(top - last * F(3, 4), "") == top - last
    for x in (top, top - last / 2, top - last / 4, 2 * top, -top):
        with pytest.raises(Rejected, match="within the range of binary64"):
            nearest_double(x, "")
    assert nearest_double(F(0), "") == 0
    assert nearest_double(F(1, 2**1080), "") == 0


def test_signs_of_near_sums() -> None:
    """sqrt(10^60 + 1) - sqrt(10^60) needs more than the first bits; both ways round, and with equal ones."""
    n = 10**60
    assert sign_of_sum([1, -1], [n + 1, n]) == 1
    assert sign_of_sum([-1, 1], [n + 1, n]) == -1
    assert sign_of_sum([1, 1, -1], [n, n, 4 * n]) == 0
    assert sign_of_sum([1, 1, -1], [n + 1, n, 4 * n]) == 1
    assert sign_of_sum([], []) == 0


def test_the_unit_matrix() -> None:
    """1 on the diagonal."""
    assert identity(2).entries() == [1, 0, 0, 1]


# ------------------------------------------------------------------------------------------------ words


def test_components_by_hand() -> None:
    """Supports are joined if together they are small enough, also through others."""
    a, b, c = frozenset({0, 1}), frozenset({1, 2}), frozenset({2, 3})
    assert components([a, b, c], 3) == 1
    assert components([a, c], 3) == 2
    assert components([a, c], 4) == 1
    assert components([a, b, c], 2) == 3
    assert components([], 5) == 0


def polytope(*vertices: tuple[int, ...], rank: int) -> Polytope:
    """A polytope by its supports."""
    used = tuple(sorted({a for vertex in vertices for a in vertex}))
    return Polytope(vertices, (), len(used), used, rank)


def test_the_staircase_by_hand() -> None:
    """One vertex of width 2: two isolated networks, then one component. Two disjoint ones of width 1: one isolated
    network each, and at width 2 they are joined."""
    assert staircase(polytope((0, 1), rank=2)) == [(2, 2, 0), (3, 0, 1)]
    assert staircase(polytope((0,), (1,), rank=1)) == [(1, 2, 0), (2, 0, 1)]
    three = polytope((0, 1, 2), (3, 4, 5), rank=3)
    assert staircase(three)[0] == (3, 2 * 6, 0)
    apart = polytope((0, 1), (2, 3), rank=4)
    assert staircase(apart) == [(2, 4, 0), (3, 0, 2), (4, 0, 1)]


def test_long_staircases_are_cut() -> None:
    """Twelve steps are told, of a thirteenth only that there are more."""
    problem = Problem("relu", F(1), mat([[1]]), vec(1))

    def told(steps: int) -> str:
        one = tuple(range(40))
        far = tuple(range(40, 80))
        return connected(problem, proved(POLYTOPE, polytope(one, far, rank=40 + steps - 1)), NODE)

    assert told(12).count("isolated") == 12 and "..." not in told(12)
    assert told(13).count("isolated") == 12 and "...; connected for every width from 53 on" in told(13)


def test_loose_parts_are_perturbed_by_all_of_the_ball() -> None:
    """With the part 1 the multiplier of e_2 is -1/10 - t, and the ball moves it by sqrt(2 (5 + 1)) R: 25/10000 is too
    little, 36/10000 enough."""
    for room, fine in ((F(25, 10**4), False), (F(36, 10**4), True)):
        t = str(F(-1, 10) - room)
        if fine:
            assert with_part("1", 1, (t, t)).kinks == (1, 2, 3)
        else:
            with pytest.raises(Rejected, match="strictness that the ball cannot end"):
                with_part("1", 1, (t, t))


def test_the_shortest_weights_of_two_rows() -> None:
    """x = 2 and 2 y = 2, right sides within 1/10: mu is off by 1/10 at most, and so x by 1/10 and y by 2/10."""
    two = system([[1, 0], [0, 2]], [2, 2], F(0), F(1, 10))
    assert check_shortest(two, (), Node({"weights": "2 1", "radius": "1/5"}))
    for weights, radius in (("2 1", "19/100"), ("2 1", "1/10"), ("2 11/10", "1/5"), ("2 0", "1"), ("0 1", "1")):
        with pytest.raises(Rejected):
            check_shortest(two, (), Node({"weights": weights, "radius": radius}))
    assert check_shortest(two, (), Node({"weights": "2 11/10", "radius": "3/10"}))
    with pytest.raises(Rejected, match="and positive"):
        check_shortest(system([[1, 0], [0, 2]], [2, 2], F(0), F(1)), (), Node({"weights": "2 1", "radius": "9"}))


def test_corners_by_hand() -> None:
    """f x = 2 with f within e of 1, 2 within d: x is 2, off by (d + 2 e) / (1 - e); too large errors prove nothing."""
    corner = read_corner(system([[1]], [2], F(1, 10), F(1, 10)), (0,), {}, NODE)
    assert (corner.x, fraction(corner.error), corner.zeros) == ([2], F(1, 3), set())
    for e, d, message in (
        (F(1), F(0), "the errors cannot make singular"),
        (F(2), F(0), "the errors cannot make singular"),
        (F(9, 10), F(0), "positive, or 0 by silent rows"),
        (F(1, 10), F(9, 5), "positive, or 0 by silent rows"),
    ):
        with pytest.raises(Rejected, match=message):
            read_corner(system([[1]], [2], e, d), (0,), {}, NODE)
    with pytest.raises(Rejected, match="independent columns"):
        read_corner(system([[1, 2], [2, 4]], [1, 2]), (0, 1), {}, NODE)
    with pytest.raises(Rejected, match="positive, or 0"):
        read_corner(system([[1]], [-2]), (0,), {}, NODE)
    two = system([[1, 0], [0, 1]], [1, 1], F(1, 8), F(0))
    assert fraction(read_corner(two, (0, 1), {}, NODE).error) == F(1, 8) * 2 / (1 - F(1, 4))
    with pytest.raises(Rejected, match="singular"):
        read_corner(system([[1, 0], [0, 1]], [1, 1], F(1, 2), F(0)), (0, 1), {}, NODE)
    with pytest.raises(Rejected, match="a tilt"):
        read_corner(system([[1]], [0]), (0,), {}, NODE)
    assert read_corner(system([[1, 1]], [0]), (0,), {1: F(1)}, NODE).zeros == {0}


def test_planes_by_hand() -> None:
    """Parallel rows of both orientations are one plane, named by its first row, of which each is a multiple."""
    Z = mat([[2, 0], [0, 0], [-3, 0], [0, 5], [8, 0]])
    ball = Ball(Problem("relu", F(1), Z, vec(1, 1, 1, 1, 1)), vec(1, 2, 3, 4, 5), F(0))
    assert {name: plane.a for name, plane in ball.planes.items()} == {0: {0: 1, 2: F(-3, 2), 4: 4}, 3: {3: 1}}
    assert ball.planes[0].slopes(ball.theta) == (1 + 20, F(-9, 2))
    assert ball.bends(0) == (17, F(9, 4), 17 + F(9, 4))
    assert ball.zeta_squared == 4 + 9 + 25 + 64
    assert ball.threshold(F(4)) == 1
    far = replace(ball, R_squared=F(1, 16))
    assert far.threshold(F(4)) == F(1, 4) and far.threshold(F(64)) == 0


def test_lines_that_stay_concave_by_hand() -> None:
    """z = 1/3 with theta = -1: w = -1/3, which a residual within R moves by R/3; two equal rows move it by sqrt(2) R/3
    and weigh 2/3."""
    for rows, most in (([["1/3"]], F(1)), ([["1/3"], ["1/3"]], F(2)), ([["1/3"], ["-2/3"]], F(9, 5))):
        problem = Problem("relu", F(1), mat(rows), vec(*[1] * len(rows)))
        theta = vec(*[-1] * len(rows))
        lines = lines_of(problem)
        weights = {xi: weights_of(lines, theta, xi) for xi in (1, -1)}
        cover = Cover(lines, weights, (), {}, {})
        for part, sure in ((F(999, 1000), True), (F(1), False), (F(1001, 1000), False)):
            assert surely_concave(Ball(problem, theta, most * part), cover, 1)[0] is sure
        assert not surely_concave(Ball(problem, theta, F(0)), cover, -1)[0]


def test_values_in_messages() -> None:
    """Sixty characters of a string, and how many there are; other values by their kind; twelve indices of many."""
    assert describe("a" * 60) == repr("a" * 60)
    assert describe("a" * 61) == f"{'a' * 60!r}... (61 characters)"
    assert [describe(x) for x in ([1, 2], {}, None, True, 7)] == ["an array of 2", "an object", "null", "true", "7"]
    assert describe_indices(tuple(range(12))) == str(list(range(12)))
    assert describe_indices(tuple(range(13))) == f"{list(range(12))}..."
    assert bit_text(0b011, 4) == "1100"


def test_distances_of_directions_that_are_not_known_exactly() -> None:
    """v = (2, 0) within 1/4: its own direction is at most 1/4 away, and 0 where v is known up to its length."""
    assert apart(vec(3, 0), Known(1, vec(2, 0), F(1, 4), False, True)) == (0, F(1, 4))
    assert apart(vec(3, 0), Known(1, vec(2, 0), F(1, 4), True, True)) == (0, 0)
    low, high = apart(vec(0, 3), Known(1, vec(2, 0), F(1, 4), False, True))
    assert low < F(15, 10) - F(1, 4) and high > F(14, 10) + F(1, 4)
    assert high - low < F(1, 2) + F(1, 10**9)


def test_a_mean_of_vertices_and_its_errors() -> None:
    """Each weight is the mean, and every neuron that a vertex of the mean has is off by the mean of the errors."""
    known = tuple(Known(1, vec(1), F(0), True, True) for _ in range(3))
    at = Optimum(known, ({0: F(2)}, {1: F(4)}, {2: F(9)}), vec("1/10", "1/5", 7), None)
    nothing = Node("", None, "weights")
    mean, errors = read_point(at, nothing, Node("1/2 1/2 0", None, "hull"))
    assert mean == (1, 2, 0) and errors == (F(3, 20), F(3, 20), 0)
    for weights, hull in (("", "1/2 1/2"), ("", "1/2 1/4 0"), ("", "3/2 -1/2 0"), ("1 1 1", "1/2 1/2 0"), ("", "")):
        with pytest.raises(Rejected):
            read_point(at, Node(weights, None, "weights"), Node(hull, None, "hull"))
    assert read_point(Optimum((), ({},), (F(0),), None), nothing, Node("", None, "hull")) == ((), ())
    problem = Problem("relu", F(3), mat([[1]]), vec(1))
    far = replace(known[0], error=F(1, 2))
    assert moved_squared(problem, replace(at, neurons=(far, known[1])), vec(2, 5), vec("1/3", 0)) == (1 + 1) ** 2


# ------------------------------------------------------------------------------------------------ the child

ORPHAN = """
import os, sys, time
from verify.child import limited
def work():
    while True:
        pass
print(os.getpid(), flush=True)
limited(work, 2, 1 << 30)
"""


def test_a_child_ends_without_its_parent() -> None:
    """Where the parent is killed, the child's own limit on processor time ends it."""
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        child = None
        for _ in range(200):
            found = subprocess.run(["pgrep", "-P", str(parent.pid)], capture_output=True, text=True, check=False).stdout
            if found.strip():
                child = int(found.split()[0])
                break
            time.sleep(0.05)
        assert child is not None
        os.kill(parent.pid, signal.SIGKILL)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and alive(child):
        time.sleep(0.2)
    assert not alive(child)


def test_what_a_child_has_started_ends_with_it(tmp_path: Path) -> None:
    """Where the child is stopped at its time limit, a program that it runs is stopped, too."""
    note = tmp_path / "pid"

    def work() -> dict[str, Any]:
        with subprocess.Popen(["sleep", "600"]) as program:
            note.write_text(str(program.pid))
        return {}

    with pytest.raises(Over, match="time"):
        limited(work, 2, 1 << 32)
    program = int(note.read_text())
    for _ in range(100):
        if not alive(program):
            break
        time.sleep(0.1)
    assert not alive(program)


def alive(process: int) -> bool:
    """Whether it still runs."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
