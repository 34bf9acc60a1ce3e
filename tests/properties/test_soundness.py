"""The certifier gives no wrong verdict on planted, changed and doubted instances, and a wrong one would be seen."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from properties import registry
from properties.cli import main
from properties.exact.linalg import mat, vec
from properties.exact.patterns import patterns
from properties.exact.problem import Block, problem
from properties.model import Answer as Reply
from properties.run import search
from properties.soundness import check
from properties.soundness.carry import Pair, clash
from properties.soundness.case import Answer, DirectCase, NetworkCase, ask, objection
from properties.soundness.floats import doubt
from properties.soundness.opinion import disagreement
from properties.soundness.truth import Truth, contradiction, truth_of_network
from properties.soundness.variants import case_of, elastic_contradiction, logistic_contradiction
from properties.strategies import PlantedElastic, PlantedLogistic, PlantedReLU, plant_relu
from properties.strategies.variants import plant_elastic
from relu_cert.claims import Result, Verdict
from relu_cert.driver.optimum import IntervalChoice, WantedDerivatives

pytestmark = pytest.mark.long

EXAMPLES = {"interval": 8, "carried_network": 8, "carried_interval": 8, "planted_path": 6, "planted_jump": 3}  # slow
BOX = mat([[3, 0], [-3, 0], [0, 4], [0, -4]])


def box() -> PlantedReLU:
    """Four tied neurons, lambda = 5, an optimal set of dimension 1."""
    planted = plant_relu(BOX, vec([1, 1, 1, 1]), [1])
    assert planted is not None
    return planted


def box_answer() -> Answer:
    """What the certifier says of the box."""
    return ask(NetworkCase("relu", BOX, box().y, Fraction(5)))


def saying(answer: Answer, **said: str) -> Answer:
    """The answer with some verdicts changed."""
    changed = {claim.replace("_", "-"): verdict for claim, verdict in said.items()}
    results = (replace(r, verdict=Verdict(changed.get(r.claim, str(r.verdict)))) for r in answer.results)
    return replace(answer, results=tuple(results))


@pytest.mark.parametrize("name", registry.soundness_names())
def test_no_wrong_verdict(name: str) -> None:
    """About 300 derandomised instances in all; the long run is `python -m properties soundness`."""
    found = search(registry.load(name).printed, EXAMPLES.get(name.removeprefix("soundness."), 20))
    assert not found.failed, f"{found.why}: {found.failure}"
    assert found.notes, "no verdict was counted"


@pytest.mark.parametrize("name", ["planted_relu", "planted_gated", "planted_direct"])
def test_no_wrong_verdict_over_balls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted optima are rational, and proved as such. Without that the proofs over balls must not err on them either,
    though ties and breakpoints leave them undecided more often."""
    monkeypatch.setattr("relu_cert.prove.listed._exact_facts", lambda *_: None)
    found = search(registry.load(f"soundness.{name}").printed, 12)
    assert not found.failed, f"{found.why}: {found.failure}"
    assert found.notes["p-unique PROVED"]


def test_truth_of_the_box() -> None:
    """m* = 2 and M* = 2 or 3 by hand: the two diagonals, and nothing isolated beyond."""
    truth = truth_of_network(box())
    assert not truth.p_unique
    assert sorted(map(len, truth.supports)) == [2, 2]
    assert (truth.edges, truth.value) == (1, 2 + 25 * 4)
    assert truth.components(2) == 4  # two vertices in two orders
    assert contradiction(box_answer(), truth) == ""


@pytest.mark.parametrize("said", [{"p_unique": "PROVED"}, {"convex_unique": "PROVED"}])
def test_wrong_verdict_is_seen(said: dict[str, str]) -> None:
    """A verdict turned round contradicts the truth, and the checker objects to it."""
    wrong = saying(box_answer(), **said)
    assert "PROVED" in contradiction(wrong, truth_of_network(box()))
    assert "does not accept" in objection(wrong)


