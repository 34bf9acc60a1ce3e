"""Paths and curves at their edges: what pieces, ends and samples are asked for, one condition at a time, by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from types import SimpleNamespace
from typing import Any

import pytest
from flint import fmpq, fmpq_mat

from tests.verify.oracle.brute import mat, vec
from verify import Rejected
from verify.claims.paths import several_on_a_piece
from verify.facts import CURVE, DERIVATIVES, DUAL, LAMBDA_MAX, NEURONS, PATH, VALUE, Facts, proved
from verify.numbers.bounds import column, dual_basis, matrix, root_above
from verify.optimal.ball import Ball, Class
from verify.path.lifted import Set, check_forced, check_lifted
from verify.path.moving import Along
from verify.path.onset import Moving, antipodal, superclasses
from verify.problem.problem import Problem
from verify.rules import curve, derivatives, path
from verify.rules.curve import check_breakpoint, check_curve, named, require_out
from verify.rules.derivatives import read_system
from verify.rules.jump import Beside, check_farkas, check_jump, kernel, mixed, series
from verify.rules.path import Frame, Piece, check_path, check_piece, tube
from verify.rules.value import Dual, Value
from verify.sets.classes import read_relu
from verify.sets.neurons import Neuron
from verify.sets.solutions import OptimalSet
from verify.sets.ties import Tied
from verify.text import Node, Vector

ZERO, ONE = F(0), F(1)
NODE = Node(None, None, "here")
RELU = Problem("relu", ONE, mat([[1]]), vec(2))
NARROW = {"lo": "1", "hi": "1000000000001/1000000000000"}


def piece(lo: Any, hi: Any, **more: Any) -> Any:
    """What is asked of a piece by those that rest on it."""
    return SimpleNamespace(lo=F(lo), hi=F(hi), lifted=False, still=False, pinned=(), **more)


# ------------------------------------------------------------------------------------------------ breakpoints


def at_ends(monkeypatch: pytest.MonkeyPatch, below: Any, above: Any) -> None:
    """The two ends of a breakpoint as they would be read."""
    ends = {"below": below, "above": above}
    monkeypatch.setattr(curve, "read_end", lambda patterns, pieces, lam, node: ends[node.key])


def breakpoint_(largest: Any, **fields: Any) -> tuple[F, F]:
    """A breakpoint with these fields, lambda_max^2 = `largest`."""
    node = Node({**NARROW, "below": {}, "above": {}, **fields}, None, "breakpoint")
    return check_breakpoint(None, None if largest is None else F(largest), [], node)


def test_ends_of_a_breakpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interval of relative width 10^-12, other neurons at its ends, and no hole between their pieces."""
    one, other = frozenset({((1, 1), ())}), frozenset({((1, 3), ())})
    at_ends(monkeypatch, (piece("1/2", 1), one), (piece(1, 2), other))
    assert breakpoint_(None) == (ONE, F(NARROW["hi"]))
    for lo, hi in (("0", "1"), ("1", "1"), ("2", "1"), ("1", "1000000000002/1000000000000"), ("-1", "-1/2")):
        with pytest.raises(Rejected, match="0 < lo < hi"):
            breakpoint_(None, lo=str(F(lo)), hi=str(F(hi)))
    at_ends(monkeypatch, (piece("1/2", 1), one), (piece("1001/1000", 2), other))
    with pytest.raises(Rejected, match="pieces without a hole"):
        breakpoint_(None)
    at_ends(monkeypatch, (piece("1/2", 1), one), (piece(1, 2), one))
    with pytest.raises(Rejected, match="found the same"):
        breakpoint_(None)


def test_breakpoints_where_the_network_becomes_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """hi and the piece below reach lambda_max, which is known, and there is a neuron below."""
    some = frozenset({((1, 1), ())})
    at_ends(monkeypatch, (piece("1/2", F(NARROW["hi"])), some), None)
    assert breakpoint_(1, above=None)
    assert breakpoint_(F(NARROW["hi"]) ** 2, above=None)
    for largest in (None, 2):
        with pytest.raises(Rejected, match="reaches lambda_max"):
            breakpoint_(largest, above=None)
    at_ends(monkeypatch, (piece("1/2", "9/10"), some), None)
    with pytest.raises(Rejected, match="reaches lambda_max"):
        breakpoint_(1, above=None)
    at_ends(monkeypatch, (piece("1/2", 1), some), None)
    assert breakpoint_(1, above=None)
    at_ends(monkeypatch, (piece("1/2", 2), some), None)
    with pytest.raises(Rejected, match="reaches lambda_max"):
        breakpoint_(2, above=None)
    at_ends(monkeypatch, (piece("1/2", "3/2"), some), None)
    with pytest.raises(Rejected, match="reaches lambda_max"):
        breakpoint_(3, above=None, lo="2", hi=str(2 * F(NARROW["hi"])))
    at_ends(monkeypatch, (piece("1/2", 2), some), None)
    with pytest.raises(Rejected, match="reaches lambda_max"):
        breakpoint_(2, above=None, lo="13/10", hi=str(F(13, 10) * F(NARROW["hi"])))
    at_ends(monkeypatch, (piece("1/2", 2), frozenset()), None)
    with pytest.raises(Rejected, match="found the same"):
        breakpoint_(1, above=None)


