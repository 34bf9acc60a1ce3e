"""Paths over covers, planted by hand: s is a straight line in eta = 1/lambda, and the ends of the piece have covers.

Corner: Z = I and y = (3, 4), s = (3/5, 4/5). Beside it a row (-1, 0) with the target -1, on which no neuron is: there
s = -eta. Ridge: rows (2, 0), (0, 1), (0, -1) and y = (3, -1, -1), a neuron on the line of the last two. Cross: rows
+-e_1, +-e_2 and y = (3, 3, 4, 4), s = y / 5: four neurons tie, and the outputs of two are those of the two others, so
that for no lambda < 5 the network is unique.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from tests.verify.build import plain
from tests.verify.build.plain import Case, words
from tests.verify.cover.plant import AXES, CORNER_MINUS, CORNER_PLUS, one_class, proof, tie, tree
from tests.verify.oracle.brute import Vec, mat, vec
from verify.cover.tree import NEURON, RAY, RULE

LO, HI = Fraction(2), Fraction(4)
MIDDLE, HALF = (1 / LO + 1 / HI) / 2, (1 / LO - 1 / HI) / 2
FOUR = proof(
    AXES,
    tree([NEURON] * 4, [0, 1, 2, 3]),
    tree([RULE] * 4),
    [tie("+", f"{a} {b}", "") for b in (-4, 4) for a in (-3, 3)],
)
PIECE = "facts.path.pieces[0]"
BY_RAY = proof(AXES, tree([RULE, RAY, RULE, RAY], [0, 1, 0, 1] * 2), tree([RULE] * 4), [tie("+", "1 0")])


def in_eta(constant: Vec, slope: Vec) -> list[str]:
    """constant + slope eta as coefficients of tau."""
    return [words(c + MIDDLE * s for c, s in zip(constant, slope, strict=True)), words(HALF * s for s in slope)]


def along(
    name: str, rows: list[list[int]], y: Vec, s: list[str], evidence: dict[str, Any], classes: list[dict[str, Any]]
) -> Case:
    """The path from LO to HI as one piece; all weights are those of the first class, the others have none."""
    Z = mat(rows)
    piece = {
        **{"lo": words([LO]), "hi": words([HI]), "s": s, "classes": classes, "weights": [], "inverse": []},
        **{"multipliers": [evidence, evidence], "out": [None, None], "radius": "0"},
    }
    problem = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": "3", "Z": list(map(words, Z)), "y": words(y)}
    raw = plain.table(Z, y)
    case = plain.certificate(problem, {"path": {"lo": words([LO]), "hi": words([HI]), "pieces": [piece]}}, raw)
    case["claims"] = [{"claim": claim, "verdict": "PROVED"} for claim in ("continuous", "set-continuous")]
    return Case(name, case, raw)


def weight(constant: str, slope: str) -> str:
    """constant + slope eta, as a weight."""
    return words((Fraction(constant) + MIDDLE * Fraction(slope), HALF * Fraction(slope)))


@cache
def corner_path() -> Case:
    """One neuron inside its cone, and a row beside it."""
    evidence = proof(AXES, CORNER_PLUS, CORNER_MINUS, [tie("+", "3 4", "")])
    s = in_eta(vec("3/5", 0, "4/5"), vec(0, -1, 0))
    rows = [[1, 0], [-1, 0], [0, 1]]
    case = along("corner path", rows, vec(3, -1, 4), s, evidence, [one_class("+", "101", [])])
    case.certificate["facts"]["path"]["pieces"][0] |= {"weights": [weight("-1", "5")], "inverse": ["3/5 0 4/5"]}
    return case


@cache
def ridge_path() -> Case:
    """One neuron on a line that bends down."""
    plus = tree([RULE, NEURON, RULE, NEURON], [0, 0])
    evidence = proof(AXES, plus, tree([RULE] * 4), [tie("+", "1 0", "1/2")])
    s = in_eta(vec("1/2", 0, 0), vec(0, -1, -1))
    classes = [one_class("+", "100", [1])]
    case = along("ridge path", [[2, 0], [0, 1], [0, -1]], vec(3, -1, -1), s, evidence, classes)
    case.certificate["facts"]["path"]["pieces"][0] |= {"weights": [weight("-1/4", "3/2")], "inverse": ["1/2 0 0"]}
    return case


@cache
def cross() -> Case:
    """Three of the four neurons and, in the place of the fourth, a class with both sides of a line: not valid."""
    s = in_eta(vec("3/5", "3/5", "4/5", "4/5"), vec(0, 0, 0, 0))
    classes = [one_class("+", pattern, []) for pattern in ("1010", "0110", "1001", "1101")]
    case = along("cross", [[1, 0], [-1, 0], [0, 1], [0, -1]], vec(3, 3, 4, 4), s, FOUR, classes)
    case.certificate["facts"]["path"]["pieces"][0] |= {
        "weights": ["0 0", weight("-1", "5"), weight("-1", "5"), "0 0"],
        "inverse": ["0 -5/3 5/4 0", "0 5/3 0 0", "5/3 5/3 -5/4 0", "-5/3 -5/3 5/4 5/4"],
    }
    return case


PATHS = {"corner path": corner_path, "ridge path": ridge_path, "cross": cross}
# The case, why it is wrong, what is changed, what the message says.
WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    ("cross", "a class with both sides of a line", {}, "classes whose pattern has one side of every line"),
    (
        "cross",
        "three neurons of four",
        {
            f"{PIECE}.classes": [one_class("+", pattern, []) for pattern in ("1010", "0110", "1001")],
            f"{PIECE}.weights": ["0 0", weight("-1", "5"), weight("-1", "5")],
            f"{PIECE}.inverse": ["0 -5/3 5/4 0", "0 5/3 0 0", "5/3 0 0 0"],
        },
        "a class whose region holds all leaves of tie 0",
    ),
    (
        "corner path",
        "a margin for a smaller ball",
        {f"{PIECE}.radius": "1/1000"},
        "a cover whose margin holds for the whole ball of residuals, found too small",
    ),
    ("corner path", "no margin", {f"{PIECE}.multipliers[1].margin": 0}, "found too small for"),
    (
        "corner path",
        "the same class twice",
        {
            f"{PIECE}.classes": [one_class("+", "101", [])] * 2,
            f"{PIECE}.weights": [weight("-1", "5"), "0 0"],
            f"{PIECE}.inverse": ["3/5 0 4/5"] * 2,
        },
        "no two classes of the same sign and pattern, found two",
    ),
    (
        "corner path",
        "no class",
        {f"{PIECE}.classes": [], f"{PIECE}.weights": [], f"{PIECE}.inverse": []},
        "a radius >= ",
    ),
    (
        "ridge path",
        "the ridge by a ray, which no class of a path can hold",
        {f"{PIECE}.multipliers[{i}]": BY_RAY for i in (0, 1)},
        "a class whose region holds all leaves of tie 0, found none",
    ),
    (
        "ridge path",
        "a ray in the place of the neuron",
        {f"{PIECE}.multipliers[{i}].ties[0]": tie("+", "1 0") for i in (0, 1)},
        "a neuron or face of this sign",
    ),
]
