"""A neuron on a fold, by hand: on one side of a line that bends up its face is another than on the other side.

Rows (1, 0, 0), (1, -1, 0), a = (0, 1, 0), b = (0, -1, 1), c = (0, -1, -1) with the residual 1, 1, 1/2, -3/4, -3/4 and
lambda = 2: v = (2, 0, 0), on a, which bends up, and on b and c, which bend down. Where u_2 >= 0, v is what a leaves of
the gradient, and b and c are idle: each has rows on one side only, so to leave them may cost nothing. Where u_2 <= 0, b
and c keep v in its place, and it costs to leave them. Both are one class, of which no more is said than on either side.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from tests.verify.build.plain import Case
from tests.verify.cover.plant import covered, proof, tie, tree
from tests.verify.oracle.brute import mat, vec
from verify.cover.tree import NEURON, RULE, SIGN, TURNED

AXES = ("1 0 0", "0 1 0", "0 0 1")
ABOVE = {"sign": "+", "pattern": "11000", "kinks": [2, 3, 4], "basis": [2], "idle": [3, 4], "fixed": ""}
BELOW = {"sign": "+", "pattern": "11000", "kinks": [2, 3, 4], "basis": [3, 4], "idle": [], "fixed": "0"}
TIES = (tie("+", "1 0 0", "2 0 0"), tie("+", "1 0 0", "0 2/3 2/3"))
SET = "facts.cover_set"


@cache
def fold() -> Case:
    """Roots in the order of the masks: bit 0 is u_1 > 0, bit 1 u_2 > 0. Where both are, the second row is split."""
    back, below, above = [RULE], [NEURON], [SIGN, RULE, NEURON]
    codes = 2 * [*back, *below, *back, *above]
    plus = tree(codes, [1, 0, 1, 0], rows=[1, 0, 1, 0])
    minus = tree([TURNED] * 8, [0, 2, 1] * 8)
    Z = mat([[1, 0, 0], [1, -1, 0], [0, 1, 0], [0, -1, 1], [0, -1, -1]])
    theta = vec(1, 1, "1/2", "-3/4", "-3/4")
    y = vec(2, 2, "1/2", "-3/4", "-3/4")
    evidence = proof(AXES, plus, minus, TIES)
    case = covered("fold", Z, y, Fraction(2), (vec(1, 0, 0), Fraction(1)), theta, evidence, [ABOVE, BELOW])
    case.certificate["claims"] += [{"claim": "strict-complementarity", "verdict": "UNDECIDED"}]
    return case


WRONG: list[tuple[str, dict[str, Any], str]] = [
    (
        "two faces of one class, the idle one first, and it is said to cost to leave both",
        {"claims[5].verdict": "PROVED"},
        r"claims\[5\]",
    ),
    (
        "two faces of one class, the idle one last, and it is said to cost to leave both",
        {
            "claims[5].verdict": "PROVED",
            f"{SET}.classes": [BELOW, ABOVE],
            "facts.cover.proof.ties": [*reversed(TIES)],
            "facts.cover.proof.+": tree(2 * [RULE, NEURON, RULE, SIGN, RULE, NEURON], [0, 1, 0, 1], rows=[1, 0, 1, 0]),
        },
        r"claims\[5\]",
    ),
    (
        "the face of the other side",
        {f"{SET}.classes": [BELOW, BELOW]},
        "strictness that the ball cannot end|a part between 0 and 1",
    ),
    (
        "idle kinks where they are needed",
        {f"{SET}.classes": [ABOVE, ABOVE]},
        "strictness that the ball cannot end at 2",
    ),
    (
        "two faces of one class with different kinks",
        {f"{SET}.classes[1]": {**BELOW, "kinks": [2, 3], "basis": [2], "idle": [3], "fixed": ""}},
        "strictness|a hyperplane on which v vanishes",
    ),
]
