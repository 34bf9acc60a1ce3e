"""Classes along a path, by hand: each inequality is asked for, from its own side, on the whole piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest

from tests.verify.oracle.brute import mat, vec
from verify import Rejected
from verify.numbers.bounds import column, dual_basis, fraction, matrix, vector
from verify.optimal.ball import Ball, Class
from verify.path.lifted import check_forced, check_inside, check_inverse, is_void
from verify.path.moving import Along, check_concave
from verify.path.onset import Moving, antipodal, check_apart, check_onset, superclasses
from verify.problem.problem import Problem
from verify.sets.classes import read_relu
from verify.sets.direct import read_direct
from verify.sets.superclasses import read_rows
from verify.text import Node

ZERO = F(0)


def ball_of(Z: Sequence[Sequence[Any]], R: F = ZERO, theta: Sequence[Any] = ()) -> Ball:
    """A ball of a ReLU problem over these rows."""
    rows = mat(Z)
    y = vec(*[1] * len(rows))
    return Ball(Problem("relu", F(1), rows, y), vec(*theta) if theta else y, R**2)


def nodes(**fields: Any) -> dict[str, Node]:
    """The fields of an entry."""
    return {key: Node(value, None, key) for key, value in fields.items()}


def face(pattern: str, kinks: Sequence[int] = (), **more: Any) -> dict[str, Node]:
    """A class of sign +; a basis of all kinks."""
    known = {"sign": "+", "basis": list(kinks), "idle": [], "fixed": ""} | more
    return nodes(pattern=pattern, kinks=list(kinks), **known)


def path(*rows: Sequence[Any]) -> Any:
    """s(tau), a row of coefficients for each row of the data."""
    return matrix(mat(rows), len(rows[0]))


def moving_relu(S: Any, ball: Ball, fields: dict[str, Node]) -> Class:
    """A class of a ReLU network along a path."""
    return read_relu(Along(ball.problem, ball.theta, ball.R_squared, S=S), fields)


def moving_direct(S: Any, ball: Ball, fields: dict[str, Node]) -> Class:
    """One of a direct problem."""
    return read_direct(Along(ball.problem, ball.theta, ball.R_squared, S=S), fields)


def test_never_negative_is_what_it_says() -> None:
    """On [-1, 1]: 1 + tau is, 1 + tau - 1/1000 is not; zero is."""
    along = Along(ball_of([[1]]).problem, vec(1), ZERO, S=path([1]))
    along.holds([F(1), F(1)], ZERO, Node(None), 0)
    along.holds([ZERO], ZERO, Node(None), 0)
    with pytest.raises(Rejected, match="stays >= 0"):
        along.holds([F(999, 1000), F(1)], ZERO, Node(None), 0)
    with pytest.raises(Rejected):
        along.holds([F(999, 1000), F(-1)], ZERO, Node(None), 0)


def test_heights_of_a_moving_class() -> None:
    """v = s_0 z_0 on the rows (1, 0), (1, 1): both are on while s_0 >= 0; with the pattern 10 the second is off."""
    ball = ball_of([[1, 0], [1, 1]])
    found = moving_relu(path([2, 1], [0, 0]), ball, face("11"))
    assert (found.key, found.kinks, found.zeros) == ((1, 0b11), (), 0)
    with pytest.raises(Rejected, match=r"stays >= 0 on the piece at 1"):
        moving_relu(path([2, 1], [0, 0]), ball, face("10"))
    with pytest.raises(Rejected, match=r"stays >= 0 on the piece at 0"):
        moving_relu(path([1, 2], [0, 0]), ball, face("11"))
    assert moving_relu(path([-2, 1], [0, 0]), ball, face("11", sign="-")).key == (-1, 0b11)
    with pytest.raises(Rejected):
        moving_relu(path([2, 1], [0, 0]), ball, face("11", sign="-"))


def test_a_kink_of_a_moving_class() -> None:
    """Rows (1, 1) and the kink (0, 1): mu = -s_0 must stay between p = s_1 and l = 0."""
    ball = ball_of([[1, 1], [0, 1]])
    found = moving_relu(path([1, 0], [-2, 0]), ball, face("10", [1]))
    assert (found.kinks, found.zeros) == ((1,), 0b10)
    assert vector(found.B) == (1, 0, 0, 0)
    with pytest.raises(Rejected, match=r"basis.*stays >= 0 on the piece at 1"):
        moving_relu(path([3, 0], [-2, 0]), ball, face("10", [1]))
    with pytest.raises(Rejected, match=r"basis.*stays >= 0 on the piece at 1"):
        moving_relu(path([1, 0], [-2, 2]), ball, face("10", [1]))
    with pytest.raises(Rejected, match="pattern"):
        moving_relu(path([-1, 0], [-2, 0]), ball, face("10", [1]))
    with pytest.raises(Rejected, match="where the pattern is 0"):
        moving_relu(path([1, 0], [-2, 0]), ball, face("11", [1]))


def test_a_loose_kink_of_a_moving_class() -> None:
    """(0, 1) and its multiple are one line; (0, 1, 1) is in the span of (0, 1, 0) and (0, 0, 1), with its part: mu_c =
    (1 - part) l + part p is taken from the others."""
    ball = ball_of([[1, 1, 1], [0, 1, 0], [0, 0, 1], [0, 1, 1]])
    fields = {"basis": [1, 2]}
    s = path([1, 0], [-2, 0], [-2, 0], [-1, 0])
    for part in ("0", "1/2", "1"):
        assert moving_relu(s, ball, face("1000", [1, 2, 3], **fields, fixed=part)).kinks == (1, 2, 3)
    for part in ("-1/2", "3/2"):
        with pytest.raises(Rejected, match="a part between 0 and 1"):
            moving_relu(s, ball, face("1000", [1, 2, 3], **fields, fixed=part))
    full = path([1, 0], [F(-1, 2), 0], [F(-1, 2), 0], [-1, 0])
    with pytest.raises(Rejected, match="basis"):
        moving_relu(full, ball, face("1000", [1, 2, 3], **fields, fixed="0"))
    assert moving_relu(full, ball, face("1000", [1, 2, 3], **fields, fixed="1/2"))
    with pytest.raises(Rejected, match="basis"):
        moving_relu(path([1, 0], [-2, 0], [-2, 0], [-4, 0]), ball, face("1000", [1, 2, 3], **fields, fixed="1"))
    with pytest.raises(Rejected, match="kinks"):
        moving_relu(path([1, 0], [-2, 0], [-2, 0], [1, 2]), ball, face("1000", [1, 2, 3], **fields, fixed="0"))


def test_an_idle_kink_of_a_moving_class() -> None:
    """(0, 1) beside (1, 0): v never leaves it, and p <= 0 <= l on the whole piece; beside (1, 1) v does leave it."""
    ball = ball_of([[1, 0], [0, 1], [0, -1]])
    idle = {"basis": [], "idle": [1]}
    assert moving_relu(path([1, 0], [-1, 1], [-1, 1]), ball, face("100", [1], **idle)).kinks == (1,)
    for s in (path([1, 0], [-1, 2], [-1, 0]), path([1, 0], [-1, 0], [-1, 2])):
        with pytest.raises(Rejected, match="idle"):
            moving_relu(s, ball, face("100", [1], **idle))
    with pytest.raises(Rejected, match="vanishes whatever the residual"):
        moving_relu(path([1, 0], [-1, 0]), ball_of([[1, 1], [0, 1]]), face("10", [1], **idle))


def test_kinks_stay_concave_over_the_ball() -> None:
    """l - p = -s_1 - 2 s_2 over the rows (0, 1) and (0, 2), which R moves by R sqrt(5)."""
    ball = ball_of([[1, 1], [0, 1], [0, 2]])
    class_ = Class((1, 0b1), (1,), 0b110, matrix(mat([[1, 0]]), 2), F(1))
    S = path([1, 0], [-1, 0], [-1, 1])
    check_concave(ball, S, class_, F(4, 10), Node(None))
    for R in (F(5, 10), F(10)):
        with pytest.raises(Rejected, match="a kink that stays concave"):
            check_concave(ball, S, class_, R, Node(None))
    with pytest.raises(Rejected):
        check_concave(ball, S, Class((-1, 0b1), (1,), 0b110, class_.B, F(1)), ZERO, Node(None))
    check_concave(ball, -S, Class((-1, 0b1), (1,), 0b110, class_.B, F(1)), ZERO, Node(None))


def direct(K: Sequence[Sequence[Any]] | None, X: Sequence[Sequence[Any]] = ((1, 0), (0, 1))) -> Ball:
    """A direct problem of one block of two columns."""
    rows = mat(X)
    constraints = None if K is None else mat(K)
    problem = Problem("cgl", F(1), rows, vec(*[1] * len(rows)), groups=((0, 1),), K=(constraints,))
    return Ball(problem, problem.y, ZERO)


def block(kinks: Sequence[int] = (), **more: Any) -> dict[str, Node]:
    """A class of the block."""
    return nodes(block=0, kinks=list(kinks), **({"basis": list(kinks), "idle": [], "fixed": ""} | more))


def test_constraints_of_a_moving_block() -> None:
    """X = I with w_0 <= 0: s = (-1, 1) is inside, s = (1, 1) is projected with the multiplier 1."""
    ball = direct([[1], [0]])
    assert moving_direct(path([-1, 0], [1, 0]), ball, block()).kinks == ()
    with pytest.raises(Rejected, match=r"kinks.*at 0"):
        moving_direct(path([1, 0], [1, 0]), ball, block())
    with pytest.raises(Rejected, match=r"kinks.*at 0"):
        moving_direct(path([-1, 2], [1, 0]), ball, block())
    found = moving_direct(path([1, 0], [1, 0]), ball, block([0]))
    assert [fraction(x) for x in found.B.entries()] == [0, 0, 0, 1]
    assert found.bound == 2
    with pytest.raises(Rejected, match=r"basis.*at 0"):
        moving_direct(path([1, 2], [1, 0]), ball, block([0]))
    with pytest.raises(Rejected, match=r"basis.*at 0"):
        moving_direct(path([-1, 0], [1, 0]), ball, block([0]))


def test_loose_and_idle_constraints_of_a_moving_block() -> None:
    """Twice the same half-space: one multiplier is fixed, the other is what is left; idle ones must never bind."""
    ball = direct([[1, 2], [0, 0]])
    loose = {"basis": [0]}
    assert moving_direct(path([1, 0], [1, 0]), ball, block([0, 1], **loose, fixed="1/2")).kinks == (0, 1)
    with pytest.raises(Rejected, match=r"basis.*at 0"):
        moving_direct(path([1, 0], [1, 0]), ball, block([0, 1], **loose, fixed="3/4"))
    with pytest.raises(Rejected, match="a multiplier >= 0"):
        moving_direct(path([1, 0], [1, 0]), ball, block([0, 1], **loose, fixed="-1/2"))
    assert moving_direct(path([1, 0], [1, 0]), ball, block([0, 1], **loose, idle=[1])).kinks == (0, 1)
    with pytest.raises(Rejected, match="vanishes whatever the residual"):
        moving_direct(path([0, 0], [1, 0]), ball, block([0], basis=[], idle=[0]))


# ------------------------------------------------------------------------------------------------ lifted pieces


def moving(outputs: Sequence[Sequence[Any]], y: Sequence[Any], alpha: Sequence[Sequence[Any]], R: F = ZERO) -> Moving:
    """Blocks of one column each, s = y = constant, so that q_a = X_a (X_a.y)."""
    X = mat(outputs)
    count = len(X[0])
    problem = Problem("cgl", F(1), X, vec(*y), groups=tuple((a,) for a in range(count)), K=(None,) * count)
    S = column(vec(*y))
    classes = [
        Class((0, a), (), 0, column(row[a] for row in X), F(sum(row[a] ** 2 for row in X))) for a in range(count)
    ]
    return Moving(Ball(problem, problem.y, ZERO), S, classes, [[F(x) for x in c] for c in alpha], R, ZERO)


def forced(by: Moving, lift: Sequence[Sequence[Any]], which: Sequence[int], h: str) -> set[int]:
    """The classes that are forced."""
    groups = [list(range(len(by.classes)))]
    return check_forced(by, mat(lift), groups, nodes(forced=list(which), force=h))


ONSET = {"rows": ["0 1 0"], "normal": "3/20 1/5 0", "apart": [["1"]]}


def onset(by: Moving, lift: Sequence[Sequence[Any]] = (), **more: Any) -> tuple[F, F]:
    """Outputs (1, 0, 0), with weight, and (1, 1, 0), without; W = (1, 0, 0), what is pulled 1/5, beta 1/2."""
    node = Node(ONSET | more, None, "onset")
    return check_onset(by, mat(lift), [[0], [1]], (mat([[1, 0, 0]]), F(1, 5), F(1, 2)), node)


def late(R: F = ZERO, y: Sequence[Any] = (1, 0, 0)) -> Moving:
    """The piece; it misses by 1/10."""
    return replace(moving([[1, 1], [0, 1], [0, 0]], y, [[1], [0]], R), miss=F(1, 10))


def test_an_onset_by_hand() -> None:
    """H.q is 3/20 and 7/20, |H| = 1/4: light = (|H|/10 + 3/10 1/5) / (7/20 - 3/10), and twice what that pulls."""
    assert onset(late()) == (F(19, 5), F(17, 10))
    assert onset(late(), normal="0 1 0") == (F(3, 5), F(1, 10))
    R = F(1, 1000)
    shift, missed = 2 * R, F(1, 10) + R + 2 * R
    flat, steep, omega = F(3, 20) + shift / 4, F(7, 20) - shift / 4, 1 + shift
    light = (missed / 4 + 2 * flat / 5) / (steep - 2 * flat * omega)
    assert onset(late(R)) == (2 * (F(1, 5) + omega * light), light)


def test_no_onset_by_hand() -> None:
    """Each condition of an onset by itself."""
    for more, message in (
        ({"rows": []}, "at least one"),
        ({"rows": ["0 1 0", "0 2 0"]}, "independent"),
        ({"rows": ["1 1 0"]}, "orthogonal to the lift and to s"),
        ({"rows": ["0 1 0", "0 0 1"]}, r"1 \+ 2 - 1 superclasses"),
        ({"rows": ["0 0 1"]}, r"2 \+ 1 - 1 superclasses"),
        ({"apart": [["0"]]}, "a row of U N - I"),
        ({"apart": [["2"]]}, "a row of U N - I"),
        ({"apart": [["-1"]]}, "a row of U N - I"),
        ({"normal": "1/5 1/5 0"}, "where a superclass has no weight"),
        ({"normal": "0 -1 0"}, "where a superclass has no weight"),
    ):
        with pytest.raises(Rejected, match=message):
            onset(late(), **more)
    assert onset(late(), apart=[["3/2"]])
    with pytest.raises(Rejected, match="a superclass without weight"):
        onset(replace(late(), alpha=[[F(1)], [F(1)]]))
    with pytest.raises(Rejected, match="a still piece"):
        onset(replace(late(), S=path([1, 0], [0, 0], [0, 0])))
    with pytest.raises(Rejected, match="orthogonal to the lift"):
        onset(late(), lift=[[0, 0, 1]], normal="0 1 1")
    with pytest.raises(Rejected, match="orthogonal to the lift and to s"):
        onset(late(), lift=[[0, 1, 1]])
    assert onset(late(), lift=[[0, 0, 1]])


def test_what_an_onset_pushes() -> None:
    """H.q of the late ones is compared with the share of the core times what they push: 7/20 <= 3/10 2."""
    node = Node(ONSET, None, "onset")
    with pytest.raises(Rejected, match="where a superclass has no weight"):
        check_onset(late(), (), [[0], [1]], (mat([[2, 0, 0]]), F(1, 5), F(1, 2)), node)
    assert check_onset(late(), (), [[0], [1]], (mat([[F(1, 2), 0, 0]]), F(1, 5), F(1, 2)), node)


def grouped(at: Moving, lift: Any) -> Any:
    """The superclasses over a lift."""
    dual = dual_basis(matrix(lift, at.ball.problem.n))
    assert dual is not None
    return superclasses(at, lift, dual, Node(None))


def test_every_family_of_an_onset_has_weight() -> None:
    """Of the superclasses that tie on the complement of M one has weight, in each family."""
    three = moving([[1, 1, 0], [0, 1, 0], [0, 0, 1]], [1, 0, 1], [[1], [1], [0]])
    fields = nodes(rows=["0 1 0"], apart=[["1"]])
    with pytest.raises(Rejected, match="a superclass with weight among those that tie"):
        check_apart(three, (mat([[0, 1, 0]]), grouped(three, mat([[0, 1, 0]]))), [[0], [1], [2]], (2,), fields)


def test_rows_that_tell_the_late_ones_apart() -> None:
    """N = 2 with M = (0, 2, 0), U = 1/2: the tube moves U N by 2 g R |M| |U| = 4 R, which must be below 1."""
    for R, good in ((F(24, 100), True), (F(1, 4), False)):
        by, fields = late(R), nodes(rows=["0 2 0"], apart=[["1/2"]])
        if good:
            check_apart(by, (mat([[0, 2, 0]]), grouped(by, mat([[0, 2, 0]]))), [[0], [1]], (1,), fields)
        else:
            with pytest.raises(Rejected, match="a row of U N - I with a sum below 1"):
                check_apart(by, (mat([[0, 2, 0]]), grouped(by, mat([[0, 2, 0]]))), [[0], [1]], (1,), fields)


def test_superclasses_by_hand() -> None:
    """Outputs that differ by the lift are one superclass; constraints allow no lift."""
    one = moving([[1, 1, 0], [0, 1, 1]], [1, 0], [[1], [0], [0]])
    assert grouped(one, ()) == [[0], [1], [2]]
    assert grouped(moving([[1, 1], [0, 0]], [1, 0], [[1], [0]]), ()) == [[0], [1]]
    assert [list(group) for group in grouped(one, mat([[0, 1]]))] == [[0, 1], [2]]
    bound = replace(one, ball=replace(one.ball, problem=replace(one.ball.problem, K=(None, None, mat([[1]])))))
    with pytest.raises(Rejected, match="no lift where a class has constraints"):
        grouped(bound, mat([[0, 1]]))


def test_antipodal_classes_by_hand() -> None:
    """Rows 1 and -1 with a lift that holds (1, -1): the patterns 10 and 01 of one sign belong together; of other signs,
    without the lift, or where a row is surely off, they do not."""
    ball = ball_of([[1], [-1]])

    def two(ball: Ball, first: tuple[int, int], second: tuple[int, int]) -> Moving:
        both = [Class(key, (), 0, matrix(mat([[1], [0]]), 1), F(2)) for key in (first, second)]
        return Moving(ball, path([1], [1]), both, [vec(1), vec(0)], ZERO, ZERO)

    lift = mat([[1, -1]])
    assert antipodal(two(ball, (1, 0b01), (1, 0b10)), lift) == [[0, 1]]
    assert grouped(two(ball, (1, 0b01), (1, 0b10)), lift) == [[0, 1]]
    assert antipodal(two(ball, (1, 0b01), (-1, 0b10)), lift) == [[0], [1]]
    assert antipodal(two(ball, (1, 0b01), (1, 0b01)), lift) == [[0], [1]]
    assert antipodal(two(ball, (1, 0b01), (1, 0b10)), mat([[1, 1]])) == [[0], [1]]
    assert antipodal(two(ball, (1, 0b01), (1, 0b10)), mat([[1, -1], [2, -2]])) == [[0], [1]]
    zero = ball_of([[1], [-1], [0]])
    assert antipodal(two(zero, (1, 0b001), (1, 0b010)), mat([[1, -1, 0]])) == [[0, 1]]
    three = two(ball, (1, 0b01), (1, 0b01))
    assert antipodal(replace(three, classes=[*three.classes, replace(three.classes[0], key=(1, 0b10))]), lift) == [
        [0, 2],
        [1],
    ]
    off = ball_of([[1], [-1]], theta=[1, -1])
    assert antipodal(two(off, (1, 0b01), (1, 0b00)), lift) == [[0, 1]]
    assert antipodal(two(replace(off, R_squared=F(1)), (1, 0b01), (1, 0b00)), lift) == [[0], [1]]
    assert antipodal(two(ball_of([[1], [-1]], theta=[1, 0]), (1, 0b01), (1, 0b00)), lift) == [[0], [1]]


def test_forced_classes_by_hand() -> None:
    """Outputs (1, 0) and (1, 1), y = (1, 1) and the lift (0, 1): h = (0, 1) is not orthogonal to y; with y = (1, 0) the
    second output vanishes; h must lie in the lift, be orthogonal to y and to the outputs that are free."""
    one = moving([[1, 1], [0, 1]], [1, 0], [[1], [0]])
    assert forced(one, [[0, 1]], [1], "0 1") == {1}
    assert forced(one, [[0, 1]], [], "") == set()
    with pytest.raises(Rejected, match=r"weight 0 and h\.q > 0"):
        forced(moving([[1, 1], [0, 1]], [1, 0], [[1], [0, 1]]), [[0, 1]], [1], "0 1")
    for lift, which, h, message in (
        ([[1, 0]], [1], "0 1", "in the span of the lift"),
        ([[0, 1]], [1], "1 1", "in the span of the lift"),
        ([[1, 0], [0, 1]], [1], "1 1", "orthogonal to y"),
        ([[0, 1]], [1], "0 -1", "weight 0 and h.q > 0"),
        ([[0, 1]], [1], "0 0", "weight 0 and h.q > 0"),
        ([[0, 1]], [0], "0 1", "for class 0, which is forced"),
        ([[0, 1]], [0, 1], "0 1", "for class 0"),
        ([[0, 1], [1, 0]], [1], "-1 1", "orthogonal to y"),
    ):
        with pytest.raises(Rejected, match=message):
            forced(one, lift, which, h)
    with pytest.raises(Rejected, match="whatever the residual for class 0"):
        forced(moving([[1, 1], [1, 1]], [1, 0], [[1], [0]]), [[0, 1]], [1], "0 1")
    with pytest.raises(Rejected, match="weight 0"):
        forced(moving([[1, 1], [0, 1]], [1, 0], [[1], [F(1, 9)]]), [[0, 1]], [1], "0 1")
    alone = moving([[1, 1], [0, 1]], [1, 0], [[0], [0]])
    with pytest.raises(Rejected, match="not forced in every superclass"):
        check_forced(alone, mat([[0, 1]]), [[0], [1]], nodes(forced=[1], force="0 1"))


def test_rows_of_the_lift_are_orthogonal_to_the_path() -> None:
    """(0, 1) is orthogonal to s = (1, 0), (1, 0) is not; dependent rows are no basis."""
    one = moving([[1, 1], [0, 1]], [1, 0], [[1], [0]])
    assert read_rows(one.S, Node(["0 1"], None, "lift"))[0] == mat([[0, 1]])
    with pytest.raises(Rejected, match="orthogonal to the residual"):
        read_rows(one.S, Node(["1 0"], None, "lift"))
    with pytest.raises(Rejected, match="independent rows"):
        read_rows(one.S, Node(["0 1", "0 2"], None, "lift"))


def test_void_rows_by_hand() -> None:
    """A row that sees neither y nor the outputs that are free says nothing; one that sees either does."""
    one = moving([[1, 1], [0, 1], [0, 0]], [1, 0, 0], [[1], [0]])
    assert is_void(one, vec(0, 0, 1), set())
    assert not is_void(one, vec(0, 1, 0), set())
    assert is_void(one, vec(0, 1, 0), {1})
    assert not is_void(one, vec(1, 0, 0), {0, 1})


def test_an_inverse_by_hand() -> None:
    """W Q - I has rows with sums below 1, also after R: Q = (1), W = (1/2) leaves 1/2, and R |W| |X|^2."""
    one = moving([[1]], [1], [[1]])
    assert check_inverse(one, mat([["1/2"]]), one.classes, Node([None])) == F(1, 2)
    assert check_inverse(one, mat([["3/2"]]), one.classes, Node([None])) == F(1, 2)
    for W in ("0", "2", "-1/2"):
        with pytest.raises(Rejected, match="a sum below 1"):
            check_inverse(one, mat([[W]]), one.classes, Node([None]))
    wide = moving([[1]], [1], [[1]], F(1, 4))
    assert check_inverse(wide, mat([["1/2"]]), wide.classes, Node([None])) == F(5, 8)
    with pytest.raises(Rejected):
        far = moving([[1]], [1], [[1]], F(1))
        check_inverse(far, mat([["1/2"]]), far.classes, Node([None]))


def test_weights_stay_inside_by_hand() -> None:
    """F = (1), V = (1): alpha must be above delta; V = (1/2) doubles what remains of it."""

    def inside(alpha: F, V: str, delta: F) -> None:
        one = moving([[1]], [1], [[alpha]])
        check_inside(one, [(ZERO, [[F(1)]])], [0], (delta, ZERO), Node([V]))

    inside(F(1, 2), "1", F(1, 4))
    inside(F(1, 2), "1/2", F(1, 4))
    for alpha, V, delta in ((F(1, 4), "1", F(1, 4)), (F(1, 4), "1/2", F(1, 3)), (F(1, 2), "3/2", F(1, 5))):
        with pytest.raises(Rejected, match="a weight >"):
            inside(alpha, V, delta)
    for V in ("0", "2"):
        with pytest.raises(Rejected, match="rows of F V - I"):
            inside(F(1, 2), V, ZERO)


def test_constraints_that_others_span() -> None:
    """A constraint in the span of the basis has a multiplier of its own, 0 or more, which is taken from the others."""
    ball = direct([[1, 0, 1], [0, 1, 1]])
    for fixed, good in (("0", True), ("1", True), ("-1/9", False)):
        fields = block([0, 1, 2], basis=[0, 1], fixed=fixed)
        if good:
            assert moving_direct(path([2], [3]), ball, fields).kinks == (0, 1, 2)
        else:
            with pytest.raises(Rejected, match="a multiplier >= 0 for constraint 2"):
                moving_direct(path([2], [3]), ball, fields)
    with pytest.raises(Rejected, match="basis"):
        moving_direct(path([2], [3]), ball, block([0, 1, 2], basis=[0, 1], fixed="5/2"))


def test_rows_that_are_void() -> None:
    """l.y = 0 and l.q = 0 whatever the residual: all entries of B'l are 0, of every class that is not forced."""
    problem = Problem("cgl", F(1), mat([[1, 0], [0, 1], [0, 0]]), vec(1, 0, 0), groups=((0, 1),), K=(None,))
    classes = [Class((0, 0), (), 0, matrix(problem.Z, 2), F(2))]
    by = Moving(Ball(problem, problem.y, ZERO), path([1], [0], [0]), classes, [vec(1)], ZERO, ZERO)
    for l, free, all_forced in (((0, 0, 1), True, True), ((0, 1, 0), False, True), ((1, 0, 0), False, False)):
        assert (is_void(by, vec(*l), set()), is_void(by, vec(*l), {0})) == (free, all_forced)


