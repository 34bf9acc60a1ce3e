"""verify.optimal.leaders: what it accepts is true, and every change of valid evidence is rejected or still true."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.exact import matrix, vector
from relu_cert.serialize import serialize
from tests.leaders.planted import Y_SMALL, Z_SMALL, checked, found, holds_in_plane
from tests.verify.mutate import mutants
from verify import Declined, Rejected
from verify.optimal.leaders import PRIME, cholesky, semidefinite, spanning

LAMBDA = "2"


@cache
def record() -> dict[str, Any]:
    """Evidence with several cells for each sign, equal rows and a zero row."""
    leaders, _ = found(Z_SMALL, Y_SMALL, LAMBDA, cells=3)
    assert len(leaders.plus.cells) > 1 or len(leaders.minus.cells) > 1
    return serialize(leaders)


@cache
def tied() -> dict[str, Any]:
    """Evidence with triangles between the signs of leaders, for the sign +."""
    leaders, _ = found(Z_SMALL, Y_SMALL, LAMBDA, cells=1)
    evidence = serialize(leaders)
    assert evidence["+"]["cells"][0]["triangles"]["weights"]
    return evidence


def by_hand(theta: int = 99, nu: str = "50") -> dict[str, Any]:
    """One row z = 1, y = 1, lambda = 1: |theta| <= 1, here theta = 0.99; c = theta makes every inequality tight."""
    leader = {"row": 0, "c": "100", "near": [], "weights": "", "normals": [], "normal_weights": ""}
    empty = {"rows": [], "p": "", "q": "", "normals": [], "excess": "", "squares": ""}
    plus = {"nu": nu, **empty, "leaders": [leader]}
    minus = {"nu": nu, **empty, "leaders": []}
    return {
        "unit": "1/100",
        "theta": str(theta),
        "+": {"centres": [], "cells": [plus]},
        "-": {"centres": [], "cells": [minus]},
    }


def test_evidence_written_by_hand() -> None:
    """One row, lambda = 1: theta = 0.99 is proved, its value is theta - theta^2/2; theta = 1.01 is not."""
    theta, lower = checked([[1]], [1], "1", by_hand())
    assert theta == (Fraction(99, 100),)
    assert lower == Fraction(99, 100) - Fraction(99, 100) ** 2 / 2
    for wrong in (by_hand(101), by_hand(nu="10"), by_hand(nu="80")):
        with pytest.raises(Rejected):
            checked([[1]], [1], "1", wrong)


def test_found_evidence_is_accepted() -> None:
    """The finder's evidence proves the bound that it states, and (*) holds exactly."""
    leaders, result = found(Z_SMALL, Y_SMALL, LAMBDA)
    theta, lower = checked(Z_SMALL, Y_SMALL, LAMBDA, leaders)
    assert theta == leaders.theta and lower == leaders.lower
    assert holds_in_plane(Z_SMALL, theta, Fraction(LAMBDA))
    assert lower <= result.value.upper


def survivors(evidence: dict[str, Any], spread: int | None) -> tuple[int, list[str]]:
    """The number of mutants, and those that are accepted although (*) fails or the bound is not theta's."""
    y, total, wrong = vector(Y_SMALL), 0, []
    for mutant in mutants(evidence, spread):
        total += 1
        try:
            changed = json.loads(mutant.text, object_pairs_hook=_no_repeats)
            theta, lower = checked(Z_SMALL, Y_SMALL, LAMBDA, changed)
        except (Rejected, Declined, ValueError):
            continue
        value = sum((y_k * t - t * t / 2 for y_k, t in zip(y, theta, strict=True)), Fraction(0))
        if lower != value or not holds_in_plane(Z_SMALL, theta, Fraction(LAMBDA)):
            wrong.append(mutant.name)
    return total, wrong


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


@pytest.mark.long
def test_every_mutant_is_rejected_or_still_valid() -> None:
    """Each number, sign, index and part changed, dropped, repeated: what survives still has (*), decided exactly."""
    total, wrong = survivors(record(), 5)
    assert total > 1000
    assert wrong == []


@pytest.mark.long
def test_every_mutant_of_triangles_is_rejected_or_still_valid() -> None:
    """The same for evidence with triangles."""
    total, wrong = survivors(tied(), 5)
    assert total > 300
    assert wrong == []