def test_lenient_checker_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checker that accepts everything is objected to, because it accepts the opposite verdicts."""
    from properties.soundness import case

    monkeypatch.setattr(case, "way", lambda *_: ("anything", ""))
    assert "as well" in objection(box_answer())


@pytest.mark.parametrize(
    "change",
    [
        lambda t: replace(t, alpha=tuple(2 * a for a in t.alpha)),  # another value
        lambda t: replace(t, vertices=t.vertices[:1]),  # unique
        lambda t: replace(t, q=(*t.q, t.q[0])),  # another tied neuron
        lambda t: replace(t, r=tuple(-x for x in t.r)),  # another fit
    ],
)
def test_other_truth_is_contradicted(change) -> None:  # type: ignore[no-untyped-def]
    """Every part of the truth is compared."""
    truth: Truth = change(truth_of_network(box()))
    assert contradiction(box_answer(), truth)


def test_clash_of_answers_is_seen() -> None:
    """Opposite verdicts, values that do not meet and optimal sets of other shape are clashes."""
    before = box_answer()
    case = before.case
    assert clash(Pair("same", case, case), before, before) == ""
    assert "PROVED" in clash(Pair("same", case, case), before, saying(before, p_unique="PROVED"))
    assert "do not meet" in clash(Pair("scale", case, case, Fraction(2)), before, before)
    assert before.facts.polytope is not None
    other = replace(before, facts=replace(before.facts, vertices=replace(before.facts.polytope, edges=())))
    assert "dimension" in clash(Pair("same", case, case), before, other)


def test_antipodal_rows_are_one_hyperplane_however_patterns_are_given() -> None:
    """LICQ at v = (-1, 0): one hyperplane over all of D_Z, and one in the block 1101, with u_2 >= 0 and -u_2 >= 0."""
    case = NetworkCase("relu", mat([[0, 1], [0, -1], [2, 0], [-2, 0]]), vec([0, 0, 0, 1]), Fraction(1))
    listed = replace(case, chosen=patterns(case.Z).all)
    before, after = ask(case, derivatives=WantedDerivatives()), ask(listed, derivatives=WantedDerivatives())
    assert (before.said["licq"], after.said["licq"]) == ("PROVED", "PROVED")
    pair = Pair("every pattern", case, listed, position=True)
    assert clash(pair, before, after) == ""
    assert "licq" in clash(pair, saying(before, licq="REFUTED"), saying(after, licq="PROVED"))
    assert "licq" in clash(pair, before, saying(after, licq="REFUTED"))


def test_doubled_problems_carry_over() -> None:
    """All points twice with 2 lambda: 2 p*; a block twice: the same p*, and other verdicts are not compared."""
    case = DirectCase(problem([[1, 2]], [1, 1], [4], 1))
    before = ask(case)
    block = case.convex.blocks[1]
    after = ask(replace(case, convex=replace(case.convex, blocks=(*case.convex.blocks, block))))
    assert (before.said["p-unique"], after.said["p-unique"]) == ("PROVED", "REFUTED")
    assert clash(Pair("block twice", case, case, value=True), before, after) == ""
    assert "p-unique" in clash(Pair("same", case, case), before, after)
    assert "do not meet" in clash(Pair("points twice", case, case, Fraction(2), value=True), before, after)


def test_floats_doubt_wrong_uniqueness() -> None:
    """Floats find both networks of the box, and the only one of a single point."""
    assert doubt(box_answer(), 0) == ""
    assert "two networks" in doubt(saying(box_answer(), p_unique="PROVED"), 0)
    point = ask(NetworkCase("relu", mat([[1]]), vec([3]), Fraction(1)))
    assert doubt(point, 0) == ""
    assert "one network only" in doubt(saying(point, p_unique="REFUTED"), 0)


def test_floats_doubt_a_wrong_bound() -> None:
    """Descent finds a network below a lower bound that is too high."""
    answer = box_answer()
    high = replace(answer.facts.value, lower=answer.facts.value.lower + 1)
    assert "descent" in doubt(replace(answer, facts=replace(answer.facts, value=high)), 0)


def test_a_crash_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception on exact data counts as a failure and names itself."""

    def broken(*_: object, **__: object) -> Answer:
        raise ZeroDivisionError("nothing left")

    monkeypatch.setattr(check, "ask", broken)
    outcome = check.check_planted_relu(box())
    assert outcome.answer is Reply.FAILS
    assert "ZeroDivisionError" in outcome.why


def test_direct_case_is_read_back() -> None:
    """A direct problem with a cone goes through the JSON file that the checker reads."""
    case = DirectCase(problem([[1, 1]], [1, 1], [4], 1, [[[-1]], []]))
    answer = ask(case)
    assert objection(answer) == ""
    assert answer.said["p-unique"] == "REFUTED"


def test_regression_block_out_by_its_cone_alone() -> None:
    """One point (1, 1) with target -1, written out: |X_b'theta| = lambda for a block whose projection is 0.

    Its multiplier must be in the certificate, or else the checker misses a class for it."""
    answer = ask(NetworkCase("relu", mat([[1, 1]]), vec([-1]), Fraction(1)).written_out)
    assert objection(answer) == ""
    assert answer.said["p-unique"] == "PROVED"


