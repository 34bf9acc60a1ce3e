"""The fact `network` and the claims on it: what is true is accepted, what is wrong is rejected for its own reason."""

from __future__ import annotations

import ast
import copy
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from random import Random
from time import process_time
from types import SimpleNamespace
from typing import Any, cast

import pytest

import verify
from tests.verify.build.given_networks import (
    CASES,
    SLACK,
    balanced_objective,
    falsehoods,
    given,
    number,
    objective,
    output,
    stated,
    stationarity,
)
from tests.verify.build.given_networks import merged as merged_by_hand
from tests.verify.mutate import mutants
from tests.verify.oracle.brute import rank
from tests.verify.score import CORPUS
from tests.verify.test_edges_of_networks import PLANE, fields
from verify.claims import way
from verify.facts import NETWORK, Facts
from verify.network.check import Network, check_network
from verify.network.directions import apart
from verify.network.optimum import Known, enclosure
from verify.network.outputs import rank as rank_of_outputs
from verify.network.weights import Neuron, balanced, merged, read_weights
from verify.network.weights_set import WeightSet
from verify.numbers.bounds import matrix
from verify.numbers.field import read_field
from verify.problem.problem import Problem, read_problem
from verify.rules import check_facts
from verify.sets.solutions import System
from verify.text import Limits, Node, load

UNLISTED = "three for two, no vertices"
FLIPPED = {"PROVED": "REFUTED", "REFUTED": "PROVED", "UNDECIDED": "PROVED"}


@pytest.mark.parametrize("name", CASES)
def test_given_networks_are_accepted(name: str) -> None:
    """Every verdict of the producer is accepted, and an oracle that shares nothing finds nothing false in the fact."""
    case = given(name)
    lines = verify.check(case.text, case.raw)
    assert [(line.claim, line.verdict) for line in lines] == [(c["claim"], c["verdict"]) for c in case.tree["claims"]]
    assert list(falsehoods(case.tree, case.planted)) == []


@pytest.mark.parametrize("name", CASES)
def test_what_the_checker_computes_by_itself(name: str) -> None:
    """J, P, the shortest subgradient, the rank and the pairs to be merged are derived, not read: as the oracle says."""
    problem, _ = ground(name)
    network, at = checked(name, json.dumps({"network": given(name).tree["facts"]["network"]})), stated(given(name).tree)
    assert network.weights.objective == objective(at)
    below, above = balanced(problem, network.weights)
    assert number(below) - SLACK <= balanced_objective(at) <= number(above) + SLACK
    assert network.stationary.lower <= stationarity(at) <= network.stationary.upper
    assert network.rank == rank([output(at.Z, *one) for one in at.neurons().values()])
    assert [(one.sign, one.w) for one in merged(problem, network.weights)] == merged_by_hand(at)
    if network.pair is not None:
        (xi, w), (sign, v) = (at.neurons()[i] for i in network.pair)
        sums = zip(output(at.Z, xi, w), output(at.Z, sign, v), strict=True)
        assert xi == sign
        both = tuple(a + b for a, b in zip(w, v, strict=True))
        assert tuple(a + b for a, b in sums) == output(at.Z, xi, both)


def verdicts(name: str) -> dict[str, str]:
    """The verdicts of a case, without their prefix."""
    return {c["claim"].removeprefix("network-"): c["verdict"] for c in given(name).tree["claims"]}


def test_planted_verdicts() -> None:
    """Exactly optimal: everything is proved. Inside the polytope: directions and distance 0 too, though it is split,
    has dead neurons and a wrong scale."""
    said = verdicts("exactly optimal")
    assert {said[c] for c in said if c not in ("p-unique", "patterns-complete", "optimal-set")} == {"PROVED"}
    said = verdicts("inside the polytope, split, dead")
    assert said["directions"] == said["nearest"] == said["prune"] == "PROVED"
    assert said["merged"] == said["balanced"] == said["independent"] == said["stationary"] == "REFUTED"
    nearest = given("inside the polytope, split, dead").tree["facts"]["network"]["nearest"]
    assert nearest["upper"] == nearest["lower"] == "0"
    said = verdicts("above lambda_max")
    assert said["directions"] == "REFUTED"
    assert said["nearest"] == "PROVED"