def test_triangles_are_needed_and_paid_for() -> None:
    """Without its triangles, with half of their weights, with one of their signs turned, and with other corners the
    evidence is rejected."""
    checked(Z_SMALL, Y_SMALL, LAMBDA, tied())
    known = tied()["+"]["cells"][0]["triangles"]
    weights, signs = ([int(x) for x in known[key].split()] for key in ("weights", "signs"))
    corners = [int(x) for x in known["corners"].split()]
    wrong = [
        {"weights": [x // 2 for x in weights]},
        {"weights": [2 * x for x in weights]},
        {"signs": [-signs[0], *signs[1:]]},
        {"signs": [signs[0], -signs[1], *signs[2:]]},
        *({"corners": [*corners[:i], 0, *corners[i + 1 :]]} for i in range(3)),
    ]
    for change in wrong:
        text = {key: " ".join(map(str, numbers)) for key, numbers in change.items()}
        with pytest.raises(Rejected):
            checked(Z_SMALL, Y_SMALL, LAMBDA, edited("+", "cells", 0, "triangles", value=known | text, of=tied()))
    less = copy.deepcopy(tied())
    del less["+"]["cells"][0]["triangles"]
    with pytest.raises(Rejected):
        checked(Z_SMALL, Y_SMALL, LAMBDA, less)


def test_the_sign_one_is_no_leader() -> None:
    """A triangle whose corners are all the sign 1 says 0 >= 0 or 4 >= 0: it costs what it gives or more, and no c is
    added in its place."""
    for signs, good in (("-1 -1", True), ("1 1", False), ("1 -1", True), ("-1 1", True)):
        evidence = by_hand()
        evidence["+"]["cells"][0]["triangles"] = {"corners": "0 0 0", "signs": signs, "weights": "7"}
        if good:
            assert checked([[1]], [1], "51/50", evidence)[0] == (Fraction(99, 100),)
        else:
            with pytest.raises(Rejected, match="semidefinite"):
                checked([[1]], [1], "51/50", evidence)
    for theta in (100, 101, 150):  # c of the last leader in the place of 1 would pay for these
        evidence = by_hand(theta)
        evidence["+"]["cells"][0]["triangles"] = {"corners": "0 0 0", "signs": "-1 -1", "weights": "7"}
        with pytest.raises(Rejected):
            checked([[1]], [1], "99/100", evidence)


def test_too_many_signs_are_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    """The matrix of the signs has a limit: beyond it the certificate is declined, at it it is read."""
    corners = len({*tied()["+"]["cells"][0]["triangles"]["corners"].split()})
    monkeypatch.setattr("verify.optimal.leaders.MOST_SIGNS", corners)
    assert checked(Z_SMALL, Y_SMALL, LAMBDA, tied())
    monkeypatch.setattr("verify.optimal.leaders.MOST_SIGNS", corners - 1)
    with pytest.raises(Declined, match="leaders in triangles"):
        checked(Z_SMALL, Y_SMALL, LAMBDA, tied())


@pytest.mark.long
def test_mutants_at_the_edge_are_rejected() -> None:
    """Evidence without room to move (theta as large as its proof allows): larger theta, and less of what pays for it,
    is rejected."""
    evidence = record()
    theta = [int(t) for t in evidence["theta"].split()]
    larger = copy.deepcopy(evidence) | {"theta": " ".join(str(t + t // 10**4) for t in theta)}
    with pytest.raises(Rejected):
        checked(Z_SMALL, Y_SMALL, LAMBDA, larger)
    dropped = 0
    for sign in "+-":
        for i, cell in enumerate(evidence[sign]["cells"]):
            for l in range(len(cell["leaders"])):
                less = copy.deepcopy(evidence)
                del less[sign]["cells"][i]["leaders"][l]
                with pytest.raises(Rejected):
                    checked(Z_SMALL, Y_SMALL, LAMBDA, less)
                dropped += 1
    assert dropped > 5


def edited(*path: str | int, value: Any, of: dict[str, Any] | None = None) -> dict[str, Any]:
    """The evidence with one value replaced."""
    changed = copy.deepcopy(record() if of is None else of)
    at: Any = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return changed


FORGED = {
    "a unit that is not positive": ("unit", "-1"),
    "theta of another length": ("theta", "1 2 3"),
    "fractions for theta": ("theta", " ".join(["1/2"] * 10)),
    "fewer cells than centres": ("+", "cells", []),
    "centres of another length": ("+", "centres", ["1 2 3", "1 0 0"]),
    "more centres than cells": ("+", "centres", ["1 2", "1 0", "0 1", "-1 0", "0 -1", "5 5", "1 1", "3 4", "4 3"]),
    "negative q": ("+", "cells", 0, "q", "-1"),
    "negative excess": ("+", "cells", 0, "excess", "-1"),
    "negative squares": ("+", "cells", 0, "squares", "-1"),
    "a cell's own centre as a normal": ("+", "cells", 0, "normals", [0]),
    "an unknown row": ("+", "cells", 0, "rows", [77]),
    "a row that is not the first of its equals": ("+", "cells", 0, "rows", [5]),
    "an unknown key": ("+", "cells", 0, "sigma", "1"),
    "a huge nu": ("+", "cells", 0, "nu", str(10**60)),
    "c = 0": ("+", "cells", 0, "leaders", 0, "c", "0"),
    "negative c": ("+", "cells", 0, "leaders", 0, "c", "-5"),
    "a leader that is not the first of its equals": ("+", "cells", 0, "leaders", 0, "row", 5),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_evidence_is_rejected(name: str) -> None:
    """Each way to break a rule is named by its place."""
    *path, value = FORGED[name]
    with pytest.raises(Rejected, match="leaders"):
        checked(Z_SMALL, Y_SMALL, LAMBDA, edited(*path, value=value))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"corners": "0 1 77"}, "integers from 0 to"),
        ({"corners": "0 1 -1"}, "integers from 0 to"),
        ({"corners": "0 1"}, "3 numbers"),
        ({"signs": "1 0"}, "1 or -1"),
        ({"signs": "1"}, "2 numbers"),
        ({"weights": "-1"}, "integers >= 0"),
        ({"weights": "1/2"}, "integers"),
        ({"price": "1"}, "unknown key"),
    ],
)
def test_forged_triangles_are_rejected(change: dict[str, str], said: str) -> None:
    """What is not three leaders (or the sign 1), two signs and a weight >= 0."""
    triangles = {"corners": "0 1 2", "signs": "1 -1", "weights": "1"} | change
    with pytest.raises(Rejected, match=said):
        checked(Z_SMALL, Y_SMALL, LAMBDA, edited("+", "cells", 0, "triangles", value=triangles))


def test_equal_rows_are_one_row() -> None:
    """Two equal rows with theta and -theta cancel: any theta is feasible; without the second it is not."""
    half = {"nu": "1", "rows": [], "p": "", "q": "", "normals": [], "excess": "", "squares": "", "leaders": []}
    evidence = {
        "unit": "1",
        "theta": "1000 -1000",
        "+": {"centres": [], "cells": [half]},
        "-": {"centres": [], "cells": [half]},
    }
    assert checked([[1, 2], [1, 2]], [1, -1], "1", evidence)[0] == (1000, -1000)
    with pytest.raises(Rejected):
        checked([[1, 2], [1, 3]], [1, -1], "1", evidence)


def test_cells_cover_by_construction() -> None:
    """Evidence whose centres are moved proves nothing that is not true: accepted or not, (*) decides."""
    evidence = record()
    for sign in "+-":
        for centres in (["1 0", "-1 0"], ["0 1", "0 -1"], ["1 1", "1 1"]):
            changed = copy.deepcopy(evidence)
            changed[sign] = {"centres": centres, "cells": [evidence[sign]["cells"][0]] * 2}
            try:
                theta, _ = checked(Z_SMALL, Y_SMALL, LAMBDA, changed)
            except Rejected:
                continue
            assert holds_in_plane(Z_SMALL, theta, Fraction(LAMBDA))


def cell_of(nu: int, leaders: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """A cell; what is not given is empty."""
    empty = {"rows": [], "p": "", "q": "", "normals": [], "excess": "", "squares": ""}
    return {"nu": str(nu), **empty, **fields, "leaders": leaders}


def leader_of(row: int, c: int, **fields: Any) -> dict[str, Any]:
    """A leader; what is not given is empty."""
    empty = {"near": [], "weights": "", "normals": [], "normal_weights": ""}
    return {"row": row, "c": str(c), **empty, **fields}


def one_sign(theta: str, centres: list[str], cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Evidence in hundredths whose sign - is trivial: theta >= 0 and nothing is to pay."""
    empty = {"centres": [], "cells": [cell_of(51, [])]}
    return {"unit": "1/100", "theta": theta, "+": {"centres": centres, "cells": cells}, "-": empty}


def test_multipliers_that_pay_nothing_prove_nothing() -> None:
    """Each multiplier has its price; evidence that would prove too much if the price were left out is rejected."""
    row, pair = [[1]], [[1], [-1]]
    honest = one_sign("100", [], [cell_of(51, [leader_of(0, 100)])])
    assert checked(row, [1], "51/50", honest)[0] == (1,)
    free_p = one_sign("100", [], [cell_of(27, [leader_of(0, 100)], rows=[0], p="100", q="0")])
    free_q = one_sign("100", [], [cell_of(27, [leader_of(0, 100)], rows=[0], p="0", q="50")])
    for forged in (free_p, free_q):
        with pytest.raises(Rejected):
            checked(row, [1], "4/5", forged)
    crossed = [leader_of(0, 1, near=[1], weights="-50"), leader_of(1, 1, near=[0], weights="-50")]
    with pytest.raises(Rejected):
        checked(pair, [1, 1], "1/10", one_sign("100 100", [], [cell_of(3, crossed)]))
    halves = ["1", "-1"]
    squares = [cell_of(27, [leader_of(0, 100)], normals=[1 - i], excess="0", squares="25") for i in (0, 1)]
    weights = [cell_of(27, [leader_of(0, 1, normals=[1 - i], normal_weights=w)]) for i, w in ((0, "50"), (1, "-50"))]
    for cells in (squares, weights):
        with pytest.raises(Rejected):
            checked(row, [1], "4/5", one_sign("100", halves, cells))


def test_both_signs_and_every_row_are_asked_for() -> None:
    """A row whose theta is not paid for, a sign without its leaders, and a cell that is left out are rejected."""
    full = cell_of(51, [leader_of(0, 100)])
    assert checked([[1]], [1], "51/50", one_sign("100", [], [full]))
    with pytest.raises(Rejected, match="an entry for row 0"):
        checked([[1]], [1], "51/50", one_sign("100", [], [cell_of(51, [])]))
    with pytest.raises(Rejected, match="an entry for row 1"):
        checked([[1], [2]], [1, 1], "51/50", one_sign("100 1", [], [full]))
    with pytest.raises(Rejected, match="an entry for row 0"):
        checked([[1]], [1], "51/50", one_sign("-100", [], [cell_of(51, [])]))
    with pytest.raises(Rejected):
        checked([[1]], [1], "51/50", one_sign("100", ["1", "-1"], [full]))


def test_normals_point_into_their_cell() -> None:
    """On u >= 0 a row with z < 0 is off: the weight of the normal cancels it there, and only there."""
    off = cell_of(2, [leader_of(0, 1, normals=[1], normal_weights="-50")])
    on = cell_of(51, [leader_of(0, 100)])
    assert checked([[-1]], [1], "51/50", one_sign("100", ["1", "-1"], [off, on]))
    with pytest.raises(Rejected):
        checked([[-1]], [1], "51/50", one_sign("100", ["-1", "1"], [off, on]))


INTEGER = st.integers(-6, 6)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.data())
def test_whatever_is_accepted_is_true(data: st.DataObject) -> None:
    """Arbitrary multipliers, with nu and lambda as large as it takes: (*) then holds, decided exactly."""
    n = data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.tuples(INTEGER, INTEGER), min_size=n, max_size=n, unique=True))
    theta = data.draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n))
    sides = {sign: data.draw(sides_of(n)) for sign in "+-"}
    evidence = {"unit": "1", "theta": " ".join(map(str, theta)), **sides}
    for lam in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 1000):
        for share in (1, 2, 3):
            for sign in "+-":
                for cell in sides[sign]["cells"]:
                    cell["nu"] = str(lam * share // 4)
            try:
                found_theta, _ = checked(rows, [1] * n, str(lam), evidence)
            except Rejected:
                continue
            assert holds_in_plane(rows, found_theta, Fraction(lam))
            return


@st.composite
def sides_of(draw: st.DrawFn, n: int) -> dict[str, Any]:
    """Cells with any multipliers of the right form."""
    centres = draw(st.sampled_from(([], ["3 1", "-2 2"], ["1 0", "0 1", "-1 -1"])))
    cells = []
    for i in range(max(1, len(centres))):
        others = [j for j in range(len(centres)) if j != i]
        leaders = []
        for l in range(n):
            near = [k for k in range(n) if k != l]
            leaders.append(
                {
                    "row": l,
                    "c": str(draw(st.integers(1, 60))),
                    "near": near,
                    "weights": some(draw, len(near), -4),
                    "normals": others,
                    "normal_weights": some(draw, len(others), -3),
                }
            )
        ties = draw(st.integers(0, 3))
        corner, sign, weight = st.integers(0, n), st.sampled_from((1, -1)), st.integers(0, 9)
        triangles = {
            "corners": " ".join(str(draw(corner)) for _ in range(3 * ties)),
            "signs": " ".join(str(draw(sign)) for _ in range(2 * ties)),
            "weights": " ".join(str(draw(weight)) for _ in range(ties)),
        }
        cells.append(
            ({"triangles": triangles} if ties else {})
            | {
                "nu": "0",
                "rows": list(range(n)),
                "p": some(draw, n, -4),
                "q": some(draw, n, 0),
                "normals": others,
                "excess": some(draw, len(others), 0),
                "squares": some(draw, len(others), 0),
                "leaders": leaders,
            }
        )
    return {"centres": centres, "cells": cells}


def some(draw: st.DrawFn, count: int, least: int) -> str:
    """A vector of small integers."""
    return " ".join(str(draw(st.integers(least, 4))) for _ in range(count))


def test_logistic_theta_keeps_to_its_interval() -> None:
    """With the logistic loss 0 <= y_k theta_k <= 1 is asked for, and the value is an entropy."""
    _, lower = checked([[1]], [1], "1", by_hand(50), logistic=True)
    assert Fraction(693, 1000) < lower < Fraction(694, 1000)  # log 2
    for theta in (-1, 101):
        with pytest.raises(Rejected):
            checked([[1]], [1], "2", by_hand(theta), logistic=True)


def test_free_outputs_ask_for_orthogonality() -> None:
    """theta must be orthogonal to the output of a free term."""
    for free in ("output-bias", "skip"):
        with pytest.raises(Rejected, match="orthogonal"):
            checked(Z_SMALL, Y_SMALL, LAMBDA, record(), free=(free,))


def test_free_biases_are_not_in_the_norm() -> None:
    """theta with sum 0 is proved against the weights alone; centres have nothing in the place of the bias."""
    cell = {
        "nu": "300",
        "rows": [],
        "p": "",
        "q": "",
        "normals": [],
        "excess": "",
        "squares": "",
        "leaders": [
            {"row": 0, "c": "200", "near": [1], "weights": "100", "normals": [], "normal_weights": ""},
        ],
        "kappa": "0",
    }
    other = copy.deepcopy(cell)
    other["leaders"] = [{"row": 1, "c": "200", "near": [0], "weights": "100", "normals": [], "normal_weights": ""}]
    evidence = {
        "unit": "1/100",
        "theta": "100 -100",
        "+": {"centres": [], "cells": [cell]},
        "-": {"centres": [], "cells": [other]},
    }
    rows, free = [[1, 1], [-1, 1]], ("biases",)
    assert checked(rows, [1, -1], "5", evidence, free=free)[0] == (1, -1)
    one_sided = copy.deepcopy(evidence)
    one_sided["theta"] = "100 -50"
    with pytest.raises(Rejected):
        checked(rows, [1, -1], "5", one_sided, free=free)
    with pytest.raises(Rejected):  # max over w and b of (w + b)_+ - (b - w)_+ is 2 |w|
        checked(rows, [1, -1], "199/100", evidence, free=free)
    centred = copy.deepcopy(evidence)
    centred["+"] = {"centres": ["1 1", "-1 0"], "cells": [cell, cell]}
    with pytest.raises(Rejected, match="free biases"):
        checked(rows, [1, -1], "5", centred, free=free)
    bound = copy.deepcopy(evidence)
    bound["+"]["cells"][0]["kappa"] = "-1"
    with pytest.raises(Rejected, match="integers >= 0"):
        checked(rows, [1, -1], "5", bound, free=free)
    bound["+"]["cells"][0]["kappa"] = "1"  # b^2 <= |w|^2 where a row is 0: it takes 1 from nu, which has room for it
    assert checked(rows, [1, -1], "5", bound, free=free)[0] == (1, -1)
    bound["+"]["cells"][0]["kappa"] = "400"
    with pytest.raises(Rejected, match="semidefinite"):
        checked(rows, [1, -1], "5", bound, free=free)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.data())
def test_semidefinite_is_never_wrong(data: st.DataObject) -> None:
    """A matrix that is accepted has no negative value of x'Mx; A'A plus the unit matrix is accepted at any scale."""
    size = data.draw(st.integers(1, 4))
    entries = st.integers(-5, 5)
    A = [[data.draw(entries) for _ in range(size)] for _ in range(size)]
    gram = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in A] for x in A]
    scales = [2 ** data.draw(st.integers(0, 300)) for _ in range(size)]
    plus = [[(gram[i][j] + (i == j)) * scales[i] * scales[j] for j in range(size)] for i in range(size)]
    assert semidefinite(plus)
    shift = data.draw(st.integers(-3, 3))
    M = [[gram[i][j] - shift * (i == j) for j in range(size)] for i in range(size)]
    if semidefinite(M):
        for _ in range(30):
            x = [data.draw(entries) for _ in range(size)]
            assert sum(x[i] * M[i][j] * x[j] for i in range(size) for j in range(size)) >= 0


def test_cholesky_refuses_what_is_not_definite() -> None:
    """No factor of a matrix with a pivot <= 0; a negative diagonal is refused at once."""
    assert cholesky([[1, 2], [2, 1]]) is None
    assert cholesky([[0]]) is None
    assert not semidefinite([[1, 2], [2, 1]])
    assert not semidefinite([[-1]])
    assert not semidefinite([[0, 1], [1, 5]])
    assert semidefinite([[0, 0], [0, 5]])
    assert not semidefinite([[2, 100], [0, 2]])  # the factor sees the lower triangle only, the rest sees all


def test_wide_data_with_dependent_rows() -> None:
    """More columns than rows, and rows that are combinations of others or zero: a bound below p*, near it; too large a
    theta is rejected; the chosen rows are independent and span the others."""
    rows = [[2, 0, 1, 0, 3, 1, 5], [1, -1, 0, 2, 0, 1, 0], [3, -1, 1, 2, 3, 2, 5], [-4, 0, -2, 0, -6, -2, -10], [0] * 7]
    assert spanning(rows) == [0, 1]
    y = [1, -1, 2, 1, 1]
    leaders, result = found(rows, y, "1")
    _, lower = checked(rows, y, "1", leaders)
    assert 0 < lower <= result.value.upper
    assert float(result.value.lower - lower) < 0.1 * float(result.value.lower)
    larger = serialize(leaders) | {"theta": " ".join(str(2 * t) for t in leaders.integers)}
    with pytest.raises(Rejected):
        checked(rows, y, "1", larger)


def test_rows_that_a_prime_does_not_tell_apart_are_declined() -> None:
    """Rows that are dependent modulo the prime only: nothing is said, rather than something wrong."""
    with pytest.raises(Declined):
        spanning([[1, 0, 0], [1, PRIME, 0]])


def test_wide_data_in_the_span_of_the_rows() -> None:
    """More columns than rows: proved through the Gram matrix; too large a theta is rejected there too."""
    rows = [[2, 0, 1, 0, 3, 1], [1, -1, 0, 2, 0, 1], [0, 1, 1, -1, 2, 0]]
    leaders, result = found(rows, [1, -1, 2], "1")
    theta, lower = checked(rows, [1, -1, 2], "1", leaders)
    assert lower <= result.value.upper
    assert float(result.value.lower - lower) < 0.1 * float(result.value.lower)
    larger = serialize(leaders) | {"theta": " ".join(str(2 * t) for t in leaders.integers)}
    with pytest.raises(Rejected):
        checked(rows, [1, -1, 2], "1", larger)
    assert matrix(rows) and len(theta) == 3