def test_soundness_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command counts verdicts, stores its batches and goes on from them."""
    line = ["soundness", "--only", "soundness.planted_direct", "--examples", "4", "--state", str(tmp_path), "--quiet"]
    assert main([*line, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert sum(report["verdicts"]["optimal"].values()) == report["lines"][0]["instances"] > 0
    assert main(line) == 0
    assert "1 of them from before" in " ".join(capsys.readouterr().out.split())


def test_failing_instance_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong verdict ends in a file that replays, and replaying judges anew."""

    def lying(case: NetworkCase, **_: object) -> Answer:
        answer = ask(case)
        turned = {"PROVED": "REFUTED", "REFUTED": "PROVED"}
        results = tuple(
            Result(r.claim, Verdict(turned[str(r.verdict)]), r.evidence, r.detail) if r.claim == "p-unique" else r
            for r in answer.results
        )
        return replace(answer, results=results)

    line = ["soundness", "--only", "soundness.planted_gated", "--examples", "3", "--state", str(tmp_path), "--quiet"]
    with monkeypatch.context() as patch:
        patch.setattr(check, "ask", lying)
        assert main(line) == 1
    (stored,) = (tmp_path / "failures").glob("*.json")
    capsys.readouterr()
    assert main(["replay", str(stored)]) == 0
    assert "holds" in capsys.readouterr().out


def elastic() -> PlantedElastic:
    """1/2 (w - 3)^2 + |w| + w^2 / 2: w = 1, r = 2, p* = 2 + 1 + 1/2."""
    return plant_elastic((Block(mat([[1]])),), vec([2]), Fraction(1), Fraction(1))


def logistic() -> PlantedLogistic:
    """log(1 + exp(-w)) + |w| / 4: the probability is 3/4, w = log 3."""
    return PlantedLogistic(problem([[1]], [1], [1], Fraction(1, 16)), vec(["1/4"]), (vec([1]),), (1,))


def test_truth_of_variants() -> None:
    """By hand: the elastic optimum is 7/2, the logistic one H(1/4) = 0.5623351446188083..."""
    assert (elastic().w, elastic().value) == ((vec([1]),), Fraction(7, 2))
    answer = ask(case_of(elastic()))
    assert elastic_contradiction(answer, elastic()) == ""
    assert answer.facts.value.lower <= Fraction(7, 2) <= answer.facts.value.upper
    answer = ask(case_of(logistic()))
    assert logistic_contradiction(answer, logistic()) == ""
    assert abs(float(answer.facts.value.lower) - 0.5623351446188083) < 1e-9


@pytest.mark.parametrize(
    "change",
    [
        lambda f: replace(f, value=replace(f.value, lower=f.value.upper + Fraction(1, 10**6))),
        lambda f: replace(f, value=replace(f.value, upper=f.value.lower - Fraction(1, 10**6))),
        lambda f: replace(f, lambda_max=replace(f.lambda_max, squared=f.lambda_max.squared + 1)),
        lambda f: replace(f, fit=replace(f.fit, center=tuple(x + Fraction(1, 100) for x in f.fit.center))),
    ],
    ids=["lower", "upper", "lambda_max", "fit"],
)
@pytest.mark.parametrize("kind", ["elastic", "logistic"])
def test_wrong_facts_of_variants_are_seen(kind: str, change) -> None:  # type: ignore[no-untyped-def]
    """A bound on the wrong side of p*, another lambda_max and a fit outside its ball contradict the truth, and a second
    opinion on p* sees the bounds, too."""
    planted = elastic() if kind == "elastic" else logistic()
    answer = ask(case_of(planted))
    assert disagreement(answer) == ""
    wrong = replace(answer, facts=change(answer.facts))
    found = elastic_contradiction(wrong, elastic()) if kind == "elastic" else logistic_contradiction(wrong, logistic())
    assert found
    if wrong.facts.value != answer.facts.value:
        far = Fraction(1, 100)
        value = replace(wrong.facts.value, lower=wrong.facts.value.lower + far, upper=wrong.facts.value.upper + far)
        assert "second opinion" in disagreement(replace(wrong, facts=replace(wrong.facts, value=value)))


def test_wrong_uniqueness_of_variants_is_seen() -> None:
    """REFUTED where the solution is unique, PROVED where it is not."""
    assert "convex-unique" in elastic_contradiction(saying(ask(case_of(elastic())), convex_unique="REFUTED"), elastic())
    answer = ask(case_of(logistic()))
    assert "p-unique" in logistic_contradiction(saying(answer, p_unique="REFUTED"), logistic())
    twin = replace(
        logistic(), problem=problem([[1, 1]], [1, 1], [1], Fraction(1, 16)), q=(vec([1]),) * 2, carriers=(1, 1)
    )
    assert "p-unique" in logistic_contradiction(saying(ask(case_of(twin)), p_unique="PROVED"), twin)