def test_breakpoints_ascend_to_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each lies below the one before it, which it may touch; widths are those of the samples."""
    intervals = iter([(F(3), F(4)), (F(2), F(3)), (F(1), F(2)), (F(3), F(4)), (F(3), F(5))])
    monkeypatch.setattr(curve, "check_breakpoint", lambda *_: next(intervals))
    found = ((F(1), 4, F(3), F(1)), (F(2), 2, F(1), F(5)), (F(5, 2), 3, F(2), F(2)))
    samples = iter([curve.Sample(*one) for one in found])
    monkeypatch.setattr(curve, "check_sample", lambda *_: next(samples))
    monkeypatch.setattr(curve, "check_branch", lambda *_: 0)
    facts = Facts({PATH: SimpleNamespace(pieces=[])})
    first = check_curve(RELU, facts, Node({"breakpoints": [0, 1, 2], "branches": [0], "samples": [0, 1, 2]}))
    assert first[CURVE] == curve.Curve(3, 1, 3, 2, 4, F(3), F(5))
    with pytest.raises(Rejected, match="an interval below the one before it, found it ends at 5, above 3"):
        check_curve(RELU, facts, Node({"breakpoints": [0, 1], "branches": [], "samples": []}))
    none = check_curve(RELU, facts, Node({"breakpoints": [], "branches": [], "samples": []}))
    assert none[CURVE] == curve.Curve(0, 0, 0, 0, 0, F(0), F(0))


def test_pieces_that_are_named() -> None:
    """One of those that there are, and no lifted one."""
    pieces = [piece(1, 2), piece(2, 3)]
    pieces[1].lifted = True
    assert named(pieces, Node(0)) is pieces[0]
    with pytest.raises(Rejected, match="found a lifted one"):
        named(pieces, Node(1))
    with pytest.raises(Rejected, match="an index below 2"):
        named(pieces, Node(2))


def test_what_is_out_at_a_point() -> None:
    """No weight, and |v| + |X| R < 1: |X|^2 = 4 and R = 1/4 leave 1/2; a ball that is too large leaves nothing."""
    class_ = Class((1, 1), (), 0, matrix(mat([[1]]), 1), F(4))
    require_out(class_, column(vec("2/5")), ZERO, F(1, 4), NODE)
    for s, weight, R, said in (
        (F(2, 5), ONE, F(1, 4), "a weight that is proved positive, or 0"),
        (F(1, 2), ZERO, F(1, 4), "a neuron that is not tied"),
        (ZERO, ZERO, F(1, 2), "a neuron that is not tied"),
        (ZERO, ZERO, F(10), "a neuron that is not tied"),
    ):
        with pytest.raises(Rejected, match=said):
            require_out(class_, column([s]), weight, R, NODE)


# ------------------------------------------------------------------------------------------------ paths


def test_pieces_of_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Complete: no hole from lo to hi, or to lambda_max; several networks: on a piece inside."""

    def told(*pieces: tuple[Any, Any, Set], largest: Any = None) -> tuple[bool, str]:
        found = iter([SimpleNamespace(lo=F(lo), hi=F(hi), found=set_) for lo, hi, set_ in pieces])
        monkeypatch.setattr(path, "check_piece", lambda *_: next(found))
        facts = Facts() if largest is None else proved(LAMBDA_MAX, F(largest))
        node = Node({"lo": "1", "hi": "3", "pieces": [0] * len(pieces)})
        known = check_path(RELU, facts, node)[PATH]
        try:
            words = several_on_a_piece(RELU, proved(PATH, known), NODE)
        except Rejected:
            words = ""
        return known.complete, words.partition(", a part of [1, 3]")[0].removeprefix("for every lambda in ")

    one, some, many = Set(0, unique=True), Set(0, unique=False), Set(2, unique=False)
    assert told((1, 2, one), (2, 3, one)) == (True, "")
    assert told(("1/2", 2, one), ("3/2", 4, one)) == (True, "")
    assert told(("1001/1000", 2, one), (2, 3, one)) == (False, "")
    assert told((1, 2, one), ("2001/1000", 3, one)) == (False, "")
    assert told((1, 2, one)) == (False, "") and told() == (False, "")
    assert told((1, 2, one), largest=4)[0] and not told((1, 2, one), largest=5)[0]
    assert told((1, "5/2", one), largest="25/4")[0]
    assert told((1, 2, some), (2, 3, one)) == (True, "")
    assert told((1, 3, one), (1, 2, one))[0]
    assert told(("1/2", 2, many), (2, 5, many)) == (True, "[1, 2]")
    assert told((1, 2, one), (2, 5, many)) == (True, "[2, 3]")
    assert told(("1/2", 1, many), (1, 3, one))[1] == "[1, 1]" and not told(("1/2", "3/4", many), (1, 3, one))[1]
    for lo, hi in (("0", "1"), ("1", "1"), ("2", "1")):
        with pytest.raises(Rejected, match="0 < lo < hi"):
            check_path(RELU, Facts(), Node({"lo": lo, "hi": hi, "pieces": []}))


def still(**more: Any) -> Node:
    """A piece without classes: the zero network from 2 on, where y = 2 and Z = 1."""
    side = {"+": [["1", "0"]], "-": []}
    fields = {
        "lo": "4",
        "hi": "5",
        "s": ["9/20"],
        "classes": [],
        "weights": [],
        "multipliers": [side],
        "radius": "1/10",
    }
    return Node({**fields, "out": [{"+": [], "-": []}], "inverse": [], **more}, None, "piece")


