"""Certificates with an optimum in a field of algebraic numbers, whose truth is known.

Every exact set can be said in Q(sqrt 2), where nothing is irrational. The others are planted by hand: with Z = I the
residual is lambda y / |y|, and the weight |y| / lambda - 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import Any

from tests.verify.build import optimal_sets, plain
from tests.verify.build.plain import Case, words
from tests.verify.oracle.brute import Mat, Vec, combine, dot, mat, vec

SQRT_2 = {"polynomial": "-2 0 1", "lo": "1", "hi": "2"}
SQRT_5 = {"polynomial": "-5 0 1", "lo": "2", "hi": "3"}


def numbers(*entries: tuple[Any, ...]) -> list[str]:
    """Field numbers by their coefficients."""
    return [words(vec(*entry)) for entry in entries]


def rationals(entries: Sequence[Fraction]) -> list[str]:
    """Rationals as numbers of a field of degree 2."""
    return [words((x, Fraction(0))) for x in entries]


def read(text: str) -> Vec:
    """A vector of the format."""
    return vec(*text.split(" ")) if text else ()


def with_set(case: Case, fact: dict[str, Any], verdicts: tuple[str, str]) -> Case:
    """The case with `algebraic_set` in the place of other sets, and the verdicts on p-unique and convex-unique."""
    kept = {k: v for k, v in case.certificate["facts"].items() if k not in ("optimal_set", "exact_set", "polytope")}
    claims = [claim for claim in case.certificate["claims"] if not claim["claim"].endswith("unique")]
    claims += [{"claim": c, "verdict": v} for c, v in zip(("p-unique", "convex-unique"), verdicts, strict=True)]
    certificate = {**case.certificate, "facts": {**kept, "algebraic_set": fact}, "claims": claims}
    return Case(case.name, {**certificate, "end": certificate.pop("end")}, case.raw)


def embedded(name: str) -> Case:
    """An exact set, said in Q(sqrt 2)."""
    case = optimal_sets.exact_set(name)
    facts, problem = case.certificate["facts"], case.certificate["problem"]
    theta, stated = read(facts["dual"]["theta"]), facts["dual"]["multipliers"]
    multipliers: Any = None
    if problem["model"] == "relu":
        squared = Fraction(problem["lambda"]) ** 2
        Z = mat([row.split(" ") for row in problem["Z"]])
        multipliers = {
            sign: [
                [base, rows, rationals(read(values))]
                for base, rows, values in stated[sign]
                if length(Z, tuple(xi * x for x in theta), base, rows, read(values)) >= squared
            ]
            for sign, xi in plain.SIGNS.items()
        }
    elif problem["model"] == "cgl":
        multipliers = [[b, rationals(read(rho))] for b, rho in enumerate(stated) if rho is not None]
    exact = facts["exact_set"]
    fact = {
        "field": dict(SQRT_2),
        "residual": rationals(theta),
        "multipliers": multipliers,
        "solutions": [rationals(read(alpha)) for alpha in exact["solutions"]],
        "farkas": rationals(read(exact["farkas"])),
    }
    verdicts = {claim["claim"]: claim["verdict"] for claim in case.certificate["claims"]}
    return with_set(case, fact, (verdicts["p-unique"], verdicts["convex-unique"]))


def length(Z: Mat, t: Vec, base: str, rows: Sequence[int], values: Vec) -> Fraction:
    """|Z'm|^2 of an entry."""
    m = [t_k if on == "1" else Fraction(0) for t_k, on in zip(t, base, strict=True)]
    for k, x in zip(rows, values, strict=True):
        m[k] = x
    v = combine(Z, tuple(m))
    return dot(v, v)


def near_root(square: int) -> Fraction:
    """A rational a little below the root of an integer."""
    return Fraction(isqrt(square * 10**40), 10**20)


def diagonal() -> Case:
    """Z = I, y = (1, 2), lambda = 1: r = y/sqrt 5, one neuron of weight sqrt 5 - 1. Unique in every sense."""
    Z, y = mat([[1, 0], [0, 1]]), vec(1, 2)
    theta = tuple(x * near_root(5) / 5 for x in y)
    w = tuple(x * Fraction(5528, 10000) for x in y)  # about (1 - 1/sqrt 5) y
    case = plain.network("diagonal", "relu", Z, y, Fraction(1), [("+", w, Fraction(12361, 10000))], theta)
    fact = {
        "field": dict(SQRT_5),
        "residual": numbers((0, "1/5"), (0, "2/5")),
        "multipliers": {"+": [["11", [], []]], "-": []},
        "solutions": [numbers((-1, 1))],
        "farkas": numbers((0, 0), (0, 0)),
    }
    return with_set(case, fact, ("PROVED", "PROVED"))