def test_clash_where_p_star_falls() -> None:
    """A relation under which p* rises is broken by a smaller one; a shift by log 2 is counted."""
    case = case_of(logistic())
    before = ask(case)
    assert clash(Pair("rises", case, case, rises=True), before, before) == ""
    lower = replace(before.facts.value, lower=Fraction(0), upper=Fraction(1, 10))
    assert "falls" in clash(
        Pair("rises", case, case, rises=True), before, replace(before, facts=replace(before.facts, value=lower))
    )
    assert "do not meet" in clash(Pair("log 2", case, case, logs=1), before, before)


def test_wrong_shortest_weights_are_seen() -> None:
    """Of the box the shortest weights give every neuron one; others contradict the truth."""
    answer, truth = box_answer(), truth_of_network(box())
    assert truth.shortest == vec([1, 1, 1, 1])
    assert answer.facts.polytope is not None
    assert answer.facts.polytope.min_norm is not None
    other = replace(answer.facts.polytope.min_norm, weights=vec([2, 0, 0, 2]))
    polytope = replace(answer.facts.polytope, min_norm=other)
    assert "shortest" in contradiction(replace(answer, facts=replace(answer.facts, vertices=polytope)), truth)


def test_regression_a_neuron_beside_a_kink_is_one_neuron() -> None:
    """A neuron that misses the border of a cone by 5e-7 loses 1e-13 there: floats see it in two blocks, as two tied
    neurons, and once doubted that the network is unique. A wrong verdict on far neurons is still doubted."""
    Z, y = mat([[0, 1], [1, 0], [1, 1], [1, 2], [0, 0]]), vec([-4, -3, 1, 0, 0])
    answer = ask(NetworkCase("relu", Z, y, Fraction(1393, 985)))
    assert answer.said["p-unique"] == "PROVED"
    assert doubt(answer, 0) == ""
    assert "two networks" in doubt(saying(box_answer(), p_unique="PROVED"), 0)


@pytest.mark.parametrize(
    ("Z", "y"),
    [([[1], [-1], [1]], [1, 1, 0]), ([[0, 3], [1, 0], [-1, 1]], ["-1/3", 1, 1])],
    ids=["no neuron is to tie", "a tie in the middle"],
)
def test_regression_intervals(Z: list[list[int]], y: list[int | str]) -> None:
    """Around lambda = 1 the path once ended in a ValueError, and once in a certificate that the checker rejects."""
    around = IntervalChoice(Fraction(9, 10), Fraction(11, 10))
    assert objection(ask(NetworkCase("relu", mat(Z), vec(y), Fraction(1)), interval=around)) == ""


def test_regression_networks_that_differ_by_less_than_floats_see() -> None:
    """Beside lambda = 2 sqrt(2) two vertices differ by 6e-8: floats see one network, and doubted the other.
    Where no vertices are listed, or one, it is still doubted."""
    Z, y = mat([[2, 0], [-2, 0], [0, 2], [0, -2]]), vec([1, 9, 5, 5])
    answer = ask(NetworkCase("relu", Z, y, Fraction(2786, 985)))
    assert answer.said["p-unique"] == "REFUTED" and doubt(answer, 0) == ""
    facts = answer.facts
    one = replace(facts.vertices, points=facts.vertices.points[:1])
    assert "one network only" in doubt(replace(answer, facts=replace(facts, vertices=one)), 0)
    assert "one network only" in doubt(replace(answer, facts=replace(facts, vertices=None)), 0)


def test_an_upper_bound_of_lambda_max_is_no_contradiction() -> None:
    """Where lambda_max is only bounded, that bound is held against the truth; one below it is wrong."""
    Z, y = mat([[2, -1, 2], ["1/4", "1/2", 0], ["-1/4", "-1/2", 0]]), vec([1, 0, -1])
    planted = PlantedReLU(Z, y, Fraction(9), y, ((1, vec([2, -1, 2])),), (Fraction(0),))
    answer = ask(NetworkCase("relu", Z, y, Fraction(3), cover=True))
    largest = replace(answer.facts.lambda_max, squared=Fraction(10), least=Fraction(9))
    assert not largest.exact
    above = replace(answer.facts, lambda_max=largest)
    assert contradiction(replace(answer, facts=above), truth_of_network(planted)) == ""
    below = replace(answer.facts, lambda_max=replace(largest, squared=Fraction(8)))
    assert "lambda_max^2 is 9" in contradiction(replace(answer, facts=below), truth_of_network(planted))
