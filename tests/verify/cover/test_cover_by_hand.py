"""Leaves of covers by hand: neurons, faces, splits and short integers, each bound from both sides."""

from __future__ import annotations

import base64
import lzma
from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction as F
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.verify.cover.plant import tree, value_at
from tests.verify.oracle.brute import mat, vec
from verify import Declined, Rejected
from verify.cover.faces import face_leaf, is_tip, meeting, on_face
from verify.cover.lines import Coarse, Lines, Row, Weights, coarse, lines_of, root_above, weights_of
from verify.cover.strict import MOST_COLUMNS, check_strict, dominates, shifted
from verify.cover.ties import Tie, check_special, in_piece, read_tie
from verify.cover.tree import NEURON, RAY, SIGN, STAR, WEIGHT, Leaves, Reader, Special, Walk, stream
from verify.optimal.ball import Ball
from verify.problem.problem import Problem
from verify.rules.cover_set import checked, face_class, surely_concave
from verify.text import Node

NODE = Node(None, None, "+")
CROSS = Lines(((1, 0), (0, 1)), (0, 1), (1, 1), 1, 2)
# f(u) = 3/2 (u_1)_+ - (u_2)_+: a convex line and a concave one
BENT = Weights(CROSS, (3, -2), (0, 0), 2)
BASIS = ((1, 0), (0, 1))


def special(cone: Any = (), signs: Any = (), atoms: Any = (), number: int = 0) -> Special:
    """A leaf."""
    return Special(tuple(cone), tuple(signs), number, tuple(atoms))


# ------------------------------------------------------------------------------------------------ faces


def face() -> Tie:
    """u = (1, 0) lies on the concave line: its face is the first axis, v = (3/2, 0)."""
    return on_face(BENT, BASIS, 1, (1, 0), (1, 0), NODE, biases=False)


def test_gradients_on_faces() -> None:
    """The gradient at u, projected on what the lines through u leave; u in the span of the basis."""
    found = face()
    assert (found.v, found.q, found.squared) == ((3, 0), 2, F(9, 4)) and found.face in (((1, 0),), ((-1, 0),))
    assert on_face(BENT, BASIS, 1, (0, -1), (0, -1), NODE, biases=False).squared == 0
    slanted = on_face(Weights(CROSS, (3, -2), (1, 5), 2), BASIS, 1, (1, 0), (1, 0), NODE, biases=False)
    assert (slanted.v, slanted.squared) == ((4, 0), F(4))
    with pytest.raises(Rejected, match="in the span of the rows"):
        on_face(BENT, [(1, 0)], 1, (1, 1), (1, 1), NODE, biases=False)
    with pytest.raises(Rejected, match="in the span of the rows"):
        on_face(BENT, BASIS, 1, (0, 0), (0, 0), NODE, biases=False)
    for g, tip in (((2, 0), True), ((1, 1), False), ((-1, 0), False), ((1, -1), False)):
        assert is_tip(BENT, found, g) is tip


