"""Certificates with covers that must be rejected: the case, why it is wrong, what is changed, what the message says."""

from __future__ import annotations

import base64
import lzma
from typing import Any

from tests.verify.build.plain import Case, certificate, list_patterns, relu_multipliers, table
from tests.verify.cover.plant import AXES, CORNER_MINUS, CORNER_PLUS, one_class, packed, planted, proof, tie, tree
from tests.verify.oracle.brute import mat, vec
from verify.cover.tree import ATOMS, FACE, NEURON, RAY, RULE, SIGN, STAR, TURNED

LOGISTIC = "sum log(1+exp(-y_k*(Xw)_k)) + lambda*sum|w_b|"
PROOF, SET = "facts.cover.proof", "facts.cover_set"
PLUS, MINUS, TIES = f"{PROOF}.+", f"{PROOF}.-", f"{PROOF}.ties"
LESS = "a.g >= f1"
ONE = base64.b64encode(lzma.compress(bytes([RULE])) * 2).decode()
RAY_LEAVES = [0, 1, 0, 1, 0, 1, 0, 1]


def with_tie(case: str, more: dict[str, str], its_class: dict[str, Any]) -> dict[str, Any]:
    """The changes that add a tie, which no leaf names, and its class."""
    tree_ = planted(case).certificate["facts"]
    return {
        TIES: [*tree_["cover"]["proof"]["ties"], more],
        f"{SET}.classes": [*tree_["cover_set"]["classes"], its_class],
    }


def dual_too() -> dict[str, Any]:
    """The zero point with its multipliers, which would show, if they were read for the point of the cover, that no
    neuron ties: then the network, which sits on a kink, would be unique in the convex program."""
    Z, zero = mat([row.split(" ") for row in planted("piece").certificate["problem"]["Z"]]), vec(0, 0, 0)
    listing = list_patterns(Z)
    nothing = {"lift": [], "classes": [], "out": {"+": [], "-": []}, "masses": "", "split": ""}
    return {
        "facts.patterns": listing.fact,
        "facts.dual": {"theta": "0 0 0", "multipliers": relu_multipliers(Z, listing, zero)[0]},
        "facts.cover_set": ...,
        "facts.optimal_set": {**nothing, "forced": ""},
        "claims[3].verdict": "PROVED",
    }


WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    # The frame of a cover
    ("piece", "a cover and a dual point of the list", dual_too(), "one proof of the dual point"),
    ("corner", "a basis that misses a direction", {f"{PROOF}.basis": ["1 0"]}, "vectors that span the rows"),
    ("corner", "a basis that is dependent", {f"{PROOF}.basis": ["1 0", "2 0"]}, "independent vectors"),
    ("corner", "no basis", {f"{PROOF}.basis": []}, "independent vectors"),
    ("corner", "a basis of many vectors", {f"{PROOF}.basis": ["1 0"] * 13}, "at most 12 vectors"),
    ("corner", "a vector of zeros in the basis", {f"{PROOF}.basis[0]": "0 0"}, "independent vectors"),
    ("corner", "a fraction in the basis", {f"{PROOF}.basis[0]": "1/2 0"}, "expected integers"),
    ("corner", "a basis of other columns", {f"{PROOF}.basis[0]": "1"}, "expected 2 numbers"),
    ("corner", "many ties", {TIES: [tie("+", "3 4", "")] * 256}, "at most 255, found 256"),
    ("corner", "a margin that is no index", {f"{PROOF}.margin": 2**40}, "an index below"),
    ("corner", "a margin that is negative", {f"{PROOF}.margin": "-1"}, "an index below"),
    (
        *("corner", "weights too large for short integers"),
        {"facts.cover.theta": "3000000 4000000", TIES: [], f"{PROOF}.margin": 2**40 - 1},
        "short integers are precise enough",
    ),
    ("corner", "a theta that is a little longer", {"facts.cover.theta": "3 16000000001/4000000000"}, r"\|v\|\^2 <= 25"),
    (
        "corner",
        "a theta that is too long, and no tie",
        {"facts.cover.theta": "4 4", TIES: []},
        rf"\.\+: .*{LESS}",
    ),
    (
        "corner",
        "a theta that follows from no network",
        {
            "facts.primal": ...,
            "facts.value": ...,
            "facts.fit": ...,
            SET: ...,
            "claims": [],
            "facts.cover.theta": {"tau": "1", "bits": 9},
        },
        "the fact primal",
    ),
    ("corner", "a theta of very many bits", {"facts.cover.theta": {"tau": "1", "bits": 4096}}, "an index below 4096"),
    *(
        ("corner", why, {"facts.cover.theta": {"tau": "1", "bits": 9, "moves": moves}}, message)
        for why, moves, message in (
            ("a theta moved out", [[1, "1/4000000000"]], r"\|v\|\^2 <= 25"),
            ("a theta moved twice, each time half of what is too far", [[1, "1/8000000000"]] * 2, r"\|v\|\^2 <= 25"),
            ("a move of no row", [[2, "0"]], "an index below 2"),
            ("a move without its length", [[1]], "an array of 2"),
        )
    ),
    # The streams
    ("corner", "a stream that is not base64", {f"{PLUS}.codes": "yMjJyw"}, "base64 of an xz stream"),
    ("corner", "a stream that is not xz", {f"{PLUS}.codes": "AAAA" * 16}, "base64 of an xz stream"),
    ("corner", "a stream with letters of another script", {f"{PLUS}.codes": "\u00e4" * 4}, "base64 of an xz stream"),
    ("corner", "two streams in one", {f"{MINUS}.codes": ONE}, "one whole xz stream"),
    (
        *("corner", "half a stream"),
        {f"{MINUS}.codes": base64.b64encode(lzma.compress(bytes([RULE] * 4))[:-13]).decode()},
        "one whole xz stream",
    ),
    ("corner", "an empty stream", {f"{MINUS}.codes": packed([])}, "an entry for every node"),
    ("corner", "a cone without a leaf", {f"{MINUS}.codes": packed([RULE] * 3)}, "an entry for every node"),
    ("corner", "a leaf too much", {f"{MINUS}.codes": packed([RULE] * 5)}, "streams that are used up"),
    ("corner", "data left over", {f"{MINUS}.data": packed([0])}, "streams that are used up"),
    ("corner", "a multiplier left over", {f"{MINUS}.multipliers": packed([0])}, "streams that are used up"),
    ("corner", "a row left over", {f"{MINUS}.rows": packed([0, 0])}, "streams that are used up"),
    ("corner", "half a row", {f"{MINUS}.rows": packed([0])}, "streams that are used up"),
    ("corner", "no direction of c", {f"{PLUS}.data": packed([0])}, "an entry for every node"),
    ("corner", "no number of the neuron", {f"{PLUS}.data": packed([0, 1])}, "an entry for every node"),
    ("bisected", "no multiplier", {f"{PLUS}.multipliers": packed([])}, "an entry for every node"),
    ("wedge", "no row", {f"{PLUS}.rows": packed([])}, "an entry for every node"),
    (
        "corner",
        "a code that is no node",
        {f"{MINUS}.codes": packed([RULE, RULE, RULE, 1])},
        "a code of a node, found 1",
    ),
    ("corner", "a code beyond all nodes", {f"{MINUS}.codes": packed([RULE, RULE, RULE, 255])}, "a code of a node"),
    # The tree
    (
        *("corner", "one sign in the place of the other"),
        {PLUS: CORNER_MINUS, MINUS: CORNER_PLUS},
        rf"\.\+: .*{LESS}",
    ),
    (
        "wedge",
        "a line split twice",
        {PLUS: tree([RULE, RULE, TURNED, SIGN, SIGN, NEURON, NEURON, TURNED], [0, 1, 0, 0, 13, 15], rows=[2, 0, 2, 0])},
        "not split before, found number 2",
    ),
    ("wedge", "a line that does not bend up", {f"{PLUS}.rows": packed([3, 0])}, "not split before, found number 3"),
    ("wedge", "a split of another line", {f"{PLUS}.rows": packed([0, 0])}, LESS),
    ("wedge", "a line by its high byte", {f"{PLUS}.rows": packed([2, 1])}, "found number 258"),
    (
        "wedge",
        "the sides of a split exchanged",
        {
            f"{PLUS}.codes": packed([RULE, RULE, TURNED, SIGN, TURNED, NEURON]),
            f"{PLUS}.data": packed([0, 1, 13, 15, 0]),
        },
        LESS,
    ),
    ("star", "a star at a neuron", {TIES: [tie("+", "1 0", "1/2")]}, "a face of this sign"),
    (
        "star",
        "a star at a ray that is not there",
        {f"{PLUS}.data": packed([1, 3, 0, 0, *RAY_LEAVES])},
        "a face of this sign",
    ),
    ("star", "a star at a ray of the other sign", {f"{TIES}[0].sign": "-"}, "a face of this sign"),
    (
        "star",
        "a star that misses a child",
        {f"{PLUS}.data": packed([0, 1, 0, 0, *RAY_LEAVES[:4]]), f"{PLUS}.codes": packed([RULE, RULE, RULE, STAR, RAY])},
        "a child for every generator",
    ),
    (
        "star",
        "a star without children",
        {f"{PLUS}.data": packed([0, 0, 0, 0]), f"{PLUS}.codes": packed([RULE, RULE, RULE, STAR])},
        "a child for every generator",
    ),
    (
        "star",
        "a star in another cone",
        {f"{PLUS}.codes": packed([STAR, RAY, RAY, RULE, RULE, RULE])},
        "a vector inside the cone",
    ),
    (
        "ray",
        "a star in a cone that a star made flat",
        {PLUS: tree([RULE, STAR, STAR], [0, 3, 0, 0, 0, 3, 0, 0])},
        "independent generators",
    ),
    (
        *("deficient", "a star at a ray outside of the row space"),
        {PLUS: tree([STAR, RAY, NEURON], [1, 1, 0, 0, 0, 0]), TIES: [tie("+", "1 0", ""), tie("+", "0 1")]},
        "a vector in the span of the rows",
    ),
    (
        "star",
        "a star on a plane that is a ray",
        {PLUS: tree([RULE, RULE, RULE, FACE, RAY, RAY], [0, 3, 0, 0, 0, *RAY_LEAVES])},
        "a plane and a facet",
    ),
    (
        "ray",
        "a star on a plane in a cone that a star made flat",
        {PLUS: tree([RULE, STAR, FACE], [0, 3, 0, 0, 1, 3, 0, 0, 0]), TIES: [tie("+", "1 0"), tie("+", "-1 1")]},
        "independent generators",
    ),
    (
        *("plane", "a star on a plane inside the facet, which would be one at zero"),
        {PLUS: tree([FACE], [0, 0, 0, 0, 2]), f"{PROOF}.basis": ["1 0 0 0", "0 1 0 0", "0 0 1 0", "0 0 0 1"]},
        "a plane that is not in the facet",
    ),
    (
        "star",
        "a star on a plane at a facet that is not there",
        {PLUS: tree([FACE], [1, 3, 0, 0, 2]), TIES: [tie("+", "1 0"), tie("+", "-1 1")]},
        "a plane and a facet",
    ),
    ("star", "a star at zero", {f"{TIES}[0].u": "0 0"}, "a vector other than zero"),
    # Strict leaves
    (
        "corner",
        "c by the rule where it must be turned",
        {f"{PLUS}.codes": packed([RULE, RULE, RULE, NEURON]), f"{PLUS}.data": packed([0])},
        LESS,
    ),
    ("corner", "c turned the wrong way", {f"{PLUS}.data": packed([1, 0, 0])}, LESS),
    ("corner", "no c at all", {f"{PLUS}.data": packed([0, 0, 0])}, LESS),
    (
        "corner",
        "a strict leaf around the neuron",
        {f"{PLUS}.codes": packed([RULE, RULE, TURNED, TURNED]), f"{PLUS}.data": packed([0, 1, 3, 4])},
        LESS,
    ),
    (
        "atoms",
        "no atoms",
        {PLUS: tree([ATOMS, NEURON, ATOMS, NEURON], [0, 1, 1, 0, 0, 1, 1, 0])},
        "weights > 0 that add up to 256",
    ),
    (
        "atoms",
        "an atom without weight",
        {PLUS: tree([ATOMS, NEURON, ATOMS, NEURON], [2, 0, 0, 1, 1, 0, 1, 1, 0])},
        "weights > 0 that",
    ),
    (
        "atoms",
        "atoms that weigh too much",
        {PLUS: tree([ATOMS, NEURON, ATOMS, NEURON], [3, 255, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0])},
        "weights > 0 that",
    ),
    # Neurons and rays
    ("piece", "a share beyond 1", {f"{TIES}[0].shares": "3/2"}, r"shares in \[0, 1\]"),
    ("piece", "a share below 0", {f"{TIES}[0].shares": "-1/2"}, r"shares in \[0, 1\]"),
    ("piece", "a share that does not shorten v", {f"{TIES}[0].shares": "1/3"}, r"\|v\|\^2 <= 4"),
    ("piece", "no share for a line", {f"{TIES}[0].shares": ""}, "expected 1 numbers"),
    (
        *("corner", "a cone that leaves the piece"),
        {PLUS: tree([RULE, RULE, NEURON, NEURON], [0, 0])},
        "a cone inside the piece of neuron 0",
    ),
    ("piece", "the neuron's antipode", {f"{TIES}[0].u": "-1 0"}, "a cone inside the piece of neuron 0"),
    (
        "wedge",
        "a share between 0 and 1 of a line that bends up",
        {TIES: [tie("+", "1 1", "1/2")]},
        "outside \\(0, 1\\)",
    ),
    ("corner", "a neuron of the other sign", {f"{TIES}[0].sign": "-"}, "a neuron or face of this sign"),
    (
        "corner",
        "a neuron that is not listed",
        {f"{PLUS}.data": packed([0, 1, 1])},
        "a neuron or face of this sign, found number 1",
    ),
    ("piece", "a ray where the leaf names a neuron", {TIES: [tie("+", "1 0")]}, "a neuron or face of this sign"),
    ("ray", "a neuron where the leaf names a ray", {TIES: [tie("+", "1 0", "1/2")]}, "a neuron or face of this sign"),
    ("ray", "a ray above lambda", {"facts.cover.theta": "2 -1 -1"}, r"\|v\|\^2 <="),
    (
        "ray",
        "a face on which the gradient is too long",
        {f"{TIES}[0].u": "1 1", PLUS: tree([RULE, RAY, RULE, RAY], RAY_LEAVES)},
        r"\|v\|\^2 <= 4, found 5",
    ),
    (
        "ray",
        "a ray leaf with the atom at the ray",
        {f"{PLUS}.data": packed([0, 1, 0, 1, 0, 1, 1, 0])},
        "neuron 0, or proved by that face",
    ),
    (
        "ray",
        "a ray leaf of which too little is left for the margin",
        {f"{PROOF}.margin": 2**40 - 1, "facts.cover.theta": "1 -1/16 -1/16"},
        "neuron 0, or proved by that face",
    ),
    (
        "ray",
        "a ray leaf that looks back",
        {PLUS: tree([NEURON, RAY, NEURON, RAY], [0, *RAY_LEAVES[:4], 0, *RAY_LEAVES[4:]])},
        "a neuron or face",
    ),
    # The set
    ("corner", "no margin for the ball", {f"{PROOF}.margin": 0}, "a cover whose margin holds"),
    ("corner", "a neuron that is not out", {f"{SET}.classes": [None]}, "the piece is not out"),
    ("corner", "a class too much", {f"{SET}.classes": [one_class("+", "11", [])] * 2}, "an array of 1"),
    (
        *("wedge", "two classes of one pattern with different neurons"),
        with_tie("wedge", tie("+", "1 1", "1"), one_class("+", "110", [2])),
        "the same v as the class before it",
    ),
    (
        *("hidden", "two classes of one pattern on different kinks"),
        {f"{SET}.classes[1]": {**one_class("+", "1000", [1, 3]), "basis": [1, 3]}},
        "the same v as the class before it",
    ),
    (
        *("wedge", "a class of the other sign than its tie"),
        with_tie("wedge", tie("-", "-1 -2", ""), one_class("+", "110", [])),
        "a class whose region holds all leaves of tie 1",
    ),
    (
        "wedge",
        "a line that bends up, looked at from both sides",
        {f"{SET}.classes[0]": one_class("+", "110", [2])},
        "strictness that the ball",
    ),
    ("ray", "a ray's class of the other sign", {f"{SET}.classes[0].sign": "-"}, "the sign and the pattern of the face"),
    (
        "ray",
        "a ray's class of another pattern",
        {f"{SET}.classes[0].pattern": "000"},
        "the sign and the pattern of the face",
    ),
    ("ray", "a ray without its line", {f"{SET}.classes[0]": one_class("+", "100", [])}, "all lines through the face"),
    (
        "ray",
        "a ray with an idle line",
        {f"{SET}.classes[0]": {**one_class("+", "100", [1]), "basis": [], "idle": [1]}},
        "all lines through the face",
    ),
    (
        "ray",
        "a class of a face on which the gradient is too long",
        with_tie("ray", tie("+", "1 1"), one_class("+", "110", [])),
        r"\|v\|\^2 <= 4, found 5",
    ),
    (
        "ray",
        "a ray on which nothing is positive",
        with_tie("ray", tie("+", "0 1"), one_class("+", "010", [0])),
        r"a v\(r\) with the pattern of u",
    ),
    # lambda_max
    ("corner", "lambda_max is zero", {"facts.cover_lambda_max.squared": "0"}, "a square > 0"),
    ("corner", "lambda_max is too small", {"facts.cover_lambda_max.squared": "99"}, r"\|v\|\^2 <= 99"),
    ("corner", "lambda_max is too large", {"facts.cover_lambda_max.squared": "101"}, r"sqrt\(squared\) \|u\|"),
    ("corner", "lambda_max attained nowhere", {"facts.cover_lambda_max.attained.u": "0 0"}, "a direction, not zero"),
    (
        "corner",
        "lambda_max attained by the other sign",
        {"facts.cover_lambda_max.attained.sign": "-"},
        r"sqrt\(squared\) \|u\|",
    ),
]


def logistic() -> Case:
    """Two labels and a theta beyond them."""
    Z, y = mat([[1, 0], [0, 1]]), vec(1, -1)
    problem = {**planted("corner").certificate["problem"], "objective": LOGISTIC, "y": "1 -1"}
    evidence = {"theta": "2 -1", "proof": proof(AXES, tree([RULE] * 4), tree([RULE] * 4), [])}
    raw = table(Z, y)
    return Case("logistic", certificate(problem, {"cover": evidence}, raw), raw)
