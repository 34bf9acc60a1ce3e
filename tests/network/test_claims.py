"""Every verdict on a given network is accepted by the checker, whatever the network; and the words fit."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relu_cert.certificate import dumps
from relu_cert.claims import decide
from relu_cert.claims.claim import Result, Verdict
from relu_cert.data.dataset import Dataset
from relu_cert.data.read import read_csv_bytes
from relu_cert.driver.optimum import LambdaChoice, find_facts
from relu_cert.driver.variant import network_problem
from relu_cert.network import objective as objective_module
from relu_cert.network.claims import CLAIMS, STATEMENTS, network_verdicts
from relu_cert.network.directions import apart, merge_on_data, own_problem
from relu_cert.network.examine import Comparison, compare, examine, network_certificate
from relu_cert.network.objective import ConvexNeuron, Interval, network_of
from relu_cert.network.optimum import KnownNeuron
from relu_cert.network.penalty import Penalty, convert
from relu_cert.network.trained import Origin, TrainedNetwork
from relu_cert.prove.facts import Facts
from relu_cert.prove.polytope.polytope import Unlisted
from relu_cert.report.progress import Progress
from verify import check as recheck

QUIET, GAP = Progress(quiet=True), F(1, 1000)
DATA = {
    "plane": ("x,z,y\n2,1,3\n-1,3,-1\n2,-3,2\n-4,-1,1\n1,1,-2\n", "1"),
    "box": ("x,z,y\n3,0,10\n-3,0,10\n0,4,17\n0,-4,17\n", "5"),
    "line": ("x,y\n1,3\n-1,2\n2,0\n", "1/3"),
    "one direction": ("x,z,y\n1,2,1\n2,4,3\n-1,-2,2\n0,0,1\n", "1/2"),
    "zero optimum": ("x,z,y\n1,2,1\n0,1,-1\n", "50"),
    "lifted": (
        "x,z,y\n2,-1,-1\n1,0,4\n1,-1,-3\n-3,-1,2\n1,1,4\n3,-2,4\n",
        "1/5",
    ),  # a polytope of dimension 2, enclosed
    "in a field": ("x,z,y\n1,0,1\n0,1,2\n-1,0,2\n0,-1,1\n1,1,0\n-1,-1,3\n1,-1,1\n-1,1,4\n", "1/4"),
}


@cache
def solved(name: str) -> tuple[Dataset, Facts]:
    """The data, and what is proved about the optimum."""
    text, lam = DATA[name]
    data = read_csv_bytes(text.encode(), "data.csv")
    return data, find_facts(network_problem(data, "relu", QUIET), LambdaChoice(value=F(lam)), F(1, 10**9), QUIET)


def judged(name: str, network: TrainedNetwork) -> tuple[Comparison, dict[str, Result]]:
    """The comparison and the verdicts, accepted by the checker."""
    data, facts = solved(name)
    found = examine(network, data.Z, data.y, facts.lam)
    own = None
    if found.neurons:
        choice = LambdaChoice(value=facts.lam)
        own = find_facts(own_problem(found.neurons, data.Z, data.y), choice, F(1, 10**9), QUIET)
    comparison = compare(found, facts, own)
    results = network_verdicts(comparison, GAP)
    said = (*decide(facts, ("patterns-complete", "optimal", "fit")), *results)
    conversion = convert(Penalty.PAPER, facts.lam, data.n)
    recheck(dumps(network_certificate(data.source, comparison, conversion, Origin("json"), GAP, said)).encode())
    return comparison, {r.claim.removeprefix("network-"): r for r in results}


halves = st.integers(-4, 4).map(lambda k: F(k, 2))


@st.composite
def networks(draw: st.DrawFn, d: int) -> TrainedNetwork:
    """Small rational weights, so that kinks, dead, collinear and dependent neurons are common."""
    m = draw(st.integers(1, 5))
    rows = draw(st.lists(st.tuples(*[halves] * d), min_size=m, max_size=m))
    return TrainedNetwork(tuple(rows), tuple(draw(st.lists(halves, min_size=m, max_size=m))))


@pytest.mark.long
@pytest.mark.parametrize("name", DATA)
def test_every_verdict_is_accepted(name: str) -> None:
    """Whatever the network: the checker accepts all verdicts, bounds enclose each other, words are of one line each."""

    @settings(max_examples=6, deadline=None, derandomize=True, database=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        comparison, said = judged(name, data.draw(networks(solved(name)[0].d)))
        assert all(0 <= one.lower <= one.upper <= 2 for one in comparison.directions)
        if comparison.closest is not None:
            assert 0 <= comparison.closest.distance.lower <= comparison.closest.distance.upper
        assert said["objective"].verdict is said["prune"].verdict is Verdict.PROVED
        assert said["optimal"].verdict is not Verdict.UNDECIDED
        assert all("\n" not in r.detail and r.detail.endswith(".") for r in said.values())

    check()


@pytest.mark.parametrize("name", [name for name in DATA if name != "zero optimum"])
def test_the_solver_s_own_network(name: str) -> None:
    """The optimal network, exactly as it was found, is near to an optimal one, in directions and in all."""
    data, facts = solved(name)
    comparison, said = judged(name, network_of(facts.primal.neurons, data.d))
    assert said["optimal"].verdict is said["own-optimal"].verdict is Verdict.PROVED
    if facts.known:
        assert all(one.upper < F(1, 10**12) for one in comparison.directions)
    if comparison.closest is not None:
        assert comparison.closest.distance.upper < F(1, 10**12)
    assert comparison.closest is not None or facts.polytope is None


def test_every_claim_has_its_words() -> None:
    """Names are unique, statements are sentences."""
    assert len(STATEMENTS) == len(CLAIMS)
    assert all(name.startswith("network-") and text.endswith(".") for name, text in STATEMENTS.items())


def test_stuck_is_said() -> None:
    """Optimal over its own patterns and not over all of them: the line says that it is stuck."""
    data, facts = solved("box")
    own = find_facts(
        own_problem([ConvexNeuron(1, (F(1), F(0)))], data.Z, data.y), LambdaChoice(value=facts.lam), F(1, 10**9), QUIET
    )
    network = network_of([ConvexNeuron((1, -1)[(n.block or 0) % 2], n.w) for n in own.primal.neurons], 2)
    _, said = judged("box", network)
    assert said["optimal"].verdict is Verdict.REFUTED
    assert said["own-optimal"].verdict is Verdict.PROVED
    assert "Stuck: only a new pattern makes it better." in said["own-optimal"].detail


def test_one_neuron_and_none() -> None:
    """Singular and zero are said as such."""
    _, said = judged("box", TrainedNetwork(((F(1), F(1)),), (F(1),)))
    assert "its only neuron" in said["independent"].detail
    assert said["prune"].detail.startswith("as many as before: 1 neuron, ")
    _, said = judged("box", TrainedNetwork(((F(0), F(0)),), (F(0),)))
    assert said["directions"].detail == "the network is zero."
    assert "own-optimal" not in said
    assert said["stationary"].verdict is Verdict.PROVED


def test_too_many_cells_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the cells at a kink are too many, the middle of two opposite ones still bounds the distance from above."""
    monkeypatch.setattr(objective_module, "MAX_CELLS", 1)
    comparison, said = judged("box", TrainedNetwork(((F(1), F(0)),), (F(1),)))
    found = comparison.examination.stationarity
    assert len(found.neurons[0].kinks) == 2
    assert said["stationary"].verdict is Verdict.REFUTED  # d/dw2 alone is not zero
    assert 0 < found.distance_squared.lower < found.distance_squared.upper


