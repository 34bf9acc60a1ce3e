"""Classes where biases are free: the map of a face for the norm of the weights, and biases that are level."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from flint import fmpq_mat

import verify
from tests.verify.build.free_terms import affine, bent, level, linear, pairs, streams, two_sides, unseen
from tests.verify.build.plain import OBJECTIVE, certificate
from tests.verify.cover.plant import one_class, tie
from tests.verify.oracle.brute import mat, vec
from verify import Rejected
from verify.facts import NEURONS, Facts
from verify.numbers.bounds import dual_basis, identity, matrix, root_above
from verify.optimal.ball import Ball, Class
from verify.problem.problem import Problem
from verify.rules import cover_set
from verify.sets.biases import check_level, for_weights, of_weights, rows_of
from verify.sets.classes import read_face
from verify.sets.neurons import Neuron
from verify.sets.solutions import OptimalSet, System, lifted, set_rule
from verify.sets.superclasses import Candidates
from verify.text import Node

F = Fraction
ONES, ON = vec(1, 1, 1, 1), vec(0, 0, 1, 1)
LINE = Problem("relu", F(4), mat([[x, 1] for x in range(4)]), vec(3, -1, -2, 8), outputs=(ONES,), biases=True)
THETA = vec(2, -2, -4, 4)


HAND = [(bent, "PROVED"), (level, "REFUTED"), (linear, "REFUTED")]


@pytest.mark.parametrize(("make", "verdict"), [*HAND, *((make, "REFUTED") for make in (pairs, two_sides, unseen))])
def test_sets_made_by_hand(make: Any, verdict: str) -> None:
    """A kink fixes the bias, and the network is the only one; a neuron without a kink can change its bias, and is not,
    nor is one with two antipodal pairs. With the data, and for every line what is free."""
    report = verify.certificate.read(make().text, make().raw)
    assert {line.claim: line.verdict for line in report.lines}["p-unique"] == verdict
    assert all("biases" in line.under for line in report.lines)
    convex = [line.proved for line in report.lines if line.claim == "convex-unique"]
    assert all("that of a block without weights costs nothing" in said for said in convex)


@pytest.mark.parametrize(
    "free", [["skip"], ["output-bias", "skip"], ["biases", "skip"], ["output-bias", "biases", "skip"]]
)
def test_free_terms_alone_are_one_network(free: list[str]) -> None:
    """No neuron ties, and the free columns are independent; ones that were appended are not in the skip connection."""
    case = affine(free, "0 1" if free == ["skip"] else "1 0")
    said = {line.claim: line.proved for line in verify.certificate.read(case.text, case.raw).lines}
    assert (
        said["p-unique"] == "the optimal network is unique up to permutation and splitting (active neurons: at most 0)"
    )


def test_other_lifts_than_the_free_columns_are_rejected() -> None:
    """A constant twice is no basis; without the constant, or without the skip connection, it is another problem."""
    for lift, why in (
        (["1 1 1", "0 1 2", "1 1 1"], "independent rows"),
        (["0 1 2", "1 1 1"], "the free columns, then rows orthogonal to them, and no mixed class"),
        (["0 1 2"], "the free columns, then rows orthogonal to them, and no mixed class"),
        (["1 1 1"], "the free columns, then rows orthogonal to them, and no mixed class"),
    ):
        tree = copy.deepcopy(affine(["output-bias", "skip"], "1 0").certificate)
        tree["facts"]["cover_set"]["lift"] = lift
        with pytest.raises(Rejected, match=why):
            verify.check(json.dumps(tree).encode())


def on_five_points(order: list[int], named: bool) -> bytes:
    """lambda = 4: 2 (x - 3/2)_+ + 1 is optimal, and its bias in an interval. A set of other classes, which are on at
    x > 0: one with a kink at x = 0, which no leaf names, or one that would hold without it, and one without kinks; both
    have the same B."""
    depths = [0, 0, 0, 200, 200, 0, 200, 200, 0, 0, 200, 200, 0, 200, 200]
    own = [0, 0, 0, 200, 203, 0, 203, 203, *depths[8:14], 203 if named else 200]
    which, other = order.index(1), order.index(0)
    proof = {
        "basis": ["1 0", "0 1"],
        "margin": 1,
        "ties": [[tie("+", "1 0", "2"), tie("+", "2 -3", "")][i] for i in order],
    }
    proof |= {
        "+": streams([*depths, *own], [which] * 3 + [other] * named, [0] * 14),
        "-": streams([*depths, *depths], [], [0] * 14),
    }
    classes = [[one_class("+", "00111", [1]), one_class("+", "00111", [])][i] for i in order]
    problem = {"model": "relu", "objective": OBJECTIVE, "lambda": "4", "y": "3/2 3/2 0 0 8", "free": ["biases"]}
    facts = {
        "primal": {"neurons": [{"sign": "+", "w": "2 -3", "norm": "2"}], "free": "1"},
        "cover": {"theta": "1/2 1/2 -1 -2 2", "proof": proof},
        "value": {"lower": "51/4", "upper": "51/4", "gap": "0"},
        "fit": {"center": "1 1 1 2 6", "radius_squared": "0"},
        "cover_set": {"lift": ["1 1 1 1 1"], "classes": classes, "masses": "1/2", "split": "", "forced": ""},
    }
    raw = b"x,y\n-4,3/2\n0,3/2\n1,0\n2,0\n4,8\n"
    tree = certificate(problem | {"Z": [f"{x} 1" for x in (-4, 0, 1, 2, 4)]}, facts, raw, bias=True, target=1)
    return json.dumps(tree | {"claims": [{"claim": "p-unique", "verdict": "PROVED"}]}).encode()


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_level_class_is_not_hidden_behind_one_with_a_kink(order: list[int], named: bool) -> None:
    """With x_c = 0 at the kink both have the same B, but only one of them fixes its bias; it was taken for both, and a
    network that is not unique was proved to be."""
    with pytest.raises(Rejected, match="the same v as the class before it"):
        verify.check(on_five_points(order, named))


def test_nothing_is_said_of_single_neurons_where_biases_are_level() -> None:
    """At the ends of an interval of biases a neuron of an optimal network loses nothing on one side."""
    for claim in ("strict-complementarity", "licq", "sensitivity"):
        tree = level().certificate | {"claims": [{"claim": claim, "verdict": "PROVED"}]}
        with pytest.raises(Rejected, match="which this rests on"):
            verify.check(json.dumps(tree).encode())
    nothing = System(fmpq_mat(0, 0), (), (), (), (), 0, {}, exact=False)
    for count in (0, 1):
        rule = set_rule(lambda *given, count=count: OptimalSet(0, 0, 0, 0, nothing, level=count))
        assert (rule.check(LINE, Facts(), Node({}, None, "set")).get(NEURONS) is None) == bool(count)


def test_a_weight_that_is_half_of_the_truth() -> None:
    """1/4 for 1/2 leaves an error of 1/4: nothing is proved positive, and not all that ties is known to be active."""
    tree = copy.deepcopy(bent().certificate)
    tree["facts"]["cover_set"]["masses"] = "1/4"
    with pytest.raises(Rejected, match="one solution with 1 positive weights"):
        verify.check(json.dumps(tree).encode())


@pytest.mark.parametrize("seed", range(12))
def test_the_map_of_a_face(seed: int) -> None:
    """G = N (N'SN)^-1 N' for a basis N of the face and S = diag(1, ..., 1, 0), so that G c0 maximises c0.u - |Su|^2/2
    on it; c0 + A'mu = S G c0 with mu = -W c0; and X G without its last column has the kernel X G X'."""
    draw = random.Random(seed)
    d = draw.randint(2, 4)
    Z = mat([[*(draw.randint(-3, 3) for _ in range(d - 1)), 1] for _ in range(d + 3)])
    basis = next(
        one for one in (kinks(draw, d) for _ in range(100)) if matrix((Z[c] for c in one), d).rank() == len(one)
    )
    written = {"kinks": basis, "basis": basis, "idle": [], "fixed": ""}
    fields = Node(written, None, "class").record(*written)
    plain = read_face(Z, d, range(len(Z)), fields)
    face = for_weights(plain, fields["basis"])
    A, S = matrix((Z[c] for c in basis), d), of_weights(identity(d))
    N = nullspace(A)
    G = N * (N.transpose() * S * N).inv() * N.transpose()
    assert face.P == G
    assert A.transpose() * face.W == identity(d) - S * G
    X = matrix(Z, d)
    assert of_weights(X * G) * of_weights(X * G).transpose() == X * G * X.transpose()
    assert (face.kinks, face.basis, face.idle, face.loose) == (plain.kinks, plain.basis, plain.idle, plain.loose)


def kinks(draw: random.Random, d: int) -> list[int]:
    """Some rows, fewer than there are columns."""
    return sorted(draw.sample(range(d + 3), draw.randint(1, d - 1)))


def nullspace(A: fmpq_mat) -> fmpq_mat:
    """A basis of {u : A u = 0} as columns."""
    reduced, rank = A.rref()
    d = A.ncols()
    pivots = [next(j for j in range(d) if reduced[i, j]) for i in range(rank)]
    free = [j for j in range(d) if j not in pivots]
    entries = [[int(i == j) if i in free else -reduced[pivots.index(i), j] for j in free] for i in range(d)]
    return fmpq_mat(d, len(free), [x for row in entries for x in row])


def found(problem: Problem, theta: Any, R: Fraction, *keys: tuple[int, int], lift: Any = (ONES, ON)) -> Candidates:
    """Classes without kinks over a ball."""
    ball = Ball(problem, theta, R * R)
    on = [[problem.Z[k] if D >> k & 1 else (F(0),) * problem.d for k in range(problem.n)] for _, D in keys]
    classes = [
        Class(key, (), 0, of_weights(matrix(X, problem.d)), ball.zeta_squared) for key, X in zip(keys, on, strict=True)
    ]
    W = dual_basis(matrix(lift, problem.n))
    assert W is not None
    return Candidates(ball, classes, lift, W, free=1 + len({min(D, 15 - D) for _, D in keys if 0 < D < 15}))


def checked(candidates: Candidates, error: Fraction, *weights: Fraction, rest: bool | None = False) -> int:
    """What `check_level` says where the first classes have these weights, up to the error, and the others none, or
    (rest = None) none up to the error."""
    fields = Node({"masses": "", "classes": []}, None, "set").record("masses", "classes")
    count = len(candidates.classes)
    neurons = tuple(
        Neuron(class_.key, a < len(weights) or rest, True, True, class_.B, [*weights, *[F(0)] * count][a])
        for a, class_ in enumerate(candidates.classes)
    )
    nothing = System(fmpq_mat(0, 0), (), (), (), (), 0, {}, exact=False)
    return check_level(candidates, OptimalSet(0, 0, 0, 0, nothing, neurons=neurons, weight_error=error), fields)


def rows(candidates: Candidates) -> dict[int, Any]:
    """Those of its level classes."""
    return rows_of(candidates.ball.problem, candidates.classes)


D = 0b1100
NEAR = F(1, 10**9)
ROOT = root_above(F(208))  # the length of the output (0, 0, 8, 12)


@pytest.mark.parametrize("xi", [1, -1])
def test_how_far_a_level_bias_can_be_off(xi: int) -> None:
    """The weight is 4 and the bias -6, between -8 and -4; row 2 has the length 5^(1/2), W the length 1 on the row of
    the lift, the mass is 1/2, and Zeta^2 = 18 * 10^2: -3 > -8/2 + (208^(1/2) + 8) delta for R = 0, and -3 > -8/2 + (5 *
    1800)^(1/2) R / 2 + 1800 R / 2 for delta = 0."""
    problem = replace(LINE, y=tuple(xi * y_k for y_k in LINE.y))
    theta = tuple(xi * t for t in THETA)
    delta = 1 / (ROOT + 8)
    R = 2 / (F(1800) + root_above(F(9000)))
    for part in (1 - NEAR, 1 + NEAR):
        for at, candidates in (
            (delta * part, found(problem, theta, F(0), (xi, D))),
            (F(0), found(problem, theta, R * part, (xi, D))),
        ):
            if part < 1:
                assert checked(candidates, at, F(1, 2)) == 1
            else:
                with pytest.raises(Rejected, match=f"biases between .*, found {'-' if xi > 0 else ''}3$"):
                    checked(candidates, at, F(1, 2))


@pytest.mark.parametrize("end", [-8, -4])
@pytest.mark.parametrize("side", [1, -1])
def test_all_errors_of_a_level_bias(side: int, end: int) -> None:
    """|b - end| / 2 > room / 2 + delta |end, moved by the room| + delta 208^(1/2) + (1/2 + delta) 1800 R, and not =,
    where the targets give the bias b, and room = (|z_k|^2 1800)^(1/2) R at row 2 or 1."""
    R, delta, inwards = F(1, 10**5), F(1, 10**4), 1 if end == -8 else -1
    room = root_above(F(9000 if end == -8 else 3600)) * R
    moved = end + inwards * room
    b = moved + 2 * inwards * (delta * (abs(moved) + ROOT) + (F(1, 2) + delta) * 1800 * R) + side * inwards * NEAR
    y = tuple(t + (4 * x + b if x > 1 else F(0)) / 2 for x, t in enumerate(THETA))
    candidates = found(replace(LINE, y=y), THETA, R, (1, D))
    if side > 0:
        assert checked(candidates, delta, F(1, 2)) == 1
    else:
        with pytest.raises(Rejected, match="biases between"):
            checked(candidates, delta, F(1, 2))


def test_a_level_class_at_the_other_side() -> None:
    """A bias of -9/2 or -15/2, by other targets, is 1/2 away from row 1 or 2, and one of -4 or -8 at row 1 or 2."""
    for b, kept in ((F(-9, 2), True), (F(-15, 2), True), (F(-4), False), (F(-8), False)):
        y = tuple(t + (4 * x + b if x > 1 else F(0)) / 2 for x, t in enumerate(THETA))
        candidates = found(replace(LINE, y=y), THETA, F(0), (1, D))
        if kept:
            assert checked(candidates, F(0), F(1, 2)) == 1
        else:
            with pytest.raises(Rejected, match="biases between -4 and -2, found"):
                checked(candidates, F(0), F(1, 2))


def test_weights_of_level_classes() -> None:
    """One is above its error; a linear class has any bias, and no row of the lift."""
    for mass, delta in ((F(1, 2), F(1, 2)), (F(0), F(0)), (F(-1), F(0))):
        with pytest.raises(Rejected, match="a level class of weight above"):
            checked(found(LINE, THETA, F(0), (1, D)), delta, mass)
    both = found(LINE, THETA, F(0), (1, 0b1111), (-1, 0b1111), lift=(ONES,))
    assert checked(both, F(0), F(1, 2)) == 1 and checked(both, F(0), F(1, 2), F(1, 2)) == 2
    with pytest.raises(Rejected, match="a level class of weight above"):
        checked(both, F(1, 2), F(1, 2))
    with pytest.raises(Rejected, match="biases between 0 and 0"):  # the row is of a class without weight
        checked(found(LINE, THETA, F(0), (1, 0b1111), (1, D)), F(0), F(1, 2))


def sides(b: Fraction, other: Fraction, sign: int) -> Candidates:
    """x = -2, -1, 2, 3: the neurons 4 x + b, on at x > 0, and sign times (-4 x + other), on at x < 0, each of weight
    1/2."""
    x, theta = (-2, -1, 2, 3), vec(4 * sign, -4 * sign, -4, 4)
    fit = ((4 * a + b if a > 0 else sign * (other - 4 * a)) / 2 for a in x)
    y = tuple(t + f for t, f in zip(theta, fit, strict=True))
    problem = replace(LINE, seen=mat([[a, 1] for a in x]), y=y, lam=F(9))
    return found(problem, theta, F(0), (1, D), (sign, 0b0011))


@pytest.mark.parametrize(("sign", "least", "most"), [(1, -8, 4), (-1, -6, 6)])
def test_biases_of_two_sides_add_up(sign: int, least: int, most: int) -> None:
    """On at x > 0 and on at x < 0, with one row of the lift for both: b is between -8 and 4, the other bias between -4
    and 8, and so is (b - sign other) / 2 between bounds, whatever they are in the targets."""
    assert [*rows(sides(F(0), F(0), sign))] == [D]
    for total in (least + NEAR, F(0), F(1), most - NEAR):
        for b in (F(-9), F(0), F(7)):
            assert checked(sides(b, sign * (b - 2 * total), sign), F(0), F(1, 2), F(1, 2)) == 2
    for total in (F(least), F(most), F(9), F(-9)):
        with pytest.raises(Rejected, match=f"biases between {least} and {most}, found {total}$"):
            checked(sides(F(1), sign * (1 - 2 * total), sign), F(0), F(1, 2), F(1, 2))


def test_classes_without_weight() -> None:
    """One that is known to have none is not asked for a bias; one of weight 0 up to the error adds to the error: -3 >
    -8/2 + (2 * 208^(1/2) + 8) delta for a class with the same output."""
    turned = found(LINE, THETA, F(0), (1, D), (-1, D))
    assert checked(turned, F(0), F(1, 2)) == 1
    with pytest.raises(Rejected, match="a bias that keeps the pattern"):
        checked(turned, F(0), F(1, 2), rest=None)
    kinked = replace(turned, classes=[turned.classes[0], replace(turned.classes[1], kinks=(1,))])
    delta = 1 / (2 * ROOT + 8)
    assert checked(kinked, delta * (1 + NEAR), F(1, 2)) == checked(kinked, delta * (1 - NEAR), F(1, 2), rest=None) == 1
    with pytest.raises(Rejected, match="biases between"):
        checked(kinked, delta * (1 + NEAR), F(1, 2), rest=None)


def test_a_pattern_that_no_bias_keeps() -> None:
    """4 x + b is never positive at x = 0 and 3 only, nor at one of two equal rows only."""
    with pytest.raises(Rejected, match="a bias that keeps the pattern"):
        checked(found(LINE, THETA, F(0), (1, 0b1001), lift=(ONES, vec(1, 0, 0, 1))), F(0), F(1, 2))
    twice = replace(LINE, seen=mat([[x, 1] for x in (0, 2, 2, 3)]), lam=F(9))
    with pytest.raises(Rejected, match="a bias that keeps the pattern"):
        checked(found(twice, THETA, F(0), (1, D)), F(0), F(1, 2))


@pytest.mark.parametrize(
    ("biases", "kinks", "doubtful"), [(True, (), [1, 2]), (True, (3,), [0, 1, 2]), (False, (), [0, 1, 2])]
)
def test_lines_that_a_level_class_does_not_see(
    biases: bool, kinks: tuple[int, ...], doubtful: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 0 is in the lift, and may be on any side of a class without kinks if biases are free. Row 1 has no weight
    either, row 2 some: they have their side on every leaf. Row 3 is surely concave, or a kink."""
    asked: list[list[int]] = []
    ball = Ball(replace(LINE, biases=biases), THETA, F(0))
    class_ = Class((1, 0b0111), kinks, 0b1000 if kinks else 0, fmpq_mat(4, 2), F(1))
    monkeypatch.setattr(cover_set, "read_class", lambda *_, sides: class_)
    monkeypatch.setattr(cover_set, "surely_concave", lambda *_: [False, False, False, True])
    lines = SimpleNamespace(rows=[()] * 4, line=(0, 1, 2, 3), multiple=(1, 1, 1, 1), heights=lambda u: [1] * 4)
    weights = {1: SimpleNamespace(convex=[2], w=(0, 0, 5, -1))}
    inside = lambda xi, number, side, lines: not asked.append(list(lines))  # type: ignore[func-returns-value]  # noqa: E731
    cover = SimpleNamespace(lines=lines, weights=weights, inside=inside)
    tie_ = SimpleNamespace(face=(), u=(1, 0), side=(1, 1, 1, 1), xi=1)
    lift = Node(["1 0 0 0", "0 0 1 1"], None, "lift")
    assert cover_set.checked(ball, cover, 0, tie_, Node({}, None, "class"), lift) is class_  # type: ignore[arg-type]
    assert asked == [doubtful]


def test_the_rows_of_the_lift() -> None:
    """Those of the level classes that are not linear, each D once, and not those of their other rows."""
    for keys, expected in (
        (((1, D),), [ON]),
        (((1, 0b1110),), [vec(0, 1, 1, 1)]),
        ((), []),
        (((1, D), (-1, D), (1, 0b0011), (1, 0b1111), (-1, 0b0111)), [ON, vec(1, 1, 1, 0)]),
        (((1, 0),), [vec(0, 0, 0, 0)]),
    ):
        assert [*rows(found(LINE, THETA, F(0), *keys)).values()] == expected
    kink = found(LINE, THETA, F(0), (1, D))
    bent = replace(kink, classes=[replace(kink.classes[0], kinks=(1,))])
    assert not rows(bent) and kink.level == [0] and bent.level == []
    assert not replace(kink, ball=Ball(replace(LINE, biases=False), THETA, F(0))).level


def test_a_basis_or_no_kinks() -> None:
    """Kinks that are all idle leave the bias open; without kinks nothing changes."""
    for kink in ([1], []):
        written = {"kinks": kink, "basis": [], "idle": kink, "fixed": ""}
        fields = Node(written, None, "class").record(*written)
        face = read_face(LINE.Z, 2, range(4), fields)
        if kink:
            with pytest.raises(Rejected, match="no kinks, or some of them in the basis"):
                for_weights(face, fields["basis"])
        else:
            assert for_weights(face, fields["basis"]) is face


def test_linear_neurons() -> None:
    """|X'theta| = 2 and what the ball can change is below lambda, or there is a linear class."""
    for lam, R, out in ((F(2), F(0), False), (2 + NEAR, F(0), True), (F(3), 1 / root_above(F(1800)), False)):
        candidates = found(replace(LINE, lam=lam), THETA, R, lift=(ONES,))
        if out:
            assert checked(candidates, F(0)) == 0
        else:
            with pytest.raises(Rejected, match="a linear class, or no linear neuron that ties"):
                checked(candidates, F(0))
    assert checked(found(replace(LINE, lam=F(3)), THETA, (1 - NEAR) / root_above(F(1800)), lift=(ONES,)), F(0)) == 0
    listed = found(replace(LINE, lam=F(1)), THETA, F(0), (1, 0b1111), lift=(ONES,))
    assert checked(listed, F(0), F(1, 2)) == 1


def test_the_ball_with_free_biases() -> None:
    """Zeta^2 is |Z|_F^2, with free biases times the largest |z_k|^4: |u| <= |z_k| |w| where z_k.u = 0."""
    assert Ball(LINE, THETA, F(0)).zeta_squared == 1800
    assert Ball(replace(LINE, biases=False), THETA, F(0)).zeta_squared == 18


def test_where_sets_are_known() -> None:
    """The squared loss and delta = 0, whatever is free."""
    assert lifted(LINE) and lifted(replace(LINE, biases=False))
    assert not lifted(replace(LINE, delta=F(1))) and not lifted(replace(LINE, logistic=True))
