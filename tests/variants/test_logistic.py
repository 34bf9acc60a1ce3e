"""The logistic loss: check --loss logistic, app:general-losses for labels in {-1, 1}."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import verify
from relu_cert.patterns import enumerate_patterns
from relu_cert.patterns.predict import draw_gates
from relu_cert.problem import gated, over_patterns, relu
from relu_cert.problem.loss import LOGISTIC
from tests.cli.run import run
from tests.variants.mutants import false_survivors, plain
from tests.variants.stated import certified, optimal_value, random_data
from verify.rules.logistic.value import ONE, entropy_of, exp_of_minus, log_of, loss_of

POSITIVE = st.fractions(min_value=Fraction(1, 10**30), max_value=10**6)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written into a folder of their own."""
    monkeypatch.chdir(tmp_path)


def ball(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


def holds(enclosure: tuple[int, int], truth: arb, bits: int = 340) -> bool:
    """Whether the enclosure holds the number and is narrower than 2^-bits."""
    low, high = (ball(Fraction(end, ONE)) for end in enclosure)
    return bool(not low > truth and not high < truth and enclosure[1] - enclosure[0] < ONE >> bits)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(POSITIVE, st.booleans(), st.fractions(min_value=0, max_value=1))
def test_enclosures_hold_the_truth(x: Fraction, negative: bool, a: Fraction) -> None:
    """The checker's logarithms, exponentials, losses and entropies against Arb; they are also narrow."""
    s = -x if negative else x
    with ctx.workprec(700):
        assert holds(log_of(x), ball(x).log())
        assert holds(exp_of_minus(x), (-ball(x)).exp())
        loss = (-ball(abs(s))).exp().log1p() + max(ball(-s), arb(0))
        assert holds(loss_of(s), loss)
        parts = [-ball(p) * ball(p).log() for p in (a, 1 - a) if p]
        assert holds(entropy_of(a), sum(parts, arb(0)))


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(10**15), Fraction(1, 10**400)])
def test_enclosures_at_the_edges(x: Fraction) -> None:
    """0, 1, exact powers of two, numbers far too large or too small for the fixed point."""
    with ctx.workprec(2000):
        assert holds(exp_of_minus(x), (-ball(x)).exp())
        assert holds(loss_of(-x), ball(x) + (-ball(x)).exp().log1p())
        if x:
            assert holds(log_of(x), ball(x).log())


def test_one_point_has_a_closed_form() -> None:
    """z = y = 1, lambda = 1/4: 1/(1 + exp(w)) = 1/4 at w = log 3, and p* = log(4/3) + log(3)/4 lies in the interval."""
    Path("d.csv").write_bytes(b"1,1\n")
    ran = run("check", "d.csv", "--loss", "logistic", "--lambda", "1/4", "--json")
    assert ran.code == 0, ran.err
    lower, upper = (Fraction(ran.json["value"][key]) for key in ("lower", "upper"))
    assert upper - lower <= upper / 10**9
    with ctx.workprec(300):
        truth = (arb(4) / 3).log() + arb(3).log() / 4
        assert ball(lower) < truth < ball(upper)
    assert ran.json["lambda_max_squared"] == "1/4"
    verify.check(Path(ran.json["certificate"]).read_bytes(), b"1,1\n")


def test_above_lambda_max_the_value_is_n_log_2() -> None:
    """Zero is the only solution: proved, with an interval around 5 log 2 as narrow as any gap."""
    data, raw = random_data(0, 5, 2, labels=True)
    problem = replace(relu(data.Z, data.y, enumerate_patterns(data.Z)), loss=LOGISTIC)
    found = certified(problem, data.source, Fraction(10**3), Fraction(1, 10**60))
    with ctx.workprec(400):
        assert ball(found.facts.value.lower) < 5 * arb(2).log() < ball(found.facts.value.upper)
    said = {line.claim: line.verdict for line in verify.check(found.certificate_text.encode(), raw)}
    assert set(said.values()) == {"PROVED"}
    assert {"p-unique", "convex-unique"} <= set(said)


@pytest.mark.parametrize("model", [relu, gated])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_value_is_that_of_the_whole_program(model: type, seed: int) -> None:
    """p* over all patterns agrees with cvxpy and Clarabel; the checker accepts the proof and nothing is overstated."""
    data, raw = random_data(seed, 7, 2, labels=True)
    patterns = enumerate_patterns(data.Z)
    problem = replace(model(data.Z, data.y, patterns), loss=LOGISTIC)
    found = certified(problem, data.source, Fraction(1, 2))
    text = found.certificate_text
    assert found.facts.value.reached
    listed = ["".join("01"[bit] for bit in on) for on in patterns.array().tolist()]
    assert float(found.facts.value.upper) == pytest.approx(optimal_value(json.loads(text)["problem"], listed), rel=1e-6)
    said = {line.claim: line.verdict for line in verify.check(text.encode(), raw)}
    assert said["patterns-complete"] == said["optimal"] == said["fit"] == "PROVED"
    assert said["p-unique"] == said["convex-unique"] == "UNDECIDED"


@pytest.mark.parametrize("model", ["relu", "gated"])
def test_any_gap_is_reached(model: str) -> None:
    """Newton's method on the faces reaches a relative gap of 1e-60, over all patterns and over some."""
    data, raw = random_data(2, 6, 2, labels=True)
    whole = (relu if model == "relu" else gated)(data.Z, data.y, enumerate_patterns(data.Z))
    some = over_patterns(data.Z, data.y, tuple(draw_gates(data.Z, 4, 0)), model)  # type: ignore[arg-type]
    for problem in (whole, some):
        found = certified(replace(problem, loss=LOGISTIC), data.source, Fraction(1, 3), Fraction(1, 10**60))
        assert found.facts.value.reached
        verify.check(found.certificate_text.encode(), raw)


