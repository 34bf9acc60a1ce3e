"""Certificates that must be rejected, each with the reason why it is wrong and with what the message must say."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from math import isqrt
from typing import Any

from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import over_patterns
from tests.variants.stated import certified, random_data
from tests.verify.build import bags, inputs
from tests.verify.build import free_terms as free
from tests.verify.build.leaders import WRONG as LEADERS
from tests.verify.build.leaders import leading
from tests.verify.build.plain import Case
from tests.verify.corpus.accepted_cases import accepted
from tests.verify.cover.along import PATHS
from tests.verify.cover.along import WRONG as ALONG
from tests.verify.cover.fold import WRONG as FOLDED
from tests.verify.cover.fold import fold
from tests.verify.cover.plant import planted
from tests.verify.cover.sides import CASES
from tests.verify.cover.sides import WRONG as SIDES
from tests.verify.cover.wrong import WRONG as COVERS
from tests.verify.cover.wrong import logistic


@dataclass(frozen=True)
class Wrong:
    """A certificate that is wrong: the reason, and what the message must say (a regular expression)."""

    reason: str
    text: bytes
    raw: bytes
    message: str


def changed(case: Case, changes: dict[str, Any]) -> bytes:
    """The certificate with other values at some places (`...` drops one); places as the checker writes them."""
    tree = copy.deepcopy(case.certificate)
    for place, value in changes.items():
        *path, last = [int(key) if key.isdigit() else key for key in re.findall(r"[^.\[\]]+", place)]
        node: Any = tree
        for key in path:
            node = node[key]
        if value is ...:
            del node[last]
        else:
            node[last] = value
    return json.dumps(tree).encode()


# (case, reason, changes, message)
WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    # The frame
    ("one row", "another format", {"format": "certificate"}, r"certificate\.format: expected .*, found 'certificate'"),
    ("one row", "no version", {"version": ...}, "expected the key version"),
    ("one row", "version 0 never was", {"version": True}, r"certificate\.version: expected an index"),
    ("one row", "no end marker", {"end": ...}, "expected the key end"),
    ("one row", "a wrong end marker", {"end": "relu_cert"}, r"certificate\.end"),
    ("one row", "facts are an array", {"facts": []}, r"certificate\.facts: expected an object, found an array of 0"),
    ("one row", "an unknown fact", {"facts.theorem": {}}, "unknown key 'theorem'"),
    ("one row", "claims are an object", {"claims": {}}, r"certificate\.claims: expected an array, found an object"),
    ("one row", "an unknown claim", {"claims[0].claim": "p-optimal"}, r"claims\[0\]\.claim: expected .*'p-optimal'"),
    ("one row", "a claim twice", {"claims[1].claim": "patterns-complete"}, r"claims\[1\]: expected each claim once"),
    ("one row", "an unknown verdict", {"claims[0].verdict": "TRUE"}, r"claims\[0\]\.verdict"),
    ("one row", "a refutation of what nothing refutes", {"claims[1].verdict": "REFUTED"}, "nothing can refute optimal"),
    # The problem
    (
        "one row",
        "delta 0 is not elastic",
        {"problem.objective": "1/2|Xw-y|^2 + lambda*sum|w_b| + delta/2*sum|w_b|^2", "problem.delta": "0"},
        r"problem\.delta: expected delta > 0",
    ),
    (
        "one row",
        "elastic without delta",
        {"problem.objective": "1/2|Xw-y|^2 + lambda*sum|w_b| + delta/2*sum|w_b|^2"},
        "delta with the elastic objective only",
    ),
    ("one row", "delta without the elastic objective", {"problem.delta": "1"}, "delta with the elastic objective only"),
    (
        "one row",
        "a logistic loss of targets that are no labels",
        {"problem.objective": "sum log(1+exp(-y_k*(Xw)_k)) + lambda*sum|w_b|"},
        r"problem\.y: expected labels 1 and -1",
    ),
    ("one row", "no pattern at all", {"problem.patterns": []}, r"problem\.patterns: expected at least one pattern"),
    ("one row", "a pattern twice", {"problem.patterns": ["1", "1"]}, "each pattern once"),
    ("one row", "some patterns, and the fact patterns", {"problem.patterns": ["1"]}, "unknown key 'patterns'"),
    ("direct, planted", "a direct problem has no patterns", {"problem.patterns": ["11"]}, "unknown key 'patterns'"),
    ("one row", "an unknown model", {"problem.model": "lasso"}, r"problem\.model"),
    ("one row", "another objective", {"problem.objective": "|Xw-y|^2 + lambda*sum|w_b|"}, r"problem\.objective"),
    ("one row", "lambda is zero", {"problem.lambda": "0"}, r"problem\.lambda: expected lambda > 0, found '0'"),
    ("one row", "lambda is negative", {"problem.lambda": "-20"}, r"problem\.lambda: expected lambda > 0"),
    ("one row", "no data", {"problem.Z": []}, r"problem\.Z: expected at least one row"),
    ("one row", "no column", {"problem.Z": [""]}, r"problem\.Z: expected at least one row and one column"),
    ("xor, planted", "ragged rows", {"problem.Z[1]": "-1 1 0"}, "rows of one length, found an array of 4"),
    ("one row", "more targets than rows", {"problem.y": "-3 1"}, r"problem\.y: expected 1 numbers, found 2"),
    ("direct, planted", "a column in no group", {"problem.groups": [[3, 1], [4], [2]]}, r"problem\.groups"),
    ("direct, planted", "a column in two groups", {"problem.groups": [[3, 1], [4, 0], [0]]}, r"problem\.groups"),
    ("direct, planted", "an empty group", {"problem.groups": [[3, 1], [4, 0, 2], []]}, r"problem\.groups"),
    ("direct, planted", "a column that does not exist", {"problem.groups[2]": [5]}, "an index below 5, found 5"),
    (
        "direct, planted",
        "K of another group's size",
        {"problem.K[0]": ["0"]},
        r"problem\.K\[0\]: expected null or 2 rows",
    ),
    (
        "direct, planted",
        "K for one group too few",
        {"problem.K": [["0", "1"], None]},
        r"problem\.K: expected an array of 3",
    ),
    ("direct, planted", "another constraint than the data has", {"problem.K[2]": ["-2"]}, r"problem\.K: .*of the data"),
    (
        "direct, planted",
        "groups in another order than in the data",
        {"problem.groups": [[3, 1], [0, 4], [2]]},
        r"problem\.groups",
    ),
    # The input
    ("one row", "half a hash", {"input.sha256": "ab" * 16}, "64 lower-case hexadecimal digits"),
    (
        "one row",
        "another file's hash",
        {"input.sha256": "ab" * 32},
        r"input\.sha256: expected .*hash of the data given",
    ),
    ("one row", "csv read as json", {"input.kind": "json"}, r'input\.kind: expected "csv"'),
    ("direct, planted", "json read as csv", {"input.kind": "csv"}, r'input\.kind: expected "json"'),
    (
        "one row",
        "a bias column that is not there",
        {"input.bias": True},
        r"input\.bias: expected a last column of ones",
    ),
    (
        "one row",
        "a column that the data does not have",
        {"problem.Z": ["2 -1 0"]},
        "expected 1 x 2 numbers as in the data",
    ),
    ("one row", "another header", {"input.header": False}, r"input\.header: expected true, found false"),
    ("one row", "two characters between fields", {"input.delimiter": ",,"}, r"input\.delimiter"),
    ("one row", "a quote between fields", {"input.delimiter": '"'}, r"input\.delimiter"),
    ("one row", "a digit between fields", {"input.delimiter": "1"}, r"input\.delimiter: .*no part of a number"),
    ("one row", "a point between fields", {"input.delimiter": "."}, r"input\.delimiter: .*no part of a number"),
    ("one row", "an exponent between fields", {"input.delimiter": "e"}, r"input\.delimiter: .*no part of a number"),
    ("one row", "an unknown reading of numbers", {"input.numbers": "float"}, r"input\.numbers"),
    ("one row", "a target column beyond the last", {"input.target": 3}, r"input\.target: expected an index below 3"),
    ("one row", "another target column", {"input.target": 0}, r"problem\.Z row 0 column 0: expected -1 as in the data"),
    ("doubles", "0.1 read as a decimal", {"input.numbers": "decimal"}, r"problem\.Z row 0 column 0: expected 1/10"),
    (
        "one row",
        "another Z",
        {"problem.Z[0]": "2 -2"},
        r"problem\.Z row 0 column 1: expected -1 as in the data given, found -2",
    ),
    ("one row", "another y", {"problem.y": "3"}, r"problem\.y row 0 column 0: expected -3"),
    # Patterns
    (
        "xor, planted",
        "no groups",
        {"facts.patterns.groups": []},
        r"patterns\.groups\[0\]: expected an object, found null",
    ),
    ("xor, planted", "columns out of order", {"facts.patterns.columns": [1, 0]}, "indices in ascending order"),
    (
        "xor, planted",
        "the first group is not the open cells",
        {"facts.patterns.groups[0].flat": [0, 3]},
        "a flat, here no row",
    ),
    (
        "repeated and zero rows, planted",
        "a zero row outside the first flat",
        {"facts.patterns.groups[0].flat": []},
        r"a flat, here rows \[4\]",
    ),
    (
        "xor, planted",
        "a group's rows are no flat",
        {"facts.patterns.groups[1].flat": [0]},
        r"a flat, here rows \[0, 3\], found rows \[0\]",
    ),
    (
        "xor, planted",
        "an open cell left out",
        {"facts.patterns.groups[0].witnesses[0]": ...},
        r"as many witnesses as .*more than 3, found 3",
    ),
    (
        "xor, planted",
        "an open cell twice",
        {"facts.patterns.groups[0].witnesses[1]": "3 1"},
        r"witnesses\[1\]: .*(of a new pattern|only)",
    ),
    (
        "xor, planted",
        "a witness on a hyperplane",
        {"facts.patterns.groups[0].witnesses[0]": "-1 -1"},
        r"vanishes on no row only",
    ),
    (
        "xor, planted",
        "a witness with a fraction",
        {"facts.patterns.groups[0].witnesses[0]": "-1/2 -1"},
        "canonical integers",
    ),
    (
        "xor, planted",
        "a witness of another length",
        {"facts.patterns.groups[0].witnesses[0]": "-1"},
        "expected 2 integers, found 1",
    ),
    ("xor, planted", "a witness that is a number", {"facts.patterns.groups[0].witnesses[0]": 1}, "canonical integers"),
    ("xor, planted", "the group of the whole space left out", {"facts.patterns.groups[3]": ...}, r"covers"),
    (
        "xor, planted",
        "no covers",
        {"facts.patterns.covers": []},
        r"patterns\.covers: expected a cover of the dependent flat",
    ),
    ("xor, planted", "a cover that does not exist", {"facts.patterns.covers[0]": 9}, "an index below 9"),
    ("xor, planted", "a cover twice", {"facts.patterns.covers": [8, 8]}, "each index once"),
    ("circuits, planted", "too many covers", {"facts.patterns.covers": [0, 1]}, "the open cell that is 1 on all rows"),
    ("circuits, planted", "a circuit left out", {"facts.patterns.groups[0].circuits[0]": ...}, "more than"),
    (
        "circuits, planted",
        "a circuit that is none",
        {"facts.patterns.groups[0].circuits[0]": [0, 1, 3]},
        "row 0 in the span of the rest",
    ),
    (
        "circuits, planted",
        "a circuit of two rows",
        {"facts.patterns.groups[0].circuits[0]": [0, 1]},
        "in the span of the rest",
    ),
    ("circuits, planted", "an empty circuit", {"facts.patterns.groups[0].circuits[0]": []}, "in the span of the rest"),
    (
        "circuits, planted",
        "a circuit out of order",
        {"facts.patterns.groups[0].circuits[0]": [0, 2, 1]},
        "ascending order",
    ),
    (
        "repeated and zero rows, planted",
        "a circuit of rows that name no class",
        {"facts.patterns.groups[0].circuits": [[0, 1, 3]]},
        "names of classes",
    ),
    ("direct, planted", "patterns of a direct problem", {"facts.patterns": {}}, "unknown key 'patterns'"),
    # Multipliers
    (
        "xor, planted",
        "no patterns",
        {"facts.patterns": ..., "claims": []},
        r"lambda_max\.multipliers: expected the fact patterns",
    ),
    ("xor, planted", "one sign only", {"facts.dual.multipliers": {"+": []}}, "expected the key -"),
    (
        "xor, planted",
        "a piece without an entry",
        {"facts.dual.multipliers.-[1]": ...},
        r"dual\.multipliers\.-: expected an entry for every piece, found none for \*",
    ),
    (
        "xor, planted",
        "a piece twice",
        {"facts.dual.multipliers.+[1][0]": "0011"},
        r"multipliers\.\+\[1\]\[0\]: expected a piece .* no entry yet",
    ),
    (
        "xor, planted",
        "a base that is not a pattern's text",
        {"facts.dual.multipliers.+[0][0]": "001"},
        "a pattern of 4 characters",
    ),
    ("xor, planted", "rows out of order", {"facts.dual.multipliers.+[0][1]": [1, 0]}, "ascending order"),
    (
        "xor, planted",
        "a row twice",
        {"facts.dual.multipliers.+[0][1]": [1, 1], "facts.dual.multipliers.+[0][2]": "-3 -3"},
        "indices in ascending order, found an array of 2",
    ),
    (
        "xor, planted",
        "more rows than values",
        {"facts.dual.multipliers.+[0][1]": [0, 1], "facts.dual.multipliers.+[0][2]": "0"},
        "expected 2 numbers",
    ),
    (
        "xor, planted",
        "a multiplier below t where the piece is on",
        {"facts.dual.multipliers.+[1][1]": [0, 1, 2, 3], "facts.dual.multipliers.+[1][2]": "0 0 0 0"},
        r"multipliers\.\+\[1\]\[2\]: expected a value for row 0 that is >= 1, found 0",
    ),
    (
        "xor, planted",
        "a multiplier above 0 where the piece is off",
        {"facts.dual.multipliers.+[0][1]": [0], "facts.dual.multipliers.+[0][2]": "1/2"},
        "a value for row 0 that is <= 0, found 1/2",
    ),
    (
        "xor, planted",
        "a multiplier above 0 where t is not",
        {"facts.dual.multipliers.+[0][2]": "-3 1/2"},
        r"a value for row 3 that is in \[-3, 0\], found 1/2",
    ),
    (
        "xor, planted",
        "a multiplier below t where t is not positive",
        {"facts.dual.multipliers.+[0][2]": "-4 0"},
        r"a value for row 1 that is in \[-3, 0\], found -4",
    ),
    (
        "circuits, planted",
        "a multiplier above 0 where t is 0",
        {"facts.dual.multipliers.+[0]": ["11111", [2], "1/10"]},
        r"a value for row 2 that is in \[0, 0\], found 1/10",
    ),
    (
        "circuits, planted",
        "a multiplier below 0 where t is 0",
        {"facts.dual.multipliers.+[0]": ["00000", [2], "-1/10"]},
        r"a value for row 2 that is in \[0, 0\], found -1/10",
    ),
    (
        "antipodal rows, gated",
        "multipliers for gated ReLU",
        {"facts.dual.multipliers": {"+": [], "-": []}},
        r"dual\.multipliers: expected null",
    ),
    (
        "antipodal rows, gated",
        "a theta that is not feasible",
        {"facts.dual.theta": "10 20 30 -10"},
        r"for pattern \d+: expected \|Z'm\|\^2 <= 1600",
    ),
    (
        "direct, planted",
        "a multiplier for a free block",
        {"facts.dual.multipliers[1]": "1"},
        "null, because the block is free",
    ),
    ("direct, planted", "a negative multiplier", {"facts.dual.multipliers[0]": "-1/2"}, "multipliers >= 0"),
    (
        "direct, planted",
        "two multipliers for one constraint",
        {"facts.dual.multipliers[0]": "1/2 0"},
        "expected 1 numbers, found 2",
    ),
    (
        "direct, planted",
        "a multiplier that proves too little",
        {"facts.dual.multipliers[0]": None},
        r"\|X_b'theta - K_b rho\|\^2 <= 9, found 37/4",
    ),
    ("direct, planted", "a block without an entry", {"facts.dual.multipliers": ["1/2", None]}, "an array of 3"),
    # lambda_max
    ("one row", "lambda_max^2 is negative", {"facts.lambda_max.squared": "-45"}, "a square"),
    (
        "one row",
        "lambda_max too small",
        {"facts.lambda_max.squared": "44"},
        r"entry \d+: expected \|Z'm\|\^2 <= 44, found 45",
    ),
    (
        "one row",
        "lambda_max too large",
        {"facts.lambda_max.squared": "46"},
        r"attained\.u: expected y\.\(output of u\)",
    ),
    (
        "one row",
        "a direction that is not the best",
        {"facts.lambda_max.squared": "36", "facts.lambda_max.attained.u": "1 0"},
        r"entry 1: expected \|Z'm\|\^2 <= 36, found 45",
    ),
    ("one row", "a zero direction", {"facts.lambda_max.attained.u": "0 0"}, "a direction, not zero"),
    (
        "one row",
        "a direction that gains nothing",
        {"facts.lambda_max.attained.u": "-2 1"},
        r"attained\.u: expected y\.\(output of u\)",
    ),
    ("one row", "the sign that loses", {"facts.lambda_max.attained.sign": "+"}, r"attained\.u: .*found -45"),
    (
        "antipodal rows, gated",
        "a pattern outside D_Z",
        {"facts.lambda_max.attained.pattern": "0000"},
        "a pattern in D_Z",
    ),
    (
        "antipodal rows, gated",
        "a pattern that gains less",
        {"facts.lambda_max.attained.pattern": "1010"},
        r"expected \|Z'D y\|\^2 = ",
    ),
    (
        "direct, lambda above lambda_max",
        "a direction outside the cone",
        {"facts.lambda_max.attained.u": "2 1"},
        r"K_j\.w <= 0 for the constraint 0 of block 0, found 1",
    ),
    (
        "direct, lambda above lambda_max",
        "a block that gains less",
        {"facts.lambda_max.attained": {"block": 1, "u": "1"}},
        r"its square 8, found 2, its square 4",
    ),
    # The feasible point
    ("xor, planted", "a neuron that is zero", {"facts.primal.neurons[0].w": "0 0"}, "a vector other than zero"),
    (
        "xor, planted",
        "a norm below |w|",
        {"facts.primal.neurons[0].norm": "5"},
        r"norm: expected norm >= \|w\|, \|w\|\^2 = 36, found 5",
    ),
    ("xor, planted", "a negative norm", {"facts.primal.neurons[0].norm": "-6"}, r"expected norm >= \|w\|"),
    ("xor, planted", "a sign that is none", {"facts.primal.neurons[0].sign": "1"}, r'sign: expected "\+" or "-"'),
    (
        "xor, planted, gated",
        "a neuron's pattern outside D_Z",
        {"facts.primal.neurons[0].pattern": "0000"},
        "a pattern in D_Z",
    ),
    (
        "direct, planted",
        "a block twice",
        {"facts.primal.neurons[1]": {"block": 0, "w": "1 0", "norm": "1"}},
        "each block at most once",
    ),
    (
        "direct, planted",
        "a block outside its cone",
        {"facts.primal.neurons[0].w": "1 1/2"},
        r"K_j\.w <= 0 for the constraint 0 of block 0, found 1/2",
    ),
    ("direct, planted", "a block that does not exist", {"facts.primal.neurons[0].block": 3}, "an index below 3"),
    # The value, the fit, the claims
    (
        "xor, planted",
        "a lower bound too high",
        {"facts.value.lower": "51"},
        r"value\.lower: expected y\.theta - 1/2\|theta\|\^2 - cost = 50, found 51 \(off by 1\)",
    ),
    (
        "xor, planted",
        "an upper bound too low",
        {"facts.value.upper": "49"},
        r"value\.upper: expected 1/2\|fit - y\|\^2 \+ lambda sum norm \+ delta/2 sum \|w\|\^2 = 50",
    ),
    ("xor, planted", "a negative gap", {"facts.value.gap": "-1"}, "a gap from 0 to less than 1"),
    (
        "xor, planted",
        "a gap up to which everything is optimal",
        {"facts.value.gap": "1"},
        "a gap from 0 to less than 1",
    ),
    (
        "xor, planted",
        "another center",
        {"facts.fit.center": "0 0 0 0"},
        r"fit\.center: expected the fit -6 at row 2, found 0",
    ),
    (
        "xor, planted",
        "a larger ball",
        {"facts.fit.radius_squared": "1"},
        r"radius_squared: expected 2 \(upper - lower\) = 0, found 1",
    ),
    (
        "xor, planted",
        "a value without a point",
        {"facts.primal": ...},
        r"value: expected the fact primal, which this rests on, found none",
    ),
    (
        "xor, planted",
        "a value without a dual point",
        {"facts.dual": ...},
        r"value: expected the fact dual, which this rests on",
    ),
    ("xor, planted", "a fit without a value", {"facts.value": ..., "claims": []}, r"fit: expected the fact value"),
    ("one dimension", "patterns-complete without patterns", {"facts": {}}, r"claims\[0\]: expected the fact patterns"),
    ("direct, planted", "optimal without a value", {"facts": {}}, r"claims\[0\]: expected the fact (primal|value)"),
    ("direct, planted", "fit without a ball", {"facts.fit": ...}, r"claims\[1\]: expected the fact fit"),
    (
        "a gap that is not reached",
        "optimal, with a gap that is not reached",
        {"claims[1].verdict": "PROVED"},
        r"claims\[1\]: expected upper - lower <= gap \* upper",
    ),
    # Numbers and vectors
    ("xor, planted", "a number as JSON integer", {"facts.value.gap": 0}, r"value\.gap: expected a string, found 0"),
    ("xor, planted", "negative zero", {"facts.value.gap": "-0"}, "other than -0"),
    ("xor, planted", "a leading zero", {"facts.value.lower": "050"}, r"a number"),
    ("xor, planted", "not in lowest terms", {"facts.value.lower": "100/2"}, "lowest terms"),
    ("xor, planted", "denominator 1", {"facts.value.lower": "50/1"}, "no denominator 1"),
    ("xor, planted", "denominator 0", {"facts.value.lower": "50/0"}, "a number"),
    ("xor, planted", "a decimal point", {"facts.value.lower": "50.0"}, "a number"),
    ("xor, planted", "other digits", {"facts.value.lower": "\u0665\u0660"}, "a number"),
    ("xor, planted", "two spaces", {"facts.dual.theta": "1  -3 -3 -3"}, r"theta: expected 4 numbers, found 5"),
    ("xor, planted", "two spaces for a number", {"facts.dual.theta": "1  -3 -3"}, r"theta: expected a number"),
    ("xor, planted", "an index as string", {"facts.patterns.covers[0]": "8"}, "an index below 9, found '8'"),
    ("xor, planted", "an index that is a flag", {"facts.patterns.covers[0]": True}, "an index below 9, found true"),
    ("one row", "a flag as integer", {"input.bias": 0}, "true or false"),
]


def wrong() -> list[Wrong]:
    """All wrong certificates: those above, and some that need more than other values."""
    corpus = [
        Wrong(reason, changed(accepted(name), change), accepted(name).raw, message)
        for name, reason, change, message in WRONG
    ]
    corpus += [Wrong(*one) for one in (*bags.wrong(), *inputs.wrong())]
    corpus += covers() + leaders() + free_terms() + just_below() + no_lower_faces() + shared_neurons()
    return corpus + rejected_text() + unreadable_data()


def covers() -> list[Wrong]:
    """Certificates that rest on a cover."""
    message = "0 <= y_k theta_k <= 1 at row 0"
    found = [Wrong("a logistic theta beyond the labels", logistic().text, logistic().raw, message)]
    for name, reason, change, expected in COVERS:
        found.append(Wrong(reason, changed(planted(name), change), planted(name).raw, expected))
    for name, reason, change, expected in (*ALONG, *SIDES):
        case = (PATHS | CASES)[name]()
        found.append(Wrong(reason, changed(case, change), case.raw, expected))
    return found + [Wrong(reason, changed(fold(), change), fold().raw, expected) for reason, change, expected in FOLDED]


def leaders() -> list[Wrong]:
    """Certificates that rest on leaders."""
    return [Wrong(reason, changed(leading(n), change), leading(n).raw, said) for n, reason, change, said in LEADERS]


def free_terms() -> list[Wrong]:
    """Certificates of networks with free terms."""
    found = [
        Wrong(reason, changed(case, change), case.raw, message)
        for case, wrong in (
            (free.hinge(), free.WRONG),
            (free.covered(), free.COVERED),
            (free.bent(), free.BENT),
            (free.level(), free.LEVEL),
            (free.linear(), free.LINEAR),
            (free.pairs(), free.PAIRS),
            (free.two_sides(), free.SIDES),
            (free.unseen(), free.UNSEEN),
            (free.single(), free.ONE),
            (free.turned(), free.BOTH),
        )
        for reason, change, message in wrong
    ]
    other = [(accepted(name), *rest) for name, *rest in free.ELSEWHERE]
    return found + [Wrong(reason, changed(one, change), one.raw, message) for one, reason, change, message in other]


def just_below() -> list[Wrong]:
    """lambda, or lambda_max, smaller than the truth by less than a millionth, where data and targets are fractions."""
    name = "bias, semicolons, no header"
    case = accepted(name)
    squared = Fraction(case.certificate["facts"]["lambda_max"]["squared"])
    below = str(squared - Fraction(1, 10**6))
    root = str(Fraction(isqrt(int(squared * 10**12)), 10**6))  # at most lambda_max, which is irrational
    message = r"multipliers\.[+-] entry \d+: expected \|Z'm\|\^2 <= "
    return [
        Wrong("lambda_max a little too small", changed(case, {"facts.lambda_max.squared": below}), case.raw, message),
        Wrong("lambda a little below lambda_max", changed(case, {"problem.lambda": root}), case.raw, f"dual.{message}"),
    ]


def no_lower_faces() -> list[Wrong]:
    """Lower faces left out: all, or those of one flat in the middle; with every pattern that is left as a cover."""
    found = []
    for name in (
        "antipodal rows, planted",
        "axes in three dimensions",
        "grid in the plane, gated",
        "grid in space",
        "rank one, antipodal",
        "simplex, only all-ones is added",
    ):
        groups = accepted(name).certificate["facts"]["patterns"]["groups"]
        found.append(with_groups(f"{name}: no lower face listed", name, groups[:1]))
        for g in {1, len(groups) // 2} - {0, len(groups) - 1}:
            found.append(with_groups(f"{name}: no face of flat {g}", name, groups[:g] + groups[g + 1 :]))
    return found


def shared_neurons() -> list[Wrong]:
    """A polytope over the blocks of some patterns, where a neuron lies in two of them: its vertices are no networks."""
    data, raw = random_data(1, 5, 2)
    patterns = tuple("".join("01"[bit] for bit in on) for on in enumerate_patterns(data.Z).array().tolist())
    found = certified(over_patterns(data.Z, data.y, patterns, "relu"), data.source, Fraction(3))
    tree = json.loads(found.certificate_text)
    tree["facts"]["polytope"] = {}
    return [Wrong("a polytope of shared neurons", json.dumps(tree).encode(), raw, "neurons that lie in one block each")]


def with_groups(reason: str, name: str, groups: list[dict[str, Any]]) -> Wrong:
    """A certificate of the patterns alone, with other groups."""
    tree = accepted(name).certificate
    count = sum(len(group["witnesses"]) for group in groups)
    fact = {**tree["facts"]["patterns"], "groups": groups, "covers": list(range(count))}
    text = json.dumps({**tree, "facts": {"patterns": fact}, "claims": tree["claims"][:1]}).encode()
    return Wrong(reason, text, accepted(name).raw, "a cover of the dependent flat")


def rejected_text() -> list[Wrong]:
    """Text that is not strict JSON."""
    case = accepted("one row")
    text = case.text
    head = text[:-1]
    edits = [
        ("not UTF-8", b"\xff" + text, "'utf-8' codec can't decode byte 0xff in position 0"),
        ("a byte order mark", b"\xef\xbb\xbf" + text, "BOM"),
        ("UTF-16", text.decode().encode("utf-16"), "'utf-8' codec"),
        ("a digit behind an escape", text.replace(b'"9/2"', b'"\\u0039/2"'), "ASCII characters written as themselves"),
        ("two objects", text + text, "Extra data"),
        ("text after the end", text + b" x", "Extra data"),
        ("a NUL at the end", text + b"\0", "Extra data"),
        ("cut off", text[:-9], "one JSON value"),
        ("empty", b"", "one JSON value"),
        ("an array", b"[" + text + b"]", "certificate: expected an object"),
        ("a string", b'"relu_cert certificate"', "certificate: expected an object"),
        ("a key twice", head + b', "end": "relu_cert certificate"}', "a key twice among"),
        ("a key after the end", head.replace(b'"version": 2, ', b"") + b', "version": 2}', "the key end at the end"),
        ("an integer as float", text.replace(b'"version": 2,', b'"version": 1.0,'), "a JSON number with a fraction"),
        ("an exponent", text.replace(b'"version": 2,', b'"version": 1e0,'), "a JSON number with a fraction"),
        ("NaN", text.replace(b'"version": 2,', b'"version": NaN,'), "or NaN: 'NaN'"),
        ("Infinity", text.replace(b'"version": 2,', b'"version": -Infinity,'), "or NaN: '-Infinity'"),
        ("a negative integer", text.replace(b'"version": 2,', b'"version": -1,'), "JSON integers from 0"),
        ("a minus zero", text.replace(b'"covers": [', b'"covers": [-0, '), "JSON integers from 0"),
        (
            "a huge integer",
            text.replace(b'"version": 2,', b'"version": 2' + b"0" * 5000 + b","),
            "JSON integers from 0",
        ),
        ("a lone surrogate", text.replace(b'"format": "', b'"format": "\\ud800'), "'\\\\ud800relu_cert certificate'"),
        ("a raw line end in a string", text.replace(b'"format": "', b'"format": "\n'), "Invalid control character"),
        ("single quotes", text.replace(b'"format"', b"'format'"), "one JSON value"),
        ("a comment", b"/* */" + text, "one JSON value"),
    ]
    return [Wrong(reason, changed_text, case.raw, message) for reason, changed_text, message in edits]


TABLES = [
    (
        "a word among the numbers",
        b"x,z,y\n2,-1,-3\n2,one,-3\n",
        "data record 3 field 2: expected a number, found 'one'",
    ),
    ("a missing value", b"x,z,y\n2,,-3\n", "data record 2 field 2: expected a number, found ''"),
    ("a missing value in the first record", b"2,,-3\n", "data record 1 field 2: expected a number, found ''"),
    ("not a number in the first record", b"2,NaN,-3\n", "data record 1 field 2: expected a number, found 'NaN'"),
    ("an infinite number", b"x,z,y\n2,-inf,-3\n", "data record 2 field 2: expected a number, found '-inf'"),
    ("a hexadecimal number", b"x,z,y\n2,0x1,-3\n", "expected a number, found '0x1'"),
    ("an underscore in a number", b"x,z,y\n2,1_0,-3\n", "expected a number, found '1_0'"),
    ("a lone point", b"x,z,y\n2,.,-3\n", "expected a number, found '.'"),
    ("Arabic digits in the data", "x,z,y\n2,\u0661,-3\n".encode(), "expected a number"),
    ("a division by zero", b"x,z,y\n2,1/0,-3\n", "a denominator other than 0, found '1/0'"),
    ("a huge exponent", b"x,z,y\n2,1e999999999,-3\n", "an exponent of at most 5000"),
    ("a ragged record", b"x,z,y\n2,-1\n", "data record 2: expected 3 fields, found 2"),
    ("a blank line inside", b"x,z,y\n2,-1,-3\n\n2,-1,-3\n", "data record 3: expected 3 fields, found 0"),
    ("an empty file", b"", "at least one row of numbers, found none"),
    ("names only", b"x,z,y\n", "at least one row of numbers, found none"),
    ("one column only", b"y\n2\n", "a target column 2 and a feature, found 1 columns"),
    ("too few columns for the target", b"x,y\n2,1\n", "a target column 2 and a feature, found 2 columns"),
    ("data that is not UTF-8", b"x,z,y\n2,-1,\xff\n", "UTF-8 text in fields"),
    ("an open quote", b'x,z,y\n2,-1,"-3\n', "UTF-8 text in fields"),
    ("a number after a quote", b'x,z,y\n2,-1,"-"3\n', "UTF-8 text in fields"),
    ("many blank lines", b"x,z,y\n2,-1,-3\n" + b"\n" * 1100, "more than [0-9]+ fields"),
    ("another row", b"x,z,y\n2,-1,-3\n1,1,1\n", "2 x 2 numbers as in the data given, found 1 x 2"),
]
DIRECT = [
    ("a problem that is an array", b"[]", "data: expected an object, found an array"),
    ("a problem that is not JSON", b"{", "an object with X, groups, y"),
    (
        "a problem without rows",
        b'{"X": [], "groups": [[0]], "y": []}',
        r"problem\.groups: expected the groups of the data",
    ),
    (
        "a problem with ragged rows",
        b'{"X": [[1], [1, 2], []], "groups": [[3, 1], [4, 0], [2]], "K": [[[0], [1]], null, [[-1]]], "y": []}',
        r"problem\.X: expected 3 x 0/1/2 numbers as in the data given, found 3 x 5",
    ),
    (
        "a problem of many numbers",
        b'{"X": [[1]], "groups": [[0]], "y": [' + b"1, " * 2000 + b"1]}",
        "at most .* numbers",
    ),
    ("a problem without y", b'{"X": [[1]], "groups": [[0]]}', "data: expected the key y"),
    ("a problem with another key", b'{"X": [[1]], "groups": [[0]], "y": [1], "Z": 1}', "only the keys X, groups, y, K"),
    ("a problem with a key twice", b'{"X": [[1]], "groups": [[0]], "y": [1], "y": [1]}', "a key twice among"),
    (
        "a problem with a float",
        b'{"X": [[1.5]], "groups": [[0]], "y": [1]}',
        "or NaN: '1.5'",
    ),
    ("a problem with NaN", b'{"X": [[NaN]], "groups": [[0]], "y": [1]}', "or NaN: 'NaN'"),
    ("a problem with null", b'{"X": [[null]], "groups": [[0]], "y": [1]}', r"data\.X\[0\]\[0\]: .*found null"),
    (
        "a problem whose rows are no arrays",
        b'{"X": [1], "groups": [[0]], "y": [1]}',
        r"data\.X\[0\]: expected an array",
    ),
    (
        "a problem with names for columns",
        b'{"X": [[1]], "groups": [["0"]], "y": [1]}',
        r"data\.groups\[0\]\[0\]: expected a JSON integer",
    ),
]


def unreadable_data() -> list[Wrong]:
    """Raw data with the right hash that cannot be read as the certificate says, or that says something else."""
    found = []
    for name, tables in (("one row", TABLES), ("direct, planted", DIRECT)):
        for reason, raw, message in tables:
            text = changed(accepted(name), {"input.sha256": sha256(raw).hexdigest()})
            found.append(Wrong(reason, text, raw, message))
    raw = b"x,z,y\n2,1e309,-3\n"
    change = {"input.sha256": sha256(raw).hexdigest(), "input.numbers": "binary64"}
    found.append(Wrong("beyond the doubles", changed(accepted("one row"), change), raw, "within the range of binary64"))
    return found