def test_networks_force_no_class() -> None:
    """Of a ReLU network no class is forced, and no row of a lift is void."""
    ball = ball_of([[1], [-1]])
    classes = [Class((1, 0b01), (), 0, matrix(mat([[1], [0]]), 1), F(2))]
    by = Moving(ball, path([1], [0]), classes, [vec(0)], ZERO, ZERO)
    with pytest.raises(Rejected, match="no forced class in a relu problem"):
        forced(by, [[1, -1]], [0], "1 -1")
    silent = replace(by, classes=[replace(classes[0], B=matrix(mat([[0], [0]]), 1))])
    assert not is_void(silent, vec(1, -1), set())
    gated = replace(silent, ball=replace(ball, problem=replace(ball.problem, model="gated")))
    assert is_void(gated, vec(1, -1), set())


def test_what_a_tube_misses() -> None:
    """miss + R + g R times the sum of the largest weights."""
    by = replace(moving([[1, 1], [0, 1], [0, 0]], (1, 0, 0), [[3], [4]], F(1, 10)), miss=F(1, 2))
    assert by.shift == F(by.bound, 10) and by.missed == F(1, 2) + F(1, 10) + by.shift * 7


def test_kinks_that_the_ball_just_ends() -> None:
    """l - p must be above what the ball moves, not equal to it."""
    ball, S = ball_of([[1, 1], [0, 1]]), path([1, 0], [-1, 0])
    class_ = Class((1, 0b1), (1,), 0b10, matrix(mat([[1, 0]]), 2), F(1))
    check_concave(ball, S, class_, F(99, 100), Node(None))
    with pytest.raises(Rejected, match="a kink that stays concave"):
        check_concave(ball, S, class_, F(1), Node(None))