def gates() -> Case:
    """Z = I, y = (0, 1, 2), lambda = 1, gated: the first gate does not matter, r_0 = 0: two patterns, one output."""
    Z, y = mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), vec(0, 1, 2)
    theta = tuple(x * near_root(5) / 5 for x in y)
    w = tuple(x * Fraction(5528, 10000) for x in y)
    case = plain.network("gates", "gated", Z, y, Fraction(1), [("111", w, Fraction(12361, 10000))], theta)
    fact = {
        "field": dict(SQRT_5),
        "residual": numbers((0, 0), (0, "1/5"), (0, "2/5")),
        "multipliers": None,
        "solutions": [numbers((-1, 1), (0, 0)), numbers((0, 0), (-1, 1))],
        "farkas": [],
    }
    return with_set(case, fact, ("REFUTED", "REFUTED"))


def flat_kink() -> Case:
    """The same with ReLU: the neuron is zero on the first row, where the residual is 0 whatever the ball says."""
    Z, y = mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), vec(0, 1, 2)
    theta = tuple(x * near_root(5) / 5 for x in y)
    w = tuple(x * Fraction(5528, 10000) for x in y)
    case = plain.network("flat kink", "relu", Z, y, Fraction(1), [("+", w, Fraction(12361, 10000))], theta)
    pieces = [entry for entry in case.certificate["facts"]["dual"]["multipliers"]["+"] if entry[0][1:] == "11"]
    fact = {
        "field": dict(SQRT_5),
        "residual": numbers((0, 0), (0, "1/5"), (0, "2/5")),
        "multipliers": {"+": [[entry[0], [], []] for entry in pieces], "-": []},
        "solutions": [numbers((-1, 1))],
        "farkas": numbers((0, 0), (0, 0), (0, 0)),
    }
    return with_set(case, fact, ("PROVED", "REFUTED"))


def outside() -> Case:
    """X = [I (3/5, 4/5)'], y = (6, 8), lambda = 5: r = (3, 4), and w_0 <= 0 in the first block, whose X'r = (3, 4) is
    as long as lambda but lies outside of its cone; the second block is the only one that ties."""
    y, r, lam = vec(6, 8), vec(3, 4), Fraction(5)
    problem = {"model": "cgl", "objective": plain.OBJECTIVE, "lambda": "5", "X": ["1 0 3/5", "0 1 4/5"]}
    problem |= {"groups": [[0, 1], [2]], "K": [["1", "0"], None], "y": words(y)}  # type: ignore[dict-item]
    facts = {
        "primal": {"neurons": [{"block": 1, "w": "5", "norm": "5"}]},
        "dual": {"theta": words(r), "multipliers": ["3", None]},
        **plain.value_and_fit(y, lam, vec(3, 4), lam, r),
    }
    fact = {
        "field": dict(SQRT_2),
        "residual": rationals(r),
        "multipliers": [[0, rationals(vec(3))]],
        "solutions": [rationals(vec(1))],
        "farkas": rationals(vec(0, 0)),
    }
    raw = b'{"X": [[1, 0, "3/5"], [0, 1, "4/5"]], "groups": [[0, 1], [2]], "K": [[[1], [0]], null], "y": [6, 8]}'
    return with_set(Case("outside", plain.certificate(problem, facts, raw), raw), fact, ("PROVED", "PROVED"))


PLANTED: dict[str, Callable[[], Case]] = {
    "diagonal": diagonal,
    "gates": gates,
    "flat kink": flat_kink,
    "outside": outside,
}
ALGEBRAIC = (*(f"{name}, rational" for name in optimal_sets.EXACT if name != "nothing"), *PLANTED)


@cache
def algebraic(name: str) -> Case:
    """One of ALGEBRAIC."""
    return PLANTED[name]() if name in PLANTED else embedded(name.removesuffix(", rational"))
