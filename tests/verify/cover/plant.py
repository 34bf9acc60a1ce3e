"""Certificates with covers, by hand: small problems whose truth is known, and trees written byte by byte.

`corner`: Z = I, y = (6, 8), lambda = 5. The residual is (3, 4), the neuron (3, 4) lies inside the piece u >= 0.
`ridge`:  Z = ((2, 0), (0, 1), (0, -1)), y = (3, -1, -1), lambda = 2. The residual is (1, -1, -1), the neuron (1, 0)
          lies on the line u_2 = 0; said as a neuron with a share, as a ray that is a generator, as a ray at a star.
`wedge`:  the corner and a third row (1, -1) with the residual 1/4: a line that bends up and must be split.
"""

from __future__ import annotations

import base64
import json
import lzma
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from tests.verify.build import plain
from tests.verify.build.plain import Case, words
from tests.verify.oracle.brute import Mat, Vec, mat, vec
from verify.cover.lines import Row, Weights
from verify.cover.tree import ATOMS, NEURON, RAY, RULE, SIGN, STAR, TURNED

STREAMS = ("codes", "multipliers", "data", "rows")
Bytes = Sequence[int]


def packed(raw: Bytes) -> str:
    """base64 of an xz stream."""
    return base64.b64encode(lzma.compress(bytes(raw))).decode()


def unpacked(text: str) -> bytes:
    """The bytes again."""
    return lzma.decompress(base64.b64decode(text))


def tree(codes: Bytes, data: Bytes = (), multipliers: Bytes = (), rows: Bytes = ()) -> dict[str, str]:
    """The four streams of one sign; rows have two bytes each."""
    return {"codes": packed(codes), "multipliers": packed(multipliers), "data": packed(data), "rows": packed(rows)}


def proof(
    basis: Sequence[str], plus: dict[str, str], minus: dict[str, str], ties: Sequence[dict[str, str]], margin: int = 1
) -> dict[str, Any]:
    """The evidence of a cover."""
    return {"basis": list(basis), "ties": list(ties), "margin": margin, "+": dict(plus), "-": dict(minus)}


def tie(sign: str, u: str, shares: str | None = None) -> dict[str, str]:
    """A neuron with its shares, or a ray."""
    return {"sign": sign, "u": u} | ({} if shares is None else {"shares": shares})


def one_class(sign: str, pattern: str, kinks: Sequence[int], fixed: str = "") -> dict[str, Any]:
    """A class whose first kink is its basis."""
    return {
        **{"sign": sign, "pattern": pattern, "kinks": list(kinks)},
        **{"basis": list(kinks[:1]), "idle": [], "fixed": fixed},
    }


def covered(
    name: str,
    Z: Mat,
    y: Vec,
    lam: Fraction,
    neuron: tuple[Vec, Fraction],
    theta: Vec,
    evidence: dict[str, Any],
    classes: Sequence[dict[str, Any] | None],
) -> Case:
    """The certificate of a network with one neuron of sign +, its weight and the claims that its set proves."""
    w, norm = neuron
    fit = tuple(max(sum((a * b for a, b in zip(z, w, strict=True)), Fraction(0)), Fraction(0)) for z in Z)
    problem = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": str(lam)}
    problem |= {"Z": [words(row) for row in Z], "y": words(y)}  # type: ignore[dict-item]
    facts = {
        "primal": {"neurons": [{"sign": "+", "w": words(w), "norm": str(norm)}]},
        "cover": {"theta": words(theta), "proof": evidence},
        **plain.value_and_fit(y, lam, fit, norm, theta),
        "cover_set": {
            **{"lift": [], "classes": list(classes), "masses": str(norm / lam)},
            **{"split": "", "forced": ""},
        },
    }
    raw = plain.table(Z, y)
    certificate = plain.certificate(problem, facts, raw)
    kinked = any(one["kinks"] for one in classes if one is not None)
    verdicts = {"p-unique": "PROVED", "convex-unique": "REFUTED" if kinked else "PROVED", "e-equals-a": "PROVED"}
    certificate["claims"] += [{"claim": claim, "verdict": verdict} for claim, verdict in verdicts.items()]
    return Case(name, certificate, raw)


CORNER_PLUS = tree([RULE, RULE, TURNED, NEURON], [0, 1, 0])
CORNER_MINUS = tree([RULE] * 4)
AXES = ("1 0", "0 1")


def corner() -> Case:
    """A neuron inside a piece, and lambda_max = 10 by the same tree."""
    ties = [tie("+", "3 4", "")]
    evidence = proof(AXES, CORNER_PLUS, CORNER_MINUS, ties)
    neuron = (vec(3, 4), Fraction(5))
    Z = mat([[1, 0], [0, 1]])
    case = covered("corner", Z, vec(6, 8), Fraction(5), neuron, vec(3, 4), evidence, [one_class("+", "11", [])])
    case.certificate["facts"]["cover_lambda_max"] = {
        **{"squared": "100", "proof": proof(AXES, CORNER_PLUS, CORNER_MINUS, ties, 0)},
        "attained": {"sign": "+", "u": "3 4"},
    }
    return case


def ridge(name: str, evidence: dict[str, Any]) -> Case:
    """A neuron on a line that bends down."""
    Z = mat([[2, 0], [0, 1], [0, -1]])
    neuron = (vec(1, 0), Fraction(1))
    classes = [one_class("+", "100", [1])]
    return covered(name, Z, vec(3, -1, -1), Fraction(2), neuron, vec(1, -1, -1), evidence, classes)


RIDGE_MINUS = tree([RULE] * 4)


