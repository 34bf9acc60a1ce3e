"""What a third hostile reading of the checker found: sentences that said more, or other things, than was proved."""

from __future__ import annotations

import io
import json
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

import verify
from tests.verify.build.bags import stream
from tests.verify.outputs.planted import changed, in_bags_with_decayed_bias, square, with_decayed_bias
from tests.verify.test_given_solutions import tree_of, verdicts
from verify.__main__ import expect, grouped
from verify.certificate import read
from verify.proved import read as proved
from verify.statement import statement

NAME = "relu_cert certificate"
COVER = [("+", bytes([200, 203]), bytes(1)), ("-", bytes([200, 200]), b"")]  # the last of the roots 1 and -1 ties


def test_bags_of_a_decayed_bias_are_not_counted() -> None:
    """The empty bag that is appended for the bias is no signal of the file: two are there, not three."""
    report = read(json.dumps(in_bags_with_decayed_bias()).encode())
    assert statement(report, False, False)["outputs"].startswith("2 signals")
    assert statement(report, False, False)["n"] == "2"
    assert all("2 bags of rows" in line.under for line in report.lines)


def test_the_cost_of_a_bias_is_expected_as_a_number() -> None:
    """--expect decayed=1.0 is the rho 1, and 2 is another."""
    report = read(json.dumps(with_decayed_bias()).encode())
    stated = statement(report, False, False)
    expect(stated, report.lines, "decayed", "1.0")
    with pytest.raises(verify.Rejected, match="--expect decayed"):
        expect(stated, report.lines, "decayed", "2")


def test_a_column_named_false_is_told_as_a_column() -> None:
    """Bags by a column of this name are not "no bags"; flags are told as before."""
    said = {"bags": "false", "pool": "mean", "header": "false", "center": "true"}
    assert grouped(said) == {"data": ["bags false", "pool mean", "no header", "center"]}


@pytest.mark.parametrize("shape", [(2, 2), (1, 2, 2), (2, 1, 2)])
def test_coefficients_in_a_matrix_have_no_order(shape: tuple[int, ...]) -> None:
    """Memory in the order of columns would be read as if it were that of rows; a vector has one order."""
    array = np.asfortranarray(np.arange(1.0, 5.0).reshape(shape))
    stream = io.BytesIO()
    np.save(stream, array)
    tree = tree_of()
    tree["facts"]["solution"]["file"]["sha256"] = sha256(stream.getvalue()).hexdigest()
    with pytest.raises(verify.Rejected, match="a vector, or a matrix of one row or column"):
        verdicts(tree, stream.getvalue())


@pytest.mark.parametrize("shape", [(2,), (1, 2), (2, 1), (1, 1, 2)])
def test_coefficients_in_a_row_or_a_column_are_read(shape: tuple[int, ...]) -> None:
    """They have one order."""
    stream = io.BytesIO()
    np.save(stream, np.array([2.0, 2.0]).reshape(shape))
    tree = tree_of()
    tree["facts"]["solution"]["file"]["sha256"] = sha256(stream.getvalue()).hexdigest()
    assert verdicts(tree, stream.getvalue())["solution-optimal"] == "REFUTED"


def constant(lam: str, b2: str, J: str, verdict: str) -> bytes:
    """Rows (1, 1), (-1, 1), y = (3, 1): the network b2 alone, beside a neuron that is 0; whether it is stationary."""
    network = {
        "file": {"sha256": "", "origin": ""},
        "penalty": {"convention": "paper", "value": lam, "batch": None},
        "W1": ["0 0"],
        "w2": "0",
        "b2": b2,
        "gap": "0",
        "objective": J,
        "stationary": [[]],
    }
    input_ = {"sha256": "0" * 64, "kind": "csv", "numbers": "decimal", "bias": True, "target": 1}
    tree: dict[str, Any] = {
        "format": NAME,
        "version": 2,
        "input": input_ | {"delimiter": ",", "header": False},
        "problem": {
            "model": "relu",
            "objective": "1/2|Xw-y|^2 + lambda*sum|w_b|",
            "lambda": lam,
            "Z": ["1 1", "-1 1"],
            "y": "3 1",
        },
        "facts": {"network": network},
        "claims": [{"claim": "network-stationary", "verdict": verdict}],
        "end": NAME,
    }
    return json.dumps(tree).encode()


def said(*stated: str) -> str:
    """The accepted line."""
    (line,) = verify.check(constant(*stated))
    return line.proved


def test_a_bias_that_counts_as_a_neuron_is_said_to() -> None:
    """lambda = 2 = sum r at b2 = 1: no change of W1, w2 and b2 helps, but the neuron of b2 could turn, as X'r = 2."""
    assert "of J, b2 counted as a neuron, has a norm" in said("2", "1", "4", "REFUTED")
    with pytest.raises(verify.Rejected):
        said("2", "1", "4", "PROVED")


def test_a_bias_that_would_move_is_said_to_be_held() -> None:
    """sum r = 4: at lambda = 2 the objective falls with b2 > 0, at lambda = 4 it does not."""
    assert said("2", "0", "5", "PROVED") == "the network is a Clarke stationary point of J, b2 held at 0 (kinks: 0)"
    assert said("4", "0", "5", "PROVED") == "the network is a Clarke stationary point of J (kinks: 0)"


