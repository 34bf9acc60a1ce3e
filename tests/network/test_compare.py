"""A network against the global optimum: bounds that hold, verdicts that follow, certificates that are accepted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from functools import cache

import pytest

from relu_cert import examples
from relu_cert.certificate import certificate, dumps
from relu_cert.claims import decide
from relu_cert.claims.claim import Verdict
from relu_cert.data import read_csv
from relu_cert.data.dataset import Dataset
from relu_cert.driver.optimum import LambdaChoice, find_facts
from relu_cert.driver.variant import network_problem
from relu_cert.network.claims import network_verdicts
from relu_cert.network.directions import direction_bounds, network_facts, own_problem
from relu_cert.network.examine import Comparison, compare, distance, examine
from relu_cert.network.formats import rounded
from relu_cert.network.objective import ConvexNeuron, network_of, objective
from relu_cert.network.optimum import known_optimum
from relu_cert.network.trained import TrainedNetwork
from relu_cert.prove.facts import Facts
from relu_cert.report.progress import Progress
from verify import check as recheck

LAM, SMALL = F(1, 10), F(1, 10**9)
QUIET = Progress(quiet=True)
STUCK = TrainedNetwork(((F(1), F(1), F(0)),), (F(1, 2),))


@cache
def xor() -> tuple[Dataset, Facts]:
    """Exclusive or with a bias at lambda = 1/10, solved and proved."""
    data = read_csv(examples.path("xor"), bias=True)
    return data, find_facts(network_problem(data, "relu", QUIET), LambdaChoice(value=LAM), SMALL, QUIET)


def against(network: TrainedNetwork) -> Comparison:
    """The network beside the optima over all patterns and over its own."""
    data, facts = xor()
    found = examine(network, data.Z, data.y, LAM)
    own = find_facts(own_problem(found.neurons, data.Z, data.y), LambdaChoice(value=LAM), SMALL, QUIET)
    return compare(found, facts, own)


def optimal() -> TrainedNetwork:
    """The network that the solver found, in doubles."""
    return rounded(network_of(xor()[1].primal.neurons, 3))


def test_the_optimal_network_is_proved_optimal() -> None:
    """Exported in doubles, it is within a millionth of the optimum over all patterns and over its own."""
    comparison = against(optimal())
    said = {r.claim: r.verdict for r in network_verdicts(comparison, F(1, 10**6))}
    assert said["network-optimal"] is Verdict.PROVED
    assert said["network-own-optimal"] is Verdict.PROVED
    assert said["network-independent"] is Verdict.PROVED
    assert said["network-directions"] is Verdict.REFUTED  # doubles are off by their last bits, and that is proved
    assert all(one.upper < F(1, 10**15) for one in comparison.directions)
    assert comparison.closest is not None
    assert 0 <= comparison.closest.distance.lower <= comparison.closest.distance.upper < F(1, 10**15)
    away = distance(comparison.examination, comparison.facts.value)
    assert 0 <= away.trained.lower <= away.trained.upper < F(1, 10**12)
    assert comparison.nearest.pairs == ((0, 0), (1, 1), (2, 2))
    assert comparison.nearest.distance_squared < F(1, 10**24)


def test_a_float_beside_a_kink() -> None:
    """Two optimal neurons lie on kinks; moved off them by 2^-45: not stationary at the point, stationary around it."""
    neurons = [
        ConvexNeuron(neuron.sign, (*neuron.w[:-1], neuron.w[-1] + F(1, 2**45))) for neuron in xor()[1].primal.neurons
    ]
    found = against(network_of(neurons, 3)).examination
    assert found.stationarity.stationary is False
    assert found.near_stationarity.distance_squared.upper < F(1, 10**20) < found.stationarity.distance_squared.lower


def test_stuck_on_its_own_patterns() -> None:
    """One neuron that is on everywhere cannot be exclusive or: optimal over its own patterns is far from optimal."""
    data, facts = xor()
    own = find_facts(
        own_problem([ConvexNeuron(1, (F(1), F(1), F(1)))], data.Z, data.y), LambdaChoice(value=LAM), SMALL, QUIET
    )
    assert own.value.lower > facts.value.upper
    assert len(own.problem.blocks) == 2
    [neuron] = own.primal.neurons
    assert neuron.block is not None
    network = network_of([ConvexNeuron((1, -1)[neuron.block % 2], neuron.w)], 3)
    said = {r.claim: r.verdict for r in network_verdicts(against(network), F(1, 1000))}
    assert said["network-optimal"] is Verdict.REFUTED
    assert said["network-own-optimal"] is Verdict.PROVED


def test_bounds_hold_the_distance() -> None:
    """Both bounds of J - p*, against the far better network of the solver, and the plain gap agree."""
    data, facts = xor()
    comparison = against(STUCK)
    away = distance(comparison.examination, facts.value)
    J, best = objective(STUCK, data.Z, data.y, LAM), objective(optimal(), data.Z, data.y, LAM)
    assert away.trained.lower - F(1, 10**12) <= J - best <= away.trained.upper
    assert away.trained.upper == J - facts.value.lower
    assert away.balanced.upper < away.trained.upper
    assert away.trained.lower == J - facts.value.upper > 0


def test_what_the_bounds_leave_open_is_undecided() -> None:
    """With a weak lower bound on p* neither verdict is proved, and none is given."""
    comparison = against(optimal())
    value = comparison.facts.value
    weak = replace(comparison.facts, value=replace(value, lower=value.lower / 2))
    said = {r.claim: r for r in network_verdicts(replace(comparison, facts=weak), F(1, 1000))}
    assert said["network-optimal"].verdict is Verdict.UNDECIDED
    assert said["network-optimal"].evidence == ""
    assert "more than the 1.0e-3 asked for" in said["network-optimal"].detail


@pytest.mark.parametrize("stuck", [True, False])
def test_the_certificate_is_about_the_given_network(stuck: bool) -> None:
    """Its upper value is this network's P; the checker accepts it, and the claim says what the gap allows."""
    given = STUCK if stuck else optimal()
    data, facts = xor()
    found = examine(given, data.Z, data.y, LAM)
    about = network_facts(facts, found.neurons, F(1, 1000))
    assert found.P.lower <= about.value.upper <= found.P.upper * (1 + F(1, 2**50))
    assert about.value.lower == facts.value.lower
    results = decide(about, ("patterns-complete", "optimal", "fit"))
    said = {r.claim: r.verdict for r in results}
    assert said["optimal"] is (Verdict.UNDECIDED if stuck else Verdict.PROVED)
    recheck(dumps(certificate(data.source, about, results)).encode())