def piece() -> Case:
    """The ridge by a neuron with the share 1/2."""
    return ridge(
        "piece", proof(AXES, tree([RULE, NEURON, RULE, NEURON], [0, 0]), RIDGE_MINUS, [tie("+", "1 0", "1/2")])
    )


def ray() -> Case:
    """The ridge by a ray that is a generator: one atom each, on the generator that is not the ray."""
    data = [0, 1, 0, 1, 0, 1, 0, 1]  # twice: ray 0, one atom, at the second generator
    return ridge("ray", proof(AXES, tree([RULE, RAY, RULE, RAY], data), RIDGE_MINUS, [tie("+", "1 0")]))


def star() -> Case:
    """The ridge by a ray inside a cone: a star, then two ray leaves; the other cones are bisected as they need it."""
    leaves = [0, 1, 1, 0, 0, 1, 0, 1]  # ray 0, one atom: at the first generator of the one, the second of the other
    plus = tree([RULE, RULE, RULE, STAR, RAY, RAY], [0, 3, 0, 0, *leaves])
    return ridge("star", proof(("1 1", "1 -1"), plus, RIDGE_MINUS, [tie("+", "1 0")]))


def wedge() -> Case:
    """On one side of the third line the neuron, on the other nothing."""
    plus = tree([RULE, RULE, TURNED, SIGN, NEURON, TURNED], [0, 1, 0, 13, 15], rows=[2, 0])
    evidence = proof(AXES, plus, CORNER_MINUS, [tie("+", "3 4", "")])
    Z, y, theta = mat([[1, 0], [0, 1], [1, -1]]), vec(6, 8, "1/4"), vec(3, 4, "1/4")
    neuron = (vec(3, 4), Fraction(5))
    return covered("wedge", Z, y, Fraction(5), neuron, theta, evidence, [one_class("+", "110", [])])


def atoms() -> Case:
    """The ridge again, with its strict leaves spelled out: two atoms of weights 1 and 255, and their turns."""
    strict = [2, 1, 0, 1, 1, 0, 1, 1]  # two atoms, the first of weight 1; points (0, 1), (1, 0); turn (1, 1)
    plus = tree([ATOMS, NEURON, ATOMS, NEURON], [*strict, 0, *strict, 0])
    return ridge("atoms", proof(AXES, plus, RIDGE_MINUS, [tie("+", "1 0", "1/2")]))


def bisected() -> Case:
    """The corner with a cone cut in two where that is not needed, by 3 g_i + g_j."""
    plus = tree([RULE, 0, RULE, RULE, TURNED, NEURON], [0, 1, 0], [3])
    evidence = proof(AXES, plus, CORNER_MINUS, [tie("+", "3 4", "")])
    neuron = (vec(3, 4), Fraction(5))
    Z = mat([[1, 0], [0, 1]])
    return covered("bisected", Z, vec(6, 8), Fraction(5), neuron, vec(3, 4), evidence, [one_class("+", "11", [])])


def deficient() -> Case:
    """Rank 1 in two columns, and a row of zeros: one direction is enough. Z u = (u_1, 0, -2 u_1)."""
    Z, y, theta = mat([[1, 0], [0, 0], [-2, 0]]), vec(3, 7, "1/4"), vec(1, 7, "1/4")
    evidence = proof(["1 0"], tree([RULE, NEURON], [0]), tree([RULE, RULE]), [tie("+", "1 0", "")])
    neuron = (vec(2, 0), Fraction(2))
    return covered("deficient", Z, y, Fraction(1), neuron, theta, evidence, [one_class("+", "100", [])])


def hidden() -> Case:
    """The ridge in three dimensions. On the other side of a fourth row, which bends up, another tie, which is out."""
    plus = [RULE, SIGN, NEURON, NEURON, RULE, SIGN, NEURON, NEURON, RULE, NEURON, RULE, NEURON]
    ties = [tie("+", "1 0 0", "1/2"), tie("+", "1 0 -1", "1/2 1")]
    sides = tree(plus, [0, 1, 0, 1, 0, 0], rows=[1, 0, 1, 0]), tree([RULE] * 8)
    Z, theta = mat([[2, 0, 0], [0, 1, 0], [0, -1, 0], [-1, 0, -1]]), vec(1, -1, -1, "1/10")
    neuron, evidence = (vec(1, 0, 0), Fraction(1)), proof(("1 0 0", "0 1 0", "0 0 1"), *sides, ties)
    classes = [one_class("+", "1000", [1]), None]
    return covered("hidden", Z, vec(3, -1, -1, "1/10"), Fraction(2), neuron, theta, evidence, classes)


def plane() -> Case:
    """A neuron on a plane that seven convex and four concave lines leave, with stars where it meets facets."""
    here = Path(__file__).parent
    return Case("plane", json.loads((here / "plane.json").read_text()), (here / "plane.csv").read_bytes())


PLANTED: dict[str, Callable[[], Case]] = {
    **{"corner": corner, "piece": piece, "ray": ray, "star": star, "wedge": wedge},
    **{"atoms": atoms, "bisected": bisected, "deficient": deficient, "hidden": hidden, "plane": plane},
}


@cache
def planted(name: str) -> Case:
    """One of PLANTED."""
    return PLANTED[name]()


def value_at(weights: Weights, u: Row) -> Fraction:
    """xi theta.(Zu)_+"""
    on = sum(w * h for w, h in zip(weights.w, weights.lines.heights(u), strict=True) if h > 0)
    return Fraction(on + sum(a * b for a, b in zip(weights.c0, u, strict=True)), weights.unit)