def test_frames_of_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 < lo <= hi, from 1 to 16 coefficients, and a radius that holds the tube."""
    monkeypatch.setattr(path, "check_outs", lambda *_: None)
    found = check_piece(RELU, None, still())
    assert (found.lo, found.hi) == (F(4), F(5)) and found.still and not found.lifted
    assert (found.frame.center, found.frame.h) == (F(9, 40), F(1, 40)) and found.found == Set(0, unique=True)
    assert check_piece(RELU, None, still(lo="5", s=["2/5"], radius="0")).still
    for wrong, said in (
        ({"lo": "6"}, "0 < lo <= hi"),
        ({"lo": "0"}, "0 < lo <= hi"),
        ({"lo": "-1"}, "0 < lo <= hi"),
        ({"s": []}, "1 to 16 coefficients"),
        ({"s": ["1"] * 17}, "1 to 16 coefficients"),
        ({"radius": "1/100"}, "a radius >="),
        ({"radius": "-1"}, "a radius >="),
        ({"lo": "5", "s": ["3/5"], "radius": "1/10"}, "a radius >= 1/5"),
    ):
        with pytest.raises(Rejected, match=said):
            check_piece(RELU, None, still(**wrong))
    monkeypatch.setattr(path, "check_lifted", lambda *_: Set(3, unique=False))
    raised = check_piece(RELU, None, still(lifted={}))
    assert raised.lifted and raised.found == Set(3, unique=False)
    ends = still(s=["9/20", "1/20", *["0"] * 14], multipliers=[{}] * 2, out=[{}] * 2)
    curved = check_piece(RELU, None, ends)
    assert (
        not curved.still and curved.ball.theta == (F(2, 5),) and F(1, 2) in {x for o in curved.ball.beside for x in o}
    )


def test_the_tube_of_a_still_piece() -> None:
    """R from |eta_0 y - s|, and for all eta what h changes: rho = R + (|s| + R) h / eta_0, |E| <= R + h |y|."""
    frame = Frame(replace(RELU, y=vec(3), seen=mat([[1]])), F(2), F(1, 2))
    R = F(1)
    assert tube(frame, column(vec(5)), [], [], NODE) == (R + 6 * F(1, 4), R + 6 * F(1, 4), R + F(3, 2))


def test_lambdas_of_a_piece() -> None:
    """tau = (1/lambda - center) / h, from lo to hi; 0 where the piece is a point."""
    frame = Frame(RELU, F(3, 4), F(1, 4))
    ball = Ball(RELU, vec(1), ZERO)
    known = Piece(ball, fmpq_mat(1, 3, [1, 2, 3]), [], [], ZERO, ZERO, ONE, F(2), frame, [], Set(0, unique=True), False)
    assert known.powers(ONE, NODE) == vec(1, 1, 1) and known.powers(F(2), NODE) == vec(1, -1, 1)
    assert known.powers(F(4, 3), NODE) == vec(1, 0, 0) and known.near(ONE, NODE).entries() == [6]
    assert known.powers(F(8, 5), NODE) == vec(1, "-1/2", "1/4")
    for lam in (F(99, 100), F(201, 100)):
        with pytest.raises(Rejected, match="a lambda of the piece, from 1 to 2"):
            known.powers(lam, NODE)
    assert replace(known, frame=Frame(RELU, ONE, ZERO)).powers(ONE, NODE) == vec(1, 0, 0)
    class_ = Class((1, 1), (), 0, matrix(mat([[1]]), 1), F(4))
    wide = replace(known, classes=[class_], longest=F(3), beta=F(1, 4))
    assert wide.weight_error(F(1, 2), F(1, 10), vec(-5)) == 3 * (F(1, 2) + F(1, 10) * 21) / F(3, 4)


# ------------------------------------------------------------------------------------------------ lifted pieces


def moving(alpha: list[Any], B: list[Any], lift_rows: int = 1) -> Moving:
    """Still classes of one group lasso, s = (1, 0): B_a is one column."""
    X = mat(list(zip(*B, strict=True)))
    groups = tuple((j,) for j in range(len(B)))
    problem = Problem("cgl", ONE, X, vec(*[1] * len(X)), groups=groups, K=(None,) * len(groups))
    classes = [Class((0, j), (), 0, matrix(mat([[x] for x in b]), 1), F(2)) for j, b in enumerate(B)]
    return Moving(
        Ball(problem, vec(1, *[0] * (len(X) - 1)), ZERO),
        column(vec(1, *[0] * (len(X) - 1))),
        classes,
        [vec(x) for x in alpha],
        ZERO,
        ZERO,
    )


def lifted(at: Moving, inverse: list[str], spread: list[str], lift: str = "0 1") -> Set:
    """A lifted piece without forced classes."""
    fields = {"lift": [lift], "forced": [], "force": "", "spread": spread}
    return check_lifted(at, Node(inverse), Node(fields))


def test_what_a_lifted_piece_hands_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """delta = the longest row times what is missed / (1 - beta); where the lift sets in nothing is unique."""
    reached: list[Any] = []
    monkeypatch.setattr("verify.path.lifted.check_inside", lambda *arguments: reached.append(arguments[3]))
    monkeypatch.setattr("verify.path.lifted.check_inverse", lambda *_: F(1, 2))
    monkeypatch.setattr("verify.path.lifted.check_onset", lambda *_: (ONE, ZERO))
    two = replace(moving([1, 1], [(1, 0, 0), (0, 1, 0)]), miss=F(1, 10))
    for inverse in (["1 0 0", "0 3 0"], ["3 0 0", "0 1 0"]):
        fields = {"lift": [], "forced": [], "force": "", "spread": []}
        assert check_lifted(two, Node(inverse), Node(fields)) == Set(0, unique=True)
    assert reached == [(6 * two.missed, ZERO)] * 2
    fields |= {"onset": {}}
    assert check_lifted(two, Node(["1 0 0", "0 3 0"]), Node(fields)) == Set(0, unique=False)


def test_dimensions_of_lifted_pieces() -> None:
    """Two classes that differ by the lift share a mass: one equation for the mass, one for the lift; a third class is
    free to move, and a superclass without weight of two classes leaves the network open."""
    pair = moving([1, 1], [(1, 1), (1, -1)])
    found = lifted(pair, ["1 0"], ["1/2 1/2", "1/2 -1/2"])
    assert (found.dimension, found.unique) == (0, True)
    three = moving([1, 1, 1], [(1, 1), (1, -1), (1, 0)])
    assert lifted(three, ["1 0"], ["1/2 1/2", "1/2 -1/2", "0 0"]) == Set(1, unique=False)
    twins = moving([1, 1, 1], [(1, 1), (1, -1), (1, -1)])
    assert lifted(twins, ["1 0"], ["1/2 1/2", "1/2 -1/2", "0 0"]) == Set(0, unique=False)


def test_superclasses_without_weight() -> None:
    """One class in each, and the network is unique; two in one, and it need not be."""
    one = moving([1, 1, 0], [(1, 1, 0), (1, -1, 0), (1, 0, 1)])
    both = moving([1, 1, 0, 0], [(1, 1, 0), (1, -1, 0), (1, 2, 1), (1, -2, 1)])
    for at, expected in ((one, True), (both, False)):
        rows = ["1 0 -1", "0 0 1"]
        found = lifted(at, rows, ["1/2 1/2", "1/2 -1/2"], "0 1 0")
        assert found == Set(0, unique=expected)


def grouped(at: Moving, lift: Any) -> Any:
    """The superclasses over a lift."""
    dual = dual_basis(matrix(lift, at.ball.problem.n))
    assert dual is not None
    return superclasses(at, lift, dual, NODE)


def test_groups_of_classes() -> None:
    """Without a lift each by itself; of ReLU networks only regions that are opposite, two at most."""
    pair = moving([1, 1], [(1, 1), (1, -1)])
    assert grouped(pair, ()) == [[0], [1]] and grouped(pair, mat([[0, 1]])) == [[0, 1]]
    relu = Problem("relu", ONE, mat([[1], [2]]), vec(1, 1))
    classes = [Class((1, D), (), 0, matrix(mat([[1], [1]]), 1), ONE) for D in (0b11, 0b00, 0b00)]
    at = Moving(Ball(relu, vec(2, -1), F(9)), column(vec(2, -1)), classes, [vec(1)] * 3, ZERO, ZERO)
    for group in (antipodal, grouped):
        assert group(at, mat([[1, 2]])) == [[0, 1], [2]]
    assert antipodal(at, mat([[2, -1]])) == [[0], [1], [2]]
    split = Moving(at.ball, at.S, classes[:2], [vec(1)] * 2, ZERO, ZERO)
    assert grouped(split, mat([[2, -1]])) == [[0], [1]]


# ------------------------------------------------------------------------------------------------ jumps, derivatives


def test_series_beside_a_jump() -> None:
    """One neuron of kernel 1: s + alpha s = eta y with s = 1 gives alpha = eta y - 1, to all orders."""
    problem = Problem("cgl", ONE, mat([[1]]), vec(3), groups=((0,),), K=(None,))
    beside = Beside(Ball(problem, vec(1), ZERO), [matrix(mat([[1]]), 1)], vec(2), (0,), 1)
    s, alpha = series(beside, NODE)
    assert [x.entries() for x in s] == [[1], *[[0]] * 8] and alpha == [[2], [3], *[[0]] * 7]
    G = matrix(mat([[2]]), 1)
    parts = [column(vec(x)) for x in (1, 3, 5, 7)]
    assert [mixed(G, parts, m) for m in range(4)] == [0, 0, 2 * 9, 2 * (15 + 15)]
    free = Beside(beside.ball, [], vec(), (), 1)
    assert [x.entries() for x in series(free, NODE)[0]] == [[1], [3], *[[0]] * 7]


def test_farkas_beside_a_jump_is_zero_at_lambda() -> None:
    """h.q must be 0 at lambda itself: where it is below, it stays below for small steps, however it grows."""
    problem = Problem("cgl", ONE, mat([[1, 1], [0, 1]]), vec(1, 0), groups=((0,), (1,)), K=(None, None))
    one, both = (matrix(mat(A), 2) for A in ([[1, 0], [0, 0]], [[1, 1], [1, 1]]))
    beside = Beside(Ball(problem, vec(1, 0), ZERO), [one, both], vec(1, 0), (0,), 1)
    for start, good in ((-1, True), (-2, False), (0, False)):
        s = [column(vec(1, start)), column(vec(0, 1))]
        if good:
            check_farkas(beside, s, [1], vec(0, 1), NODE)
        else:
            with pytest.raises(Rejected, match="and 0 at lambda"):
                check_farkas(beside, s, [1], vec(0, 1), NODE)


def test_signs_of_series() -> None:
    """The sign of the first coefficient that is not 0, turned round on the other side for odd powers."""
    for side in (1, -1):
        beside = Beside(Ball(RELU, vec(1), ZERO), [], vec(), (), side)
        assert [beside.sign([fmpq(c)]) for c in (2, -2, 0)] == [side, -side, 0]
        assert [beside.sign([fmpq(0), fmpq(c)]) for c in (2, -2, 0)] == [1, -1, 0]


def test_systems_of_derivatives() -> None:
    """Blocks that carry one neuron are one: their weights add up, and so do the errors of as many as share it."""
    neurons = [
        Neuron((0, b), True, True, True, matrix(mat(B), 1), F(w))
        for b, (B, w) in enumerate([([[2], [0]], 1), ([[2], [0]], 3), ([[0], [1]], 5)])
    ]
    found = OptimalSet(3, 0, 0, 0, None, neurons=tuple(neurons), weight_error=F(1, 10))  # type: ignore[arg-type]
    problem = Problem("cgl", ONE, mat([[1], [1]]), vec(1, 1))
    system, k = read_system(problem, vec(1, 1), ZERO, found, NODE)
    assert (k, system.error, system.g) == (2, F(1, 5), vec(4, 1)) and list(system.alpha) == [4, 5]
    assert system.mu == 1 + 4 * (4 + F(1, 5)) + 5 + F(1, 5)
    assert 0 <= 1 - system.sigma**2 * F(17, 16) < F(1, 10**30)  # Q = diag(4, 1)
    assert system.Q.entries() == [4, 0, 0, 1]
    R = F(1, 100)
    assert system.sigma - read_system(problem, vec(1, 1), R, found, NODE)[0].sigma == R * root_above(F(17))
    for change in (
        {"dimension": 1},
        {"neurons": (replace(neurons[0], active=None),)},
        {"neurons": (replace(neurons[0], B=None),)},
    ):
        with pytest.raises(Rejected, match="one solution in which"):
            read_system(problem, vec(1, 1), ZERO, replace(found, **change), NODE)
    for theta, R in ((vec(1, 1), F(1, 4)), (vec(1, 0), ZERO)):
        with pytest.raises(Rejected, match="what the ball can change"):
            read_system(problem, theta, R, found, NODE)


def test_forced_and_void_in_blocks_of_two_columns() -> None:
    """h.q = 0 needs all columns of a class to be orthogonal to h, and the lift all columns of Z."""
    problem = Problem("cgl", ONE, mat([[1, 0, 1], [0, 1, 1]]), vec(1, 0), groups=((0, 1), (2,)), K=(None, None))
    both = Class((0, 0), (), 0, matrix(mat([[1, 0], [0, 1]]), 2), F(2))
    last = Class((0, 1), (), 0, matrix(mat([[1], [1]]), 1), F(2))
    at = Moving(Ball(problem, vec(1, 0), ZERO), column(vec(1, 0)), [both, last], [vec(1), vec(0)], ZERO, ZERO)
    fields = {"forced": Node([1], None, "forced"), "force": Node("0 1", None, "force")}
    with pytest.raises(Rejected, match="class 0, which is not forced"):
        check_forced(at, mat([[0, 1]]), [[0, 1]], fields)
    narrow = replace(at, classes=[Class((0, 0), (), 0, matrix(mat([[1, 2], [0, 0]]), 2), F(5)), last])
    assert check_forced(narrow, mat([[0, 1]]), [[0, 1]], fields) == {1}
    relu = Problem("relu", ONE, mat([[1, 0], [0, 1]]), vec(1, 1))
    classes = [Class((1, D), (), 0, matrix(mat([[1, 0], [0, 1]]), 2), ONE) for D in (0b11, 0b00)]
    two = Moving(Ball(relu, vec(2, 1), F(9)), column(vec(2, 1)), classes, [vec(1)] * 2, ZERO, ZERO)
    assert antipodal(two, mat([[1, 0]])) == [[0], [1]] and antipodal(two, mat([[1, 0], [0, 1]])) == [[0, 1]]


def test_masses_of_lifted_pieces_are_off_by_delta() -> None:
    """W = (1/2, 0, 5) inverts up to beta = 1/2, and pulls |W| times what the piece misses: delta is 10.05 times it."""
    pair = moving([1, 1], [(1, 1, 0), (1, -1, 0)])
    for miss, good in ((F(9, 100), True), (F(1, 10), False)):
        at = replace(pair, miss=miss)
        if good:
            assert lifted(at, ["1/2 0 5"], ["1/2 1/2", "1/2 -1/2"], "0 1 0") == Set(0, unique=True)
        else:
            with pytest.raises(Rejected, match="its possible error"):
                lifted(at, ["1/2 0 5"], ["1/2 1/2", "1/2 -1/2"], "0 1 0")
    late = replace(moving([1, 1, 0, 0], [(1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1)]), miss=F(1, 100))
    rows = ["1 0 0", "0 0 1", "0 0 -1"]
    with pytest.raises(Rejected):
        lifted(late, rows, ["1/2 1/2", "1/2 -1/2"], "0 1 0")
    with pytest.raises(Rejected, match="a row orthogonal to the lift"):
        lifted(pair, ["1 1 0"], ["1/2 1/2", "1/2 -1/2"], "0 1 0")


def test_where_a_jump_is() -> None:
    """lambda strictly between lo > 0 and hi, and the interval of the path."""
    problem = Problem("cgl", ONE, mat([[1]]), vec(3), groups=((0,),), K=(None,))
    node = {"lo": "1/2", "hi": "2", "lambda": "1", "theta": "1", "multipliers": [None], "limit": "2", "shorter": "2"}
    node |= {"active": [0], "side": "+", "farkas": ""}
    with pytest.raises(Rejected, match="weights of squared length below 4, found 4"):
        check_jump(problem, Facts(), Node(node))
    for change in ({"lo": "0"}, {"lo": "-1"}, {"lo": "1"}, {"hi": "1"}, {"lambda": "2"}):
        with pytest.raises(Rejected, match="lambda strictly between"):
            check_jump(problem, Facts(), Node({**node, **change}))
    for lo, hi in ((F(1, 3), F(2)), (F(1, 2), F(3))):
        with pytest.raises(Rejected, match="the interval of the path"):
            check_jump(problem, Facts({PATH: SimpleNamespace(lo=lo, hi=hi)}), Node(node))


def test_samples_at_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """lower <= D, upper >= D + (lambda R)^2 / 2, radius >= lambda error and |X| R: exactly at these it holds."""
    class_ = Class((1, 1), (), 0, matrix(mat([[1]]), 1), F(4))
    point = curve.Point(vec(1), F(1, 2), F(1, 4), [0], [])
    monkeypatch.setattr(curve, "read_point", lambda *_: point)
    at = {"frame": Frame(RELU, ONE, ZERO)}
    pieces = [piece(1, 9, **at, classes=[class_])]
    node = {"piece": 0, "lambda": "3", "s": "", "weights": "", "classes": None, "lower": "3/2", "upper": "21/8"}
    node |= {"radius": "1"}  # y = 2: 6 - 9/2, 3/2 of lambda R, 3/4 and 1
    assert curve.check_sample(None, pieces, Node(node)) == curve.Sample(F(3), 1, F(9, 8), F(1))
    for key, value in (("lower", "16/10"), ("upper", "26/10"), ("radius", "99/100")):
        with pytest.raises(Rejected, match=key):
            curve.check_sample(None, pieces, Node({**node, key: str(F(value))}))
    for bounds in ((4, 1), (1, 4)):
        wider = [
            piece(1, 9, frame=Frame(RELU, ONE, ZERO), classes=[replace(class_, bound=F(bound)) for bound in bounds])
        ]
        with pytest.raises(Rejected, match="a radius >= 1"):
            curve.check_sample(None, wider, Node({**node, "radius": "99/100"}))
    monkeypatch.setattr(curve, "read_point", lambda *_: replace(point, error=F(1, 2)))
    with pytest.raises(Rejected, match="a radius >= 3/2"):
        curve.check_sample(None, pieces, Node(node))


def test_ends_are_judged_over_their_ball(monkeypatch: pytest.MonkeyPatch) -> None:
    """The faces at an end of a breakpoint hold for every residual within R of its s."""
    seen: list[Any] = []
    point = curve.Point(vec(1), F(1, 3), ZERO, [0], [NODE])
    monkeypatch.setattr(curve, "read_point", lambda *_: point)
    monkeypatch.setattr(
        curve, "read_class", lambda ball, *_: seen.append(ball) or Class((1, 1), (), 0, column(vec(1)), ONE)
    )
    at = piece(1, 9, ball=Ball(RELU, vec(7), ZERO))
    end = curve.read_end(None, [at], F(2), Node({"piece": 0, "s": "", "weights": "", "classes": None}))
    assert end == (at, frozenset({((1, 1), ())})) and (seen[0].theta, seen[0].R_squared) == (vec(1), F(1, 9))


def test_the_longest_row_of_an_inverse(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept with the piece, for the errors of weights."""
    class_ = Class((1, 1), (), 0, column(vec(1)), ONE)
    for name, value in (("check_outs", None), ("check_concave", None), ("read_moving", class_), ("check_inverse", ONE)):
        monkeypatch.setattr(path, name, lambda *_, value=value: value)
    monkeypatch.setattr(path, "tube", lambda *_: (ZERO, ZERO, ZERO))
    for inverse in (["1", "3"], ["-3", "1"]):
        found = check_piece(RELU, None, still(classes=[{}, {}], weights=["1", "1"], inverse=inverse))
        assert (found.longest, found.beta) == (3, 1)


