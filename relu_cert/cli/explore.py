"""python -m relu_cert explore: optimal networks that differ off the training data, as in the paper's tuning tables."""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from pathlib import Path

import numpy as np

from relu_cert.check import DEFAULT_GAP, LambdaChoice, find_facts, network_problem
from relu_cert.cli.emit import decide, write_file
from relu_cert.cli.options import chosen_example, input_path, positive, read_data
from relu_cert.data import read_csv
from relu_cert.data.model import Dataset
from relu_cert.errors import DataError, UsageError
from relu_cert.network.explore import OptimalNetworks, optimal_networks
from relu_cert.prove.facts import Facts
from relu_cert.report.explore import Exploration, Labels, Row
from relu_cert.report.progress import Progress

ACTIVE = 1e-9  # of the largest weight: what counts as a neuron in the table


def run(options: argparse.Namespace) -> int:
    """Solve, prove the optimal set, search it, print."""
    example = chosen_example(options)
    decide(
        options,
        {
            "the data": input_path(options, example),
            "the validation data": options.validation,
            "the test data": options.test,
        },
        {"--html": options.html},
    )
    data = read_data(options, example)
    validation, test = (_other(options, data, path) for path in (options.validation, options.test))
    with Progress(quiet=options.quiet) as stages:
        problem = network_problem(data, options.model, stages, options.max_patterns)
        facts = find_facts(problem, _choice(options), DEFAULT_GAP, stages)
        with stages.stage("explore"):
            networks = optimal_networks(facts)
            rows = explored(options, facts, networks, data, validation, test)
        found = Exploration(facts, networks, rows, data, validation, test, options.extreme, options.seed)
        if options.html:
            from relu_cert.report.html.explore import explore_page

            write_file(Path(options.html), explore_page(found), "--html")
    print(json.dumps(found.to_json(), indent=2) if options.json else found.to_text())
    return 0


def explored(
    options: argparse.Namespace,
    facts: Facts,
    networks: OptimalNetworks,
    data: Dataset,
    validation: Dataset,
    test: Dataset,
) -> tuple[Row, ...]:
    """Min L2, EP, V-MSE and T-MSE."""
    labels = _labels(data, validation, test)
    (Zv, yv), (Zt, yt) = ((part.Z, np.array([float(x) for x in part.y])) for part in (validation, test))
    found = {
        "Min L2": networks.min_norm(),
        "EP": networks.extreme(options.extreme, options.seed),
        "V-MSE": networks.least_error(Zv, yv),
        "T-MSE": networks.least_error(Zt, yt),
    }
    slacks = {"V-MSE": (Zv, yv), "T-MSE": (Zt, yt)}
    rows = []
    for name, alpha in found.items():
        on_test = networks.outputs(Zt) @ alpha
        rows.append(
            Row(
                name,
                int((alpha > ACTIVE * alpha.max(initial=0.0)).sum()),
                float(facts.lam) ** 2 * float(alpha @ alpha),
                float(np.mean((networks.outputs(Zv) @ alpha - yv) ** 2)),
                float(np.mean((on_test - yt) ** 2)),
                None if labels is None else labels.accuracy(on_test, yt),
                networks.slack(*slacks[name], alpha) if name in slacks else None,
                tuple(float(a) for a in alpha),
            )
        )
    return tuple(rows)


def _other(options: argparse.Namespace, data: Dataset, path: str) -> Dataset:
    """Data of the same columns, read in the same way."""
    other = read_csv(
        Path(path),
        numbers=options.numbers or "decimal",
        target=options.target,
        bias=data.source.bias,
        delimiter=options.delimiter,
    )
    if other.d != data.d:
        raise DataError(
            f"{path} has {other.d} columns of features (with the bias, if any), the training data {data.d}."
        )
    return other


def _choice(options: argparse.Namespace) -> LambdaChoice:
    if options.lam is not None and options.lambda_ratio is not None:
        raise UsageError("give --lambda or --lambda-ratio, not both.")
    if options.lam is not None:
        return LambdaChoice(value=positive(options.lam, "lambda"))
    ratio = options.lambda_ratio
    return LambdaChoice(ratio=None if ratio is None else positive(ratio, "the ratio to lambda_max"))


def _labels(*sets: Dataset) -> Labels | None:
    """The two values of the targets, if there are exactly two."""
    values: set[Fraction] = {y for data in sets for y in data.y}
    return Labels(float(min(values)), float(max(values))) if len(values) == 2 else None
