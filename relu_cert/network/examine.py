"""All that is said about one network, in one value, and as a fact of a certificate; every number in it is exact or an
exact enclosure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np

from relu_cert.bags import EACH, Each
from relu_cert.certificate import certificate
from relu_cert.claims.claim import Result
from relu_cert.data.dataset import Source
from relu_cert.exact import Matrix, Vector
from relu_cert.network.closest import Closest, Matching, closest, match
from relu_cert.network.directions import (
    Merged,
    NeuronScale,
    direction_bounds,
    merge_cells,
    merge_collinear,
    merge_on_data,
    scales,
)
from relu_cert.network.formats import json_text
from relu_cert.network.objective import (
    ConvexNeuron,
    Interval,
    NeuronStationarity,
    Stationarity,
    bias_free,
    convex_form,
    enclosed_loss,
    norms_sum,
    penalty,
    penalty_sum,
    stationarity,
)
from relu_cert.network.optimum import known_optimum
from relu_cert.network.penalty import Conversion
from relu_cert.network.prune import Pruned, output_rank, prune_best
from relu_cert.network.trained import Origin, TrainedNetwork
from relu_cert.patterns.pattern_set import PatternSet
from relu_cert.problem.loss import SQUARES, Loss
from relu_cert.prove.facts import Facts, Value
from relu_cert.serialize import matrix, number, serialize, sign_text, vector

_ZERO = Fraction(0)
NEAR = Fraction(1, 2**30)  # rows this near to a kink count as kinks in `near_stationarity`


@dataclass(frozen=True)
class Examination:
    """A folded network on data Z, y at lambda.

    `J` is its objective, or with the logistic loss an upper bound, to 2^-256; `loss` is its part. `P` is the one it has
    when its neurons are balanced; `near_stationarity` counts rows within NEAR of a kink as kinks; `collinear` and
    `on_data` are its merges, `cells` the merges of one cell of the data, which no order changes; `rank` is the
    dimension of its outputs' span; `pruned` is what is left of `on_data` after optimal pruning, at `pruned_P`.
    A network with several outputs has no `neurons` here, and nothing that is made of them.
    """

    network: TrainedNetwork
    lam: Fraction
    neurons: tuple[ConvexNeuron, ...]
    J: Fraction
    P: Interval
    scales: tuple[NeuronScale, ...]
    stationarity: Stationarity
    near_stationarity: Stationarity
    collinear: Merged
    on_data: Merged
    cells: Merged
    rank: int
    pruned: Pruned
    pruned_P: Interval
    loss: Interval
    logistic: bool = False

    @property
    def J_below(self) -> Fraction:
        """At most the objective; J itself with the squares."""
        return self.J - (self.loss.upper - self.loss.lower)


@dataclass(frozen=True)
class Comparison:
    """The network against the optimum over all patterns, over its own (None: not asked), and neuron by neuron.

    `nearest` matches the network, its cells merged, with the optimal network that was found. `directions` encloses the
    distance of every neuron's direction from the optimal ones; `closest` is the nearest of all optimal networks (None:
    they are not known).
    """

    examination: Examination
    facts: Facts
    own: Facts | None
    nearest: Matching
    directions: tuple[Interval, ...] = ()
    closest: Closest | None = None

    @property
    def excluded(self) -> tuple[bool, ...]:
        """Which neurons are proved to be in no optimal network; with free terms none is."""
        return tuple(one.lower > 0 for one in self.directions) or (False,) * len(self.examination.neurons)


@dataclass(frozen=True)
class Distance:
    """How far J and P are above the optimal value of a program: enclosures, not below zero."""

    trained: Interval
    balanced: Interval

    def relative(self, J: Fraction) -> Fraction:
        """The upper bound as a part of J (0 where J is 0)."""
        return self.trained.upper / J if J else _ZERO


def examine(
    network: TrainedNetwork, Z: Matrix, y: Vector, lam: Fraction, bags: Each = EACH, loss: Loss = SQUARES
) -> Examination:
    """Everything that needs no optimum to compare with. What is said of gradients is about the squares."""
    alone = network.targets == 1
    neurons = convex_form(network) if alone else ()
    found = enclosed_loss(loss, y, bias_free(network).on(Z, bags))
    on_data = merge_on_data(neurons, Z)
    pruned = prune_best(on_data.neurons, Z, bags)
    return Examination(
        network=network,
        lam=lam,
        neurons=neurons,
        J=found.upper + penalty(network, lam),
        P=found + (penalty_sum(neurons) if alone else norms_sum(network)).scale(lam),
        scales=scales(network, lam),
        stationarity=stationarity(network, Z, y, lam, bags=bags),
        near_stationarity=stationarity(network, Z, y, lam, NEAR, bags),
        collinear=merge_collinear(neurons),
        on_data=on_data,
        cells=merge_cells(neurons, Z),
        rank=output_rank(neurons, Z, bags),
        pruned=pruned,
        pruned_P=found + penalty_sum(pruned.neurons).scale(lam),
        loss=found,
        logistic=loss is not SQUARES,
    )


def compare(examination: Examination, facts: Facts, own: Facts | None) -> Comparison:
    """The network beside what was proved about the optimum over all patterns, and over its own."""
    if facts.problem.targets > 1:
        return Comparison(examination, facts, own, Matching((), _ZERO))
    best = merge_collinear([ConvexNeuron(neuron.sign, neuron.w) for neuron in facts.primal.neurons]).neurons
    nearest = match(examination.cells.neurons, best)
    if facts.problem.free or examination.logistic:  # neurons are not compared
        return Comparison(examination, facts, own, nearest)
    optimum = known_optimum(facts)
    return Comparison(
        examination,
        facts,
        own,
        nearest,
        direction_bounds(facts, optimum, examination.neurons),
        None if optimum is None else closest(optimum, examination.lam, examination.cells.neurons),
    )


def distance(examination: Examination, value: Value) -> Distance:
    """J - p and P - p for an optimal value lower <= p <= upper."""
    J, P = examination.J, examination.P
    return Distance(
        Interval(max(_ZERO, examination.J_below - value.upper), J - value.lower),
        Interval(max(_ZERO, P.lower - value.upper), P.upper - value.lower),
    )


READABLE = ("json", "npz")  # what the checker reads, too
MOST_DIGITS = 19_000  # the checker declines longer numbers


def network_certificate(
    source: Source,
    comparison: Comparison,
    conversion: Conversion,
    origin: Origin,
    gap: Fraction,
    results: Sequence[Result],
) -> dict[str, Any]:
    """The certificate of the optimum that the network is compared with, with the network and the verdicts about it."""
    content = certificate(source, comparison.facts, results)
    content["facts"]["network"] = network_record(comparison, conversion, origin, gap)
    return content


def network_record(comparison: Comparison, conversion: Conversion, origin: Origin, gap: Fraction) -> dict[str, Any]:
    """The fact."""
    found = comparison.examination
    patterns = comparison.facts.problem.listed
    copy = readable_copy(found.network, origin)
    content: dict[str, Any] = {
        "file": {
            "sha256": origin.sha256 if copy is None else sha256(copy).hexdigest(),
            "origin": "" if copy is None else f"{origin.format} {origin.sha256}",
        },
        "penalty": serialize(conversion),
        "W1": matrix(found.network.W1),
        **_second(found.network),
        **({"skip": vector(found.network.skip)} if "skip" in found.network.free else {}),
        "gap": number(gap),
        "objective": number(found.J),
    }
    if not hidden_cells(comparison) and not found.logistic:
        content["stationary"] = _stationary(patterns, found.stationarity)
    if comparison.own is not None:
        model = comparison.own.problem.model
        content["own"] = {
            "primal": serialize(comparison.own.primal, model),
            "dual": serialize(comparison.own.dual, model),
        }
    if found.network.targets > 1:
        return content
    if prunable(found):
        content["pruned"] = [{"sign": sign_text(n.sign), "w": vector(n.w)} for n in found.pruned.neurons]
    if not found.network.free and not found.logistic:
        content["directions"] = [serialize(one) for one in comparison.directions]
    if comparison.closest is not None:
        content["nearest"] = serialize(comparison.closest)
    return content


def _second(network: TrainedNetwork) -> dict[str, Any]:
    """The second layer."""
    if network.targets > 1:
        return {"W2": matrix(network.V), "b2": vector(network.offsets)}
    return {"w2": vector(network.w2), "b2": number(network.b2)}


def readable_copy(network: TrainedNetwork, origin: Origin) -> bytes | None:
    """The folded network as JSON, for the checker, which does not read the file it is from; None where it does."""
    read = origin.format in READABLE and origin.layer == 1
    return json_text.write(network, "") if origin.sha256 and not read else None


def hidden_cells(comparison: Comparison) -> bool:
    """Whether a neuron is exactly zero at a data point, and the cells around it are not listed."""
    neurons = comparison.examination.stationarity.neurons
    return comparison.facts.problem.listed is None and any(neuron.kinks for neuron in neurons)


def prunable(found: Examination) -> bool:
    """Whether the pruned network has numbers that are short enough for a certificate."""
    return all(_short_enough(x) for neuron in found.pruned.neurons for x in neuron.w)


def _stationary(patterns: PatternSet | None, found: Stationarity) -> list[list[list[Any]]]:
    if patterns is None:
        return [[] for _ in found.neurons]
    cells = patterns.array()[: patterns.open_cells]
    return [_cells(cells, neuron) for neuron in found.neurons]


def _cells(cells: np.ndarray[Any, np.dtype[np.bool_]], neuron: NeuronStationarity) -> list[list[Any]]:
    """[number of an open cell of the whole arrangement that lies in the kinks' cell, its weight]"""
    kinks = list(neuron.kinks)
    found = []
    for on, weight in neuron.cells:
        wanted = np.array([k in on for k in kinks])
        cell = int(np.flatnonzero((cells[:, kinks] == wanted).all(axis=1))[0])
        found.append([cell, number(weight)])
    return found


def _short_enough(x: Fraction) -> bool:
    return max(x.numerator.bit_length(), x.denominator.bit_length()) * 30103 // 100000 < MOST_DIGITS