@pytest.mark.parametrize("name", CASES)
def test_opposite_verdicts_are_rejected(name: str) -> None:
    """No verdict on the network can be turned round on the same evidence."""
    case = given(name)
    for place, claim in enumerate(case.tree["claims"]):
        if claim["claim"].startswith("network-"):
            tree = copy.deepcopy(case.tree)
            tree["claims"][place]["verdict"] = FLIPPED[claim["verdict"]]
            with pytest.raises(verify.Rejected):
                verify.check(json.dumps(tree).encode())


# ------------------------------------------------------------------------------------------------ mutants


@cache
def ground(name: str) -> tuple[Problem, Facts]:
    """The problem and the other facts of a case, checked once."""
    tree = copy.deepcopy(given(name).tree)
    del tree["facts"]["network"]
    problem = read_problem(Node(tree["problem"]))
    return problem, check_facts(problem, Node(tree["facts"]))


def checked(name: str, text: str) -> Network:
    """The text of a fact, {"network": ...}, checked on the other facts of a case."""
    problem, facts = ground(name)
    return check_network(problem, facts, load(text.encode(), Limits()).record("network")["network"])


def accepted(name: str, text: str) -> bool:
    """Whether the text of a fact, {"network": ...}, and all verdicts of the case on it are accepted."""
    problem, facts = ground(name)
    try:
        found = checked(name, text)
        for claim in given(name).tree["claims"]:
            if claim["claim"].startswith("network-"):
                way(problem, Facts({**facts.proved, NETWORK: found}), claim["claim"], claim["verdict"], Node(None))
    except (verify.Rejected, verify.Declined):
        return False
    return True


def test_the_short_way_is_the_long_way() -> None:
    """Unchanged facts are accepted by the shortcut of these tests."""
    for name in CASES:
        assert accepted(name, json.dumps({"network": given(name).tree["facts"]["network"]}))


# All cases with RELU_CERT_LONG in the environment: a minute.
THOROUGH = tuple(CASES) if "RELU_CERT_LONG" in os.environ else ("on a line", UNLISTED, "an irrational optimum")
SPELLED = (
    "with a|lowest|over 1|as |exponent|other digits|line end|negative zero|space|null|in an|first$|last$"
    r"|r \d+ (twice|dropped)"
)
UNREAD = r"network\.file\.(origin|sha256)|network\.file"  # hashes that are compared with files only


@pytest.mark.long
@pytest.mark.parametrize("name", THOROUGH)
def test_every_mutant_is_rejected_or_true(name: str) -> None:
    """Whatever is changed in the fact: it is rejected, or every statement in it is still true for the oracle."""
    case = given(name)
    total, survivors = 0, 0
    for mutant in mutants({"network": case.tree["facts"]["network"]}, 2):
        if not mutant.place.startswith("network") or re.search(SPELLED, mutant.change):
            continue
        total += 1
        if not accepted(name, mutant.text):
            continue
        survivors += 1
        tree = {**case.tree, "facts": {**case.tree["facts"], **json.loads(mutant.text)}}
        wrong = list(falsehoods(tree, case.planted))
        assert wrong == [] or re.fullmatch(UNREAD, mutant.place), f"{mutant.name}: {wrong}"
    assert total > 250
    assert survivors < total / 3


# ------------------------------------------------------------------------------------------------ the corpus


