"""Truths about given networks and about paths: by hand on small instances, and a certifier that is wrong is seen."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TypeVar

import pytest

from properties.exact.lasso_path import piece_ends
from properties.exact.linalg import mat, scale, vec
from properties.exact.network import Neuron
from properties.exact.problem import Block, problem
from properties.model import Answer as Reply
from properties.soundness import check
from properties.soundness.carry_interval import IntervalPair, interval_clash
from properties.soundness.case import Answer, DirectCase, NetworkCase, ask, objection
from properties.soundness.network_carry import NetworkPair, network_clash
from properties.soundness.network_truth import NetworkTruth, network_contradiction, truth_of
from properties.soundness.networks import NetworkAnswer, Question, ask_network
from properties.soundness.paths import LassoPath, PlantedJump, ask_path, path_contradiction, truth_of_path
from relu_cert.claims import Verdict
from relu_cert.driver.optimum import IntervalChoice
from relu_cert.network.objective import Interval

pytestmark = pytest.mark.long

F = Fraction
ONE = F(1)
A = TypeVar("A", bound=Answer)


def question(net: list[tuple[int | str, int | str]]) -> Question:
    """One point z = 1 with target 2, lambda = 1: r* = 1, and the only optimal neuron is W = w2 = 1."""
    neurons = tuple(Neuron((F(W),), F(w2)) for W, w2 in net)
    return Question(mat([[1]]), vec([2]), ONE, neurons, F(1, 1000), vec([1]))


QUESTIONS = {
    "optimal": question([(1, 1)]),
    "split": question([("3/5", "3/5"), ("4/5", "4/5")]),
    "rescaled": question([(2, "1/2")]),
    "other sign": question([(1, -1)]),
    "too long": question([("3/2", "3/2")]),
    "dead": question([(1, 1), (-1, 1)]),
    "zero": question([]),
}


@cache
def answered(name: str) -> tuple[NetworkAnswer, NetworkTruth]:
    """The answer and the truth."""
    return ask_network(QUESTIONS[name]), truth_of(QUESTIONS[name])


def saying(answer: A, claim: str, verdict: str) -> A:
    """The answer with one verdict changed."""
    results = (replace(r, verdict=Verdict(verdict)) if r.claim == claim else r for r in answer.results)
    return replace(answer, results=tuple(results))


@pytest.mark.parametrize(
    ("name", "false"),
    [
        ("optimal", set()),
        ("split", {"merged", "independent"}),
        ("rescaled", {"optimal", "own-optimal", "stationary", "balanced"}),
        ("other sign", {"optimal", "own-optimal", "stationary", "directions"}),
        ("too long", {"optimal", "own-optimal", "stationary"}),
        ("dead", {"optimal", "own-optimal", "stationary", "independent", "directions"}),
        ("zero", {"optimal"}),
    ],
)
def test_truth_of_networks_by_hand(name: str, false: set[str]) -> None:
    """Which claims about these networks are false; the certifier agrees on all of them."""
    answer, truth = answered(name)
    assert {claim.removeprefix("network-") for claim, holds in truth.known.items() if not holds} == false
    assert network_contradiction(answer, truth) == ""
    assert objection(answer, QUESTIONS[name].file) == ""
    assert all(answer.said[claim] == ("PROVED" if holds else "REFUTED") for claim, holds in truth.known.items())


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_each_turned_network_verdict_contradicts(name: str) -> None:
    """A certifier that turns any one verdict round is seen."""
    answer, truth = answered(name)
    for claim, holds in truth.known.items():
        assert claim in network_contradiction(saying(answer, claim, "REFUTED" if holds else "PROVED"), truth)


@pytest.mark.parametrize("name", ["too long", "other sign"])
def test_wrong_numbers_of_networks_are_seen(name: str) -> None:
    """Another objective, a direction or a distance that is not enclosed, and a pruned network with another fit."""
    answer, truth = answered(name)
    found = answer.comparison
    assert found.closest is not None
    distance = found.closest.distance
    assert abs(float(distance.lower) ** 2 - (2 if name == "other sign" else 25 / 16)) < 1e-9
    shifts = [Interval(distance.upper + 1, distance.upper + 2), Interval(F(0), distance.lower / 2)]
    others = [replace(found, closest=replace(found.closest, lower=one.lower, upper=one.upper)) for one in shifts]
    wrong = Interval(ONE, ONE)
    others.append(replace(found, directions=(wrong,)))
    examined = found.examination
    others.append(replace(found, examination=replace(examined, J=examined.J + 1)))
    pruned = replace(examined.pruned, neurons=tuple(replace(n, w=scale(2, n.w)) for n in examined.pruned.neurons))
    others.append(replace(found, examination=replace(examined, pruned=pruned)))
    for other in others:
        assert network_contradiction(replace(answer, comparison=other), truth)


def test_own_value_of_a_stuck_network() -> None:
    """x = -1, 1 and y = 5, 2: W = w2 = 1 is optimal for the pattern (0, 1), with r = 1 = lambda, and not for all."""
    stuck = Question(mat([[-1], [1]]), vec([5, 2]), ONE, (Neuron((ONE,), ONE),), F(1, 1000), vec([1, 1]))
    truth = truth_of(stuck)
    assert truth.own_value == truth.J == F(25, 2) + F(1, 2) + 1
    assert (truth.known["network-own-optimal"], truth.known["network-optimal"]) == (True, False)
    assert check.check_planted_network(stuck).answer is Reply.HOLDS


def test_clash_of_networks_is_seen() -> None:
    """Opposite verdicts, another objective and distances that do not meet clash; claims that may change do not."""
    answer, _ = answered("too long")
    same = NetworkPair("rotate", answer.question, answer.question)
    assert network_clash(same, answer, answer) == ""
    turned = saying(answer, "network-stationary", "PROVED")
    assert "network-stationary" in network_clash(same, answer, turned)
    assert network_clash(replace(same, other=("network-stationary",)), answer, turned) == ""
    assert "J is" in network_clash(replace(same, shift=ONE), answer, answer)
    assert "distance" in network_clash(replace(same, stretch=F(2)), answer, answer)


def test_crashes_on_networks_and_paths_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception counts as a failure and names itself."""

    def broken(*_: object, **__: object) -> Answer:
        raise ZeroDivisionError("nothing left")

    for name in ("ask_network", "ask_path"):
        monkeypatch.setattr(check, name, broken)
    pair = NetworkPair("same", QUESTIONS["zero"], QUESTIONS["zero"])
    for outcome in (
        check.check_planted_network(QUESTIONS["zero"]),
        check.check_network_pair(pair),
        check.check_planted_path(STEPS),
    ):
        assert outcome.answer is Reply.FAILS
        assert "ZeroDivisionError" in outcome.why