def test_over_some_patterns_the_distance_is_proved() -> None:
    """The interval of the distance is that of the two values, at least 0, and it holds what cvxpy finds."""
    data, raw = random_data(4, 6, 2, labels=True)
    Path("d.csv").write_bytes(raw)
    ran = run("check", "d.csv", "--loss", "logistic", "--patterns", "3", "--lambda", "1/3", "--json")
    assert ran.code == 0, ran.err
    some = replace(over_patterns(data.Z, data.y, tuple(draw_gates(data.Z, 3, 0)), "relu"), loss=LOGISTIC)
    stated = json.loads(Path(ran.json["certificate"]).read_text())["problem"]
    assert len(stated["patterns"]) == len(some.patterned.patterns) == 3  # type: ignore[union-attr]
    everything = ["".join("01"[bit] for bit in on) for on in enumerate_patterns(data.Z).array().tolist()]
    whole = {key: value for key, value in stated.items() if key != "patterns"}
    away = optimal_value(stated) - optimal_value(whole, everything)
    low, high = (Fraction(ran.json["global"]["distance"][key]) for key in ("lower", "upper"))
    assert 0 <= low <= high
    assert float(low) - 1e-6 <= away <= float(high) + 1e-6


def test_labels_are_1_and_minus_1_or_0() -> None:
    """0 stands for -1, and that is said; other targets are refused with a sentence."""
    Path("d.csv").write_bytes(b"1,1\n2,0\n3,1\n")
    ran = run("check", "d.csv", "--loss", "logistic", "--lambda", "1/10")
    assert ran.code == 0 and "the label 0 is y = -1" in ran.out, ran.err
    Path("e.csv").write_bytes(b"1,1\n2,-1\n3,1\n")
    same = run("check", "e.csv", "--loss", "logistic", "--lambda", "1/10", "--json")
    zero = run("check", "d.csv", "--loss", "logistic", "--lambda", "1/10", "--json")
    assert same.json["value"] == zero.json["value"]
    Path("d.csv").write_bytes(b"1,1\n2,0\n3,-1\n")
    ran = run("check", "d.csv", "--loss", "logistic")
    assert (ran.code, "labels 1 and -1" in ran.err) == (64, True), ran.err


def test_only_0_stands_for_minus_1() -> None:
    """A certificate whose labels are not those of the file is rejected, whether the file has 0 and 1 or -1 and 1."""
    Path("d.csv").write_bytes(b"1,1\n2,0\n3,1\n")
    Path("e.csv").write_bytes(b"1,1\n2,-1\n3,1\n")
    for name in ("d", "e"):
        assert run("check", f"{name}.csv", "--loss", "logistic", "--lambda", "1/10").code == 0
        content = json.loads(Path(f"{name}.cert.json").read_text())
        raw = Path(f"{name}.csv").read_bytes()
        verify.check(json.dumps(content).encode(), raw)
        content["problem"]["y"] = "1 1 1"
        with pytest.raises(verify.Rejected, match=r"problem\.y"):
            verify.check(json.dumps(content).encode(), raw)


@pytest.mark.long
def test_every_changed_certificate_is_rejected_or_true() -> None:
    """No number, index or claim of the certificate can be changed to something that is not true."""
    data, raw = random_data(7, 4, 2, labels=True)
    problem = replace(relu(data.Z, data.y, enumerate_patterns(data.Z)), loss=LOGISTIC)
    certificate = json.loads(certified(problem, data.source, Fraction(1)).certificate_text)
    total, false = false_survivors(plain(certificate), raw)
    assert false == []
    assert total > 300


def test_an_interval_that_is_too_narrow_is_rejected() -> None:
    """lower above the entropy, or upper below the loss, by less than a part in 10^20 of what the points give."""
    data, raw = random_data(7, 4, 2, labels=True)
    problem = replace(gated(data.Z, data.y, enumerate_patterns(data.Z)), loss=LOGISTIC)
    certificate = json.loads(certified(problem, data.source, Fraction(1)).certificate_text)
    for key, side in (("lower", 1), ("upper", -1)):
        tree = json.loads(json.dumps(certificate))
        moved = Fraction(tree["facts"]["value"][key]) + side * Fraction(1, 10**22)
        tree["facts"]["value"][key] = str(moved)
        value = tree["facts"]["value"]
        tree["facts"]["fit"]["radius_squared"] = str((Fraction(value["upper"]) - Fraction(value["lower"])) / 2)
        with pytest.raises(verify.Rejected, match=f"value.{key}: expected {key}"):
            verify.check(json.dumps(tree).encode(), raw)


@pytest.mark.parametrize("model", ["relu", "gated"])
def test_a_lambda_far_below_what_floats_can_reach_is_undecided(model: str) -> None:
    """At 1e-60 on separable data no float proposes anything good. The dual point is shrunk by 1e-50 and stays other
    than zero, so that it keeps its pieces and the certificate is accepted; and it ends."""
    Path("d.csv").write_bytes(b"1,1\n2,1\n-1,-1\n-3,-1\n")
    ran = run("check", "d.csv", "--loss", "logistic", "--lambda", "1e-60", "--model", model, "--json")
    assert ran.code == 0, ran.err
    verdicts = {claim["claim"]: claim["verdict"] for claim in ran.json["claims"]}
    assert (verdicts["optimal"], verdicts["fit"]) == ("UNDECIDED", "PROVED")