def put(*path: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    """The edit that sets one value (`...` drops it)."""

    def edit(tree: dict[str, Any]) -> None:
        target: Any = tree
        for key in path[:-1]:
            target = target[key]
        if to is ...:
            del target[path[-1]]
        else:
            target[path[-1]] = to

    return edit


def fact(*path: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    """The same inside the fact."""
    return put("facts", "network", *path, to=to)


def verdict(claim: str, word: str) -> Callable[[dict[str, Any]], None]:
    """The edit that states another verdict."""

    def edit(tree: dict[str, Any]) -> None:
        next(c for c in tree["claims"] if c["claim"] == f"network-{claim}")["verdict"] = word

    return edit


def without(name: str, claim: str) -> Callable[[dict[str, Any]], None]:
    """The edit that drops a part of the fact, and the claims that are not about it."""

    def edit(tree: dict[str, Any]) -> None:
        del tree["facts"]["network"][name]
        tree["claims"] = [c for c in tree["claims"] if c["claim"] == f"network-{claim}"]

    return edit


def alone(*parts: str, but: str = "directions") -> Callable[[dict[str, Any]], None]:
    """The edit that drops other facts, all claims and the other parts that compare."""

    def edit(tree: dict[str, Any]) -> None:
        for part in parts:
            tree["facts"].pop(part, None)
        for part in {"directions", "nearest"} - {but}:
            tree["facts"]["network"].pop(part, None)
        tree["claims"] = []

    return edit


SPLIT, KINKS, THREE, BEST, ZERO = (
    "inside the polytope, split, dead",
    "at kinks",
    "three for two",
    "exactly optimal",
    "above lambda_max",
)
BIASED = "with an output bias"
LINE, LIFTED, FIELD = "on a line", "lifted, no vertices", "in a field"


def on_the_edge(tree: dict[str, Any]) -> str:
    """The weights of the fact with the smallest one 0."""
    weights = tree["facts"]["network"]["nearest"]["weights"].split()
    smallest = min(weights, key=Fraction)
    return " ".join("0" if x == smallest else x for x in weights)


def at_the_gap(tree: dict[str, Any], word: str, end: str, less: Fraction = Fraction(0)) -> None:
    """The edit that asks for the gap from J to a bound of the optimum, or a little less of it."""
    J, bound = (Fraction(x) for x in (tree["facts"]["network"]["objective"], tree["facts"]["value"][end]))
    tree["facts"]["network"]["gap"] = str((J - bound) / J - less)
    tree["claims"] = [{"claim": "network-optimal", "verdict": word}]


WRONG: dict[str, tuple[str, Callable[[dict[str, Any]], None], str]] = {
    "a hash of capitals": (SPLIT, fact("file", "sha256", to="A" * 64), r"sha256: expected 64 lower-case"),
    "another lambda than the convention's": (SPLIT, fact("penalty", "value", to="2"), "so that lambda is 5"),
    "the number of another convention": (SPLIT, fact("penalty", "convention", to="pytorch"), "so that lambda is 5"),
    "a batch for another convention": (SPLIT, fact("penalty", "batch", to=2), "batch: expected null, or for sklearn"),
    "a batch that divides nothing": (
        SPLIT,
        fact("penalty", to={"convention": "sklearn", "value": "5", "batch": 3}),
        "a batch size that divides",
    ),
    "no neuron": (SPLIT, lambda t: t["facts"]["network"].update(W1=[], w2=""), "at least one neuron"),
    "a weight too few": (SPLIT, fact("w2", to="1 1 1"), "w2: expected 7 numbers"),
    "a negative gap": (SPLIT, fact("gap", to="-1"), "a gap from 0 to less than 1"),
    "a gap up to which every network is optimal": (SPLIT, fact("gap", to="1"), "a gap from 0 to less than 1"),
    "an origin in words": (SPLIT, fact("file", "origin", to="compared with the file"), "origin: expected a format and"),
    "an output bias without a column of ones": (SPLIT, fact("b2", to="1"), "not the column of ones"),
    "another output bias": (BIASED, fact("b2", to="1"), "objective: expected J = "),
    "an output bias that costs less": (
        BIASED,
        lambda t: t["facts"]["network"].update(objective=str(Fraction(t["facts"]["network"]["objective"]) - 1)),
        r"lambda \|b2\| = ",
    ),
    "an output bias as a neuron of any scale": (
        BIASED,
        lambda t: t["facts"]["network"].update(
            W1=[*t["facts"]["network"]["W1"], "0 3/4"], w2=t["facts"]["network"]["w2"] + " 1", b2="0"
        ),
        "objective: expected J = ",
    ),
    "another objective": (SPLIT, fact("objective", to="81"), "objective: expected J = "),
    "weights of cells that are not positive": (KINKS, fact("stationary", 0, 0, 1, to="0"), "a weight > 0"),
    "weights of cells of another sum": (KINKS, fact("stationary", 0, 0, 1, to="1/3"), "add up to 1"),
    "cells without kinks": (BEST, fact("stationary", 0, to=[[0, "1"]]), "an array of 0"),
    "own patterns of a zero network": (
        SPLIT,
        lambda t: (
            t["facts"]["network"].update(W1=["0 0"], w2="0", own={"primal": {}, "dual": {}})
            or t["facts"]["network"].update(objective="389", stationary=[[]])
        ),
        "null, because the network has no pattern",
    ),
    "own dual point too long": (
        SPLIT,
        lambda t: t["facts"]["network"]["own"]["dual"].update(theta="10 10 17 17"),
        r"own\.dual\.multipliers\[\d\]: expected",
    ),
    "own point with a short norm": (
        SPLIT,
        fact("own", "primal", "neurons", 0, "norm", to="1"),
        r"own\.primal.*norm >= \|w\|",
    ),
    "pruned with a neuron zero": (SPLIT, fact("pruned", 0, "w", to="0 0"), "other than zero"),
    "pruned to another fit": (SPLIT, fact("pruned", 0, "sign", to="-"), "the fit of the network at row"),
    "pruned to dependent outputs": (
        SPLIT,
        lambda t: t["facts"]["network"].update(
            pruned=[{"sign": "+", "w": f"{a}/2 {b}"} for a in (3, -3) for b in (2, -2)]
        ),
        "independent outputs, found 4 of rank 3",
    ),
    "pruned to longer neurons": (
        THREE,
        lambda t: t["facts"]["network"].update(
            pruned=[{"sign": "+", "w": "9/2 0"}, {"sign": "+", "w": "0 11/2"}, {"sign": "-", "w": "-2 1"}]
        ),
        "a sum of norms that is no larger",
    ),
    "a direction too few": (SPLIT, lambda t: t["facts"]["network"]["directions"].pop(), "an array of 5"),
    "a direction farther than it is": (THREE, fact("directions", 0, "lower", to="1"), "a number from 0 to"),
    "a direction nearer than it is": (THREE, fact("directions", 0, "upper", to="1/100"), "a number from .* to 2"),
    "a pair of two signs": (KINKS, fact("nearest", "pairs", to=[[3, 0]]), "two neurons of one sign"),
    "a neuron in two pairs": (SPLIT, fact("nearest", "pairs", to=[[0, 0], [0, 1]]), "each in one pair only"),
    "weights that are not optimal": (SPLIT, fact("nearest", "weights", to="1 1 1 1"), "the weights of an optimal"),
    "negative weights": (SPLIT, fact("nearest", "weights", to="2 -1 -1 2"), "the weights of an optimal network"),
    "an optimal weight too few": (SPLIT, fact("nearest", "weights", to="1 0 0"), "weights: expected 4 weights, 0 for"),
    "a mean of another sum": (
        SPLIT,
        lambda t: t["facts"]["network"]["nearest"].update(weights="", hull="1/2 1/3"),
        "which add up to 1",
    ),
    "a mean of vertices that are not listed": (
        UNLISTED,
        lambda t: t["facts"]["network"]["nearest"].update(weights="", hull="1/2 1/2"),
        "for each vertex that is listed",
    ),
    "neither weights nor a mean": (FIELD, fact("nearest", "hull", to=""), "hull: expected a number for each vertex"),
    "vertices in a field that are not listed": (
        FIELD,
        lambda t: [t["facts"].pop("polytope"), alone(but="nearest")(t)],
        "nearest: expected the fact polytope",
    ),
    "multipliers with a list of vertices": (SPLIT, fact("nearest", "mu", to="1"), "mu: expected 0 numbers"),
    "weights at the edge of what is enclosed": (
        LIFTED,
        lambda t: t["facts"]["network"]["nearest"].update(weights=on_the_edge(t)),
        "its possible error",
    ),
    "nearer than it is": (THREE, fact("nearest", "upper", to="1"), "nearest.upper: expected errors and more"),
    "farther than it is": (THREE, fact("nearest", "lower", to="6"), "its square at most"),
    "negative prices": (THREE, fact("nearest", "prices", to="-1 -1 -1 -1"), "prices: expected numbers >= 0"),
    "allowances too small": (
        THREE,
        lambda t: t["facts"]["network"]["nearest"].update(prices="0 0 0 0", allowances="0 0"),
        "allowances: expected at least",
    ),
    "allowances too small without a list of vertices": (
        UNLISTED,
        lambda t: t["facts"]["network"]["nearest"].update(prices="0 0 0 0", allowances="0 0"),
        "allowances: expected at least",
    ),
    "not optimal, at exactly the gap": (SPLIT, lambda t: at_the_gap(t, "REFUTED", "upper"), "J - upper > gap"),
    "optimal, a little beyond the gap": (
        SPLIT,
        lambda t: at_the_gap(t, "PROVED", "lower", Fraction(1, 10**30)),
        "J - lower <= gap",
    ),
    "nearest without a list of vertices": (
        SPLIT,
        lambda t: [t["facts"].pop("polytope"), alone(but="nearest")(t)],
        "mu: expected 3 numbers",
    ),
    "nearest without an optimal set": (
        SPLIT,
        alone("polytope", "exact_set", but="nearest"),
        "expected the facts optimal_set or exact_set",
    ),
    "directions without a dual point": (
        SPLIT,
        alone("polytope", "exact_set", "fit", "value", "dual"),
        "the facts dual",
    ),
    "kinks without patterns": (
        KINKS,
        lambda t: [
            t["facts"].clear(),
            t["facts"].update(network=copy.deepcopy(given(KINKS).tree["facts"]["network"])),
            alone()(t),
        ],
        "the fact patterns, which cells at kinks rest on",
    ),
    "optimal, though it is not": (SPLIT, verdict("optimal", "PROVED"), "J - lower <= gap"),
    "not optimal, though it is": (BEST, verdict("optimal", "REFUTED"), "J - upper > gap"),
    "optimal over its own patterns, though it is not": (SPLIT, verdict("own-optimal", "PROVED"), "J - lower <= gap"),
    "not optimal over its own patterns, though it is": (BEST, verdict("own-optimal", "REFUTED"), "J - upper > gap"),
    "stationary, though it is not": (SPLIT, verdict("stationary", "PROVED"), "a Clarke subgradient 0"),
    "not stationary, though it is": (BEST, verdict("stationary", "REFUTED"), "a positive lower bound"),
    "balanced, though it is not": (SPLIT, verdict("balanced", "PROVED"), "another norm at 0"),
    "not balanced, though it is": (BEST, verdict("balanced", "REFUTED"), r"a neuron with \|W1_i\| !="),
    "merged, though it is not": (SPLIT, verdict("merged", "PROVED"), "no two neurons of one sign"),
    "not merged, though it is": (BEST, verdict("merged", "REFUTED"), "two neurons of one sign"),
    "independent, though it is not": (SPLIT, verdict("independent", "PROVED"), "expected rank 5, found 3"),
    "dependent, though it is not": (BEST, verdict("independent", "REFUTED"), "a rank below 2"),
    "optimal directions, though they are not": (THREE, verdict("directions", "PROVED"), "distance 0 for 3 neurons"),
    "other directions, though they are optimal": (BEST, verdict("directions", "REFUTED"), "a neuron at a positive"),
    "own patterns not given": (SPLIT, without("own", "own-optimal"), "the fact network.own"),
    "stationarity not given": (SPLIT, without("stationary", "stationary"), "the fact network.stationary"),
    "pruned network not given": (SPLIT, without("pruned", "prune"), "the fact network.pruned"),
    "directions not given": (SPLIT, without("directions", "directions"), "the fact network.directions"),
    "nearest not given": (SPLIT, without("nearest", "nearest"), "the fact network.nearest"),
    "no network": (SPLIT, lambda t: t["facts"].pop("network"), "the fact network, which this rests on"),
    "weights for the zero optimum": (ZERO, fact("nearest", "weights", to="1"), "weights: expected 0 numbers"),
}


def wrong_text(reason: str) -> bytes:
    """The certificate of one wrong case."""
    name, edit, _ = WRONG[reason]
    tree = copy.deepcopy(given(name).tree)
    edit(tree)
    return json.dumps(tree).encode()


@pytest.mark.parametrize("reason", WRONG)
def test_wrong_networks_are_rejected(reason: str) -> None:
    """Each wrong statement is rejected, and the message names the place and the reason."""
    with pytest.raises(verify.Rejected) as caught:
        verify.check(wrong_text(reason))
    assert re.search(WRONG[reason][2], str(caught.value)), str(caught.value)


def test_optimal_at_exactly_the_gap() -> None:
    """J - lower = gap J is optimal up to the gap."""
    tree = copy.deepcopy(given(SPLIT).tree)
    at_the_gap(tree, "PROVED", "lower")
    assert verify.check(json.dumps(tree).encode())


def dependent_equations() -> None:
    """Two equations that are one within their errors: no certificate has them, because `tau` excludes it."""
    half, error = Fraction(1, 2), (Fraction(1, 100),) * 2
    F = matrix(((half, half), (half, half + Fraction(1, 1000))), 2)
    system = System(F, (half, half), error, error, (0, 1), 2, {}, exact=False)
    WeightSet(system, 2, Fraction(1)).contains_near((half, half), Node(None))


def skip_of_ones() -> None:
    """A weight of the skip connection for the column of ones that was appended."""
    appended = replace(PLANE, free=("skip",), outputs=(tuple(row[0] for row in PLANE.Z),))
    read_weights(appended, fields(skip="1 -1"))


def test_every_reject_path_of_networks_is_reached() -> None:
    """Each statement of the network files that rejects is the one that rejects some case of the corpus."""
    reached = set()
    for attempt in (
        *(partial(verify.check, wrong_text(reason)) for reason in WRONG),
        dependent_equations,
        skip_of_ones,
    ):
        with pytest.raises(verify.Rejected) as caught:
            attempt()
        reached |= {(str(entry.path), entry.lineno + 1) for entry in caught.traceback}
    package = Path(verify.__file__).parent
    missed = []
    given = [path for path in (package / "network").glob("*.py") if path.name != "solution.py"]  # coefficients
    for path in [*sorted(given), package / "claims" / "network.py"]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and "reject(" in ast.unparse(node):
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                if not any((str(path), line) in reached for line in lines):
                    missed.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    assert missed == []


def test_directions_in_a_field() -> None:
    """Whether a rational w is a positive multiple of an algebraic v is decided exactly, also where it is very near."""
    root = read_field(Node({"polynomial": "-2 0 1", "lo": "1", "hi": "2"})).number((Fraction(0), Fraction(1)))
    zero, near = root - root, Fraction(1, 10**90)
    known = Known(1, (Fraction(7, 5), Fraction(14, 5)), Fraction(1, 10), False, True, (root, 2 * root))
    assert apart((Fraction(3), Fraction(6)), known) == (0, 0)
    assert not known.along((Fraction(-3), Fraction(-6)))
    assert not known.along((Fraction(3), 6 + near))
    assert not known.along((Fraction(0), Fraction(1)))
    flat = Known(1, (Fraction(0), Fraction(-7, 5)), Fraction(1, 10), False, True, (zero, -root))
    assert flat.along((Fraction(0), Fraction(-2)))
    assert not flat.along((near, Fraction(-2)))
    middle, error = enclosure((root, -3 * root))
    assert all(abs(x * x - 2 * k * k) < 20 * error < near for x, k in zip(middle, (1, 3), strict=True))


def test_an_optimal_network_with_split_neurons_can_be_nearer() -> None:
    """x = I, y = (3, 0), lambda = 1: (1, 0) twice, with outer weights 1, has J = 5/2 = p*, and is nearer to (1, 1/100),
    (1, -1/100) than the bound of `nearest`, which is about optimal networks with merged neurons, and says so."""
    name = CORPUS / "accepted" / "nearest-of-merged"
    text, data, network = (name.with_suffix(end).read_bytes() for end in (".json", ".data", ".network"))
    tree = json.loads(text)
    given = [tuple(map(Fraction, row)) for row in json.loads(network)["W1"]]
    split = [(Fraction(1), Fraction(0))] * 2
    fit = sum(w[0] for w in split)
    penalty = sum(x * x for w in split for x in w) + 2
    assert (3 - fit) ** 2 / 2 + Fraction(penalty, 2) == Fraction(tree["facts"]["value"]["upper"]) == Fraction(5, 2)
    squared = sum((a - b) ** 2 for u, v in zip(split, given, strict=True) for a, b in zip(u, v, strict=True))
    assert squared < Fraction(tree["facts"]["network"]["nearest"]["lower"]) ** 2
    lines = {one.claim: one.proved for one in verify.check(text, data, network=network)}
    assert lines["p-unique"].startswith("the optimal network is unique up to permutation and splitting (")
    assert (
        "and no optimal network with merged neurons (one for each sign and direction) is nearer than"
        in lines["network-nearest"]
    )


def test_the_rank_of_many_outputs_is_found_at_once() -> None:
    """Fifty outputs on a thousand rows, one of them dependent on two others: rank 49, in a moment (a wide matrix of
    rationals took half a minute, more than the proof that it belongs to)."""
    random = Random(0)
    Q = [[Fraction(random.getrandbits(60), 2**52) for _ in range(1000)] for _ in range(49)]
    Q.append([3 * a - b / 7 for a, b in zip(Q[0], Q[1], strict=True)])
    problem = cast(Problem, SimpleNamespace(n=1000))
    begun = process_time()
    assert rank_of_outputs(problem, [Neuron(0, 1, (), Fraction(1), tuple(q), 0, 0) for q in Q]) == 49
    assert rank_of_outputs(problem, [Neuron(0, 1, (), Fraction(1), tuple(q), 0, 0) for q in Q[:49]]) == 49
    assert rank_of_outputs(problem, []) == 0
    assert process_time() - begun < 15