@pytest.mark.parametrize(
    ("cone", "signs", "atoms", "part", "good"),
    [
        ([(1, 0), (1, 1)], [], [(WEIGHT, b"\1\1")], "7/10", True),  # 1 > 2 (7/20) sqrt 2
        ([(1, 0), (1, 1)], [], [(WEIGHT, b"\1\1")], "71/100", False),
        ([(1, 0), (1, 1)], [], [(WEIGHT, b"\1\0")], "0", False),  # the line is not on at the point: nothing is gained
        ([(1, 0), (1, 1)], [], [], "0", False),
        ([(1, 0), (1, 1)], [], [(WEIGHT // 2, b"\1\1")], "35/100", True),
        ([(1, 0), (1, 1)], [], [(WEIGHT // 2, b"\1\1")], "36/100", False),
        ([(1, 0), (-1, 1)], [], [(WEIGHT, b"\1\1")], "0", False),  # -1/2 < 0
        ([(1, 0), (-1, 1)], [(0, 1)], [(WEIGHT, b"\1\1")], "7/10", True),  # -1/2 + 3/2
        ([(1, 0), (-1, 1)], [(0, 1)], [(WEIGHT, b"\1\1")], "71/100", False),
        ([(1, 0), (-1, 1)], [(0, 0)], [(WEIGHT, b"\1\1")], "0", False),
        ([(1, 0), (1, 1)], [(0, 0)], [(WEIGHT, b"\1\0")], "1", True),  # 3/2 > sqrt 2
        ([(1, 0), (1, 1)], [(0, 0)], [(WEIGHT, b"\1\0")], "107/100", False),
        ([(1, 0), (1, 1)], [(0, 1)], [(WEIGHT, b"\1\1")], "7/10", True),
        ([(1, 0), (4, 3)], [], [(WEIGHT, b"\1\1")], "3/5", False),  # 3 is not more than 3/5 5
        ([(1, 0), (2, 0)], [], [], "5", True),  # tips only
        ([(1, 0), (1, -1)], [], [], "0", False),
    ],
)
def test_leaves_on_a_face(cone: Any, signs: Any, atoms: Any, part: str, good: bool) -> None:
    """a.g = f1(g) at the tips, and more than 2 part lambda |g| above it at the others; lambda = 1/2."""
    assert face_leaf(special(cone, signs, atoms), BENT, face(), F(1, 2), F(part)) is good


def test_concave_lines_that_are_on() -> None:
    """Where u is above a concave line, its slope is added to v again."""
    weights = Weights(Lines(((1, 0), (0, 1), (1, 1)), (0, 1, 2), (1, 1, 1), 1, 2), (3, -2, -1), (0, 0), 1)
    tie = on_face(weights, BASIS, 1, (1, 0), (1, 0, 1), NODE, biases=False)
    assert (tie.v, tie.q) == ((2, 0), 1)
    leaf = special([(1, 0), (1, 1)], (), [(WEIGHT, b"\1\1")])
    assert face_leaf(leaf, weights, tie, F(1), F(1))  # a = (2, 0) + (1, 1) + (0, 2): 6 - 3 > 2 sqrt 2
    assert not face_leaf(leaf, weights, tie, F(1), F(107, 100))


# ------------------------------------------------------------------------------------------------ neurons


@pytest.mark.parametrize(
    ("cone", "signs", "side", "good"),
    [
        ([(1, 0), (1, 1)], [], (1, 0), True),
        ([(1, 0), (-1, 1)], [], (1, 0), False),
        ([(-1, 0), (-2, 1)], [], (-1, 0), True),
        ([(0, 1), (1, 0)], [], (1, 0), True),  # on the line
        ([(1, 0), (-1, 1)], [(0, 1)], (1, 0), True),
        ([(1, 0), (-1, 1)], [(0, 0)], (1, 0), False),
        ([(1, 0), (-1, 1)], [(0, 0)], (-1, 0), True),
        ([(1, 0), (-1, 1)], [(0, 1)], (-1, 0), False),
        ([(1, 0), (-1, 1)], [(0, 1)], (0, 0), True),
        ([(1, 0), (1, 1)], [(0, 0)], (1, 0), True),  # nothing but {0} is on the side of the split
        ([(1, 0), (-1, 1)], [], (0, 0), True),
    ],
)
def test_cones_inside_a_piece(cone: Any, signs: Any, side: Any, good: bool) -> None:
    """At every generator, or by the split, whichever; 0 is any side."""
    assert in_piece(special(cone, signs), BENT, side, [0]) is good


def test_every_split_line_has_its_side() -> None:
    """One line on the other side of its split is enough, whatever the others say."""
    two = Weights(CROSS, (3, 2), (0, 0), 2)
    leaf = special([(1, 0), (1, 1)], [(0, 1)])
    for side, good in (((1, 1), True), ((-1, 1), False), ((0, 1), True), ((1, -1), False), ((-1, 0), False)):
        assert in_piece(leaf, two, side, [0, 1]) is good


def test_shares_of_lines() -> None:
    """In [0, 1] of concave lines, outside (0, 1) of convex ones, which names their side; |v|^2 at most lambda^2."""

    def tie(u: str, shares: str, squared: Any = 100, sign: str = "+") -> Tie:
        return read_tie({1: BENT, -1: BENT}, BASIS, F(squared), Node({"sign": sign, "u": u, "shares": shares}), False)

    for share, side, v in (("0", -1, 0), ("1", 1, F(3, 2)), ("2", 1, 3), ("-1", -1, F(-3, 2))):
        found = tie("0 1", share)
        assert found.side == (side, 1) and found.squared == F(v) ** 2 + 1
    assert tie("1 0", "1/2").side == (1, 0) and tie("1 0", "1/2").squared == F(9, 4) + F(1, 4)
    for share in ("0", "1"):
        assert tie("1 0", share)
    for u, share in (("0 1", "1/2"), ("0 1", "1/1000"), ("0 1", "999/1000"), ("1 0", "-1/9"), ("1 0", "10/9")):
        with pytest.raises(Rejected, match="shares in"):
            tie(u, share)
    assert tie("0 1", "0", 1).xi == 1 and tie("0 1", "0", 1, "-").xi == -1
    with pytest.raises(Rejected, match=r"\|v\|\^2 <= 999/1000, found 1"):
        tie("0 1", "0", F(999, 1000))
    plane = {"sign": "+", "u": "1 0"}
    assert read_tie({1: BENT, -1: BENT}, BASIS, F(9, 4), Node(plane), False).face
    with pytest.raises(Rejected, match=r"\|v\|\^2 <= 2, found 9/4"):
        read_tie({1: BENT, -1: BENT}, BASIS, F(2), Node(plane), False)
    flat = Weights(CROSS, (3, 0), (0, 0), 2)
    assert read_tie({1: flat}, BASIS, F(9), Node({"sign": "+", "u": "1 0", "shares": ""}), False).side == (1, 0)


def test_leaves_name_ties_of_their_sign() -> None:
    """A neuron for a neuron's leaf, a face for a face's, that there is."""
    neuron, ray = Tie(1, (1, 1), (1, 1), F(1), (), 1), face()

    def check(ties: dict[int, Tie], code: int, number: int = 0, second: Row = (1, 1)) -> None:
        atoms = [(WEIGHT, b"\1\1")] if code == RAY else []
        leaf = special([(1, 0), second], (), atoms, number)
        check_special(Leaves(special=[leaf]), BENT, ties, F(1, 2), F(0), NODE)

    check({0: neuron}, NEURON)
    check({0: ray}, RAY)
    for ties, code, number in (
        ({0: neuron}, NEURON, 1),
        ({1: neuron}, NEURON, 0),
        ({0: neuron}, RAY, 0),
        ({0: ray}, NEURON, 0),
        ({1: ray}, RAY, 0),
    ):
        with pytest.raises(Rejected, match="a neuron or face of this sign"):
            check(ties, code, number)
    with pytest.raises(Rejected, match="a cone inside the piece of neuron 0"):
        check({0: Tie(1, (1, 1), (-1, 1), F(1), (), 1)}, NEURON)
    with pytest.raises(Rejected, match="or proved by that face"):
        check({0: ray}, RAY, second=(-1, 1))


# ------------------------------------------------------------------------------------------------ strict leaves


@pytest.mark.parametrize(
    ("second", "turn", "bound", "signs", "good"),
    [
        ((-1, 1), b"\1\1", 60, (), False),  # c = (0, 60): 60 < 100 at (1, 1)
        ((-1, 1), b"\1\1", 60, ((0, 0),), True),
        ((-1, 1), b"\1\1", 60, ((0, 1),), False),
        ((-1, 1), b"\1\1", 102, (), True),
        ((-2, 1), b"\1\0", 110, (), False),  # c = (77, 77): -77 < 0 at (-2, 1)
        ((-2, 1), b"\1\0", 110, ((0, 1),), True),
        ((-2, 1), b"\1\0", 110, ((0, 0),), False),
    ],
)
@pytest.mark.parametrize("long", [1, 2**40])
def test_splits_of_strict_leaves(second: Any, turn: bytes, bound: int, signs: Any, good: bool, long: int) -> None:
    """f1 = 100 (u_1)_+ counts on its side as 100 u_1, or not at all, in units of 2^-20; generators may be long."""
    rows = Coarse(np.array([[100 << 20, 0]]), np.zeros((0, 2), dtype=np.int64), [0, 0], 44, bound << 20)
    first = (long, long)
    leaves = Leaves(vertices=[first, tuple(long * x for x in second)], cones=[(0, 1)], turns=[turn])
    leaves.signs = {0: signs} if signs else {}
    leaves.atom_leaf, leaves.atom_weight, leaves.atom_point = [0], [WEIGHT], [b"\1\1"]
    if good:
        check_strict(leaves, rows, NODE, False)
    else:
        with pytest.raises(Rejected, match="less at leaf 0 of 1"):
            check_strict(leaves, rows, NODE, False)


def test_limits_of_strict_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many columns and lines, and no more."""
    for d, good in ((MOST_COLUMNS, True), (MOST_COLUMNS + 1, False)):
        rows = Coarse(np.zeros((0, d), dtype=np.int64), np.zeros((0, d), dtype=np.int64), [0] * d, 44, 1)
        if good:
            check_strict(Leaves(), rows, NODE, False)
        else:
            with pytest.raises(Declined, match="at most 16 columns, found 17"):
                check_strict(Leaves(), rows, NODE, False)
    monkeypatch.setattr("verify.cover.strict.MOST_LINES", 3)
    for p, n, good in ((1, 2, True), (2, 2, False), (4, 0, False), (0, 4, False)):
        rows = Coarse(np.zeros((p, 2), dtype=np.int64), np.zeros((n, 2), dtype=np.int64), [0] * 2, 44, 1)
        if good:
            check_strict(Leaves(), rows, NODE, False)
        else:
            with pytest.raises(Declined, match="at most 3 lines, found 4"):
                check_strict(Leaves(), rows, NODE, False)


def test_sums_are_compared_exactly() -> None:
    """a.g >= WEIGHT f1 in halves: equal is enough, one less is not, for short and long sums."""
    for size in (1, 2**20, 2**26 - 1):
        g = np.array([[[size, 1]]], dtype=np.int64)
        for a in ([WEIGHT * 2**50, WEIGHT], [-WEIGHT * 2**50, WEIGHT], [WEIGHT, -WEIGHT]):
            total = (a[0] * size + a[1]) // WEIGHT
            for more, good in ((0, True), (-1, True), (1, False)):
                f1 = np.array([[total + more]], dtype=object)
                assert dominates(np.array([a], dtype=np.int64), g, f1).tolist() == [good]


def test_shifts_are_no_longer_than_needed() -> None:
    """Entries end below 2^bits and, if they were shifted, not below half of that."""
    for bits in (28, 29):
        for x in (1, 2**bits + 1, 2**45 + 5, *(y for e in range(2, 63) for y in (2**e - 1, 2**e, 3 << e - 2))):
            found = int(shifted(np.array([[x, -1]], dtype=np.int64), bits)[0, 0])
            assert found < 2**bits and (found == x if x < 2**bits else found >= 2 ** (bits - 1))
    assert shifted(np.array([[0, 0], [2**40, 0]], dtype=np.int64), 28).tolist() == [[0, 0], [2**27, 0]]


# ------------------------------------------------------------------------------------------------ lines


def test_lines_by_hand() -> None:
    """Opposite rows are one line, zero rows none; f(u) = c0.u + sum w (p.u)_+."""
    problem = Problem("relu", F(1), mat([[2, 0], ["-1/2", 0], [0, 0], [0, 3]]), vec(1, 1, 1, 1))
    lines = lines_of(problem)
    assert (lines.rows, lines.line, lines.multiple, lines.scale) == (((1, 0), (0, 1)), (0, 0, -1, 1), (4, -1, 0, 6), 2)
    weights = weights_of(lines, vec(1, "1/3", 5, -1), 1)
    assert (weights.w, weights.c0, weights.unit) == ((13, -18), (-1, 0), 6)
    assert (weights.convex, weights.concave) == ([0], [1])
    for u, value_ in (((1, 0), F(2)), ((-1, 0), F(1, 6)), ((0, 1), F(-3)), ((0, -1), F(0)), ((2, 1), F(1))):
        assert value_at(weights, u) == value_
    silent = weights_of(lines, vec(1, -4, 5, 0), 1)
    assert silent.w == (0, 0) and (silent.convex, silent.concave) == ([], [])
    assert [root_above(n) for n in (0, 1, 2, 3, 4, 5, 8, 9, 10)] == [0, 1, 2, 2, 2, 3, 3, 3, 4]


def test_short_integers_by_hand() -> None:
    """2^bits less a unit for each line and one more, times sqrt d, and the margin; 53 bits for all entries."""
    found = coarse(BENT, F(2), 7, 2, NODE)
    assert found.bits == 44 and found.bound == 2**44 - 3 * 2 - 7
    assert found.P.tolist() == [[3 * 2**42, 0]] and found.N.tolist() == [[0, 2 * 2**42]] and found.c0 == [0, 0]
    third = coarse(Weights(CROSS, (3, -2), (1, -1), 2), F(1, 3), 0, 2, NODE)
    assert third.c0 == [3 * 2**43, -3 * 2**43]
    large = coarse(Weights(CROSS, (2**30, -2), (0, 0), 1), F(1), 0, 2, NODE)
    assert large.bits == 53 - 31 and large.bound == 2**22 - 6
    assert coarse(Weights(CROSS, (2**30 - 3, -2), (0, 0), 1), F(1), 0, 2, NODE).bits == 53 - 31
    assert coarse(Weights(CROSS, (2**30 - 4, -2), (0, 0), 1), F(1), 0, 2, NODE).bits == 53 - 30
    assert coarse(Weights(CROSS, (2**30 - 4, -2), (8, 0), 1), F(1), 0, 2, NODE).bits == 53 - 31
    with pytest.raises(Rejected, match="short integers are precise enough"):
        coarse(BENT, F(2), 2**44 - 6, 2, NODE)
    with pytest.raises(Rejected, match=r"short integers are precise enough, found 0 bits"):
        coarse(Weights(Lines(((1,),), (0,), (1,), 1, 1), (0,), (2**52,), 1), F(1), 0, 1, NODE)
    assert coarse(BENT, F(2), 2**44 - 8, 2, NODE).bound == 2
    with pytest.raises(Rejected, match="short integers are precise enough"):
        coarse(Weights(CROSS, (2**60, -2), (0, 0), 1), F(1), 0, 2, NODE)


def test_lines_that_are_surely_concave() -> None:
    """w_c < 0 and |w_c| above what the ball moves: sqrt(sum a^2) R, all in one unit."""

    class Shown:
        def __init__(self) -> None:
            self.weights, self.lines = {1: BENT}, CROSS

    shown: Any = Shown()
    for R_squared, sure in ((F(0), [False, True]), (F(99, 100), [False, True]), (F(1), [False, False])):
        ball = Ball(Problem("relu", F(1), mat([[1]] * len(CROSS.line)), vec(*[1] * len(CROSS.line))), (), R_squared)
        assert surely_concave(ball, shown, 1) == sure  # 4 > 1 R^2 unit^2 = 4 R^2


def test_where_planes_meet_facets_in_fractions() -> None:
    """A vector of the plane without a part of the generator, with whole entries that have no common divisor."""
    generators = [(2, 0, 0), (0, 3, 0), (0, 0, 5)]
    assert meeting(generators, [(1, 1, 1), (1, 2, 5)], 0, NODE) == (0, 1, 4)
    assert meeting(generators, [(1, 1, 1), (1, 2, 1)], 1, NODE) == (1, 0, 1)
    for face_, facet in (([(1, 1, 1)], 0), ([(1, 1, 1), (1, 2, 1)], 3)):
        with pytest.raises(Rejected, match="a plane and a facet"):
            meeting(generators, face_, facet, NODE)


def test_classes_of_faces() -> None:
    """Sign, pattern and kinks are those of the face, and v(r) keeps the pattern: (3/2)^2 > |Z|^2 |p|^2 R^2 = 6 R^2."""
    problem = Problem("relu", F(1), mat([[1, 1], [0, 1]]), vec(1, 1))
    lines = lines_of(problem)
    weights = Weights(lines, (3, -2), (0, 0), 2)
    tie = on_face(weights, BASIS, 1, (1, 0), (1, 0), NODE, biases=False)
    shown: Any = SimpleNamespace(lines=lines, weights={1: weights})
    fields = {"sign": "+", "pattern": "10", "kinks": [1], "basis": [1], "idle": [], "fixed": ""}

    def class_of(R_squared: F, **more: Any) -> Any:
        return face_class(Ball(problem, vec(1, 1), R_squared), shown, tie, Node({**fields, **more}))

    found = class_of(F(37, 100))
    assert (found.key, found.kinks, found.zeros, found.B.entries()) == ((1, 1), (1,), 2, [1, 0, 0, 0])
    for R_squared in (F(3, 8), F(2)):
        with pytest.raises(Rejected, match="with the pattern of u for every residual"):
            class_of(R_squared)
    cube = Problem("relu", F(1), mat([[1, 1, 1], [0, 1, 0], [0, 0, 1], [0, 1, 1]]), vec(1, 1, 1, 1))
    lines3 = lines_of(cube)
    bent = Weights(lines3, (3, -2, -2, -2), (0, 0, 0), 2)
    three = on_face(bent, ((1, 0, 0), (0, 1, 0), (0, 0, 1)), 1, (1, 0, 0), (1, 0, 0, 0), NODE, biases=False)
    given = {"sign": "+", "pattern": "1000", "kinks": [1, 2, 3], "basis": [1, 2], "idle": []}
    whole: Any = SimpleNamespace(lines=lines3, weights={1: bent})
    assert face_class(Ball(cube, vec(1, 1, 1, 1), F(0)), whole, three, Node({**given, "fixed": "0"})).kinks == (1, 2, 3)
    with pytest.raises(Rejected, match="none of them idle, shares 0"):
        face_class(Ball(cube, vec(1, 1, 1, 1), F(0)), whole, three, Node({**given, "fixed": "1/2"}))
    for more, said in (
        ({"sign": "-"}, "the sign and the pattern"),
        ({"pattern": "00"}, "the sign and the pattern"),
        ({"pattern": "11"}, "hyperplanes of rows where the pattern is 0"),
        ({"kinks": [], "basis": []}, "all lines through the face"),
        ({"basis": [], "idle": [1]}, "vanishes whatever the residual"),
    ):
        with pytest.raises(Rejected, match=said):
            class_of(F(0), **more)


def test_streams_are_base64_alone() -> None:
    """No other character, one stream, and nothing after it."""
    good = base64.b64encode(lzma.compress(b"abc")).decode()
    assert stream(Node(good)) == b"abc"
    twice = base64.b64encode(lzma.compress(b"abc") * 2).decode()
    for text in (good + "\n", "!" + good, good[:-4], twice, base64.b64encode(b"abc").decode()):
        with pytest.raises(Rejected, match="xz stream"):
            stream(Node(text))


def test_stars_of_many_generators() -> None:
    """Three bytes name the generators whose place the centre takes, eight in each."""
    walk = Walk.__new__(Walk)
    walk.node, walk.d, walk.leaves, walk.ids = NODE, 12, Leaves(), {}
    cone = tuple(walk.number(tuple(int(i == j) for j in range(12))) for i in range(12))
    u = tuple(int(i in (1, 8, 11)) for i in range(12))
    walk.ties = {3: Tie(1, u, (), F(0), (), 1, (u,))}
    walk.reader = Reader(Node(tree([], data=[3, 0b10, 0b1001, 0]), None, "+"), 12)
    centre, places = walk.star(cone, STAR)
    assert walk.leaves.vertices[centre] == u and places == (1, 8, 11)


def test_patterns_of_faces_at_zero_rows() -> None:
    """A row of zeros has any bit."""
    problem = Problem("relu", F(1), mat([[1, 1], [0, 0], [0, 1]]), vec(1, 1, 1))
    lines = lines_of(problem)
    weights = Weights(lines, (3, -2), (0, 0), 2)
    tie = on_face(weights, BASIS, 1, (1, 0), (1, 0), NODE, biases=False)
    shown: Any = SimpleNamespace(lines=lines, weights={1: weights})
    for pattern in ("100", "110"):
        fields = {"sign": "+", "pattern": pattern, "kinks": [2], "basis": [2], "idle": [], "fixed": ""}
        assert face_class(Ball(problem, vec(1, 1, 1), F(0)), shown, tie, Node(fields)).key == (1, 0b001)


def test_regions_of_the_classes_of_ties() -> None:
    """The sides of the lines that are no kinks, by their rows, whatever their multiples; rows of zeros have none."""
    problem = Problem("relu", F(1), mat([[1, 0], [-2, 0], [-1, -1], [0, 1], [0, 0]]), vec(1, 1, 1, 1, 1))
    ball, lines, seen = Ball(problem, vec(1, 1, 1, 1, 1), F(0)), lines_of(problem), []
    weights = weights_of(lines, ball.theta, 1)

    def inside(xi: int, number: int, side: list[int], doubtful: list[int]) -> bool:
        seen.append((xi, number, side, doubtful))
        return True

    cover: Any = SimpleNamespace(lines=lines, weights={1: weights}, inside=inside)
    tie: Any = SimpleNamespace(face=(), u=(-2, -1), xi=1, side=(0, 0, 0))
    for pattern in ("01100", "01101"):
        fields = {"sign": "+", "pattern": pattern, "kinks": [], "basis": [], "idle": [], "fixed": ""}
        assert checked(ball, cover, 5, tie, Node(fields), Node([])).key == (1, 0b00110)
    assert seen == [(1, 5, [-1, 1, -1], [0, 1, 2])] * 2
    bent = replace(problem, seen=mat([[1, 1], [0, 1]]), y=vec(1, 1))
    cover.lines, ball = lines_of(bent), Ball(bent, vec(1, -2), F(0))
    cover.weights, tie.u = {1: weights_of(cover.lines, ball.theta, 1)}, (1, 0)
    fields = {"sign": "+", "pattern": "10", "kinks": [1], "basis": [1], "idle": [], "fixed": ""}
    assert checked(ball, cover, 6, tie, Node(fields), Node([])).kinks == (1,) and seen[2] == (1, 6, [1, 0], [0])


def test_both_sides_of_a_split() -> None:
    """A line that is split is on in one child, and off in the other."""
    walk = Walk.__new__(Walk)
    walk.node, walk.lines = NODE, 2
    walk.reader = SimpleNamespace(take=lambda name, count: {"rows": bytes([1, 0, 9])}[name][:count])  # type: ignore[assignment]
    assert walk.children(((0, 1), ((0, 1),)), SIGN) == [((0, 1), ((0, 1), (1, 1))), ((0, 1), ((0, 1), (1, 0)))]
    for lines, signs in ((1, ()), (2, ((1, 0),))):
        walk.lines = lines
        with pytest.raises(Rejected, match="a convex line that was not split before"):
            walk.children(((0, 1), signs), SIGN)


@pytest.mark.parametrize("long", [0, 70])
def test_a_line_that_is_split_off(long: int) -> None:
    """Where a line is below 0 it counts for nothing, split or not: a leaf fails by one unit in either case."""
    g = -1 << long

    def holds(c0: int, signs: Any) -> bool:
        atom = {"atom_leaf": [0], "atom_weight": [WEIGHT], "atom_point": [b"\1"]}
        leaves = Leaves(vertices=[(g,)], cones=[(0,)], turns=[b"\1"], **atom)
        leaves.signs |= {0: signs} if signs else {}
        rows = Coarse(np.array([[5]]), np.zeros((0, 1), dtype=np.int64), [c0], 20, 1 << 20)
        try:
            check_strict(leaves, rows, NODE, False)
        except Rejected:
            return False
        return True

    last = bisect_left(range(-1 << 21, 0), True, key=lambda c0: holds(c0, ())) - (1 << 21)
    assert not holds(last - 1, ()) and holds(last, [(0, 0)]) and not holds(last - 1, [(0, 0)])
    assert holds(last - 5, [(0, 0)]) is False and holds(last - 5, [(0, 1)]) is True
