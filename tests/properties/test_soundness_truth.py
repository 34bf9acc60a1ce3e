"""Truths that are worked out exactly, by other means than the certifier's; a certifier that is wrong is seen."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from properties.cli import main
from properties.exact.linalg import mat, scale, vec
from properties.exact.position import general_position
from properties.exact.problem import Block, problem
from properties.soundness import truth as truth_module
from properties.soundness.case import Answer, DirectCase, NetworkCase, ask, objection
from properties.soundness.faces import independent, slopes, strict, tight
from properties.soundness.held import FAILS, HOLDS, NUMBERS, notes, read
from properties.soundness.summary import blind
from properties.soundness.truth import Truth, contradiction, held_against, truth_at
from properties.strategies import plant_relu
from relu_cert.claims import Verdict
from relu_cert.driver.optimum import WantedDerivatives

CONE = Block(mat([[1, 0], [0, 1]]), (vec([0, -1]),))  # w_2 >= 0


def edge(pull: int) -> tuple[Answer, Truth]:
    """X = I with the cone w_2 >= 0 and the residual (5, pull), pull <= 0: v = (5, 0) = lambda e_1, multiplier -pull."""
    r = vec([5, pull])
    convex = problem([[1, 0], [0, 1]], [2], [10, pull], 25, [[[0, -1]]])
    return ask(DirectCase(convex), derivatives=WantedDerivatives()), truth_at(convex, r, "direct")


def saying(answer: Answer, claim: str, verdict: str) -> Answer:
    """The answer with one verdict changed."""
    results = (replace(r, verdict=Verdict(verdict)) if r.claim == claim else r for r in answer.results)
    return replace(answer, results=tuple(results))


@pytest.mark.parametrize("pull", [0, -2])
def test_strict_complementarity_is_planted(pull: int) -> None:
    """By hand: the multiplier of w_2 >= 0 is -pull. At 0 the neuron leaves its face at no cost; the certifier says so,
    and the opposite verdict contradicts the truth."""
    answer, truth = edge(pull)
    assert truth.known["strict-complementarity"] == bool(pull)
    assert answer.said["strict-complementarity"] == ("PROVED" if pull else "REFUTED")
    assert contradiction(answer, truth) == ""
    turned = saying(answer, "strict-complementarity", "REFUTED" if pull else "PROVED")
    assert "strict-complementarity" in contradiction(turned, truth)


def test_strict_needs_all_multipliers() -> None:
    """Of three constraints in the plane one is a positive combination of the others: multipliers can be moved to it.
    Without a second one they cannot."""
    v = vec([0, 0, 1])
    a, b, c = vec([1, 0, 0]), vec([0, 1, 0]), vec([1, 1, 0])
    eye = mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert strict(Block(eye, (a, b, c)), vec([1, 1, 1]), v)
    assert not strict(Block(eye, (a, b, c)), vec([1, 0, 1]), v)
    assert not strict(Block(eye, (a, b)), vec([1, 0, 1]), v)
    assert strict(Block(eye, (a, scale(-1, a))), vec([1, 0, 1]), v)  # a line: w_1 = 0
    assert len(tight(Block(eye, (a, b, c, vec([0, 0, -1]))), v)) == 3


def test_independent_counts_hyperplanes() -> None:
    """Positive multiples are one inequality; antipodal ones are one equation."""
    a = vec([1, 2])
    assert independent([a, scale(3, a)])
    assert independent([a, scale(-1, a)])
    assert not independent([a, vec([1, 0]), vec([0, 1])])


def test_slopes_by_hand() -> None:
    """1/2 |w - y|^2 + lambda |w| in the plane: r = lambda y / |y|, so dr/dlambda = y / |y|, and the degrees of freedom
    are 1 + (1 - lambda/|y|). On the edge of the cone it is a lasso in one weight: one degree of freedom."""
    eye = mat([[1, 0], [0, 1]])
    found = slopes([(Block(eye), vec([3, 4]))], (Fraction(1),), vec([3, 4]), Fraction(5))
    assert found.r_lam == vec(["3/5", "4/5"])
    assert found.freedom == 1 + Fraction(1, 2)
    found = slopes([(CONE, vec([5, 0]))], (Fraction(1),), vec([5, -2]), Fraction(5))
    assert (found.r_lam, found.freedom) == (vec([1, 0]), 1)


def test_wrong_derivatives_are_seen() -> None:
    """Another derivative by lambda, and other degrees of freedom, contradict the truth."""
    answer, truth = edge(-2)
    found, nearby = answer.facts.derivatives, answer.facts.nearby
    assert found is not None and nearby is not None
    far = 1 + found.radius
    for wrong in (
        replace(found, by_lam=replace(found.by_lam, r=tuple(x + far for x in found.by_lam.r))),
        replace(found, freedom=(found.freedom or 0) - len(found.by_lam.r) * far),
    ):
        other = replace(answer, facts=replace(answer.facts, nearby=replace(nearby, derivatives=wrong)))
        assert contradiction(answer, truth) == ""
        assert contradiction(other, truth)


def box() -> tuple[Answer, Truth]:
    """Four tied neurons, and an optimal set of dimension 1."""
    planted = plant_relu(mat([[3, 0], [-3, 0], [0, 4], [0, -4]]), vec([1, 1, 1, 1]), [1])
    assert planted is not None
    answer = ask(NetworkCase("relu", planted.Z, planted.y, Fraction(5)))
    return answer, truth_at(planted.problem, planted.r, "relu")


def test_wrong_vertices_are_seen() -> None:
    """The weights of the vertices are compared, not only their number."""
    answer, truth = box()
    polytope = answer.facts.polytope
    assert polytope is not None
    points = tuple(scale(2, point) for point in polytope.points)
    other = replace(answer, facts=replace(answer.facts, vertices=replace(polytope, points=points)))
    assert contradiction(answer, truth) == ""
    assert "vertices" in contradiction(other, truth)


def test_missing_pattern_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The listed patterns are compared with those of another enumeration, one by one."""
    answer, truth = box()
    ours = truth_module.patterns(answer.case.Z)  # type: ignore[union-attr]
    monkeypatch.setattr(truth_module, "patterns", lambda _: replace(ours, all=ours.all[1:]))
    assert "patterns" in contradiction(answer, truth)