def test_neurons_on_no_boundary() -> None:
    """Beside a jump no neuron lies on a kink or on a constraint, be it along an axis; zero rows count for nothing."""
    flat = Problem("cgl", ONE, mat([[1, 0], [0, 1]]), vec(1, 1), ((0, 1),), (mat([[1, 0], [0, 0]]),))
    ball = Ball(flat, vec(1, 1), ZERO)
    assert kernel(ball, Tied((0, 0), vec(-1, 1), ()), NODE).entries() == [1, 0, 0, 1]
    with pytest.raises(Rejected, match="strictly inside their cones"):
        kernel(ball, Tied((0, 0), vec(0, 1), ()), NODE)
    network = Ball(Problem("relu", ONE, mat([[1, 0], [0, 0]]), vec(1, 1)), vec(1, 1), ZERO)
    assert kernel(network, Tied((1, 1), vec(2, 1), ()), NODE).entries() == [1, 0, 0, 0]
    with pytest.raises(Rejected, match="on no kink"):
        kernel(network, Tied((1, 1), vec(0, 1), ()), NODE)


def test_neurons_that_stay_must_tie_beside_lambda() -> None:
    """Another kernel where h.s = 0: then it need not tie there, though h.q is 0 at lambda and grows."""
    problem = Problem("cgl", ONE, mat([[1, 1], [0, 1]]), vec(1, 0), groups=((0,), (1,)), K=(None, None))
    one, other, both = (matrix(mat(A), 2) for A in ([[1, 0], [0, 0]], [[2, 1], [1, 1]], [[1, 1], [1, 1]]))
    s = [column(vec(1, -1)), column(vec(0, 1))]
    for third, good in ((both, True), (other, False)):
        beside = Beside(Ball(problem, vec(1, 0), ZERO), [one, third], vec(1, 0), (0,), 1)
        if good:
            check_farkas(beside, s, [1], vec(0, 1), NODE)
        else:
            with pytest.raises(Rejected, match="a neuron that ties with an active one"):
                check_farkas(beside, s, [1], vec(0, 1), NODE)