def leaky(verdict: str, y: str = "2 2", J: str = "3") -> bytes:
    """Records 1 and -1, max(t, t/2), lambda = 2: the network b2 = 1 alone, as bags of rows z and -z."""
    tree = json.loads(constant("2", "1", J, verdict))
    bags = [{"scale": "1/2", "rows": rows, "times": "2 -1"} for rows in ([0, 1], [2, 3])]
    tree["problem"] |= {"Z": ["1 1", "-1 -1", "-1 1", "1 -1"], "y": y, "bags": bags}
    tree["input"] |= {"slope": "1/2"}
    return json.dumps(tree).encode()


def test_the_neuron_of_a_bias_is_off_where_a_slope_has_opposite_rows() -> None:
    """r = (1, 1), sum r = lambda and X'r = 0: it is stationary in every sense, and with all rows on it would not be."""
    (line,) = verify.check(leaky("PROVED"))
    assert line.proved == "the network is a Clarke stationary point of J, b2 counted as a neuron (kinks: 0)"
    with pytest.raises(verify.Rejected):
        verify.check(leaky("REFUTED"))
    (line,) = verify.check(leaky("REFUTED", "3 1", "4"))  # r = (2, 0), X'r = 2
    assert line.proved.endswith("has a norm from 2 to 2")


def decayed() -> dict[str, Any]:
    """Rows 1 and -1, y = (4, 1), lambda = rho = 1: Theta = (1, 0) and -1 at the row that is appended, the network is
    2 (z)_+ + 1, and p* = 3."""
    tree: dict[str, Any] = json.loads(constant("1", "0", "0", "PROVED"))
    tree["input"]["bias"] = False
    tree["problem"] |= {"Z": ["1", "-1"], "y": "4 1", "decayed": {"rho": "1", "roots": ["1"]}}
    sides = {sign: {"codes": codes, "multipliers": b"", "data": data, "rows": b""} for sign, codes, data in COVER}
    proof = {"basis": ["1"], "ties": [{"sign": "+", "u": "1", "shares": ""}], "margin": 1}
    proof |= {sign: {key: stream(part) for key, part in parts.items()} for sign, parts in sides.items()}
    level = {"sign": "+", "pattern": "100", "kinks": [], "basis": [], "idle": [], "fixed": ""}
    tree["facts"] = {
        "primal": {"neurons": [{"sign": "+", "w": "2", "norm": "2"}], "free": "1"},
        "cover": {"theta": "1 0 -1", "proof": proof},
        "value": {"lower": "3", "upper": "3", "gap": "0"},
        "fit": {"center": None, "radius_squared": "0"},
        "cover_set": {"lift": ["1 1 1"], "classes": [level], "masses": "2", "split": "", "forced": ""},
    }
    tree["claims"] = [
        {"claim": claim, "verdict": "PROVED"} for claim in ("optimal", "fit", "p-unique", "convex-unique")
    ]
    return tree


def test_a_decayed_bias_by_hand() -> None:
    """The optimum is known, and the network is the only one."""
    lines = verify.check(json.dumps(decayed()).encode())
    assert "lies in [3, 3]" in lines[0].proved and len(lines) == 4
    assert {line.under for line in lines} == {"with an output bias b that costs 1/2 b^2"}


FORGED: list[tuple[str, Any]] = [
    ("problem.decayed", {"rho": "2", "roots": ["1", "1"]}),
    ("problem.decayed", {"rho": "1/4", "roots": ["1/2"]}),
    ("problem.decayed.rho", "2"),
    ("problem.decayed.roots", ["-1"]),
    ("problem.decayed.roots", []),
    ("problem.decayed", {"rho": "5", "roots": ["1"] * 5}),
    ("problem.decayed", {}),
    ("problem.free", ["output-bias"]),
    ("problem.bags", [{"scale": "1", "rows": [0], "times": [1]}, {"scale": "1", "rows": [1], "times": [1]}]),
    ("problem.objective", "sum log(1+exp(-y_k*(Xw)_k)) + lambda*sum|w_b|"),
    ("problem.lambda", "2"),
    ("problem.y", "4 1 0"),
    ("facts.primal.free", "0"),
    ("facts.primal.free", "1 0"),
    ("facts.cover.theta", "1 0 0"),
    ("facts.cover.theta", "1 0"),
    ("facts.cover_set.lift", []),
    ("facts.cover_set.lift", ["1 1 0"]),
    ("facts.cover_set.classes", [None]),
    ("facts.value.lower", "4"),
    ("claims.2.verdict", "REFUTED"),
    ("claims.3.verdict", "REFUTED"),
]


@pytest.mark.parametrize(("place", "value"), FORGED, ids=lambda part: str(part)[:40])
def test_a_forged_decayed_bias_is_rejected(place: str, value: Any) -> None:
    """Another cost, other squares, a bias that is free besides, another dual point: each is noticed."""
    with pytest.raises(verify.Rejected):
        verify.check(json.dumps(changed(decayed(), place, value)).encode())


def test_the_proved_checker_reads_a_zero_network_of_several_outputs() -> None:
    """It has no neuron that tells how many outputs there are, and is no error."""
    zero = changed(square(), "facts.primal.neurons", [])
    text = proved(json.dumps(zero).encode(), None, verify.Limits())
    assert text.between == (5, 10) and len(text.expected) > 2
