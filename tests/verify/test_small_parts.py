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

import verify.leaders
from tests.verify.brute import mat, vec
from tests.verify.cover.plant import packed, tree
from tests.verify.leading import CELL, cell, leader, leading
from tests.verify.wrong import changed
from verify import Declined, Rejected
from verify.bounds import LONG_BITS, identity, matrix, stretches
from verify.claims.polytope import components, connected, staircase
from verify.cover import tree as tree_
from verify.cover.tree import RULE, Reader, stream
from verify.data import nearest_double
from verify.facts import POLYTOPE, proved
from verify.leaders import Free, check_leaders, semidefinite
from verify.network.nearest import moved_squared, read_point
from verify.network.optimum import Known, Optimum
from verify.problem import Problem
from verify.roots import sign_of_sum
from verify.rules.polytope import Polytope
from verify.text import Node

NODE = Node(None)


# ------------------------------------------------------------------------------------------------ leaders


def test_zero_matrices_are_semidefinite() -> None:
    """No row, or rows of zeros only."""
    assert semidefinite([[0]]) and semidefinite([[0, 0], [0, 0]])
    assert not semidefinite([[0, 0], [0, -1]])


def test_the_rest_has_a_dominant_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a factor of zeros the matrix itself is the rest: |a_ij| <= a_ii passes, more by one does not, and neither
    does a diagonal below 0."""
    monkeypatch.setattr(verify.leaders, "cholesky", lambda M: [[0] * len(M) for _ in M])
    assert semidefinite([[1, 1], [1, 1]])
    assert semidefinite([[2, 1, 1], [1, 2, -1], [1, -1, 2]])
    assert not semidefinite([[64, 65], [65, 65]])
    assert not semidefinite([[2, 1, 1], [1, 2, -1], [1, -1, 1]])


def evidence(rows: list[list[int]], theta: str, centres: list[str], cells: list[Any], lam: str, free: Free) -> None:
    """Check the sign + in hundredths; nothing is to pay for -."""
    minus = {"centres": [], "cells": [cell(51)]}
    content = {"unit": "1/100", "theta": theta, "+": {"centres": centres, "cells": cells}, "-": minus}
    y = vec(*[1] * len(rows))
    check_leaders(mat(rows), y, F(lam), False, Node(content, None, "leaders"), free)


def test_a_row_with_a_zero_needs_its_leader() -> None:
    """(1, 0) is no row of zeros: without an entry it is rejected; (0, 0) needs none."""
    with pytest.raises(Rejected, match="an entry for row 0"):
        evidence([[1, 0], [0, 1]], "100 0", [], [cell(51)], "2", Free())
    evidence([[0, 0]], "100", [], [cell(51)], "2", Free())
    with pytest.raises(Rejected, match="an entry for row 0"):
        verify.check(changed(leading("single"), {f"{CELL}.leaders": []}))


def test_squares_of_normals_are_those_of_their_cell() -> None:
    """Centres 1, -1 and -3: the normal of cell 0 to centre 2 has length 4, to centre 1 length 2. What a square takes
    off is 2 r |u| |c_i - c_j|: the bound holds with the one length and not with the other."""
    rest = [cell(60, [leader(0, 100)]) for _ in range(2)]
    own = cell(60, [leader(0, 100)], normals=[1, 2], excess="0 0", squares="1 1")
    evidence([[1]], "100", ["1", "-1", "-3"], [own, *rest], "2", Free())
    for squares, nu in (("0 50", 60), ("50 0", 60), ("0 9", 26)):
        with pytest.raises(Rejected):
            one = cell(nu, [leader(0, 100)], normals=[1, 2], excess="0 0", squares=squares)
            evidence([[1]], "100", ["1", "-1", "-3"], [one, *rest], "1", Free())


def test_squares_need_a_norm_that_sees_them() -> None:
    """A normal with an entry in a column without penalty cannot be bounded by the norm; without one it can."""
    free = Free(columns=(1,))
    row = [[1, 0]]
    one = cell(60, [leader(0, 100)], normals=[1], excess="0", squares="1")
    other = cell(60, [leader(0, 100)], normals=[0], excess="0", squares="1")
    evidence(row, "100", ["1 0", "-1 0"], [one, other], "2", free)
    with pytest.raises(Rejected, match="q = 0 and no squares"):
        evidence(row, "100", ["1 0", "-1 1"], [one, other], "2", free)


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
    here = reader(rows=[1, 2, 255, 255])
    assert (here.row(), here.row()) == (513, 65535)
    with pytest.raises(Rejected, match="an entry for every node"):
        here.row()


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


def test_long_entries_are_rounded_on_the_safe_side() -> None:
    """|A x| >= sigma |x| for A = (a): true a little below a, false above it, with short and with long entries; at the
    limit itself long ones may be refused."""
    for denominator in (1, 3, 2 ** (LONG_BITS // 2 + 9) + 1):
        a = F(5 * denominator + 1, denominator)
        A = matrix([[a]], 1)
        assert stretches(A, a - F(1, 2**40)) and stretches(A, F(0)) and stretches(A, F(1))
        assert not stretches(A, a + F(1, 2**40)) and not stretches(A, 2 * a)
    wide = matrix([[F(3, 2**LONG_BITS + 1), F(0)], [F(0), F(2)]], 2)
    assert not stretches(wide, F(1)) and not stretches(wide, F(1, 100))
    assert stretches(matrix([], 0), F(9))
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


def alive(process: int) -> bool:
    """Whether it still runs."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