def test_directions_are_excluded_only_by_proof() -> None:
    """No neuron of the optimal network is excluded; a neuron that makes things worse is, at any length."""
    _, facts = xor()
    kept = [ConvexNeuron(neuron.sign, neuron.w) for neuron in facts.primal.neurons]
    assert not any(one.lower > 0 for one in direction_bounds(facts, known_optimum(facts), kept))
    flipped = [ConvexNeuron(-neuron.sign, tuple(1000 * x for x in neuron.w)) for neuron in kept]
    assert all(one.lower > 0 for one in direction_bounds(facts, known_optimum(facts), flipped))


def test_own_problem_has_both_signs_and_each_pattern_once() -> None:
    """Neurons of one pattern share their two blocks."""
    data, _ = xor()
    parts = [
        ConvexNeuron(1, (F(1), F(1), F(1))),
        ConvexNeuron(-1, (F(2), F(1), F(1))),
        ConvexNeuron(1, (F(1), F(-1), F(0))),
    ]
    problem = own_problem(parts, data.Z, data.y)
    assert len(problem.blocks) == 4
    assert problem.blocks[0].X == data.Z
    assert tuple(tuple(-x for x in z) for z in data.Z) == problem.blocks[1].X
    for z, row in zip(data.Z, problem.blocks[2].X, strict=True):
        assert row == (z if z[0] >= z[1] else (0, 0, 0))


def test_pruned_and_merged_are_told() -> None:
    """Split and duplicated neurons are found, and what is left is no worse."""
    data, _ = xor()
    best = optimal()
    split = TrainedNetwork(
        (*best.W1, *best.W1, (F(-1), F(-1), F(-1))), (*(v / 2 for v in best.w2), *(v / 2 for v in best.w2), F(1))
    )
    comparison = against(split)
    found = comparison.examination
    assert found.collinear.merges == ((0, 3), (1, 4), (2, 5))
    assert len(found.pruned.neurons) == 3
    assert found.pruned_P.upper < found.P.lower
    details = {r.claim: (r.verdict, r.detail) for r in network_verdicts(comparison, F(1, 1000))}
    assert details["network-merged"][0] is Verdict.REFUTED
    assert "2 collinear neurons are one" in details["network-merged"][1]
    assert details["network-independent"][0] is Verdict.REFUTED
    assert "pruned, 3 neurons have the same fit" in details["network-independent"][1]
    assert details["network-balanced"][0] is Verdict.REFUTED
    assert objective(network_of(found.pruned.neurons, 3), data.Z, data.y, LAM) <= found.J