def test_every_class_of_a_piece_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """One neuron, s = 1 and alpha = 1 at lambda = 1: it must stay concave on the tube, and its output be inverted."""
    class_ = Class((1, 1), (), 0, matrix(mat([[1]]), 1), ONE)
    asked: list[Any] = []
    monkeypatch.setattr(path, "check_outs", lambda *_: None)
    monkeypatch.setattr(path, "read_moving", lambda *_: class_)
    monkeypatch.setattr(path, "check_concave", lambda ball, S, one, R, node: asked.append((one, R)))
    fields = {"lo": "1", "hi": "1", "s": ["1"], "classes": [{}], "weights": ["1"], "multipliers": [{}], "radius": "0"}
    node = {**fields, "out": [{}], "inverse": ["1/2"]}
    found = check_piece(RELU, None, Node(node))
    assert asked == [(class_, ZERO)] and (found.longest, found.beta) == (F(1, 2), F(1, 2))
    for change, said in (
        ({"weights": ["-1"]}, "a weight that stays >= 0"),
        ({"weights": ["1/2"]}, "a radius >= 1/2"),
        ({"inverse": ["0"]}, "a row of W Q - I"),
        ({"s": ["2"], "weights": ["0"]}, r"\|v\| <= 1"),
    ):
        with pytest.raises(Rejected, match=said):
            check_piece(RELU, None, Node({**node, **change}))


