"""Certificates that must be accepted: every kind of data, model and fact, small."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

from tests.verify.build import plain
from tests.verify.build.plain import Case
from tests.verify.oracle import brute
from tests.verify.oracle.brute import mat, vec

XOR = mat([[-1, -1], [-1, 1], [1, -1], [1, 1]])
GENERAL = mat([[1, 2], [-2, 1], [3, -1], [0, 1]])
KINK = mat([[1, 0], [0, 1], [1, 1], [-1, 2], [2, -1]])
REPEATED = mat([[1, 2], [1, 2], [2, 4], [-1, 1], [0, 0]])
BOX = mat([[3, 4], [-3, -4], [4, -3], [-4, 3]])
AXES = mat([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -2, 0], [0, 0, 1]])
POSITIVE = mat([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1]])
RATIONAL = mat([["1/3", "-5/7", 1], ["2", "1/2", 1], ["-1/10", "0", 1]])
FLAT = mat([[1, 2, 0, 3], [2, 4, 0, -1]])  # n < d, a column of zeros, two dependent columns


def patterns_only(name: str, Z: brute.Mat, columns: list[int] | None = None) -> Case:
    """A certificate of the patterns alone."""
    listing = plain.list_patterns(Z)
    if columns is not None:  # witnesses on these columns only
        kept = plain.list_patterns(tuple(tuple(row[j] for j in columns) for row in Z))
        listing = replace(listing, fact={**kept.fact, "columns": columns})
    y = vec(*range(1, len(Z) + 1))
    problem = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": "1/10"}
    problem |= {"Z": [plain.words(row) for row in Z], "y": plain.words(y)}  # type: ignore[dict-item]
    raw = plain.table(Z, y)
    return Case(name, plain.certificate(problem, {"patterns": listing.fact}, raw), raw)


def with_bias(name: str) -> Case:
    """The last column of Z is the bias, not in the file; the target comes first; semicolons; no header."""
    case = plain.zero_network(name, RATIONAL, vec(1, "-1/2", 2), Fraction(10))
    raw = b'1;0.33333333333333333333333;-5/7\r\n-.5; 2 ;"5e-1"\r\n+2;-0.1;0\r\n\r\n'.replace(
        b"0.33333333333333333333333", b"1/3"
    )
    csv = {"bias": True, "target": 0, "delimiter": ";", "header": False}
    return Case(name, plain.certificate(case.certificate["problem"], case.certificate["facts"], raw, **csv), raw)


def as_doubles(name: str) -> Case:
    """0.1 is the double nearest to 1/10."""
    Z, y = mat([["3602879701896397/36028797018963968"], [2]]), vec(1, -1)
    case = plain.zero_network(name, Z, y, Fraction(3))
    raw = b"\xef\xbb\xbfx,y\n0.1,1\n2,-1\n"
    facts = case.certificate["facts"]
    return Case(name, plain.certificate(case.certificate["problem"], facts, raw, numbers="binary64"), raw)


def undecided(name: str) -> Case:
    """The gap asked for is not reached, and the certificate says so."""
    case = plain.loose_relu(name, GENERAL, vec(3, 1, 2, -1), Fraction(1), vec(1, 0), Fraction(1), Fraction(1, 20))
    tree = copy.deepcopy(case.certificate)
    tree["facts"]["value"]["gap"] = "1/1000000000"
    tree["claims"][1]["verdict"] = "UNDECIDED"
    return replace(case, certificate=tree)


ACCEPTED: dict[str, Callable[[str], Case]] = {
    "xor, lambda above lambda_max": lambda name: plain.zero_network(name, XOR, vec(-1, 1, 1, -1), Fraction(5)),
    "xor, planted": lambda name: plain.planted_relu(name, XOR, vec(1, -3, -3, -3)),
    "xor, planted, gated": lambda name: plain.planted_gated(name, XOR, vec(-3, -3, -3, -1)),
    "general position, planted": lambda name: plain.planted_relu(name, GENERAL, vec(3, -2, 3, 2), Fraction(1, 7)),
    "kinks, planted": lambda name: plain.planted_relu(name, KINK, vec(1, 2, -3, 1, -2)),
    "repeated and zero rows, planted": lambda name: plain.planted_relu(name, REPEATED, vec(3, 3, -2, 2, -1)),
    "antipodal rows, planted": lambda name: plain.planted_relu(name, BOX, vec(-1, -1, 3, -1)),
    "antipodal rows, gated": lambda name: plain.zero_network(name, BOX, vec(1, 2, 3, -1), Fraction(40), "gated"),
    "axes in three dimensions": lambda name: plain.zero_network(name, AXES, vec(1, -1, 2, 1, 3), Fraction(9)),
    "circuits, planted": lambda name: plain.planted_relu(name, POSITIVE, vec(-1, -1, 0, -1, -1)),
    "one dimension": lambda name: plain.zero_network(name, mat([[1], [-2], [0], [3]]), vec(1, 2, 3, -1), Fraction(20)),
    "one row": lambda name: plain.zero_network(name, mat([[2, -1]]), vec(-3), Fraction(20)),
    "zero data": lambda name: plain.zero_network(name, mat([[0, 0], [0, 0]]), vec(1, 2), Fraction(1, 2)),
    "zero targets": lambda name: plain.zero_network(name, XOR, vec(0, 0, 0, 0), Fraction(1)),
    "grid in the plane, gated": lambda name: plain.zero_network(
        name, mat(list(product((-1, 0, 1), repeat=2))), vec(*range(9)), Fraction(23), "gated"
    ),
    "grid in space": lambda name: patterns_only(name, mat(list(product((-1, 0, 1), repeat=3)))),
    "cube": lambda name: patterns_only(name, mat(list(product((0, 1), repeat=4)))),
    "fewer rows than columns": lambda name: patterns_only(name, FLAT, [0, 3]),
    "rank one, antipodal": lambda name: patterns_only(name, mat([[1, 2], [-2, -4], [0, 0]]), [1]),
    "simplex, only all-ones is added": lambda name: patterns_only(
        name, mat([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, -1]])
    ),
    "an interval": lambda name: plain.loose_relu(
        name, GENERAL, vec(3, 1, 2, -1), Fraction(1), vec("1/2", 0), Fraction(2, 3), Fraction(1, 20)
    ),
    "a gap that is not reached": undecided,
    "bias, semicolons, no header": with_bias,
    "doubles": as_doubles,
    "direct, planted": plain.direct,
    "direct, lambda above lambda_max": plain.direct_lambda_max,
}


@cache
def accepted(name: str) -> Case:
    """One accepted case."""
    return ACCEPTED[name](name)
