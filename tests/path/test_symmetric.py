"""Paths on symmetric data, where many neurons tie on whole intervals."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from flint import fmpq, fmpq_mat

from relu_cert import certify
from relu_cert.problem.problem import Problem
from relu_cert.prove.facts import Facts
from tests.path.cases import CLAIMS, certificate_text, example, facts_on, network, verdicts
from verify import Rejected, check
from verify.optimal.ball import Ball, Class, Face
from verify.path.lifted import Set, check_even, read_even
from verify.path.moving import check_pinned
from verify.path.onset import Moving
from verify.problem.problem import Problem as VerifyProblem
from verify.text import Node

F = Fraction
SQUARE = network([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1]], [1, 1, -1, -1])
HALVES = [[F(1), F(0)], [F(1, 2), F(433, 500)], [F(-1, 2), F(433, 500)]]
HEXAGON = network([[str(x), str(y), 1] for x, y in (*HALVES, *([-a, -b] for a, b in HALVES))], [1, -1, 1, -1, 1, -1])
SIGNED_XOR = network([[1, 1], [1, -1], [-1, 1], [-1, -1]], [1, -1, -1, 1])
ALL_FIT = {"square": (SQUARE, F(1)), "hexagon": (HEXAGON, F(9, 20)), "xor with signs": (SIGNED_XOR, F(3))}


@pytest.mark.parametrize("name", ALL_FIT)
def test_unique_though_the_residual_is_orthogonal_to_the_rows(name: str) -> None:
    """The residual is orthogonal to all columns of Z, so that u and -u tie; the network is unique all the same, for
    every lambda up to lambda_max, and the checker accepts it."""
    problem, hi = ALL_FIT[name]
    facts = facts_on(problem, hi / 2, hi / 100, hi)
    assert {result.verdict.value for result in verdicts(facts).values()} == {"PROVED"}
    said = {line.claim: line.verdict for line in check(certificate_text(facts).encode())}
    assert {said[claim] for claim in CLAIMS} == {"PROVED"}


def crossed() -> Problem:
    """Antipodal points of which four lie on a line through the origin, with a bias: the neuron that is orthogonal to
    that line has kinks that are concave, and others that are convex."""
    half = [[-3, 2, 1], [0, -2, 1], [-3, -3, 1], [-1, 1, 1], [-3, 3, 1]]
    Z = [row for a, b, c in half for row in ([a, b, c], [-a, -b, c])]
    return network(Z, [0, 0, -3, -3, 0, 0, 3, 3, -2, -2])


@cache
def pinned_facts() -> Facts:
    """Its path."""
    return facts_on(crossed(), F(1), F(1, 5), F(2))


@cache
def pinned_text() -> str:
    """Its certificate."""
    return certificate_text(pinned_facts())


def test_a_neuron_on_convex_kinks() -> None:
    """A neuron on convex kinks is pinned by the concave ones: the pieces on which it ties are proved and accepted."""
    path = pinned_facts().path
    assert path is not None
    assert not path.cover.gaps
    assert any(piece.pinned for piece in path.cover.pieces)
    assert {result.verdict.value for result in verdicts(pinned_facts()).values()} == {"PROVED"}
    said = {line.claim: line.verdict for line in check(pinned_text().encode())}
    assert {said[claim] for claim in CLAIMS} == {"PROVED"}


def without_pinned(piece: dict[str, Any]) -> None:
    """Nothing is pinned."""
    del piece["pinned"]


def without_a_kink(piece: dict[str, Any]) -> None:
    """A pinned neuron that has a kink less."""
    one = piece["classes"][piece["pinned"][0]]
    left = next(k for k in one["kinks"] if k not in one["basis"])
    place = [k for k in one["kinks"] if k not in one["basis"]].index(left)
    fixed = one["fixed"].split()
    one["kinks"].remove(left)
    one["fixed"] = " ".join(fixed[:place] + fixed[place + 1 :])


def other_sign(piece: dict[str, Any]) -> None:
    """A pinned neuron of the other sign."""
    one = piece["classes"][piece["pinned"][0]]
    one["sign"] = {"+": "-", "-": "+"}[one["sign"]]


@pytest.mark.parametrize("forge", [without_pinned, without_a_kink, other_sign])
def test_forged_pins_are_rejected(forge: Callable[[dict[str, Any]], None]) -> None:
    """What is pinned must be said, with all of its kinks and its sign: else the checker rejects."""
    whole = json.loads(pinned_text())
    pieces = whole["facts"]["path"]["pieces"]
    forge(next(piece for piece in pieces if "pinned" in piece))
    with pytest.raises(Rejected):
        check(json.dumps(whole).encode())


@pytest.mark.parametrize(("weight", "holds"), [(F(-2), True), (F(-1), False), (F(-1, 2), False), (F(1), False)])
def test_every_flank_must_lose(weight: F, holds: bool) -> None:
    """z = (1, 1) is on with weight 1, z = (0, 1) is a kink: the neuron along (1, 0) is pinned if and only if the kink
    takes more than the other row gives along (0, 1)."""
    problem = VerifyProblem("relu", F(1), ((F(1), F(1)), (F(0), F(1))), (F(1), weight))
    P = fmpq_mat([[1, 0], [0, 0]])
    face = Face((1,), (1,), (), {}, P, fmpq_mat([[0, 1]]))
    class_ = Class((1, 1), (1,), 2, fmpq_mat([[1, 0], [0, 0]]), F(3), face)
    S = fmpq_mat([[1], [fmpq(weight.numerator, weight.denominator)]])
    ball = Ball(problem, (F(1), weight), F(0))
    if holds:
        check_pinned(ball, S, class_, F(1, 100), Node(None))
    else:
        with pytest.raises(Rejected):
            check_pinned(ball, S, class_, F(1, 100), Node(None))


def test_a_multiplier_on_its_bound_all_along() -> None:
    """xor without a bias: two neurons lie on a kink whose multiplier is on its bound for all small lambda. Their kinks
    are in the basis, and the path is proved to the end."""
    facts = facts_on(network([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]), F(1, 2), F(1, 70), F(3, 2))
    assert {result.verdict.value for result in verdicts(facts).values()} == {"PROVED"}
    said = {line.claim: line.verdict for line in check(certificate_text(facts).encode())}
    assert {said[claim] for claim in CLAIMS} == {"PROVED"}


SIGNS: list[list[int | str]] = [[a, b, c, 1] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
CUBE = network(SIGNS, [int(a) * int(b) * int(c) for a, b, c, _ in SIGNS])
BOARD: list[list[int | str]] = [[a, b, 1] for a in (-1, 0, 1) for b in (-1, 0, 1)]
CHECKERBOARD = network(BOARD, [1 - 2 * ((int(a) + int(b)) % 2) for a, b, _ in BOARD])
CYCLE = network(
    [[0, -3, 0], [-3, 0, 0], [0, 0, -3], [1, 3, -2], [3, -2, 1], [-2, 1, 3]],
    [1, 1, 1, 2, 2, 2],
)
HALF_TURNS = network(
    [
        [-3, 2, -1, 1],
        [3, -2, -1, 1],
        [-3, -2, 1, 1],
        [3, 2, 1, 1],
        [2, -1, 2, 1],
        [-2, 1, 2, 1],
        [2, 1, -2, 1],
        [-2, -1, -2, 1],
    ],
    [3] * 4 + [-3] * 4,
)
EVEN = {
    "half turns": (HALF_TURNS, F(6), F(1, 10)),
    "cube": (CUBE, F(5), F(1, 10)),
    "checkerboard": (CHECKERBOARD, F(2), F(1, 20)),
    "twins": (example("twins"), F(5), F(1, 2)),
}


@cache
def even_text(name: str) -> str:
    """The certificate of a path on which outputs are dependent all the way."""
    problem, hi, lo = EVEN[name]
    return certificate_text(facts_on(problem, hi, lo, hi))


@pytest.mark.parametrize("name", EVEN)
def test_dependent_outputs_move_continuously(name: str) -> None:
    """Sixteen neurons tie on a cube of eight points, twelve on a board of nine, two pairs that mirror each other on
    twins, six of unequal weights on two orbits of half turns: the set of optimal networks is proved to move
    continuously, and never said to be one."""
    problem, hi, lo = EVEN[name]
    facts = facts_on(problem, hi, lo, hi)
    assert facts.path is not None
    assert not facts.path.cover.gaps
    assert any(piece.even is not None and not piece.unique for piece in facts.path.cover.pieces)
    said = {line.claim: line.verdict for line in check(even_text(name).encode())}
    assert said["set-continuous"] == said["min-norm-continuous"] == "PROVED"
    assert said["continuous"] != "PROVED"


def shared(piece: dict[str, Any], change: Callable[[list[F]], list[F]]) -> None:
    """Other shares."""
    piece["even"]["shares"] = " ".join(map(str, change([*map(F, piece["even"]["shares"].split())])))


def test_shares_that_balance_each_other() -> None:
    """Neurons of one superclass need not share its mass equally."""
    for piece in json.loads(even_text("half turns"))["facts"]["path"]["pieces"]:
        shares = [*map(F, piece["even"]["shares"].split())]
        assert sum(shares) == 1 and len(set(shares)) > 1


FORGED_EVEN: dict[str, tuple[str, Callable[[dict[str, Any]], None], str]] = {
    "not said": ("cube", lambda piece: piece.pop("even"), "an array of 16"),
    "fewer rays": ("cube", lambda piece: piece["even"].update(rays=piece["even"]["rays"][1:]), "an array of 1"),
    "a ray that is not pinned": ("cube", lambda piece: piece["pinned"].pop(0), "a lift where all classes are pinned"),
    "a ray that moves": ("twins", lambda piece: piece["even"].update(rays=[0]), "one direction of class 0"),
    "another lift": (
        "twins",
        lambda piece: piece["even"].update(lift=["1 1 0 0"]),
        "a row orthogonal to the residual",
    ),
    "equal shares": ("half turns", lambda piece: piece["even"].pop("shares"), "a sum orthogonal to the lift"),
    "other shares": (
        "half turns",
        lambda piece: shared(piece, lambda s: [*s[1:], s[0]]),
        "a sum orthogonal to the lift",
    ),
    "shares of two": ("half turns", lambda piece: shared(piece, lambda s: [2 * x for x in s]), "with the sum 1"),
    "shares without a lift": (
        "half turns",
        lambda piece: piece["even"].update(lift=[]),
        "shares only where there is a lift",
    ),
    "a negative share": (
        "half turns",
        lambda piece: shared(piece, lambda s: [s[0] + s[1] + 1, F(-1), *s[2:]]),
        "shares that are not negative",
    ),
    "no share for a class": ("half turns", lambda piece: shared(piece, lambda s: s[1:]), "6 numbers"),
    "lifted, too": ("cube", lambda piece: piece.update(lifted={}), "a piece that is not lifted"),
}


@pytest.mark.parametrize("name", FORGED_EVEN)
def test_forged_even_pieces_are_rejected(name: str) -> None:
    """What an even piece rests on must be there: its rays, pinned and still, its lift, and every row of W."""
    example_, forge, message = FORGED_EVEN[name]
    whole = json.loads(even_text(example_))
    forge(next(piece for piece in whole["facts"]["path"]["pieces"] if "even" in piece))
    with pytest.raises(Rejected, match=message):
        check(json.dumps(whole).encode())


def test_relations_of_the_residual() -> None:
    """Orbits of a cycle in space: below a quarter of lambda_max the residual has integer relations, more than the
    columns, that make one superclass of twelve pinned neurons, and their set, of dimension 6, moves continuously."""
    facts = facts_on(CYCLE, F(1), F(1, 2), F(2))
    assert facts.path is not None and not facts.path.cover.gaps
    (piece, *_) = facts.path.cover.pieces
    assert piece.dimension == 6 and len(piece.pinned) == len(piece.classes) == 12
    assert piece.lifted is not None and len(piece.lifted.groups) == 1
    said = {line.claim: line.verdict for line in check(certificate_text(facts).encode())}
    assert said["set-continuous"] == "PROVED" and said["continuous"] == "REFUTED"
    forged = json.loads(certificate_text(facts))
    forged["facts"]["path"]["pieces"][0]["pinned"].pop()  # one superclass is of pinned classes only
    with pytest.raises(Rejected):
        check(json.dumps(forged).encode())


def even_piece(columns: list[list[int]], s: tuple[int, ...], pinned: set[int] | None = None) -> Moving:
    """Classes with B of one column each, pinned, at a still point s without any error."""
    problem = VerifyProblem("relu", F(1), ((F(1),),) * len(s), (F(1),) * len(s))
    classes = [Class((1, 1 << a), (), 0, fmpq_mat([[x] for x in b]), F(1)) for a, b in enumerate(columns)]
    S = fmpq_mat([[x] for x in s])
    weights = [(F(1),)] * len(classes)
    places = frozenset(range(len(classes)) if pinned is None else pinned)
    return Moving(Ball(problem, tuple(map(F, s)), F(0)), S, classes, weights, F(0), F(0), pinned=places)


def judged_even(piece: Moving, lift: list[str], rays: list[int], inverse: list[str]) -> Set:
    """What the checker finds."""
    node = Node({"lift": lift, "rays": rays}, None, "even")
    known = read_even(piece.ball.problem, piece.S, piece.pinned, len(piece.classes), node)
    return check_even(piece, known, Node(inverse, None, "inverse"), node)


def test_the_sum_of_outputs_of_a_superclass() -> None:
    """Outputs (1, 0) and (0, 1) tie where s is orthogonal to (1, -1), and their sum is; one of them alone is not."""
    assert not judged_even(even_piece([[1, 0], [0, 1]], (1, 1)), ["1 -1"], [0, 1], []).unique
    with pytest.raises(Rejected, match="a sum orthogonal to the lift"):
        judged_even(even_piece([[1, 0]], (1, 1)), ["1 -1"], [0], [])
    with pytest.raises(Rejected, match="a sum orthogonal to the lift"):  # one entry that is not 0 is enough
        judged_even(even_piece([[1, 0, 0]], (1, 1, 0)), ["1 -1 0"], [0], [])


def test_rows_are_orthogonal_to_rays() -> None:
    """The weight of a moving neuron is told apart by a row that no ray is seen by."""
    piece = even_piece([[1, 0], [1, 1]], (1, 0))
    assert not judged_even(piece, [], [0], ["0 1"]).unique
    with pytest.raises(Rejected, match="orthogonal to the outputs of all rays"):
        judged_even(piece, [], [0], ["1 0"])


def test_dependence_that_is_constant() -> None:
    """A neuron whose output is always that of another needs no row, and makes the network not unique; without a row
    for a neuron that only happens to be dependent the checker rejects."""
    assert not judged_even(even_piece([[1, 0], [1, 0]], (1, 0)), [], [], ["1 0"]).unique
    assert judged_even(even_piece([[1, 0], [0, 1]], (1, 1)), [], [], ["1 0", "0 1"]).unique
    with pytest.raises(Rejected, match="a sum below 1"):
        judged_even(even_piece([[1, 0], [0, 1]], (1, 1)), [], [], ["1 0", "0 0"])
    with pytest.raises(Rejected, match="an array of 2"):
        judged_even(even_piece([[1, 0], [0, 1]], (1, 1)), [], [], ["1 0"])
    with pytest.raises(Rejected, match="an array of 2"):
        judged_even(even_piece([[1, 0], [1, 0]], (1, 0), pinned={0}), [], [], ["1 0"])


def test_what_an_even_piece_needs_of_y_and_of_its_classes() -> None:
    """y is orthogonal to the lift, and all classes are pinned; rays are, with or without a lift."""
    piece = even_piece([[1, 0], [0, 1]], (1, 1))
    other = replace(piece.ball.problem, y=(F(1), F(2)))
    node = Node({"lift": ["1 -1"], "rays": []}, None, "even")
    with pytest.raises(Rejected, match="a row orthogonal to y"):
        read_even(other, piece.S, piece.pinned, 2, node)
    with pytest.raises(Rejected, match="all classes are pinned"):
        read_even(piece.ball.problem, piece.S, frozenset({0}), 2, node)
    with pytest.raises(Rejected, match="rays that are pinned"):
        read_even(piece.ball.problem, piece.S, frozenset({0}), 2, Node({"lift": [], "rays": [1]}, None, "even"))


def test_a_flank_in_the_lift_need_not_lose() -> None:
    """A flank with an output in the lift gains nothing for s orthogonal to it: z = (1, 0) is on, and z = (0, 1) and
    z = (0, -1) are kinks with the residuals 0: leaving costs nothing, and with the lift that is no reason to reject."""
    Z = ((F(1), F(0)), (F(0), F(1)), (F(0), F(-1)))
    problem = VerifyProblem("relu", F(1), Z, (F(1), F(0), F(0)))
    P = fmpq_mat([[1, 0], [0, 0]])
    face = Face((1,), (1,), (), {}, P, fmpq_mat([[0, 1]]))
    class_ = Class((1, 1), (1,), 6, fmpq_mat([[1, 0], [0, 0], [0, 0]]), F(3), face)
    ball, S = Ball(problem, problem.y, F(0)), fmpq_mat([[1], [0], [0]])
    check_pinned(ball, S, class_, F(1, 100), Node(None), ((F(0), F(1), F(0)), (F(0), F(0), F(1))))
    for lift in ((), ((F(0), F(1), F(0)),)):
        with pytest.raises(Rejected, match="beside the face"):
            check_pinned(ball, S, class_, F(1, 100), Node(None), lift)
    alone = Ball(VerifyProblem("relu", F(1), Z[:2], problem.y[:2]), problem.y[:2], F(0))
    half, still = replace(class_, zeros=2, B=fmpq_mat([[1, 0], [0, 0]])), fmpq_mat([[1], [-1]])
    with pytest.raises(Rejected, match="beside the face"):  # without any output, and no lift
        check_pinned(alone, still, half, F(1, 100), Node(None))
    with pytest.raises(Rejected, match="a class with a face"):
        check_pinned(alone, still, replace(half, face=None), F(1, 100), Node(None))


def test_relations_settle_dependent_outputs() -> None:
    """The residual of these seven points is orthogonal to (1, 1, -1, 0, 0, 0, 0), which no symmetry says: the neurons
    that tie depend on each other, and a set of dimension 2 is optimal."""
    Z = [[1, 2, 0], [-1, 2, 0], [0, -2, 0], [-1, 0, 2], [1, 0, 2], [3, 0, 0], [-3, 0, 0]]
    found = certify(Z, [1, 1, 2, -1, -1, 3, 3], lambda_ratio="11/20")
    assert found.claims["p-unique"].verdict == "REFUTED"
    assert found.claims["optimal-set"].verdict == found.claims["minimal"].verdict == "PROVED"
    assert "dimension 2" in found.claims["p-unique"].detail
