"""Even and pinned pieces of the fact `path`, whole: what is forged is rejected, whatever else holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest
from flint import fmpq_mat

from tests.verify.build import plain
from tests.verify.mutate import mutants
from tests.verify.oracle.brute import mat, vec
from tests.verify.score import CORPUS
from tests.verify.test_lifted import harmless
from verify import Rejected, VerifyError, check
from verify.numbers.bounds import matrix
from verify.numbers.patterns import Patterns
from verify.optimal.ball import Ball, Class, Face
from verify.path import moving
from verify.path.moving import flanks
from verify.problem.problem import Problem
from verify.rules.path import check_piece
from verify.text import Node

Json = dict[str, Any]
KINK = mat([[1, 1], [0, 1]])


def alone(problem: Json, patterns: Json, piece: Json, *proved: str) -> Json:
    """A certificate of one piece."""
    facts = {"patterns": patterns, "path": {"lo": piece["lo"], "hi": piece["hi"], "pieces": [piece]}}
    tree = plain.certificate(problem, facts, b"")
    claims = ("continuous", "set-continuous", "min-norm-continuous")
    verdicts = [{"claim": claim, "verdict": "PROVED" if claim in proved else "UNDECIDED"} for claim in claims]
    return {**tree, "input": {**tree["input"], "sha256": "0" * 64}, "claims": verdicts}


def on_a_kink(y: F, *proved: str, **more: Any) -> Json:
    """z = (1, 1) and (0, 1), targets 1 and y < 0: the neuron (1, 0), on the kink of the second row, for eta from 5/4 to
    3/2, s(eta) = (1, eta y). It is the one that ties if and only if s_2 <= -1 there."""
    ends = [vec(1, eta * y) for eta in (F(5, 4), F(3, 2))]
    listing = plain.list_patterns(KINK)
    face = {"sign": "+", "pattern": "10", "kinks": [1], "basis": [1], "idle": [], "fixed": ""}
    piece = {"lo": "2/3", "hi": "4/5", "s": [plain.words((F(1), F(11, 8) * y)), plain.words((F(0), y / 8))]}
    piece |= {"classes": [face], "weights": ["3/8 1/8"]}
    piece |= {"multipliers": [plain.relu_multipliers(KINK, listing, s)[0] for s in ends]}
    piece |= {"out": [{"+": [], "-": []}] * 2, "inverse": ["1 0"], "radius": "0", "pinned": [0], **more}
    problem = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": "3/4", "Z": [plain.words(z) for z in KINK]}
    return alone({**problem, "y": plain.words((F(1), y))}, listing.fact, piece, *proved)


def judged(tree: Json) -> dict[str, str]:
    """What the checker says."""
    return {line.claim: line.verdict for line in check(json.dumps(tree).encode())}


RAY = {"even": {"lift": [], "rays": [0]}, "inverse": []}


@pytest.mark.parametrize("y", [F(-6, 7), F(-9, 10)])
def test_a_neuron_on_a_convex_kink(y: F) -> None:
    """Accepted as a pinned class, where it is unique, and as a ray of an even piece, which does not say that."""
    assert judged(on_a_kink(y, "continuous", "set-continuous"))["continuous"] == "PROVED"
    assert judged(on_a_kink(y, "set-continuous", "min-norm-continuous", **RAY))["set-continuous"] == "PROVED"
    with pytest.raises(Rejected, match="pieces on which the network is unique"):
        judged(on_a_kink(y, "continuous", **RAY))


@pytest.mark.parametrize("more", [{}, RAY])
def test_a_flank_that_gains(more: Json) -> None:
    """With s_2 above -1 a neuron beside the kink is better: nothing else in the piece says so."""
    for y in (F(-1, 2), F(-2, 3), F(-4, 5)):
        with pytest.raises(Rejected, match="a loss above 0 beside the face of the class"):
            judged(on_a_kink(y, "set-continuous", **more))


def corpus(name: str) -> tuple[Json, Json]:
    """An accepted certificate of the corpus, and its one piece."""
    tree = json.loads((CORPUS / "accepted" / f"{name}.json").read_bytes())
    (piece,) = tree["facts"]["path"]["pieces"]
    return tree, piece


FORGED: dict[str, tuple[str, Callable[[Json], Any], str]] = {
    "no-even": ("path-even-lift", lambda piece: piece.pop("even"), "an array of 4"),
    "no-rays": ("path-even-rays", lambda piece: piece["even"].update(rays=[]), "an array of 8"),
    "a-ray-that-moves": (
        "path-even-lift",
        lambda piece: (piece["even"].update(rays=[0]), piece.update(inverse=piece["inverse"][1:])),
        "one direction of class 0, a ray",
    ),
    "another-lift": (
        "path-even-lift",
        lambda piece: piece["even"].update(lift=["1 1 0 0"]),
        "a row orthogonal to the residual",
    ),
    "the-lift-twice": (
        "path-even-lift",
        lambda piece: piece["even"].update(lift=["-1 1 0 0", "1 -1 0 0"]),
        "independent rows",
    ),
    "a-class-that-is-not-pinned": (
        "path-even-lift",
        lambda piece: piece.update(pinned=piece["pinned"][1:]),
        "a lift where all classes are pinned",
    ),
    "lifted-too": ("path-even-rays", lambda piece: piece.update(lifted={}), "a piece that is not lifted, too"),
    "no-row-for-a-class": ("path-even-lift", lambda piece: piece["inverse"].pop(), "an array of 3"),
    "a-row-of-zeros": (
        "path-even-lift",
        lambda piece: piece.update(inverse=[*piece["inverse"][:-1], "0 0 0 0"]),
        "a row of W Q - I with a sum below 1",
    ),
    "a-wider-interval": (
        "path-even-lift",
        lambda piece: piece.update(lo=str(F(piece["lo"]) * F(9, 10))),
        "a radius >=",
    ),
}


@pytest.mark.parametrize("wrong", FORGED)
def test_forged_even_pieces(wrong: str) -> None:
    """Each change of an accepted piece is rejected for its reason."""
    name, forge, message = FORGED[wrong]
    tree, piece = corpus(name)
    forge(piece)
    with pytest.raises(Rejected, match=message):
        check(json.dumps(tree).encode())


@pytest.mark.parametrize("name", ["path-even-lift", "path-even-rays"])
def test_no_even_piece_is_said_to_be_unique(name: str) -> None:
    """The outputs are dependent: neither one network, nor a set of positive dimension is claimed."""
    for claim, verdict in (("continuous", "PROVED"), ("continuous", "REFUTED"), ("set-continuous", "REFUTED")):
        tree, _ = corpus(name)
        next(line for line in tree["claims"] if line["claim"] == claim)["verdict"] = verdict
        with pytest.raises(Rejected):
            check(json.dumps(tree).encode())


NEAR = ("weights", "inverse", "radius", "multipliers[0].-[0][2]", "multipliers[1].-[0][2]")


def still_true(place: str, change: str, text: str, original: str) -> bool:
    """Besides what leaves any piece a proof: multipliers in another order, or of a piece that is out; other bases of
    the lift, or of a part of it; classes in another order."""
    order = place in ("classes", "even.lift") or place.startswith("multipliers")
    part = place == "even.lift" and change in ("empty", "without [0]", "without [1]")
    swapped = "swapped" in change or change == "reversed" or (change == "bit 0 flipped" and ".-" in place)
    return (
        harmless(place, change, text, original)
        or part
        or (order and swapped)
        or place.startswith((*NEAR, "even.lift["))
    )


@pytest.mark.long
@pytest.mark.parametrize("name", ["path-even-lift", "path-even-rays"])
def test_every_field_of_an_even_piece_counts(name: str) -> None:
    """Of all small changes of the piece only those survive that leave it a proof."""
    tree, piece = corpus(name)
    original = json.dumps(piece)
    before, after = json.dumps(tree).split(original)
    total, survivors = 0, []
    for mutant in mutants({"piece": piece}, 2):
        place, text = mutant.place.removeprefix("piece."), mutant.text[len('{"piece": ') : -1]
        if mutant.place == "top" or still_true(place, mutant.change, text, original):
            continue
        total += 1
        try:
            check((before + text + after).encode())
        except VerifyError:
            continue
        survivors.append(f"{place}: {mutant.change}")
    assert survivors == []
    assert total > 300


# ------------------------------------------------------------------------------------------------ parts


def flank_list(kinks: Any, basis: Any) -> list[tuple[F, ...]]:
    """All flanks."""
    return list(flanks(mat(kinks), mat(basis), Node(None, None, "kinks")))


def test_flanks_by_hand() -> None:
    """None without a kink; one line for one kink; one orthogonal to each kink of a plane; in space to every two."""
    assert flank_list([], []) == []
    assert flank_list([[0, 1], [0, -2]], [[0, 1]]) == [vec(0, 1), vec(0, -1)]
    plane = flank_list([[1, 0, 0], [1, 2, 0], [3, 6, 0]], [[1, 0, 0], [1, 2, 0]])
    assert plane == [vec(0, 2, 0), vec(0, -2, 0), vec(-4, 2, 0), vec(4, -2, 0), vec(-4, 2, 0), vec(4, -2, 0)]
    space = flank_list([[1, 0, 0], [0, 1, 0], [0, 2, 0], [1, 1, 1]], [[1, 0, 0], [0, 1, 0], [1, 1, 1]])
    ends = [vec(0, 0, 1), vec(0, 0, 1), vec(0, -1, 1), vec(-1, 0, 1), vec(-1, 0, 1)]
    assert space == [tuple(s * x for x in w) for w in ends for s in (1, -1)]


@pytest.mark.parametrize(("kinks", "basis", "count"), [(3, 2, 3), (5, 3, 10), (4, 1, 1)])
def test_the_number_of_flanks(monkeypatch: pytest.MonkeyPatch, kinks: int, basis: int, count: int) -> None:
    """No more choices of kinks than there may be: so many less than the basis."""
    rows, first = [[1, k, k * k][:basis] for k in range(kinks)], [[1, k, k * k][:basis] for k in range(basis)]
    monkeypatch.setattr(moving, "MOST_FLANKS", count)
    assert len(flank_list(rows, first)) == 2 * count
    monkeypatch.setattr(moving, "MOST_FLANKS", count - 1)
    with pytest.raises(Rejected, match=f"at most {count - 1} choices of kinks"):
        flank_list(rows, first)


@pytest.mark.parametrize(
    ("s", "D", "R", "right"),
    [
        (1, 1, F(0), True),
        (0, 1, F(0), False),  # 0 is on no side
        (1, 0, F(0), False),  # the other side
        (-1, 1, F(0), False),
        (1, 1, F(1, 4), True),  # |z|^2 R = R/2 below 1
        (F(1, 2), 1, F(1, 4), True),
        (F(1, 8), 1, F(1, 4), False),
    ],
)
def test_heights_of_a_pinned_class(s: F, D: int, R: F, right: bool) -> None:
    """z = (1, 0) on its side for all s within R, beside the kink z = (0, 1) with a weight that loses; a row of zeros
    has no side."""
    Z = mat([[0, 1], [1, 0], [0, -1], [0, 0]])
    problem = Problem("relu", F(1), Z, vec(-1, 1, -1, 5))
    face = Face((0,), (0,), (), {}, fmpq_mat([[1, 0], [0, 0]]), fmpq_mat([[0, 1]]))
    class_ = Class((1, 2 * D), (0,), 5, fmpq_mat([[0, 0], [1, 0], [0, 0], [0, 0]]), F(1), face)
    ball, S = Ball(problem, vec(-1, s, -1, 5), F(0)), matrix(mat([[-1], [s], [-1], [5]]), 1)
    if right:
        moving.check_pinned(ball, S, class_, R, Node(None))
    else:
        with pytest.raises(Rejected, match=r"a height above .* on its side at row 1"):
            moving.check_pinned(ball, S, class_, R, Node(None))


def test_which_classes_are_pinned() -> None:
    """Those of ReLU networks with penalised biases, with no idle kink."""
    fields = {"sign": "+", "pattern": "10", "kinks": [1], "basis": [1], "idle": [], "fixed": ""}
    problem = Problem("relu", F(1), KINK, vec(1, -1))
    assert moving.read_pinned(Ball(problem, problem.y, F(0)), Node(fields, None, "class")).kinks == (1,)
    for other in (replace(problem, biases=True), Problem("gated", F(1), KINK, vec(1, -1))):
        with pytest.raises(Rejected, match="no pinned class but of relu networks"):
            moving.read_pinned(Ball(other, problem.y, F(0)), Node(fields, None, "class"))
    with pytest.raises(Rejected, match="no idle kink of a pinned class"):
        moving.read_pinned(Ball(problem, problem.y, F(0)), Node({**fields, "idle": [1]}, None, "class"))


def test_an_even_piece_has_no_approximate_inverse() -> None:
    """It counts as lifted, so that no weights are enclosed by it; the pinned one does not."""
    problem, patterns = (
        Problem("relu", F(3, 4), KINK, vec(1, "-6/7")),
        Patterns([0, 2, 1, 3], dict.fromkeys(range(4), 0), 4),
    )
    for more, lifted in (({}, False), (RAY, True)):
        (piece,) = on_a_kink(F(-6, 7), **more)["facts"]["path"]["pieces"]
        assert check_piece(problem, patterns, Node(piece, None, "piece")).lifted is lifted
