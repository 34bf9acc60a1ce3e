"""python -m relu_cert explore: optimal networks that differ off the training data, as in the paper's tuning tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from relu_cert.cli.emit import chosen_example, decide, input_path, limits_of, parts_of, print_report, read_data
from relu_cert.commands import compare_optima
from relu_cert.data import read_csv
from relu_cert.data.dataset import Dataset
from relu_cert.errors import DataError
from relu_cert.report.progress import Progress
from relu_cert.request import as_option, lambda_choice


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
        found = compare_optima(
            data,
            validation,
            test,
            lambda_choice(options.lam, options.lambda_ratio, as_option),
            stages,
            model=options.model,
            extreme=options.extreme,
            seed=options.seed,
            max_patterns=options.max_patterns,
            limits=limits_of(options),
        )
    print_report(options, found)
    return 0


def _other(options: argparse.Namespace, data: Dataset, path: str) -> Dataset:
    """Data of the same columns, read in the same way."""
    other = read_csv(
        Path(path),
        numbers=options.numbers or "decimal",
        target=options.target,
        delimiter=options.delimiter,
        **parts_of(options, chosen_example(options)),
    )
    if other.d != data.d:
        raise DataError(
            f"{path} has {other.d} columns of features (with the bias, if any), the training data {data.d}."
        )
    return other
