"""The elastic variant: check --l2, lemma:l2-reformulation without square roots of delta."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import verify
from relu_cert.data.read import read_csv_bytes
from relu_cert.patterns import enumerate_patterns
from relu_cert.patterns.predict import draw_gates
from relu_cert.problem import Problem, gated, over_patterns, relu, written_out
from tests.cli.run import run
from tests.variants.mutants import false_survivors, plain
from tests.variants.stated import certified, optimal_value, random_data

CORNER = b"1,0,2\n0,1,0\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written into a folder of their own."""
    monkeypatch.chdir(tmp_path)


def elastic(problem: Problem, delta: Fraction) -> Problem:
    return replace(written_out(problem), delta=delta)


def test_a_hand_made_problem_is_solved_exactly() -> None:
    """x = 1, y = 3, lambda = delta = 1: w = (3 - 1)/(1 + 1) = 1, the value is 1/2 4 + 1 + 1/2 = 7/2, and theta = 2
    gives 6 - 2 - (2 - 1)^2/2, the same."""
    Path("p.json").write_text('{"X": [[1]], "groups": [[0]], "y": [3]}')
    ran = run("check", "p.json", "--lambda", "1", "--l2", "1", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["value"] == {"lower": "7/2", "upper": "7/2"}
    assert ran.json["l2"] == "1"
    said = {claim["claim"]: claim["verdict"] for claim in ran.json["claims"]}
    assert said == {"optimal": "PROVED", "fit": "PROVED", "convex-unique": "PROVED"}


@pytest.mark.parametrize("delta", ["1e-16", "1e-30"])
def test_a_delta_beyond_the_precision_of_floats_is_undecided(delta: str) -> None:
    """Their Hessian is no longer positive definite; what they propose is poor, but still proved, and p* is inside."""
    Path("d.csv").write_bytes(b"1,2,1\n-1,1,-1\n2,-1,1\n0,3,-1\n")
    ran = run("check", "d.csv", "--lambda", "1/10", "--l2", delta, "--json")
    assert ran.code == 0, ran.err
    without = run("check", "d.csv", "--lambda", "1/10", "--json").json["value"]  # a tiny delta adds next to nothing
    assert Fraction(ran.json["value"]["lower"]) <= Fraction(without["lower"]) + Fraction(1, 10**9)
    assert Fraction(ran.json["value"]["upper"]) >= Fraction(without["lower"])


@pytest.mark.parametrize("delta", ["1e-400", "1e400"])
def test_a_delta_beyond_the_range_of_floats_is_refused(delta: str) -> None:
    """With a sentence, not with a traceback."""
    Path("d.csv").write_bytes(CORNER)
    ran = run("check", "d.csv", "--lambda", "1/10", "--l2", delta)
    assert ran.code == 65
    assert "delta" in ran.err


def test_a_neuron_on_a_face_is_split_over_its_blocks() -> None:
    """z = (1,0), (0,1), y = (2,0), lambda = delta = 1. The neuron (t, 0) lies in two blocks; (1/3, 0) in each gives
    8/9 + 2/3 + 1/9 = 5/3, while one block alone gives 7/4 at best."""
    data = read_csv_bytes(CORNER, "d.csv")
    problem = elastic(relu(data.Z, data.y, enumerate_patterns(data.Z)), Fraction(1))
    found = certified(problem, data.source, Fraction(1))
    assert found.facts.value.lower <= Fraction(5, 3) <= found.facts.value.upper
    assert found.facts.value.upper < Fraction(7, 4)
    assert sorted(neuron.pattern for neuron in found.facts.primal.neurons) == ["10", "11"]
    alone = certified(
        replace(over_patterns(data.Z, data.y, ("11",), "relu"), delta=Fraction(1)), data.source, Fraction(1)
    )
    assert alone.facts.value.lower <= Fraction(7, 4) <= alone.facts.value.upper


@pytest.mark.parametrize("model", [relu, gated])
@pytest.mark.parametrize(("seed", "delta"), [(0, "1/10"), (1, "3"), (2, "1/1000")])
def test_the_value_is_that_of_the_whole_program(model: type, seed: int, delta: str) -> None:
    """p* over all patterns, lower faces included, agrees with cvxpy and Clarabel; the checker accepts the proof."""
    data, raw = random_data(seed, 6, 2)
    patterns = enumerate_patterns(data.Z)
    found = certified(elastic(model(data.Z, data.y, patterns), Fraction(delta)), data.source, Fraction(3))
    text = found.certificate_text
    assert found.facts.value.reached
    listed = ["".join("01"[bit] for bit in on) for on in patterns.array().tolist()]
    assert float(found.facts.value.upper) == pytest.approx(optimal_value(json.loads(text)["problem"], listed), rel=1e-6)
    said = {line.claim: line.verdict for line in verify.check(text.encode(), raw)}
    assert said == dict.fromkeys(("patterns-complete", "optimal", "fit", "convex-unique"), "PROVED")


@pytest.mark.parametrize("delta", ["5", "1/1000000"])
def test_any_gap_is_reached(delta: str) -> None:
    """Newton steps with a float inverse reach a relative gap of 1e-80, also where delta is tiny."""
    data, raw = random_data(5, 5, 2)
    problem = replace(over_patterns(data.Z, data.y, tuple(draw_gates(data.Z, 4, 0)), "relu"), delta=Fraction(delta))
    found = certified(problem, data.source, Fraction(1), Fraction(1, 10**80))
    assert found.facts.value.reached
    verify.check(found.certificate_text.encode(), raw)


def test_above_lambda_max_zero_is_the_solution() -> None:
    """The value is 1/2 |y|^2 exactly, and delta changes nothing."""
    data, raw = random_data(1, 5, 2)
    problem = elastic(relu(data.Z, data.y, enumerate_patterns(data.Z)), Fraction(1, 7))
    found = certified(problem, data.source, Fraction(10**4))
    assert found.facts.value.lower == found.facts.value.upper == sum(y * y for y in data.y) / 2
    verify.check(found.certificate_text.encode(), raw)


@pytest.mark.long
def test_every_changed_certificate_is_rejected_or_true() -> None:
    """No number, index or claim of the certificate can be changed to something that is not true."""
    data, raw = random_data(3, 4, 2)
    problem = elastic(relu(data.Z, data.y, enumerate_patterns(data.Z)), Fraction(1, 2))
    certificate = json.loads(certified(problem, data.source, Fraction(5)).certificate_text)
    total, false = false_survivors(plain(certificate), raw)
    assert false == []
    assert total > 300


def test_long_blocks_cannot_be_hidden() -> None:
    """Leaving a block out of `excess`, or stating it shorter than it is, would raise the dual value: rejected."""
    data, raw = random_data(3, 4, 2)
    problem = elastic(gated(data.Z, data.y, enumerate_patterns(data.Z)), Fraction(1, 2))
    certificate = json.loads(certified(problem, data.source, Fraction(5)).certificate_text)
    excess = certificate["facts"]["dual"]["excess"]
    assert excess
    for changed in (excess[1:], [[excess[0][0], str(Fraction(excess[0][1]) * Fraction(9, 10))], *excess[1:]]):
        cost = sum((Fraction(s) - 5) ** 2 for _, s in excess) - sum((Fraction(s) - 5) ** 2 for _, s in changed)
        tree = json.loads(json.dumps(certificate))
        tree["facts"]["dual"]["excess"] = changed
        tree["facts"]["value"]["lower"] = str(Fraction(tree["facts"]["value"]["lower"]) + cost)
        with pytest.raises(verify.Rejected, match=r"X_b'theta - K_b rho|a length > lambda"):
            verify.check(json.dumps(tree).encode(), raw)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--l2", "0"], "--l2 must be positive"),
        (["--l2", "1", "--loss", "logistic"], "do not go together"),
        (["--l2", "1", "--interval", "1,2"], "for least squares without --l2"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], message: str) -> None:
    """They are refused with a sentence and the exit code of usage."""
    Path("d.csv").write_bytes(CORNER)
    ran = run("check", "d.csv", *options)
    assert (ran.code, message in ran.err) == (64, True), ran.err
