"""Two neurons on the two sides of a line that bends up: rows e_1, -e_1, e_2, theta = (3, 3, 4), lambda = 5, and the
neurons (3, 4) and (-3, 4), both with the weight 1. And the corner with the logistic loss, lambda_max = root 1/2."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from tests.verify.build import plain
from tests.verify.build.plain import Case, words
from tests.verify.cover.plant import AXES, CORNER_MINUS, one_class, proof, tie, tree
from tests.verify.oracle.brute import mat, vec
from verify.cover.tree import NEURON, RULE, TURNED
from verify.problem.variants import LOGISTIC

RIGHT, LEFT = one_class("+", "101", []), one_class("+", "011", [])
TIES = [tie("+", "3 4", ""), tie("+", "-3 4", "")]
SET = "facts.cover_set"
PROOF = "facts.cover.proof"


@cache
def sides() -> Case:
    """Masses 1 and 1; all neurons are known, and the network is unique."""
    Z, y, theta, lam = mat([[1, 0], [-1, 0], [0, 1]]), vec(6, 6, 12), vec(3, 3, 4), Fraction(5)
    problem = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": "5", "Z": list(map(words, Z)), "y": words(y)}
    evidence = proof(AXES, tree([RULE, RULE, NEURON, NEURON], [1, 0]), tree([RULE] * 4), TIES)
    facts = {
        "primal": {"neurons": [{"sign": "+", "w": w, "norm": "5"} for w in ("3 4", "-3 4")]},
        "cover": {"theta": words(theta), "proof": evidence},
        **plain.value_and_fit(y, lam, vec(3, 3, 8), Fraction(10), theta),
        "cover_set": {
            **{"lift": [], "classes": [RIGHT, LEFT], "masses": "1 1"},
            **{"split": "", "forced": ""},
        },
    }
    raw = plain.table(Z, y)
    certificate = plain.certificate(problem, facts, raw)
    claims = ("p-unique", "convex-unique", "e-equals-a", "licq", "strict-complementarity", "sensitivity")
    certificate["claims"] += [{"claim": claim, "verdict": "PROVED"} for claim in claims]
    return Case("sides", certificate, raw)


@cache
def largest() -> Case:
    """lambda_max of the logistic loss, by a cover: y / 2 takes the place of y."""
    Z, y = mat([[1, 0], [0, 1]]), vec(1, 1)
    problem = {"model": "relu", "objective": LOGISTIC, "lambda": "1", "Z": list(map(words, Z)), "y": words(y)}
    plus = tree([RULE, TURNED, TURNED, NEURON], [1, 0, 0, 1, 0])
    evidence = proof(AXES, plus, CORNER_MINUS, [tie("+", "1 1", "")], 0)
    fact = {"squared": "1/2", "proof": evidence, "attained": {"sign": "+", "u": "1 1"}}
    raw = plain.table(Z, y)
    certificate = plain.certificate(problem, {"cover_lambda_max": fact}, raw)
    certificate["claims"] = [{"claim": "p-unique", "verdict": "PROVED"}]
    return Case("largest", certificate, raw)


CASES = {"sides": sides, "largest": largest}
REGION = "a class whose region holds all leaves of tie"
WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    ("sides", "the classes of the two sides swapped", {f"{SET}.classes": [LEFT, RIGHT]}, f"{REGION} 0"),
    ("sides", "one side of a line twice", {f"{SET}.classes": [RIGHT, RIGHT], f"{SET}.masses": "1"}, f"{REGION} 1"),
    ("sides", "a side left out", {f"{SET}.classes": [RIGHT, None], f"{SET}.masses": "1"}, "the piece is not out"),
    ("sides", "a class for one tie of two", {f"{SET}.classes": [RIGHT]}, "an array of 2"),
    (
        "sides",
        "a class of the other sign",
        {f"{SET}.classes": [one_class("-", "101", []), LEFT]},
        "strictness that the ball cannot end at 0",
    ),
    (
        "sides",
        "the sides of the ties swapped",
        {f"{PROOF}.+": tree([RULE, RULE, NEURON, NEURON], [0, 1])},
        "a cone inside the piece of neuron 0",
    ),
    ("sides", "no margin for the ball, which is a point", {f"{PROOF}.margin": 0}, "found too small for"),
    (
        "largest",
        "the lambda_max of the squared loss",
        {"facts.cover_lambda_max.squared": "2"},
        r"y.\(output of u\) = sqrt\(squared\)",
    ),
    ("largest", "a square of zero", {"facts.cover_lambda_max.squared": "0"}, "a square > 0"),
    (
        "largest",
        "lambda_max of a logistic loss attained by the other sign",
        {"facts.cover_lambda_max.attained.sign": "-"},
        r"y.\(output of u\) = sqrt\(squared\)",
    ),
    ("largest", "lambda below lambda_max", {"problem.lambda": "7/10"}, "lambda beyond lambda_max"),
]
