"""`python -m properties check`: the corpus and the bundled examples agree, and what is wrong is contradicted."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from properties.model import Answer
from properties.soundness import opinion_calls, symbolic
from properties.soundness.bags import BagCase
from properties.soundness.case import NetworkCase, ask
from properties.soundness.opinion import disagreement
from properties.soundness.symbolic import Question, check_symbolic
from properties.symbolic.command import main
from properties.symbolic.data import compare
from properties.symbolic.judge import Status, judge
from properties.symbolic.reader import Certificate, OtherDataError, read_certificate, too_large
from relu_cert import certify, certify_group_lasso, examples
from relu_cert.claims import Verdict
from relu_cert.cli import main as relu_cert
from relu_cert.results.certified import Certified

ACCEPTED = Path(__file__).parents[1] / "verify" / "corpus" / "accepted"
SLOW = ("curve-01", "curve-02")  # the path of eleven rows, a minute each


def certificates() -> list[Path]:
    """The certificates of the corpus that are small enough."""
    found = []
    for path in sorted(ACCEPTED.glob("*.json")):
        tree = json.loads(path.read_text())
        if tree["format"] == "relu_cert certificate" and path.stem not in SLOW and not too_large(Certificate(tree)):
            found.append(path)
    return found


@pytest.mark.parametrize("path", certificates(), ids=lambda path: path.stem)
def test_the_corpus_is_not_contradicted(path: Path) -> None:
    """Every accepted certificate of this size is about its data, and no verdict of it is contradicted."""
    certificate = read_certificate(path.read_bytes())
    data = path.with_suffix(".data")
    if data.exists():
        compare(certificate, data.read_bytes())
    assert [one for one in judge(certificate) if one.status is Status.CONTRADICTED] == []


def test_most_of_the_corpus_is_judged() -> None:
    """Of the verdicts on optimality and on sets of solutions hardly any is left out."""
    certificate = read_certificate((ACCEPTED / "derivatives-05.json").read_bytes())
    assert {one.status for one in judge(certificate)} == {Status.CONFIRMED}


SMALL = ("xor", "line", "twins", "conjecture", "conjecture-relu", "gated-conjecture")


@pytest.mark.parametrize("name", SMALL)
def test_the_bundled_examples_agree(name: str, tmp_path: Path) -> None:
    """Every verdict about an example of this size is confirmed, with its data."""
    path = tmp_path / "a.cert.json"
    assert relu_cert(["check", "--example", name, "--certificate", str(path), "--quiet"]) == 0
    certificate = read_certificate(path.read_bytes())
    compare(certificate, examples.path(name).read_bytes())
    assert {one.status for one in judge(certificate)} == {Status.CONFIRMED}


def changed(found: Certified, change: Any) -> dict[str, Status]:
    """The judgements of a certificate that was changed."""
    tree = copy.deepcopy(json.loads(found.certificate))
    change(tree)
    return {one.claim: one.status for one in judge(Certificate(tree))}


@pytest.fixture(scope="module")
def twins() -> Certified:
    """Data whose optimal networks are a segment."""
    return certify([[3, 0], [-3, 0], [0, 4], [0, -4]], [10, 10, 17, 17], 5)


def test_a_missing_vertex_is_contradicted(twins: Certified) -> None:
    """A polytope that lists one vertex less is not the optimal set."""

    def drop(tree: dict[str, Any]) -> None:
        fact = tree["facts"]["polytope"]
        fact["vertices"], fact["edges"] = fact["vertices"][:1], []

    found = changed(twins, drop)
    assert found["optimal-set"] is Status.CONTRADICTED and found["minimal"] is Status.CONTRADICTED


def test_a_verdict_turned_round_is_contradicted(twins: Certified) -> None:
    """Whatever is confirmed is contradicted with the opposite verdict."""
    opposite = {"PROVED": "REFUTED", "REFUTED": "PROVED"}

    def turn(tree: dict[str, Any]) -> None:
        for one in tree["claims"]:
            one["verdict"] = opposite[one["verdict"]]

    assert set(changed(twins, turn).values()) == {Status.CONTRADICTED}
    assert set(changed(twins, lambda _: None).values()) == {Status.CONFIRMED}


def test_a_listed_pattern_too_few_is_contradicted(twins: Certified) -> None:
    """D_Z is enumerated again."""

    def drop(tree: dict[str, Any]) -> None:
        tree["facts"]["patterns"]["groups"][0]["witnesses"].pop()

    if "patterns" in json.loads(twins.certificate)["facts"]:
        assert changed(twins, drop)["patterns-complete"] is Status.CONTRADICTED


def test_shortest_weights_off_by_a_little_are_contradicted(twins: Certified) -> None:
    """A weight that is off by 1e-30, with radius 0, is another."""

    def move(tree: dict[str, Any]) -> None:
        fact = tree["facts"]["polytope"]["min_norm"]
        first, *rest = fact["weights"].split()
        p, _, q = first.partition("/")
        off = 10**30 * int(q or 1)
        fact["weights"] = " ".join([f"{int(p) * 10**30 + int(q or 1)}/{off}", *rest])

    assert changed(twins, move)["min-norm"] is Status.CONTRADICTED


def test_a_continuity_claim_across_a_jump_is_contradicted() -> None:
    """At lambda = 25 the solutions of the conjecture's counterexample jump: PROVED is wrong for all three claims."""
    X, groups = [[5, 0, 3], [0, 10, 8]], [[0, 1], [2]]
    found = certify_group_lasso(X, groups, [6, 10], lam=25, interval=(20, 30))
    names = ("continuous", "set-continuous", "min-norm-continuous")
    tree = json.loads(found.certificate)
    told = {one.claim: one for one in judge(Certificate(tree))}
    assert all(told[name].verdict == "REFUTED" and told[name].status is Status.CONFIRMED for name in names)
    for one in tree["claims"]:
        if one["claim"] in names:
            one["verdict"] = "PROVED"
    told = {one.claim: one for one in judge(Certificate(tree))}
    assert all(told[name].status is Status.CONTRADICTED for name in names)


