"""Claims at their edges: what each sentence asks of the facts, one condition at a time, with facts made by hand."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from fractions import Fraction as F
from operator import eq
from os import terminal_size
from types import SimpleNamespace
from typing import Any

import pytest

from tests.verify.corpus.accepted_cases import accepted
from tests.verify.oracle.brute import mat, vec
from tests.verify.score import CORPUS
from verify import Rejected
from verify.__main__ import parser, run, say
from verify.certificate import Report, read
from verify.claims import way
from verify.claims.network import (
    directions,
    merged,
    missed,
    not_balanced,
    not_directions,
    not_stationary,
    reached,
    stationary,
    unbalanced,
)
from verify.claims.neurons import (
    ONLY_ZERO,
    all_active,
    breaking,
    dependent,
    differentiated,
    free,
    independent,
    plainly,
    strict,
)
from verify.claims.paths import continuous, jumps, min_norm_jumps, set_continuous, several_here, several_on_a_piece
from verify.claims.polytope import connected, listed, minimal, shortest
from verify.claims.single import answer, breakpoints, complete, curve, one_fit
from verify.claims.unique import bent, convex_unique, elastic, several, unique
from verify.facts import (
    CURVE,
    DERIVATIVES,
    DUAL,
    FIT,
    GROUPS,
    JUMP,
    LAMBDA_MAX,
    NETWORK,
    NEURONS,
    PATH,
    PATTERNS,
    POLYTOPE,
    PRIMAL,
    SET,
    SHORTEST,
    VALUE,
    Fact,
    Facts,
    proved,
)
from verify.network.check import Network
from verify.network.directions import Directions
from verify.network.own import Own
from verify.network.stationary import Stationary
from verify.network.weights import Weights, neuron_of
from verify.numbers.patterns import Patterns
from verify.path.lifted import Set
from verify.problem.problem import Problem
from verify.rules.curve import Curve
from verify.rules.fit import Fit
from verify.rules.jump import Jump
from verify.rules.path import Path
from verify.rules.polytope import Polytope
from verify.rules.value import Dual
from verify.sets.neurons import Neuron
from verify.sets.shortest import Shortest
from verify.sets.solutions import OptimalSet
from verify.statement import statement
from verify.text import Node

NODE = Node(None, None, "claim")
RELU = Problem("relu", F(2), mat([[1], [1]]), vec(1, 1))
SETS = OptimalSet(3, 0, 0, 0, None)  # type: ignore[arg-type]
POINT = Polytope(((0, 1),), (), 3, (0, 1), 2)
PATHS = Path(F(1), F(3), [], complete=True)


def pieces(*of: tuple[int, int, int, bool]) -> Path:
    """The same with pieces from lo to hi, on which the set has this dimension and perhaps is one network."""
    return replace(PATHS, pieces=[SimpleNamespace(lo=F(a), hi=F(b), found=Set(d, one)) for a, b, d, one in of])


def refused(says: Any, facts: Facts, message: str, problem: Problem = RELU) -> None:
    """The claim is rejected for this."""
    with pytest.raises(Rejected, match=message):
        says(problem, facts, NODE)


def said(says: Any, fact: Fact[Any], what: Any, problem: Problem = RELU) -> str:
    """The words of a claim."""
    return str(says(problem, proved(fact, what), NODE))


def test_the_statement_word_for_word() -> None:
    """Everything that a certificate chooses is stated as it is written, strings without quotes."""
    case = accepted("xor, planted")
    stated = statement(read(case.text, case.raw), data=True, network=False)
    assert stated == {
        **{"data": "compared", "sha256": case.certificate["input"]["sha256"], "kind": "csv", "numbers": "decimal"},
        **{"bias": "false", "target": "2", "delimiter": ",", "header": "true", "n": "4", "d": "2"},
        **{"patterns": "all", "model": "relu", "objective": "1/2|Xw-y|^2 + lambda*sum|w_b|", "lambda": "6", "gap": "0"},
    }


def test_patterns_of_the_statement() -> None:
    """All, or how many; direct problems have none."""
    top = Node({"input": {}, "problem": {"model": "relu"}})
    for problem, said_ in ((RELU, "all"), (replace(RELU, patterns=(1, 2)), "2"), (replace(RELU, model="cgl"), None)):
        assert statement(Report(top, problem, []), False, False).get("patterns") == said_
    given_ = Node({"input": {}, "facts": {"network": {"file": {"sha256": "ab", "origin": ""}}}})
    for compared, start in ((True, "compared"), (False, "not compared, the weights")):
        assert statement(Report(given_, RELU, []), False, compared)["network"].startswith(start)


def test_a_verdict_is_the_answer() -> None:
    """The answer of a fact is not that of the other verdict."""
    for holds in (True, False):
        facts = proved(GROUPS, (holds, "why"))
        assert answer(GROUPS, holds, "then")(RELU, facts, NODE) == "why: then"
        refused(answer(GROUPS, not holds, "then"), facts, f"the verdict {'PROVED' if holds else 'REFUTED'}, found why")


def test_curves_that_say_something() -> None:
    """At least one breakpoint, or one sample."""
    some = Curve(1, 2, 3, 4, 5, F(1, 6), F(7))
    assert "(intervals: 1; pieces on which no neuron enters or leaves: 2)" in said(breakpoints, CURVE, some)
    assert said(curve, CURVE, some) == (
        "the objective and all neurons at each listed lambda (3), widths 4 to 5: the objective in an interval of "
        "length at most 1/6, weights and directions within 7"
    )
    refused(breakpoints, proved(CURVE, replace(some, breakpoints=0)), "at least one breakpoint")
    refused(curve, proved(CURVE, replace(some, samples=0)), "at least one lambda")


def test_patterns_are_counted() -> None:
    """All, those of open cells, and the rest."""
    words = said(complete, PATTERNS, Patterns([1, 2, 3], {}, 1))
    assert words.startswith("the listed patterns (3) are") and words.endswith("1 of open cells, 2 of lower faces only")


def test_paths_word_for_word() -> None:
    """Continuous: complete and unique; not: a piece, or a lambda from lo to hi, where there are several."""
    assert said(continuous, PATH, PATHS).startswith(
        "for every lambda in [1, 3] the optimal network is unique up to permutation and splitting, and it moves"
    )
    two = pieces((1, 2, 0, True), (2, 3, 0, False))
    assert said(set_continuous, PATH, two).endswith("moves continuously (pieces: 2)")
    refused(continuous, proved(PATH, two), "on which the network is unique")
    for says in (continuous, set_continuous):
        refused(says, proved(PATH, replace(PATHS, complete=False)), "cover the interval")
    refused(several_on_a_piece, proved(PATH, PATHS), "a jump, a piece")
    part = said(several_on_a_piece, PATH, pieces((0, 3, 0, False), (0, 2, 4, False), (1, 3, 5, False)))
    assert part.startswith("for every lambda in [1, 2], a part of [1, 3], the networks that are optimal")
    assert part.endswith("form a set of dimension 4 or more")
    assert said(several_on_a_piece, PATH, pieces((1, 3, 1, False))).endswith("dimension 1 or more")
    several_ = Facts({PATH: PATHS, SET: replace(SETS, dimension=1)})
    for lam in (1, 2, 3):
        assert several_here(replace(RELU, lam=F(lam)), several_, NODE).startswith(f"at lambda = {lam}, in [1, 3], ")
    for outside in (F(999, 1000), F(3001, 1000)):
        refused(several_here, several_, "a jump, a piece", replace(RELU, lam=outside))


def test_jumps_word_for_word() -> None:
    """|w|^2 is lambda^2 times that of the weights."""
    jump = Jump(F(1), F(4), F(3), F(7), F(5))
    assert said(jumps, JUMP, jump).startswith("at lambda = 3, in [1, 4], a network is optimal")
    assert said(min_norm_jumps, JUMP, jump).endswith("at most 45 there and tends to 63 from one side")


def test_sets_of_positive_dimension() -> None:
    """One point is unique, more are not; of the convex program only if no class has a kink, or if one bends."""
    assert said(unique, SET, SETS).endswith("(active neurons: at most 3)")
    refused(unique, proved(SET, replace(SETS, dimension=1)), "dimension 0, found dimension 1")
    refused(several, proved(SET, SETS), "positive dimension")
    assert "of dimension 2 in the weights of 3 neurons" in said(several, SET, replace(SETS, dimension=2))
    assert "of dimension at least 1 in" in said(several, SET, replace(SETS, dimension=2, exact=True))
    refused(convex_unique, proved(SET, replace(SETS, kinked=1)), "classes without kinks, found 1 with kinks")
    assert said(convex_unique, SET, replace(SETS, kinked=1), replace(RELU, model="gated"))
    assert said(bent, SET, replace(SETS, bends=1)).startswith("active neurons that are zero on a data point: 1;")
    refused(bent, proved(SET, SETS), "zero on a data point")
    refused(bent, proved(SET, replace(SETS, bends=1)), "zero on a data point", replace(RELU, model="gated"))


def neurons(*made: dict[str, Any]) -> OptimalSet:
    """A set with these tied neurons."""
    each = tuple(Neuron(**{"key": (1, 0), "active": True, "independent": True, "strict": True, **one}) for one in made)
    return replace(SETS, neurons=each, classes=len(each))


def test_tied_neurons_one_by_one() -> None:
    """What may be active counts for what must hold at all neurons, what is active for what fails at one."""
    good, open_, idle = neurons({}), {"active": None}, {"active": False}
    for says in (independent, strict):
        assert said(says, NEURONS, good)
    assert said(all_active, NEURONS, good) == "all neurons that can tie (1) are active"
    for says, change in (
        (independent, {"independent": False}),
        (strict, {"strict": None}),
        (strict, {"strict": False}),
    ):
        assert said(says, NEURONS, neurons({}, {**idle, **change}))
        for active in ({}, open_):
            refused(says, proved(NEURONS, neurons({}, {**active, **change})), "found 1 without")
    for says, change in ((dependent, {"independent": False}), (free, {"strict": False})):
        assert said(says, NEURONS, neurons({}, change)).endswith(": 1")
        for not_sure in (idle, open_):
            refused(says, proved(NEURONS, neurons({}, {**not_sure, **change})), "found none")
        refused(says, proved(NEURONS, good), "found none")
    refused(free, proved(NEURONS, neurons({"strict": None})), "found none")


def test_zero_networks_of_other_losses() -> None:
    """The claims about ties are for the squared loss without delta, at lambda = lambda_max exactly."""
    facts = proved(LAMBDA_MAX, F(4))
    fresh = plainly("the {} is zero", eq)
    assert fresh(RELU, facts, NODE) == "the network is zero"
    for other in (replace(RELU, delta=F(1)), replace(RELU, logistic=True)):
        refused(fresh, facts, "the squared loss and delta = 0", other)
    refused(fresh, proved(LAMBDA_MAX, F(5)), "lambda beyond lambda_max")
    assert ONLY_ZERO(RELU, facts, NODE).startswith("lambda = lambda_max")
    for other in (replace(RELU, delta=F(1)), replace(RELU, logistic=True), replace(RELU, delta=F(1), logistic=True)):
        refused(ONLY_ZERO, facts, "the squared loss and delta = 0", other)
    refused(ONLY_ZERO, proved(LAMBDA_MAX, F(5)), "lambda beyond lambda_max, its square 5, found 4")
    refused(ONLY_ZERO, proved(LAMBDA_MAX, F(3)), "lambda beyond lambda_max")


def test_polytopes_word_for_word() -> None:
    """E, S, the dimension, the widths; connectivity is about ReLU networks over all patterns."""
    words = said(listed, POLYTOPE, POINT)
    assert words.startswith("neurons tied at lambda (E): 3, that can be active (S): 2; ")
    assert words.endswith("a nondegenerate polytope of dimension 0 (vertices: 1, edges: 0)")
    assert "a degenerate polytope of dimension 1" in said(listed, POLYTOPE, replace(POINT, rank=1))
    two = replace(POINT, vertices=((0, 1), (2,), (3,)), rank=2)
    assert said(minimal, POLYTOPE, two).startswith("minimal networks: 2 of width 1, 1 of width 2; m* = 1, M* = 2;")
    assert said(connected, POLYTOPE, POINT).startswith("width 2 (isolated networks: 2, other components: 0); connected")
    for other in (replace(RELU, model="gated"), replace(RELU, patterns=(1,)), replace(RELU, model="cgl")):
        refused(connected, proved(POLYTOPE, POINT), "a ReLU network over all patterns", other)
    assert said(shortest, SHORTEST, Shortest(vec(1, 0, 2), F(1, 3))).endswith("within 1/3; 2 of them are positive")
    many = replace(POINT, vertices=(tuple(range(14)), (20,)), rank=14)
    assert said(connected, POLYTOPE, many).count("width") == 13 and "...; connected" in said(connected, POLYTOPE, many)


def given(**more: Any) -> Network:
    """A network whose J is 10, with a gap of 1/10."""
    neuron = neuron_of(RELU, 0, 1, vec(1))
    weights = Weights((vec(2),), vec(1), F(0), (), (neuron,), vec(1, 1), vec(0, 0), F(10))
    parts = {"stationary": Stationary(0, F(0), F(0)), "own": None, "pruned": None, "directions": None, "nearest": None}
    return Network("", weights, F(1, 10), 1, None, **{**parts, **more})


def test_gaps_of_given_networks() -> None:
    """J - lower <= gap J, J - upper > gap J: at exactly the gap it is reached, and not missed."""
    for bound, near in ((9, True), (F(91, 10), True), (F(89, 10), False)):
        value = Own(1, F(bound), F(bound))
        if near:
            assert reached(given(), value, NODE).endswith(f"J is at most {10 - bound} above the optimum")
            with pytest.raises(Rejected, match="J - upper > gap"):
                missed(given(), value, NODE)
        else:
            assert missed(given(), value, NODE).startswith(f"is at least {10 - bound} above the optimum")
            with pytest.raises(Rejected, match="J - lower <= gap"):
                reached(given(), value, NODE)


def test_given_networks_word_for_word() -> None:
    """Stationary: a subgradient 0; balanced: the same norms; directions: all bounds 0, or one above 0."""
    assert said(stationary, NETWORK, given()).endswith("(kinks: 0)")
    far = given(stationary=Stationary(0, F(4), F(9)))
    assert said(not_stationary, NETWORK, far).endswith("a norm from 2 to 3")
    refused(stationary, proved(NETWORK, far), "one of squared length 9")
    refused(not_stationary, proved(NETWORK, given()), "a positive lower bound")
    refused(not_stationary, proved(NETWORK, given(stationary=Stationary(0, F(0), F(9)))), "a positive lower bound")
    assert unbalanced(RELU, given()) == [0]
    assert (
        said(not_balanced, NETWORK, given()) == "neurons of the wrong scale: 1 of 1; balancing them gains from 8 to 8"
    )
    straight, bent_ = Directions(vec(0, 0), vec(0, 0)), Directions(vec(0, "1/2"), vec(1, 2))
    assert said(directions, NETWORK, given(directions=straight)).startswith("all neurons (2) have")
    refused(directions, proved(NETWORK, given(directions=bent_)), "distance 0 for 2 neurons, found for 0")
    refused(not_directions, proved(NETWORK, given(directions=straight)), "at a positive distance")
    words = said(not_directions, NETWORK, given(directions=bent_))
    assert words.endswith("has: 1 of 2; the distances are at most 2, the largest at least 1/2")


def test_long_lines_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Wrapped from 40 columns on where they are longer than the terminal is wide, indented; nowhere else."""
    text = "word " * 11 + "end"  # 58 characters
    for wide, lines in ((58, 1), (57, 2), (40, 2), (39, 1)):
        monkeypatch.setattr("verify.__main__.get_terminal_size", lambda wide=wide: terminal_size((wide, 24)))
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        say(text, quiet=False)
        assert len(capsys.readouterr().out.splitlines()) == lines
    say(text, quiet=True)
    assert capsys.readouterr().out == ""


