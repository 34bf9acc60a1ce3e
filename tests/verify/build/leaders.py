"""Certificates whose dual point is proved by leaders: some by hand, three from files, and wrong ones with their reasons.

`single`: one row z = 1, y = 2, lambda = 51/50, theta = 1: one leader that pays for itself. `halves`: z = -1, and two
cells; on u >= 0 the row is off, and the normal of the cell says so. `twins`: equal rows whose theta cancel. `triad`:
three rows of sum zero, whose signs are never all equal; without saying so the leaders prove no lambda below 8.5. `xor`,
`plane` (equal rows, a row of zeros, cells of both signs) and `tied` (triangles, some with the sign 1) are what the
finder wrote.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from tests.verify.build import plain
from tests.verify.build.plain import Case, word, words
from tests.verify.oracle.brute import Mat, Vec, mat, vec
from verify import proved
from verify.problem.problem import Problem
from verify.proved_terms import TermsText

FOLDER = Path(__file__).parents[1] / "rocq"
CELL, OTHER, PROOF = "facts.leaders.+.cells[0]", "facts.leaders.-.cells[0]", "facts.leaders"


def cell(nu: int, leaders: Sequence[dict[str, Any]] = (), **fields: Any) -> dict[str, Any]:
    """A cell; what is not given is empty."""
    empty = {"rows": [], "p": "", "q": "", "normals": [], "excess": "", "squares": ""}
    return {"nu": str(nu), **empty, **fields, "leaders": list(leaders)}


def leader(row: int, c: int, **fields: Any) -> dict[str, Any]:
    """A leader; what is not given is empty."""
    empty = {"near": [], "weights": "", "normals": [], "normal_weights": ""}
    return {"row": row, "c": str(c), **empty, **fields}


def led(name: str, Z: Mat, y: Vec, lam: Fraction, w: Vec, evidence: dict[str, Any]) -> Case:
    """The certificate of a network with one neuron of sign + with entries in one column, or of none."""
    norm = sum(map(abs, w), Fraction(0))
    fit = tuple(max(sum((a * b for a, b in zip(z, w, strict=True)), Fraction(0)), Fraction(0)) for z in Z)
    theta = tuple(Fraction(evidence["unit"]) * t for t in vec(*evidence["theta"].split()))
    problem = {"model": "relu", "objective": plain.OBJECTIVE, "lambda": word(lam)}
    problem |= {"Z": [words(row) for row in Z], "y": words(y)}  # type: ignore[dict-item]
    neurons = [{"sign": "+", "w": words(w), "norm": word(norm)}] if any(w) else []
    facts = {"primal": {"neurons": neurons}, "leaders": evidence, **plain.value_and_fit(y, lam, fit, norm, theta)}
    raw = plain.table(Z, y)
    return Case(name, plain.certificate(problem, facts, raw), raw)


def evidence(theta: str, centres: Sequence[str], cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """In hundredths, with nothing to pay for the sign -."""
    return {
        **{"unit": "1/100", "theta": theta},
        **{"+": {"centres": list(centres), "cells": list(cells)}, "-": {"centres": [], "cells": [cell(51)]}},
    }


def single() -> Case:
    """One row, one leader."""
    proof = evidence("100", [], [cell(51, [leader(0, 100)])])
    return led("single", mat([[1]]), vec(2), Fraction(51, 50), vec(1), proof)


def halves() -> Case:
    """A row that is off in the first of two cells."""
    off = cell(2, [leader(0, 1, normals=[1], normal_weights="-50")])
    proof = evidence("100", ["1", "-1"], [off, cell(51, [leader(0, 100)])])
    return led("halves", mat([[-1]]), vec(2), Fraction(51, 50), vec(-1), proof)


def twins() -> Case:
    """Equal rows with opposite targets: no neuron pays."""
    proof = evidence("100 -100", [], [cell(1)])
    return led("twins", mat([[1, 2], [1, 2]]), vec(1, -1), Fraction(1), vec(0, 0), proof)


def triad() -> Case:
    """Three rows at nearly equal angles, tied by a triangle: sum |z_k.u| is at most 2 |z_2|, and lambda_max is |z_2|."""
    triangles = {"corners": "1 2 3", "signs": "1 1", "weights": "204"}
    proof = evidence("100 100 100", [], [cell(405, [leader(row, 412) for row in range(3)], triangles=triangles)])
    proof["-"] = {"centres": [], "cells": [cell(405)]}
    Z = mat([[8, 0], [-4, 7], [-4, -7]])
    return led("triad", Z, vec(1, 1, 1), Fraction(41, 5), vec(0, 0), proof)


def from_file(name: str) -> Case:
    """What the finder wrote; its claims state no more than that the network is optimal up to a part in a thousand."""
    tree = json.loads((FOLDER / f"{name}-leaders.json").read_text())
    Z, y = mat([row.split(" ") for row in tree["problem"]["Z"]]), vec(*tree["problem"]["y"].split(" "))
    proof = tree["facts"]["leaders"]
    theta = tuple(Fraction(proof["unit"]) * t for t in vec(*proof["theta"].split(" ")))
    fit, penalty = [Fraction(0)] * len(y), Fraction(0)
    for neuron in tree["facts"]["primal"]["neurons"]:
        w, xi = vec(*neuron["w"].split(" ")), plain.SIGNS[neuron["sign"]]
        penalty += Fraction(neuron["norm"])
        for k, z in enumerate(Z):
            fit[k] += xi * max(sum((a * b for a, b in zip(z, w, strict=True)), Fraction(0)), Fraction(0))
    value = plain.value_and_fit(y, Fraction(tree["problem"]["lambda"]), tuple(fit), penalty, theta)
    value["value"]["gap"] = "1/1000"
    raw = plain.table(Z, y)
    return Case(name, plain.certificate(tree["problem"], {**tree["facts"], **value}, raw), raw)


LED = {"single": single, "halves": halves, "twins": twins, "triad": triad}
FILES = ("xor", "plane", "tied")


@cache
def leading(name: str) -> Case:
    """One of them."""
    return from_file(name) if name in FILES else LED[name]()


def two_proofs() -> dict[str, Any]:
    """The list of patterns and its multipliers beside the leaders."""
    Z = mat([["1"]])
    listing = plain.list_patterns(Z)
    return {
        "facts.patterns": listing.fact,
        "facts.dual": {"theta": "1", "multipliers": plain.relu_multipliers(Z, listing, vec(1))[0]},
    }


def longer(name: str) -> dict[str, Any]:
    """theta times 1 + 1/10000."""
    theta = [int(t) for t in leading(name).certificate["facts"]["leaders"]["theta"].split(" ")]
    return {f"{PROOF}.theta": " ".join(str(t + t // 10**4) for t in theta)}


def halved(name: str) -> dict[str, Any]:
    """The weights of the triangles of the sign -, halved."""
    weights = leading(name).certificate["facts"]["leaders"]["-"]["cells"][0]["triangles"]["weights"]
    return {f"{OTHER}.triangles.weights": " ".join(str(int(x) // 2) for x in weights.split(" "))}


ENTRY = "an entry for row 0"
DEFINITE = "positive semidefinite"
WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    ("single", "leaders and a dual point of the list", two_proofs(), "one proof of the dual point"),
    ("single", "a theta that the leader does not pay for", {f"{PROOF}.theta": "103"}, DEFINITE),
    ("single", "a smaller lambda than the leaders prove", {"problem.lambda": "99/100"}, DEFINITE),
    ("single", "a unit of zero", {f"{PROOF}.unit": "0"}, "a number > 0"),
    ("single", "a larger unit", {f"{PROOF}.unit": "1/97"}, DEFINITE),
    ("single", "a theta for another row", {f"{PROOF}.theta": "100 0"}, "expected 1 numbers"),
    ("single", "a fraction for theta", {f"{PROOF}.theta": "199/2"}, "expected integers"),
    ("single", "a row that nobody leads", {f"{CELL}.leaders": []}, ENTRY),
    ("single", "the other sign is not paid for", {f"{PROOF}.theta": "-100"}, ENTRY),
    ("single", "signs exchanged", {f"{PROOF}.+": {"centres": [], "cells": [cell(51)]}}, ENTRY),
    ("single", "a leader of weight 0", {f"{CELL}.leaders[0].c": "0"}, "an integer > 0"),
    ("single", "a leader of negative weight", {f"{CELL}.leaders[0].c": "-100"}, "an integer > 0"),
    ("single", "a leader that costs too little", {f"{CELL}.leaders[0].c": "50"}, DEFINITE),
    ("single", "a leader named twice", {f"{CELL}.leaders": [leader(0, 100), leader(0, 100)]}, "ascending order"),
    ("single", "a leader of itself", {f"{CELL}.leaders[0]": leader(0, 100, near=[0], weights="9")}, "other rows than"),
    ("single", "a leader that is no row", {f"{CELL}.leaders[0].row": 1}, "an index below 1"),
    ("single", "nu beyond lambda", {f"{CELL}.nu": "80"}, r"nu \+ 1/4 sum c <= lambda"),
    ("single", "nu too small", {f"{CELL}.nu": "10"}, DEFINITE),
    ("single", "a negative square", {f"{CELL}.rows": [0], f"{CELL}.p": "0", f"{CELL}.q": "-50"}, "integers >= 0"),
    ("single", "squares without their price", {f"{CELL}.rows": [0], f"{CELL}.p": "0", f"{CELL}.q": "50"}, DEFINITE),
    ("single", "slopes without their price", {f"{CELL}.rows": [0], f"{CELL}.p": "100", f"{CELL}.q": "0"}, DEFINITE),
    ("single", "no cell", {f"{PROOF}.+.cells": []}, "an array of 1"),
    ("single", "a cell too much", {f"{PROOF}.+.cells": [cell(51, [leader(0, 100)])] * 2}, "an array of 1"),
    ("single", "an unknown part", {f"{CELL}.sigma": "1"}, "unknown key 'sigma'"),
    ("single", "a bound beyond what theta proves", {"facts.value.lower": "151/100"}, r"value\.lower"),
    ("single", "no network", {"facts.primal": ...}, "primal"),
    ("halves", "cells exchanged", {f"{PROOF}.+.centres": ["-1", "1"]}, DEFINITE),
    ("halves", "one half of the line is left out", {f"{PROOF}.+.centres": ["1"]}, "an array of 1"),
    ("halves", "a normal to the cell itself", {f"{CELL}.leaders[0].normals": [0]}, "other centres than 0"),
    ("halves", "a normal of no centre", {f"{CELL}.leaders[0].normals": [2]}, "below 2"),
    ("halves", "a normal too weak", {f"{CELL}.leaders[0].normal_weights": "-20"}, DEFINITE),
    ("halves", "a normal outwards", {f"{CELL}.leaders[0].normal_weights": "50"}, DEFINITE),
    ("halves", "a centre of other columns", {f"{PROOF}.+.centres": ["1 0", "-1"]}, "expected 1 numbers"),
    (
        *("halves", "a negative excess"),
        {f"{CELL}.normals": [1], f"{CELL}.excess": "-1", f"{CELL}.squares": "0"},
        "integers >= 0",
    ),
    (
        *("halves", "squares of normals without their price"),
        {f"{PROOF}.+.cells[1]": cell(27, [leader(0, 100)], normals=[0], excess="0", squares="25")},
        DEFINITE,
    ),
    ("twins", "a theta that does not cancel", {f"{PROOF}.theta": "100 -99"}, ENTRY),
    ("twins", "the second of equal rows leads", {f"{CELL}.leaders": [leader(1, 1)]}, "the first of its equal rows"),
    (
        *("twins", "the second of equal rows has a slope"),
        {f"{CELL}.rows": [1], f"{CELL}.p": "0", f"{CELL}.q": "0"},
        "the first of equal rows",
    ),
    ("triad", "no triangle", {f"{CELL}.triangles": ...}, DEFINITE),
    ("triad", "a triangle of weight 0", {f"{CELL}.triangles.weights": "0"}, DEFINITE),
    ("triad", "a triangle too light", {f"{CELL}.triangles.weights": "150"}, DEFINITE),
    ("triad", "a triangle that is not paid for", {f"{CELL}.triangles.weights": "300"}, r"nu \+ 1/4 sum c <= lambda"),
    ("triad", "a triangle of negative weight", {f"{CELL}.triangles.weights": "-204"}, "integers >= 0"),
    ("triad", "a triangle of other signs", {f"{CELL}.triangles.signs": "1 -1"}, DEFINITE),
    ("triad", "a triangle without a sign", {f"{CELL}.triangles.signs": "1 0"}, "1 or -1"),
    ("triad", "a triangle of two corners", {f"{CELL}.triangles.corners": "1 2 2"}, DEFINITE),
    ("triad", "a corner that is no leader", {f"{CELL}.triangles.corners": "1 2 4"}, "integers from 0 to 3"),
    ("triad", "the sign 1 for a corner", {f"{CELL}.triangles.corners": "1 2 0"}, DEFINITE),
    ("triad", "a theta that the triangle does not pay for", {f"{PROOF}.theta": "103 103 103"}, DEFINITE),
    ("plane", "a theta a ten-thousandth beyond the finder's", longer("plane"), DEFINITE),
    ("tied", "triangles of half the weight", halved("tied"), DEFINITE),
    (
        "tied",
        "a corner exchanged for the sign 1",
        {f"{OTHER}.triangles.corners": "0 5 4 4 3 5 0 1 4 3 1 4 2 5 4 0 4 2"},
        DEFINITE,
    ),
    ("tied", "a theta beyond what the finder's triangles prove", longer("tied"), DEFINITE),
    ("tied", "other data than the triangles'", {"problem.Z[0]": "-2 2"}, "data"),
    ("xor", "the data of another problem", {"problem.Z[0]": "0 0 2"}, "data"),
]


def free_leaders(
    lam: str = "5", theta: str = "100 -100", kappa: int = 0, centres: Sequence[str] = (), c: int = 200
) -> TermsText:
    """Beside free biases, as the proved checker is told: rows (1, 1) and (-1, 1), of which one leads for each sign."""
    one, sides = Fraction(1), {}
    for sign, row in (("+", 0), ("-", 1)):
        here = cell(300, [leader(row, c, near=[1 - row], weights="100")], kappa=str(kappa))
        sides[sign] = {"centres": list(centres), "cells": [here] * max(1, len(centres))}
    rows = ((one, one), (-one, one))
    problem = Problem("relu", Fraction(lam), rows, (one, -one), free=("biases",), outputs=((one, one),), biases=True)
    evidence = {"unit": "1/100", "theta": theta, **sides}
    found = proved.text_of(problem, {"neurons": [], "free": "0"}, {"leaders": evidence})
    assert isinstance(found, TermsText)
    return found
