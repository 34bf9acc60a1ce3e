"""Given coefficients of a group lasso: the verdict on them is in the certificate, with the hash of what it is about."""

from __future__ import annotations

import io
import json
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import verify
from relu_cert import certify_solution
from relu_cert.results.solution import CertifiedSolution
from tests.cli.run import run
from tests.verify.score import CORPUS
from verify.__main__ import main
from verify.certificate import read
from verify.facts import SOLUTION, Facts
from verify.network.solution import check_solution
from verify.problem.problem import Problem
from verify.statement import statement
from verify.text import Node

X, Y = [[1, 0], [0, 1]], [3, 4]


def found(w: Any = (2, 2), **options: Any) -> CertifiedSolution:
    """lambda = 1: the optimum is (2, 3), of objective 6."""
    return certify_solution(X, 1, Y, 1, list(w), **options)


def tree_of(w: Any = (2, 2), **options: Any) -> dict[str, Any]:
    """Its certificate."""
    tree: dict[str, Any] = json.loads(found(w, **options).certificate)
    return tree


def verdicts(tree: dict[str, Any], given: bytes | None = None) -> dict[str, str]:
    """What is accepted."""
    text = json.dumps(tree).encode()
    return {line.claim: line.verdict for line in verify.check(text, network=given)}


@pytest.mark.parametrize(
    ("w", "gap", "verdict"),
    [
        ((2, 3), "1e-6", "PROVED"),
        ((2, 2), "1e-6", "REFUTED"),
        ((2, 2), "1/13", "PROVED"),
        ((2, 2), "1/14", "REFUTED"),
        ((0, 0), "1/2", "REFUTED"),
        ((0, 0), "0.53", "PROVED"),
    ],
)
def test_the_verdict_that_is_printed_is_in_the_certificate(w: Any, gap: str, verdict: str) -> None:
    """Beside the verdicts on the optimum; J = 6, 13/2 or 25/2 by hand, and the opposite verdict is rejected."""
    told = found(w, gap=gap)
    tree = json.loads(told.certificate)
    assert str(told.claims["solution-optimal"].verdict) == verdict == verdicts(tree)["solution-optimal"]
    assert {"optimal", "convex-unique"} <= verdicts(tree).keys()
    claim = next(one for one in tree["claims"] if one["claim"] == "solution-optimal")
    claim["verdict"] = {"PROVED": "REFUTED", "REFUTED": "PROVED"}[verdict]
    with pytest.raises(verify.Rejected, match=r"expected J - (lower <=|upper >) gap \* J"):
        verdicts(tree)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"coefficients": "2"}, "2 numbers"),
        ({"weights": "1 0"}, "weights > 0"),
        ({"weights": "1"}, "2 numbers"),
        ({"extra": "-1/1000"}, "what a given intercept costs, >= 0"),
        ({"gap": "1"}, "a gap from 0 to less than 1"),
        ({"file": {"sha256": "A" * 64, "data": ""}}, "lower-case hexadecimal"),
        ({"file": {"sha256": "", "data": "0"}}, "lower-case hexadecimal"),
        ({"coefficients": "2 3"}, r"J - upper > gap"),
        ({"more": "1"}, "unknown key"),
    ],
)
def test_forged_solutions_are_rejected(change: dict[str, Any], message: str) -> None:
    """Each part of the fact, one at a time."""
    tree = tree_of()
    tree["facts"]["solution"] |= change
    with pytest.raises(verify.Rejected, match=message):
        verdicts(tree)


def test_weights_and_constraints_are_those_of_the_plain_problem() -> None:
    """|w_b| counts omega_b times; a point outside of its cone has no objective."""
    tree = json.loads(certify_solution([[1]], 1, [3], 1, [1], weights=[2]).certificate)
    assert tree["facts"]["solution"]["weights"] == "2" and tree["problem"]["X"] == ["1/2"]
    assert verdicts(tree)["solution-optimal"] == "PROVED"  # 1/2 (3 - w)^2 + 2 w is least at w = 1
    tree["problem"]["K"] = [["1"]]
    tree["facts"] |= {"primal": {"neurons": []}}
    tree["facts"]["dual"]["multipliers"] = ["3/2"]
    tree["facts"] = {key: tree["facts"][key] for key in ("primal", "dual", "value", "solution")}
    tree["facts"]["dual"]["theta"], tree["facts"]["value"] = "3", {"lower": "9/2", "upper": "9/2", "gap": "0"}
    tree["claims"] = [{"claim": "solution-optimal", "verdict": "PROVED"}]
    with pytest.raises(verify.Rejected, match="K'w <= 0 in group 0"):
        verdicts(tree)
    tree["facts"]["solution"]["coefficients"] = "1/4"
    with pytest.raises(verify.Rejected, match="K'w <= 0 in group 0"):
        verdicts(tree)
    tree["facts"]["solution"]["coefficients"] = "0"
    assert verdicts(tree) == {"solution-optimal": "PROVED"}