def test_only_active_neurons_break_the_network() -> None:
    """A neuron that leaves its face is no proof by itself: all that can tie must be active, in one solution."""
    neurons = (Neuron((1, 0), True, True, breaks=True), Neuron((1, 1), True, True))
    assert "no derivative" in said(breaking, NEURONS, replace(SETS, neurons=neurons))
    idle = replace(neurons[1], active=None)
    refused(
        breaking, proved(NEURONS, replace(SETS, neurons=(neurons[0], idle))), "one solution with 2 positive weights"
    )
    refused(breaking, proved(NEURONS, replace(SETS, dimension=1, neurons=neurons)), "one solution with")
    refused(breaking, proved(NEURONS, replace(SETS, neurons=neurons[1:])), "a neuron that leaves its face")


def test_any_l2_penalty_makes_the_solution_unique() -> None:
    """However small it is; without one this is no reason."""
    assert "strongly convex" in elastic(replace(RELU, delta=F(1, 10**9)), Facts({}), NODE)
    refused(elastic, Facts({}), "delta > 0")


def test_the_words_of_a_verdict() -> None:
    """What a way to the verdict says, and not what it rests on."""
    assert way(RELU, proved(GROUPS, (True, "why")), "ggp", "PROVED", NODE)[0].startswith("why: ")