def test_derivatives_by_lambda_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the derivatives by y there is no number of degrees of freedom, and no SURE; the residual is within the
    root of 2 (upper - lower), here 2."""
    system = derivatives.Linear([], [], fmpq_mat(1, 0), (), ZERO, ZERO, ONE, ONE)

    def read(problem: Problem, theta: Vector, R: F, *_: Any) -> tuple[derivatives.Linear, int]:
        assert R == 2
        return system, 0

    monkeypatch.setattr(derivatives, "read_system", read)
    facts = Facts(
        {
            NEURONS: SimpleNamespace(system=SimpleNamespace(rational=True)),
            DUAL: Dual(vec(1), ZERO),
            VALUE: Value(ONE, F(3), ZERO),
        }
    )
    node = {"lambda": {"alpha": "", "r": "0"}, "y": None, "radius": "0", "freedom": None, "sure": None}
    known = derivatives.check_derivatives(RELU, facts, Node(node))[DERIVATIVES]
    assert (known.radius, known.freedom, known.sure) == (0, None, None)
    for key in ("freedom", "sure"):
        with pytest.raises(Rejected, match="null without the derivatives by y"):
            derivatives.check_derivatives(RELU, facts, Node({**node, key: "0"}))
    by_y = {**node, "y": {"alpha": [], "r": ["1"]}, "freedom": "0"}
    assert derivatives.check_derivatives(RELU, facts, Node(by_y))[DERIVATIVES].freedom == (ZERO, ZERO)
    for change, said in (({"freedom": "1"}, "n - trace"), ({"y": {"alpha": [], "r": ["9/10"]}}, "a radius >= 1/10")):
        with pytest.raises(Rejected, match=said):
            derivatives.check_derivatives(RELU, facts, Node({**by_y, **change}))


def test_branches_at_their_bounds() -> None:
    """A class is active where its weight stays above the error, and out where |v| + |X| R < 1."""
    ball = Ball(RELU, vec(1), ZERO)
    on = Class((1, 1), (), 0, matrix(mat([[1]]), 1), ONE)
    off = Class((-1, 1), (), 0, matrix(mat([["1/2"]]), 1), ONE)
    frame = Frame(RELU, F(3, 4), F(1, 4))
    S = fmpq_mat(1, 2, [1, 0])
    alpha = [vec(3, 1), vec(0, 0)]
    known = Piece(
        *(ball, S, [on, off], alpha, F(1, 10), ZERO, ONE, F(2), frame, [], Set(0, unique=True), False, F(1), ZERO)
    )
    error = F(1, 10) + F(1, 10) * (1 + 4)  # of R and R, weights at most 4
    for lowest, active, good in (
        (error, [0], False),
        (error + F(1, 100), [0], True),
        (ONE, [], False),
        (ONE, [0, 1], False),
    ):
        piece_ = replace(known, alpha=[((4 + lowest) / 2, (4 - lowest) / 2), vec(0, 0)])
        node = Node({"piece": 0, "active": active})
        if good:
            curve.check_branch([piece_], node)
        else:
            with pytest.raises(Rejected, match=r"a weight above|a neuron that is not tied"):
                curve.check_branch([piece_], node)
    with pytest.raises(Rejected, match="a still one"):
        curve.check_branch([replace(known, S=fmpq_mat(1, 1, [1]))], Node({"piece": 0, "active": [0]}))


def test_loose_kinks_of_both_orientations() -> None:
    """mu = (1 - part) l + part p with p = -1 and l = 1 is taken from the basis, whose multipliers 1 + mu and t_0 + mu
    must stay within their bounds."""
    ball = Ball(
        Problem("relu", ONE, mat([[1, 1, 1], [0, 1, 0], [0, 0, 1], [0, 1, 1], [0, -1, -1]]), vec(*[1] * 5)),
        vec(*[1] * 5),
        ZERO,
    )

    def moved(first: Any, others: Any, part: str) -> Class:
        fields = {"sign": "+", "pattern": "10000", "kinks": [1, 2, 3], "basis": [1, 2], "idle": [], "fixed": part}
        S = column(vec(first, others, others, -1, -1))
        along = Along(ball.problem, ball.theta, ball.R_squared, S=S)
        return read_relu(along, {key: Node(value, None, key) for key, value in fields.items()})

    for first, others, part, good in (
        *((1, -2, part, True) for part in ("0", "1/2", "1")),
        *[(1, "-3/2", "1/4", True), (1, "-3/2", "1/5", False), (1, "-3/2", "0", False)],
        *[("1/2", -2, "3/4", True), ("1/2", -2, "4/5", False), ("1/2", -2, "1", False)],
    ):
        if good:
            assert moved(first, others, part).kinks == (1, 2, 3)
        else:
            with pytest.raises(Rejected, match="basis"):
                moved(first, others, part)


def test_points_where_all_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """|v| <= 1 for every class, weights >= 0, a point within R of the path; active above the error."""
    problem = Problem("cgl", ONE, mat([[1, 0], [0, 1]]), vec(3, 2), groups=((0,), (1,)), K=(None, None))
    ball = Ball(problem, vec(1, 1), ZERO)
    classes = [Class((0, j), (), 0, matrix(mat([[j == 0], [j == 1]]), 1), ONE) for j in (0, 1)]
    monkeypatch.setattr(curve, "read_moving", lambda at, patterns, s, entry, known: classes[entry.value])
    S, alpha = column(vec(1, 1)), [vec(2), vec(1)]
    frame, entries, one = Frame(problem, ONE, ZERO), [Node(0), Node(1)], Set(0, unique=True)
    known = Piece(ball, S, classes, alpha, F(1, 10), ZERO, ONE, ONE, frame, entries, one, False, ONE, ZERO)

    def point(s: str, weights: str) -> Any:
        fields = {"s": s, "weights": weights, "classes": None}
        return curve.read_point(None, known, ONE, {key: Node(value, None, key) for key, value in fields.items()})

    exact = point("1 1", "2 1")
    assert (exact.s, exact.R, exact.error, exact.active) == (vec(1, 1), ZERO, ZERO, [0, 1])
    for s, weights, said in (
        ("1 11/10", "2 1", r"\|v\| <= 1 on the piece"),
        ("11/10 1", "2 1", r"\|v\| <= 1 on the piece"),
        ("1 1/2", "2 1", "a point within 1/10"),
        ("1 1", "2 -1", "stays >= 0"),
        ("1 1", "2 0", "a weight that is proved positive, or 0"),
    ):
        with pytest.raises(Rejected, match=said):
            point(s, weights)
    near = point("1 1", "2 11/10")  # E = (0, -1/10)
    known = replace(known, longest=F(2, 9))  # the error of 1/2 is 1/2 (1/2 + 1/2 (1 + 2 + 1/2)) 2/9 = 1/2
    with pytest.raises(Rejected, match="a weight that is proved positive, or 0, found 1/2"):
        point("1 1", "2 1/2")
    assert F(1, 10) == near.R and near.error == F(1, 10) + F(1, 10) * (1 + 2 + F(11, 10)) and near.active == [0, 1]


def test_series_solve_their_equations() -> None:
    """s + alpha G s = eta y and s'G s = 1, power by power, where s and alpha both move."""
    G = matrix(mat([[2, 1], [1, 1]]), 2)
    problem = Problem("cgl", ONE, mat([[1, 1], [0, 1]]), vec(1, 2), groups=((0,), (1,)), K=(None, None))
    s, alpha = series(Beside(Ball(problem, vec(0, 1), ZERO), [G], vec(1), (0,), 1), NODE)
    assert any(s[2].entries()) and alpha[2][0] != 0
    for m in range(1, 6):
        total = s[m]
        for i in range(m + 1):
            total += G * s[m - i] * alpha[i][0]
        assert total.entries() == ([1, 2] if m == 1 else [0, 0])
        assert sum((s[i].transpose() * G * s[m - i])[0, 0] for i in range(m + 1)) == 0


