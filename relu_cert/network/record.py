"""The fact `network` of a certificate: the given weights and everything that is said of them (verify/FORMAT.md)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np

from relu_cert.certificate import certificate
from relu_cert.claims.claim import Result
from relu_cert.data.dataset import Source
from relu_cert.network.examine import Comparison, Examination
from relu_cert.network.formats import json_text
from relu_cert.network.penalty import Conversion
from relu_cert.network.stationarity import NeuronStationarity, Stationarity
from relu_cert.network.trained import Origin, TrainedNetwork
from relu_cert.patterns.pattern_set import PatternSet
from relu_cert.serialize import matrix, number, sign_text, vector, written

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
        "penalty": written(conversion),
        "W1": matrix(found.network.W1),
        "w2": vector(found.network.w2),
        "b2": number(found.network.b2),
        **({"skip": vector(found.network.skip)} if "skip" in found.network.free else {}),
        "gap": number(gap),
        "objective": number(found.J),
    }
    if not hidden_cells(comparison) and not found.logistic:
        content["stationary"] = _stationary(patterns, found.stationarity)
    if comparison.own is not None:
        model = comparison.own.problem.model
        content["own"] = {
            "primal": written(comparison.own.primal, model),
            "dual": written(comparison.own.dual, model),
        }
    if prunable(found):
        content["pruned"] = [{"sign": sign_text(n.sign), "w": vector(n.w)} for n in found.pruned.neurons]
    if not found.network.free and not found.logistic:
        content["directions"] = [written(one) for one in comparison.directions]
    if comparison.closest is not None:
        content["nearest"] = written(comparison.closest)
    return content


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