@pytest.mark.parametrize(
    ("blocks", "holds"),
    [
        ([[[1, 0], [0, 1]], [[2, 0], [0, 2]]], True),  # |u_1| = 2 |u_2| on all null vectors
        ([[[1, 0], [0, 1]], [[0, -1], [1, 0]]], False),  # a rotation
        ([[[1, 0], [0, 1]], [[2, 0], [0, "1/2"]]], False),  # longer one way, shorter the other
        ([[[1], [0]], [[0], [1]]], True),  # independent
        ([[[1], [0]], [[0], [1]], [[1], [1]]], True),  # |u| = 1, 1, 1: no signs add up to zero
        ([[[1], [0]], [[0], [1]], [[2], [1]]], False),  # 2 = 1 + 1
        ([[[1], [1]], [[1], [-1]], [[1], [0]], [[3], [1]]], False),
        ([[[1, 0], [0, 1]], [[1], [1]]], True),  # sqrt 2 and 1
        ([[[1, 0], [0, 1]], [["3/5"], ["4/5"]]], False),
    ],
)
def test_general_position_by_hand(blocks: list[list[list[int]]], holds: bool) -> None:
    """Pairs by their form, lines by sums of roots, columns by signs."""
    assert general_position([mat(X) for X in blocks]) is holds


def test_general_position_of_columns_is_that_of_signed_affine_sets() -> None:
    """By the definition: no s_j x_j, s_j = +-1, lies in the affine hull of at most n others (that do not repeat it)."""
    columns = [vec(c) for c in ([1, 2], [3, -1], [2, 2], [0, 5])]

    def in_line(a: tuple[Fraction, ...], b: tuple[Fraction, ...], c: tuple[Fraction, ...]) -> bool:
        return (b[0] - a[0]) * (c[1] - a[1]) == (b[1] - a[1]) * (c[0] - a[0])

    ties = any(
        in_line(scale(s, columns[i]), scale(t, columns[j]), columns[k])
        for i, j, k in product(range(4), repeat=3)
        if len({i, j, k}) == 3
        for s in (1, -1)
        for t in (1, -1)
    )
    assert general_position([tuple((x,) for x in c) for c in columns]) is not ties