STEPS = LassoPath(DirectCase(problem([[1, 0], [0, 1]], [1, 1], [3, 1], 1)), F(1, 2), F(2))


@cache
def steps() -> Answer:
    """Two orthogonal columns: the second leaves at lambda = 1."""
    return ask_path(STEPS.case, STEPS.lo, STEPS.hi)


def test_path_of_a_lasso_by_hand() -> None:
    """The pieces end at 1, where a neuron leaves; everything is continuous, and the certifier says so."""
    truth = truth_of_path(STEPS)
    assert truth.ends == (F(1, 2), 1, 2)
    assert set(truth.known.values()) == {True}
    assert truth.changes(F(9, 10), F(11, 10))
    assert not truth.changes(F(11, 10), F(3, 2))
    answer = steps()
    assert path_contradiction(answer, truth) == ""
    path = answer.facts.path
    assert path is not None and path.curve is not None
    assert len(path.curve.breakpoints) == 1


def test_wrong_paths_are_seen() -> None:
    """Turned verdicts, a breakpoint elsewhere, a branch across one, and samples with other numbers."""
    answer, truth = steps(), truth_of_path(STEPS)
    for claim in truth.known:
        assert claim in path_contradiction(saying(answer, claim, "REFUTED"), truth)
    path = answer.facts.path
    assert path is not None and path.curve is not None
    curve = path.curve
    moved = replace(curve.breakpoints[0], lo=F(3, 2), hi=F(3, 2) + F(1, 10**12))
    sample = curve.samples[0]
    wrong = [
        replace(curve, breakpoints=(moved,)),
        replace(curve, samples=(replace(sample, upper=sample.lower - 1, lower=sample.lower - 2),)),
        replace(curve, samples=(replace(sample, weights=scale(2, sample.weights)),)),
        replace(curve, samples=(replace(sample, weights=(*sample.weights, ONE)),)),
    ]
    for other in wrong:
        assert path_contradiction(replace(answer, facts=replace(answer.facts, path=replace(path, curve=other))), truth)
    wide = tuple(replace(piece, lo=F(1, 2), hi=F(2)) for piece in path.cover.pieces)
    facts = replace(answer.facts, path=replace(path, cover=replace(path.cover, pieces=wide)))
    assert "enters or leaves" in path_contradiction(replace(answer, facts=facts), truth)