def test_farkas_is_silent_on_all_active_neurons() -> None:
    """G_a h = 0 for each of them."""
    problem = Problem(
        "cgl", ONE, mat([[1, 0, 1], [0, 1, 0], [0, 0, 1]]), vec(1, 1, 0), groups=((0,), (1,), (2,)), K=(None,) * 3
    )
    one, loud, quiet = (
        matrix(mat(A), 3)
        for A in (
            [[1, 0, 0], [0, 0, 0], [0, 0, 0]],
            [[0, 0, 0], [0, 1, 1], [0, 1, 1]],
            [[0, 0, 0], [0, 1, 0], [0, 0, 0]],
        )
    )
    tilted = matrix(mat([[1, 0, 1], [0, 0, 0], [1, 0, 1]]), 3)
    s = [column(vec(1, 1, -1)), column(vec(0, 0, 1))]
    for second, good in ((quiet, True), (loud, False)):
        beside = Beside(Ball(problem, vec(1, 1, 0), ZERO), [one, second, tilted], vec(1, 1, 0), (0, 1), 1)
        if good:
            check_farkas(beside, s, [2], vec(0, 0, 1), NODE)
        else:
            with pytest.raises(Rejected, match="G_a h = 0 for the active neurons"):
                check_farkas(beside, s, [2], vec(0, 0, 1), NODE)