def test_general_position_is_not_always_decided() -> None:
    """Three full blocks of different scale tie, but no two of them do: that is left open, not guessed."""
    eye = mat([[1, 0], [0, 1]])
    three = [eye, tuple(scale(2, row) for row in eye), tuple(scale(5, row) for row in eye)]
    assert general_position(three) is None


@pytest.mark.parametrize("claim", ["ggp", "general-position", "licq", "e-equals-a", "sensitivity", "convex-unique"])
@pytest.mark.parametrize("twice", [False, True])
def test_each_turned_verdict_contradicts(claim: str, twice: bool) -> None:
    """A column with a cone, or the column twice and cones given twice: every decided verdict has a planted truth."""
    K = [[[-1], [-1]], [[-1], [-2]]] if twice else [[[-1]]]
    convex = problem([[1, 1]] if twice else [[1]], [1, 1] if twice else [1], [4], 1, K)
    answer = ask(DirectCase(convex), derivatives=WantedDerivatives())
    truth = truth_at(convex, vec([1]), "direct")
    assert contradiction(answer, truth) == ""
    assert answer.said[claim] == ("PROVED" if truth.known[claim] else "REFUTED")
    turned = saying(answer, claim, "REFUTED" if truth.known[claim] else "PROVED")
    assert claim in contradiction(turned, truth)
    assert objection(answer) == ""


def test_above_lambda_max_nothing_ties() -> None:
    """At 2 lambda_max: one network, the zero one, E = A, everything smooth."""
    convex = problem([[1]], [1], [4], 64)
    truth = truth_at(convex, vec([4]), "direct")
    assert all(truth.known.values())
    assert contradiction(ask(DirectCase(convex), derivatives=WantedDerivatives()), truth) == ""


def test_notes_say_what_a_verdict_was_held_against() -> None:
    """A plain note for every verdict, and one with the kind of knowledge and of problem."""
    answer, truth = box()
    held = held_against(answer, truth)
    assert (held["p-unique"], held["licq"], held["minimal"]) == (FAILS, HOLDS, NUMBERS)
    found = notes(answer.said, held, answer.case.kind)
    assert "p-unique REFUTED" in found
    assert "p-unique REFUTED fails relu" in found
    assert read("p-unique REFUTED") is None


def test_blind_verdicts_are_named() -> None:
    """PROVED is blind where the claim was never known to fail, REFUTED where it was never known to hold."""
    counts = {"PROVED": 3, "REFUTED": 1, "UNDECIDED": 0}
    kinds = {"relu": counts}
    assert blind({}, {"a": counts}) == {"a": ["PROVED", "REFUTED"]}
    assert blind({"a": {"holds": kinds}}, {"a": counts}) == {"a": ["PROVED"]}
    assert blind({"a": {"fails": kinds, "holds": kinds}}, {"a": counts}) == {}
    assert blind({"a": {"numbers": kinds, "related": kinds}}, {"a": counts}) == {"a": ["REFUTED"]}


def test_coverage_is_printed_and_in_json(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    """claim -> against -> problem -> verdict, in JSON, and two tables for readers."""
    line = ["soundness", "--only", "soundness.planted_elastic", "--examples", "3", "--state", str(tmp_path), "--quiet"]
    assert main([*line, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    counts = report["coverage"]["convex-unique"]["holds"]["elastic"]
    assert counts["PROVED"] == report["lines"][0]["instances"]
    assert report["blind"]["convex-unique"] == ["PROVED"]
    assert main(line) == 0
    printed = capsys.readouterr().out
    assert "known to be true" in printed
    assert "elastic" in printed