def test_neurons_that_cancel_are_a_merge() -> None:
    """Two neurons that vanish on all data cancel: they merge into nothing, and that is said."""
    Z = ((F(1), F(2)), (F(-2), F(-4)))
    pair = [ConvexNeuron(1, (F(2), F(-1))), ConvexNeuron(1, (F(-2), F(1)))]
    found = merge_on_data(pair, Z)
    assert found.neurons == ()
    assert found.merges == found.gone == ((0, 1),)
    _, said = judged("one direction", TrainedNetwork(tuple(n.w for n in pair), (F(1), F(1))))
    assert said["merged"].verdict is Verdict.REFUTED


def test_directions_near_and_opposite() -> None:
    """The distance of directions has no cancellation when they are near, and is 2 when they are opposite."""
    v = KnownNeuron(1, (F(3), F(4)), F(0), True, True)
    assert apart((F(6), F(8)), v) == Interval(F(0), F(0))
    assert apart((F(-3), F(-4)), v) == Interval(F(2), F(2))
    tiny = apart((F(3) + F(4, 10**40), F(4) - F(3, 10**40)), v)
    assert F(1, 10**40) * F(99, 100) < tiny.lower <= tiny.upper < F(1, 10**40) * F(101, 100)
    wide = apart((F(6), F(8)), KnownNeuron(1, (F(3), F(4)), F(1, 10**6), False, True))
    assert wide.lower == 0
    assert F(2, 10**6) / 5 <= wide.upper < F(3, 10**6) / 5


def test_float_networks_are_taken_as_they_are() -> None:
    """Single precision: exact dyadic rationals, merged and pruned, all accepted."""
    rng = np.random.default_rng(4)
    W1, w2 = rng.standard_normal((9, 2)).astype(np.float32), rng.standard_normal(9).astype(np.float32)
    network = TrainedNetwork(
        tuple(tuple(F(float(x)) for x in row) for row in W1.tolist()), tuple(F(float(x)) for x in w2.tolist())
    )
    comparison, said = judged("plane", network)
    assert said["independent"].verdict is Verdict.REFUTED
    assert len(comparison.examination.pruned.neurons) <= 5
    assert json.dumps([r.detail for r in said.values()])


@pytest.mark.parametrize("name", ["box", "lifted"])
def test_with_and_without_vertices(name: str) -> None:
    """Where the vertices are not listed the nearest network is enclosed by duality, and both enclosures overlap."""
    data, facts = solved(name)
    assert facts.polytope is not None and facts.polytope.dimension > 0
    found = examine(TrainedNetwork(((F(2), F(1)), (F(-1), F(1, 4))), (F(1), F(2))), data.Z, data.y, facts.lam)
    listed = compare(found, facts, None).closest
    unlisted = compare(found, replace(facts, vertices=Unlisted()), None).closest
    assert listed is not None and unlisted is not None
    assert unlisted.hull == () and unlisted.mu != ()
    assert listed.distance.lower <= unlisted.distance.upper
    assert unlisted.distance.lower <= listed.distance.upper
    assert unlisted.distance.upper < listed.distance.upper * F(1001, 1000)
    assert unlisted.distance.lower > listed.distance.lower * F(9, 10)