def test_other_data_are_noticed(tmp_path: Path, twins: Certified) -> None:
    """A file with another hash, or other numbers, is not what the certificate speaks of."""
    certificate = read_certificate(twins.certificate.encode())
    compare(certificate, twins.raw)
    with pytest.raises(OtherDataError, match="hash"):
        compare(certificate, twins.raw + b"\n")
    path, data = tmp_path / "a.cert.json", tmp_path / "a.csv"
    path.write_text(twins.certificate)
    data.write_bytes(twins.raw.replace(b"10", b"11"))
    assert main([str(path), "--data", str(data)]) == 1


def test_exit_codes(tmp_path: Path, twins: Certified, capsys: pytest.CaptureFixture[str]) -> None:
    """0 confirmed, 2 another version, 64 usage, 65 data that are not there; --json is one object."""
    path = tmp_path / "a.cert.json"
    path.write_text(twins.certificate)
    assert main([str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {one["status"] for one in told["verdicts"]} == {"confirmed"}
    assert main([str(path), "--data", str(tmp_path / "none.csv")]) == 65
    assert main([str(path), "--nonsense"]) == 64
    assert main([str(path), "--most", "1"]) == 2
    path.write_text(
        twins.certificate.replace('"version": 2', '"version": 3', 1).replace('"version":2', '"version":3', 1)
    )
    assert main([str(path)]) == 2


def test_nothing_of_the_producer_the_checker_or_flint_is_loaded(tmp_path: Path, twins: Certified) -> None:
    """`check` loads sympy with Python's integers, and nothing that the other two opinions rest on."""
    path = tmp_path / "a.cert.json"
    path.write_text(twins.certificate)
    code = (
        "import sys; sys.argv = ['properties', 'check', sys.argv[1]]\n"
        "from properties.__main__ import main\n"
        "assert main() == 0\n"
        "from sympy.external.gmpy import GROUND_TYPES\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "print(GROUND_TYPES, sorted(loaded & {'flint', 'relu_cert', 'verify', 'gmpy2', 'cvxpy'}))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "python []"


def test_a_wrong_verdict_of_the_certifier_fails_the_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    """`soundness: symbolic` fails where the certifier says PROVED to what the definitions refute, and counts what they
    confirm."""
    case = NetworkCase("relu", *planted_twins(), Fraction(5))
    fine = check_symbolic(Question(case))
    assert fine.answer is Answer.HOLDS
    assert "p-unique REFUTED sympy relu" in fine.notes and "optimal PROVED sympy relu" in fine.notes
    honest = symbolic.ask

    def wrong(*given: Any, **more: Any) -> Any:
        answer = honest(*given, **more)
        turned = (replace(r, verdict=Verdict.PROVED) if r.claim == "p-unique" else r for r in answer.results)
        return replace(answer, results=tuple(turned))

    monkeypatch.setattr(symbolic, "ask", wrong)
    told = check_symbolic(Question(case))
    assert told.answer is Answer.FAILS and "p-unique is PROVED" in told.why


def planted_twins() -> tuple[Any, Any]:
    """Z and y of the twins."""
    Z = tuple(tuple(map(Fraction, row)) for row in ([3, 0], [-3, 0], [0, 4], [0, -4]))
    return Z, tuple(map(Fraction, (10, 10, 17, 17)))


def test_a_problem_that_is_not_known_is_declined(tmp_path: Path, twins: Certified) -> None:
    """A key of the problem without a definition here is no contradiction: exit code 2."""
    tree = json.loads(twins.certificate)
    tree["problem"]["other"] = "1"
    path = tmp_path / "a.cert.json"
    path.write_text(json.dumps(tree))
    assert main([str(path)]) == 2


Z4, y4 = [[1, 0], [0, 1], [1, 1], [-1, 1]], [2, -1, 0, 3]
CALLS: dict[str, dict[str, Any]] = {
    "free biases": {
        "bias": True,
        "free": "output-bias,biases",
        "Z": [[0], [1], [2], [3]],
        "y": [4, -3, 1, 8],
        "lam": 4,
    },
    "an output bias and a skip connection": {"free": "output-bias,skip"},
    "a decayed output bias": {"bias": True, "decayed_bias": True},
    "sets": {"bags": ["a", "a", "b", "c"], "y": [2, 2, 0, 3]},
    "windows": {"conv": "1d:1"},
}


@pytest.mark.parametrize("options", CALLS.values(), ids=CALLS)
def test_free_terms_and_bags_are_judged_with_their_data(options: dict[str, Any]) -> None:
    """Optimality, the fit and uniqueness are confirmed, the file is read again, and what is turned round is
    contradicted."""
    found = certify(**({"Z": Z4, "y": y4, "lam": "1/2"} | options))
    certificate = read_certificate(found.certificate.encode())
    compare(certificate, found.raw)
    told = {one.claim: one for one in judge(certificate)}
    for name in ("optimal", "fit", "p-unique"):
        assert told[name].status is Status.CONFIRMED, told[name]
    tree = json.loads(found.certificate)
    for one in tree["claims"]:
        if one["claim"] == "p-unique":
            one["verdict"] = "REFUTED" if one["verdict"] == "PROVED" else "PROVED"
    assert {one.claim: one.status for one in judge(Certificate(tree))}["p-unique"] is Status.CONTRADICTED


def test_bags_that_are_not_those_of_the_file_are_noticed() -> None:
    """A window's count, a scale or a row that is another is no reading of the file."""
    found = certify([[1, 2, 1, 2], [0, 1, 1, 1]], [2, 1], "1/2", conv="1d:2")
    for change in ({"scale": "1/2"}, {"times": [3, 1]}, {"rows": [0, 2]}):
        tree = json.loads(found.certificate)
        tree["problem"]["bags"][0] |= change
        with pytest.raises(OtherDataError, match="bags"):
            compare(Certificate(tree), found.raw)


def test_several_outputs_are_judged() -> None:
    """Optimality and the fit of several outputs are confirmed with their data; a dual point that is a little too long
    is not."""
    found = certify([[1, 0], [0, 1], [1, 1]], [[2, 1], [1, 2], [0, 1]], "1/2")
    certificate = read_certificate(found.certificate.encode())
    compare(certificate, found.raw)
    told = {one.claim: one.status for one in judge(certificate)}
    assert told["optimal"] is Status.CONFIRMED and told["fit"] is Status.CONFIRMED
    tree = json.loads(found.certificate)
    tree["facts"]["cover"]["theta"]["tau"] = f"{10**30 + 1}/{10**30}"
    tree["problem"]["Y"][0] = "2 2"
    with pytest.raises(OtherDataError, match="Y"):
        compare(Certificate(tree), found.raw)
    told = {one.claim: one.status for one in judge(Certificate(tree))}
    assert told["optimal"] is not Status.CONFIRMED


@pytest.mark.parametrize(
    ("Y", "lam", "options"),
    [
        ([[2, 1], [1, 2], [0, 1]], "1/2", {}),
        ([[2, 1], [1, 2], [0, 1], [3, -1]], "1/3", {"free": "output-bias"}),
        ([[2, 1, 0], [1, 2, 1], [0, 1, -1], [3, -1, 2]], "1", {}),
        (["a", "b", "c"], "1/10", {"loss": "softmax"}),
    ],
)
def test_several_outputs_are_unique_over_a_ball(Y: list[Any], lam: str, options: dict[str, Any]) -> None:
    """An optimum that is not rational: uniqueness, the one vertex, its weights and E = A are confirmed over the ball,
    and contradicted turned round; a class too few, or weights that are others, are not confirmed."""
    found = certify([[1, 0], [0, 1], [1, 1], [1, -2]][: len(Y)], Y, lam, **options)
    names = ("p-unique", "optimal-set", "minimal", "connected", "min-norm", "e-equals-a")
    told = {one.claim: one for one in judge(read_certificate(found.certificate.encode()))}
    assert all(told[name].verdict == "PROVED" and told[name].status is Status.CONFIRMED for name in names), told

    def turn(tree: dict[str, Any]) -> None:
        for one in tree["claims"]:
            one["verdict"] = "REFUTED"

    def drop(tree: dict[str, Any]) -> None:
        tree["facts"]["cover_set"]["classes"].pop()

    def move(tree: dict[str, Any]) -> None:
        fact = tree["facts"]["polytope"]["min_norm"]
        fact["weights"], fact["radius"] = " ".join(["1/7", *fact["weights"].split()[1:]]), "1/1000000"

    assert all(changed(found, turn)[name] is Status.CONTRADICTED for name in names)
    assert all(changed(found, drop)[name] is Status.NOT_JUDGED for name in names)
    assert changed(found, move)["min-norm"] is Status.CONTRADICTED


def test_softmax_is_judged() -> None:
    """Cross-entropy of three classes: optimality and the ball of the probabilities are confirmed; a network that lacks
    a neuron is not within the gap."""
    found = certify([[1, 0], [0, 1], [1, 1], [-1, 1]], ["a", "b", "c", "a"], "1/4", loss="softmax")
    certificate = read_certificate(found.certificate.encode())
    compare(certificate, found.raw)
    told = {one.claim: one.status for one in judge(certificate)}
    assert told["optimal"] is Status.CONFIRMED and told["fit"] is Status.CONFIRMED
    tree = json.loads(found.certificate)
    tree["facts"]["primal"]["neurons"].pop()
    assert {one.claim: one.status for one in judge(Certificate(tree))}["optimal"] is not Status.CONFIRMED


@pytest.mark.parametrize(
    "options",
    [
        *CALLS.values(),
        {"slope": "1/4"},
        {"y": [[2, 1], [1, 2], [0, 1], [3, -1]], "free": "output-bias"},
        {"y": [[2, 1], [1, 2], [0, 1], [3, -1]], "bags": ["a", "b", "c", "d"]},
        {"y": ["a", "b", "c", "a"], "loss": "softmax"},
    ],
    ids=[*CALLS, "a slope", "several outputs", "several outputs of bags", "softmax"],
)
def test_the_second_opinion_covers_every_call(options: dict[str, Any]) -> None:
    """cvxpy's enclosure of p* meets the certifier's, is tight, and does not meet one that is a thousandth away."""
    found = certify(**({"Z": Z4, "y": y4, "lam": "1/2"} | options))
    assert opinion_calls.disagreement(found) == ""
    certificate = read_certificate(found.certificate.encode())
    p = certificate.several if "Y" in certificate.problem else certificate.program
    low, high = opinion_calls.enclosed(p)
    assert high - low <= Fraction(1, 10**5)
    for side in (-1, 1):
        off = found.value.upper * (1 + Fraction(side, 1000))
        value = replace(found.value, lower=off, upper=off)
        other = SimpleNamespace(certificate=found.certificate, raw=found.raw, value=value)
        assert "second opinion" in opinion_calls.disagreement(other)


def test_a_call_whose_value_is_wrong_fails_the_second_opinion(monkeypatch: pytest.MonkeyPatch) -> None:
    """`soundness: second opinion` counts a call that agrees, and fails where the certifier's p* is another."""
    call = symbolic.Call("outputs", (((Fraction(1),),),), ((Fraction(3), Fraction(4)),), Fraction(1))
    fine = opinion_calls.check_call(call)
    assert fine.answer is Answer.HOLDS and any("optimal PROVED" in note for note in fine.notes)
    answer = call.answer()
    value = replace(answer.value, lower=answer.value.lower + 1, upper=answer.value.upper + 1)
    wrong = SimpleNamespace(certificate=answer.certificate, raw=answer.raw, value=value)
    monkeypatch.setattr(symbolic.Call, "answer", lambda _: wrong)
    assert opinion_calls.check_call(call).answer is Answer.FAILS


def test_the_second_opinion_covers_bags() -> None:
    """cvxpy's enclosure of p* over sets of rows meets the certifier's, and that for other targets does not."""
    sets = tuple(tuple(tuple(map(Fraction, z)) for z in rows) for rows in ([[1, 0], [0, 1]], [[1, 1]]))
    case = BagCase(sets, (Fraction(2), Fraction(-1)), Fraction(1, 3))
    answer = ask(case)  # type: ignore[arg-type]
    assert disagreement(answer) == ""
    other = replace(answer, case=replace(case, y=(Fraction(3), Fraction(-1))))  # type: ignore[arg-type]
    assert "second opinion" in disagreement(other)