def test_the_objective_by_hand() -> None:
    """Groups (1, 1) and (3, 4) times weights 1 and 2, y = 0, lambda = 1/2: 51 + (sqrt 2 + 10)/2 + 1/4."""
    Z = tuple(tuple(Fraction(i == j) for j in range(4)) for i in range(4))
    problem = Problem("cgl", Fraction(1, 2), Z, (Fraction(0),) * 4, ((0, 1), (2, 3)), (None, None))
    fact = {"file": {"sha256": "", "data": ""}, "coefficients": "1 1 3 4", "weights": "1 2", "extra": "1/4", "gap": "0"}
    found = check_solution(problem, Facts(), Node(fact, None, "solution"))[SOLUTION]
    rest = [2 * (end - Fraction(51 + 5) - Fraction(1, 4)) for end in (found.lower, found.upper)]
    assert rest[0] ** 2 < 2 < rest[1] ** 2 and rest[1] - rest[0] < Fraction(1, 2**120)
    assert found.coefficients == (1, 1, 3, 4) and (found.sha256, found.gap) == ("", 0)
    assert (found.weights, found.extra) == ((1, 2), Fraction(1, 4))


def test_chosen_weights_are_stated_expected_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """(2, 5/2) is 1/8 above the optimum (2, 3); times the weights (1, 6/5), which no file holds, it is optimal. That is
    accepted as what it says: the weights are in the statement, open to --expect, and in the sentence."""
    monkeypatch.chdir(tmp_path)
    name = CORPUS / "accepted" / "solution-of-other-weights"
    raw, given = name.with_suffix(".data"), name.with_suffix(".network")
    words = [str(name.with_suffix(".json")), "--data", str(raw), "--solution", str(given)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "solution-weights 1 6/5 (not compared)" in said
    assert "the given coefficients, times the weights of their groups (from 1 to 6/5), are optimal up to" in said
    assert main([*words, "--expect", "solution-weights=1 6/5", "--expect", "solution-extra=0"]) == 0
    assert main([*words, "--expect", "solution-weights=1 1"]) == 1
    tree = json.loads(name.with_suffix(".json").read_text())
    tree["facts"]["solution"]["weights"] = "1 1"
    with pytest.raises(verify.Rejected, match="expected J - lower <= gap"):
        verdicts(tree)
    lines = verify.check(json.dumps(tree_of((1, 1), intercept=Fraction(7, 2))).encode())
    assert [one.proved for one in lines if one.claim == "solution-optimal"] == [
        "the given coefficients, with 1 for their intercept, are at least 3 above p*, more than the relative gap "
        "1/1000000"
    ]


def test_a_given_intercept_costs_what_it_costs() -> None:
    """n/2 times the square of its distance from the best one is in the certificate, and in J."""
    right = tree_of((1, 1), intercept=Fraction(5, 2))
    wrong = tree_of((1, 1), intercept=Fraction(7, 2))
    assert (right["facts"]["solution"]["extra"], wrong["facts"]["solution"]["extra"]) == ("0", "1")


def test_the_files_are_named_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The certificate of `solution` has the hashes of the raw data and of the coefficients; another file, or the same
    numbers in another file, is rejected."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("a,b,y\n1,0,3\n0,1,4\n")
    Path("w.txt").write_text("2, 2.5\n")
    assert run("solution", "w.txt", "d.csv", "--lambda", "1").code == 0
    text = Path("w.solution.cert.json").read_bytes()
    stated = statement(read(text), data=False, network=False)
    for key, name in (("solution-sha256", "w.txt"), ("solution-data", "d.csv")):
        assert stated[key] == sha256(Path(name).read_bytes()).hexdigest()
    words = ["w.solution.cert.json", "--data", "w.solution.problem.json", "--solution"]
    capsys.readouterr()
    assert main([*words, "w.txt", "--expect", "claim=solution-optimal:REFUTED"]) == 0
    said = capsys.readouterr().out
    assert "statement solution: " in said and "solution-gap 1/1000000" in said
    Path("other.txt").write_text("2 2.5")
    assert main([*words, "other.txt"]) == 1
    assert "the hash of the file given" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"2 2", ""),
        (b'["2", 2.0]\n', ""),
        (b"\xef\xbb\xbf2;2e0", ""),
        (b"2 3", "the coefficients of the file given"),
        (b"2 2 2", "the coefficients of the file given"),
        (b"2", "the coefficients of the file given"),
        (b"2 x", "a number"),
        (b"\x93NUMPY\x01\x00 broken", "a numpy array"),
        (b"\xff\xfe", "a number"),
    ],
)
def test_coefficients_are_read_again(raw: bytes, message: str) -> None:
    """Text in any usual form; what has the right hash and other numbers, or none, is rejected."""
    tree = tree_of()
    tree["facts"]["solution"]["file"]["sha256"] = sha256(raw).hexdigest()
    if message:
        with pytest.raises(verify.Rejected, match=message):
            verdicts(tree, raw)
    else:
        assert verdicts(tree, raw)["solution-optimal"] == "REFUTED"


def test_the_same_numbers_in_another_file_are_rejected() -> None:
    """What is compared first is the hash; without a file there is none."""
    tree = tree_of()
    for stated in ("", sha256(b"2 2\n").hexdigest()):
        tree["facts"]["solution"]["file"]["sha256"] = stated
        with pytest.raises(verify.Rejected, match="the hash of the file given"):
            verdicts(tree, b"2 2")


def test_arrays_are_read_again() -> None:
    """A file of numpy."""
    stream = io.BytesIO()
    np.save(stream, np.array([2.0, 2.0]))
    tree = tree_of()
    tree["facts"]["solution"]["file"]["sha256"] = sha256(stream.getvalue()).hexdigest()
    assert verdicts(tree, stream.getvalue())["solution-optimal"] == "REFUTED"