def test_bounds_are_told_where_the_gap_is_too_wide() -> None:
    """An UNDECIDED `optimal` says between which bounds the minimum is proved to lie, and on what that rests; without
    the facts, and of other claims, nothing is claimed."""
    raw = (CORPUS / "accepted" / "leaders-00.json").read_bytes().replace(b"PROVED", b"UNDECIDED")
    first, second = read(raw).lines
    assert first.proved == "for lambda = 1 the global minimum lies in [1, 1]" and first.rule == "primal, value"
    assert (second.proved, second.rule) == ("nothing is claimed", "")
    value = proved(VALUE, SimpleNamespace(lower=F(1), upper=F(5, 2), gap=F(0)))
    assert way(RELU, value, "optimal", "UNDECIDED", NODE) == ("nothing is claimed", "")
    both = Facts({**value.proved, PRIMAL: SimpleNamespace(neurons=1)})
    told = "for lambda = 2 the global minimum lies in [1, 5/2]", "primal, value"
    assert way(RELU, both, "optimal", "UNDECIDED", NODE) == told


def test_derivatives_with_and_without_freedom(monkeypatch: pytest.MonkeyPatch) -> None:
    """The degrees of freedom are told where they are known."""
    monkeypatch.setattr("verify.claims.neurons.smooth", lambda *_: "smooth")
    for freedom, end in ((None, "of those listed"), ((F(2), F(1, 2)), "degrees of freedom 2 within 1/2")):
        found = SimpleNamespace(radius=F(1, 3), freedom=freedom)
        assert said(differentiated, DERIVATIVES, found).endswith(end)


