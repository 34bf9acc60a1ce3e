"""Networks over some patterns only: check --patterns, --gates, and the distance from the global optimum."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

import verify
from relu_cert.data.read import read_csv_bytes
from relu_cert.errors import DataError
from relu_cert.exact import matrix
from relu_cert.patterns import enumerate_patterns
from relu_cert.patterns.predict import draw_gates, pattern_of, read_gate_file
from relu_cert.problem import over_patterns, relu
from tests.cli.run import run
from tests.variants.mutants import false_survivors, flipped, plain
from tests.variants.stated import certified, optimal_value, random_data

TENT = b"z,y\n1,3\n-1,-4\n"
CORNER = b"1,0,2\n0,1,0\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written into a folder of their own."""
    monkeypatch.chdir(tmp_path)


def written(name: str, content: bytes) -> str:
    Path(name).write_bytes(content)
    return name


def verdicts(certificate: bytes, raw: bytes) -> dict[str, str]:
    return {line.claim: line.verdict for line in verify.check(certificate, raw)}


def test_the_distance_of_a_hand_made_problem_is_exact() -> None:
    """z = (1, -1), y = (3, -4), lambda = 1. Over the pattern 10 only, the second point stays at 8 and the first costs
    1/2 + 2; over all patterns the second costs 1/2 + 3. So p* is 21/2 and 6, 9/2 apart."""
    ran = run("check", written("d.csv", TENT), "--gates", written("g.csv", b"1\n"), "--lambda", "1", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["value"] == {"lower": "21/2", "upper": "21/2"}
    assert ran.json["patterns"] == {"total": 1, "open": None}
    assert ran.json["global"]["value"] == {"lower": "6", "upper": "6"}
    assert ran.json["global"]["distance"] == {"lower": "9/2", "upper": "9/2"}
    some = verdicts(Path(ran.json["certificate"]).read_bytes(), TENT)
    assert some["optimal"] == "PROVED"
    assert "patterns-complete" not in some
    assert verdicts(Path(ran.json["global"]["certificate"]).read_bytes(), TENT)["patterns-complete"] == "PROVED"


def test_with_an_l2_penalty_patterns_outside_D_Z_can_be_better_than_all_of_D_Z() -> None:
    """Z = (e1, e1, e2), y = (0, 0, 5), lambda = delta = 1: the neuron e2 lies in two blocks of D_Z and, with 101 and
    011, in two more. Split over k blocks it costs (5 - s)^2/2 + s + s^2/(2k): p* = 25/2 - 8k/(k + 1) is 61/10 over
    these four and 43/6 over D_Z. Their difference is negative, and the report says so."""
    data, gates = written("d.csv", b"1,0,0\n1,0,0\n0,1,5\n"), written("g.csv", b"111\n001\n101\n011\n")
    ran = run("check", data, "--gates", gates, "--lambda", "1", "--l2", "1", "--json")
    away = {end: Fraction(x) for end, x in ran.json["global"]["distance"].items()}
    assert away["lower"] <= Fraction(61, 10) - Fraction(43, 6) <= away["upper"] < 0
    inside = written("i.csv", b"111\n001\n")
    ran = run("check", data, "--gates", inside, "--lambda", "1", "--l2", "1", "--json")
    away = {end: Fraction(x) for end, x in ran.json["global"]["distance"].items()}
    assert away["lower"] == 0 <= away["upper"]


def test_the_report_says_that_optimality_is_for_these_patterns_only() -> None:
    """The line of `optimal` and the head say so; where D_Z is too large, the report says that it was not compared."""
    ran = run("check", written("d.csv", TENT), "--patterns", "1", "--seed", "3", "--max-patterns", "1")
    assert "only 1 activation pattern\n" in ran.out
    text = " ".join(ran.out.split())
    assert "Optimal for these patterns only: a candidate for a stationary point." in text
    assert "global not compared: D_Z may have up to" in text


@pytest.mark.parametrize("model", ["relu", "gated"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_value_is_that_of_the_whole_program(model: str, seed: int) -> None:
    """p* agrees with cvxpy and Clarabel on the same blocks, and the checker accepts the certificate with the data."""
    data, raw = random_data(seed, 7, 2 + seed % 2)
    problem = over_patterns(data.Z, data.y, tuple(draw_gates(data.Z, 5, seed)), model)
    found = certified(problem, data.source, Fraction(2))
    text = found.certificate_text
    value = found.facts.value
    assert value.reached
    assert float(value.upper) == pytest.approx(optimal_value(json.loads(text)["problem"]), rel=1e-6)
    said = verdicts(text.encode(), raw)
    assert said["optimal"] == said["fit"] == "PROVED"
    assert {name: str(r.verdict) for name, r in ((r.claim, r) for r in found.results)} == said


def test_a_neuron_in_two_blocks_is_one_neuron() -> None:
    """z = (1,0), (0,1), y = (2, 0), lambda = 1: the one optimal neuron (1, 0) lies in the cones of 11 and of 10. The
    network is unique, the solution of the convex program is not; over 11 alone both are."""
    data = read_csv_bytes(CORNER, "d.csv")
    for patterns, unique in ((("11", "10"), "REFUTED"), (("11",), "PROVED"), (("11", "01"), "PROVED")):
        found = certified(over_patterns(data.Z, data.y, patterns, "relu"), data.source, Fraction(1))
        assert found.facts.value.upper == found.facts.value.lower == Fraction(3, 2)
        said = verdicts(found.certificate_text.encode(), CORNER)
        assert (said["p-unique"], said["convex-unique"]) == ("PROVED", unique), patterns
        for claim in ("p-unique", "convex-unique"):
            with pytest.raises(verify.Rejected):
                verify.check(flipped(json.loads(found.certificate_text), claim), CORNER)


def test_shared_neurons_of_an_irrational_optimum_are_counted_once() -> None:
    """Over all patterns of random data the network is p-unique whether pieces or blocks prove it; where a neuron is
    zero at a data point, the convex program over the blocks has many solutions."""
    seen = set()
    for seed in range(6):
        data, raw = random_data(seed, 5, 2)
        complete = enumerate_patterns(data.Z)
        patterns = tuple("".join("01"[bit] for bit in on) for on in complete.array().tolist())
        some = certified(over_patterns(data.Z, data.y, patterns, "relu"), data.source, Fraction(3))
        whole = certified(relu(data.Z, data.y, complete), data.source, Fraction(3))
        said, expected = (verdicts(x.certificate_text.encode(), raw) for x in (some, whole))
        pair = (said["p-unique"], said["convex-unique"])
        seen.add(pair)
        for claim in ("p-unique", "convex-unique"):
            assert "UNDECIDED" in (said[claim], expected[claim]) or said[claim] == expected[claim], (seed, claim)
            with pytest.raises(verify.Rejected):
                verify.check(flipped(json.loads(some.certificate_text), claim), raw)
    assert ("PROVED", "REFUTED") in seen


def test_drawn_patterns_are_patterns_of_the_data() -> None:
    """They are different, in D_Z, the same for the same seed; more than there are cannot be drawn."""
    Z = matrix([[1, 2], [-2, 1], [3, -1], [0, 1], [2, 2]])
    listed = {"".join("01"[bit] for bit in on) for on in enumerate_patterns(Z).array().tolist()}
    drawn = tuple(draw_gates(Z, 6, 1))
    assert len(set(drawn)) == len(drawn) == 6
    assert set(drawn) <= listed
    assert tuple(draw_gates(Z, 6, 1)) == drawn
    assert tuple(draw_gates(Z, 6, 2)) != drawn
    every = set(draw_gates(Z, 100, 0))
    assert every <= listed
    assert len(every) >= len(listed) - 2  # those of no open cell, or without a neuron


def test_gates_are_vectors_or_patterns() -> None:
    """A line of d numbers is a gate, 0 counts as on, repeated patterns are one; a line of n bits is a pattern."""
    Z = matrix([[1, 2], [-2, 1], [3, -1]])
    assert pattern_of(Z, (Fraction(0), Fraction(0))) == "111"
    assert tuple(read_gate_file(written("g.csv", b"u,v\n1,0\n2,0\n-1/2,0.5\n"), Z)) == ("101", "110")
    assert tuple(read_gate_file(written("p.csv", b"101\n011\n101\n"), Z)) == ("101", "011")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1,2,3\n", "expected 2 numbers in a line"),
        (b"101\n10\n", "row 2: expected a pattern of 3 characters"),
        (b"1,x\n", "no gate"),
        (b"1,2\n1,x\n", "row 2, column 2: found 'x'"),
    ],
)
def test_bad_gates_are_refused_with_their_place(content: bytes, message: str) -> None:
    """The message names the file, the row and what was found."""
    with pytest.raises(DataError, match=message):
        read_gate_file(written("g.csv", content), matrix([[1, 2], [-2, 1], [3, -1]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--patterns", "0"], "--patterns must be at least 1"),
        (["--patterns", "2", "--gates", "g.csv"], "not both"),
        (["--gates", "g.csv", "--seed", "1"], "--seed is for --patterns"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], message: str) -> None:
    """They are refused with a sentence and the exit code of usage."""
    written("g.csv", b"1\n")
    ran = run("check", written("d.csv", TENT), *options)
    assert (ran.code, message in ran.err) == (64, True), ran.err


@pytest.mark.long
@pytest.mark.parametrize("model", ["relu", "gated"])
def test_every_changed_certificate_is_rejected_or_true(model: str) -> None:
    """No number, index, pattern or claim of the certificate can be changed to something that is not true."""
    data, raw = random_data(3, 4, 2)
    problem = over_patterns(data.Z, data.y, tuple(draw_gates(data.Z, 3, 0)), model)
    certificate = json.loads(certified(problem, data.source, Fraction(5)).certificate_text)
    total, false = false_survivors(plain(certificate), raw)
    assert false == []
    assert total > 300


def test_a_certificate_over_some_patterns_cannot_say_more() -> None:
    """The claim `patterns-complete`, and the evidence read as that of all patterns or of one more, are rejected."""
    data, raw = random_data(3, 4, 2)
    patterns = tuple(draw_gates(data.Z, 3, 0))
    problem = over_patterns(data.Z, data.y, patterns, "relu")
    certificate = json.loads(certified(problem, data.source, Fraction(5)).certificate_text)
    more = {**certificate, "claims": [{"claim": "patterns-complete", "verdict": "PROVED"}, *certificate["claims"]]}
    whole = {**certificate, "problem": {k: v for k, v in certificate["problem"].items() if k != "patterns"}}
    another = {**certificate, "problem": {**certificate["problem"], "patterns": [*patterns, "1111"]}}
    for changed in (more, whole, another):
        with pytest.raises(verify.Rejected):
            verify.check(json.dumps({**changed, "end": changed.pop("end")}).encode(), raw)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--patterns", "1", "--max-patterns", "1"],
            "network for 2 points with 1 feature, trained to its global optimum over 1 activation pattern only",
        ),
        (["--l2", "1/2"], "δ = 1/2, trained to its global optimum"),
    ],
)
def test_the_page_says_what_was_minimised(options: list[str], words: str) -> None:
    """The first sentence of the HTML page names the variant, and claims no global optimum over some patterns."""
    ran = run("check", written("d.csv", TENT), "--lambda", "1", "--html", "p.html", *options)
    assert ran.code == 0, ran.err
    assert words in Path("p.html").read_text(encoding="utf-8")