def test_two_equal_columns_are_not_continuous() -> None:
    """A column twice: never unique below lambda_max = 3, but the segment moves continuously, and so does its middle."""
    twice = LassoPath(DirectCase(problem([[1, 1]], [1, 1], [3], 1)), ONE, F(4))
    truth = truth_of_path(twice)
    assert truth.known == {"continuous": False, "set-continuous": True, "min-norm-continuous": True}
    assert piece_ends(twice.case.convex, ONE, F(4)) == (1, 3, 4)


JUMP = PlantedJump(  # X = diag(3, 4), s = (1, 1), x = (9, 16)/5, alpha = 1
    DirectCase(problem([[3, 0], [0, 4]], [2], [10, 17], 25)), F(5), F(99, 20), F(101, 20)
)


def jump() -> PlantedJump:
    """The group lasso with the column (9, 16)/5 more."""
    convex = JUMP.case.convex
    column = Block(((F(9, 5),), (F(16, 5),)))
    return replace(JUMP, case=DirectCase(replace(convex, blocks=(*convex.blocks, column))))


@cache
def jump_answer() -> Answer:
    """What the certifier says of it."""
    return ask(jump().case, interval=IntervalChoice(JUMP.lo, JUMP.hi))


def test_planted_jump_is_a_jump() -> None:
    """At 5 both carry the output, beside it the block alone: nothing is continuous, and the certifier says so."""
    planted, answer = jump(), jump_answer()
    assert {answer.said[claim] for claim in planted.known} == {"REFUTED"}
    path = answer.facts.path
    assert path is not None and path.jump is not None
    assert path.jump.lam == 5
    assert not any(planted.known.values())
    assert all(replace(planted, lo=F(51, 10), hi=F(6)).known.values())
    for lam, verdict in ((F(5), "REFUTED"), (F(49, 10), "PROVED"), (F(51, 10), "PROVED")):
        there = DirectCase(planted.case.convex.at(lam))
        assert ask(there).said["p-unique"] == verdict


def test_jumps_that_are_wrong_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A certifier that calls the path continuous, or finds the jump elsewhere."""
    planted, answer = jump(), jump_answer()
    path = answer.facts.path
    assert path is not None and path.jump is not None
    elsewhere = replace(path, jump=replace(path.jump, lam=F(51, 10)))
    lies = [saying(answer, claim, "PROVED") for claim in planted.known]
    lies.append(replace(answer, facts=replace(answer.facts, path=elsewhere)))
    for lie in lies:
        monkeypatch.setattr(check, "ask", lambda *_, lie=lie, **__: lie)
        assert check.check_planted_jump(planted).answer is Reply.FAILS


def test_interval_clash_is_seen() -> None:
    """Opposite verdicts clash; on a part of the interval REFUTED may become PROVED, but not the other way."""
    case = NetworkCase("relu", mat([[1]]), vec([3]), ONE)
    answer = ask(case, interval=IntervalChoice(ONE, F(11, 10)))
    turned = saying(answer, "set-continuous", "REFUTED")
    pair = IntervalPair("scale", case, case, ONE, F(11, 10), ONE, F(11, 10))
    assert interval_clash(pair, answer, answer) == ""
    assert "set-continuous" in interval_clash(pair, answer, turned)
    assert "set-continuous" in interval_clash(pair, turned, answer)
    part = replace(pair, part=True)
    assert "set-continuous" in interval_clash(part, answer, turned)
    assert interval_clash(part, turned, answer) == ""