def test_files_that_were_compared(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The statement says of the data and of the network, each by itself, whether they were given."""
    case = accepted("xor, planted")
    monkeypatch.setattr("verify.__main__.statement", lambda report, data, network: {"said": (data, network)})
    monkeypatch.setattr("verify.network.file.compare_file", lambda *_: None)
    for name, content in (("certificate", case.text), ("data", case.raw), ("network", b"weights")):
        (tmp_path / name).write_bytes(content)
    for given_ in ([], ["data"], ["network"], ["data", "network"]):
        words = [word for name in given_ for word in (f"--{name}", str(tmp_path / name))]
        found = run(parser().parse_args([str(tmp_path / "certificate"), *words]))
        assert found["statement"]["said"] == ("data" in given_, "network" in given_)


def test_what_cannot_be_merged_by_hand() -> None:
    """PROVED without a pair and without free terms; with either it is rejected."""
    problem, node = Problem("relu", F(1), mat([[1]]), vec(1)), Node("PROVED", None, "claim")
    facts = {
        pair: Facts({NETWORK: SimpleNamespace(pair=pair, weights=SimpleNamespace(neurons=(0, 1)))})
        for pair in (None, (0, 1))
    }
    assert merged(problem, facts[None], node).endswith("could take their place (neurons: 2)")
    with pytest.raises(Rejected, match="0 and 1"):
        merged(problem, facts[0, 1], node)
    with pytest.raises(Rejected, match="could make up for a neuron, found skip"):
        merged(replace(problem, free=("skip",)), facts[None], node)


def test_a_fit_by_hand() -> None:
    """Logistic loss beside free terms: theta is 0 nowhere; without either of them it may be 0."""
    problem, node = Problem("relu", F(1), mat([[1], [2]]), vec(1, -1)), Node("PROVED", None, "claim")
    facts = {theta: Facts({FIT: Fit(F(0)), DUAL: Dual(vec(*theta))}) for theta in ((1, -1), (1, 0), (0, 0))}
    logistic = replace(problem, logistic=True)
    for one in (problem, replace(problem, free=("skip",)), logistic):
        for known in facts.values():
            assert ("probabilities" in one_fit(one, known, node)) is one.logistic
    both = replace(logistic, free=("skip",))
    assert "probabilities" in one_fit(both, facts[1, -1], node)
    for theta in ((1, 0), (0, 0)):
        with pytest.raises(Rejected, match="theta_k != 0 at every row"):
            one_fit(both, facts[theta], node)
