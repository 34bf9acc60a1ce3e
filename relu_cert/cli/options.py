"""Options that several commands share, and the data they lead to."""

from __future__ import annotations

import argparse
from pathlib import Path

from relu_cert import examples
from relu_cert.cover.limits import Limits
from relu_cert.data import read_csv
from relu_cert.data.dataset import Dataset
from relu_cert.data.raw import STANDARD_INPUT, read_bytes
from relu_cert.driver.variant import NetworkModel
from relu_cert.errors import UsageError
from relu_cert.lasso import Lasso, lasso
from relu_cert.request import as_option, limits, slope_of


def chosen_example(options: argparse.Namespace) -> examples.Example | None:
    """The example that was asked for, if any; exactly one of FILE and --example must be given."""
    if (options.file is None) == (options.example is None):
        raise UsageError("give either a FILE or --example NAME.")
    if options.example is None:
        return None
    if options.example not in examples.names():
        raise UsageError(f"there is no example {options.example!r}; there are {', '.join(examples.names())}.")
    return examples.describe(options.example)


def input_path(options: argparse.Namespace, example: examples.Example | None) -> Path:
    """The file to read."""
    return examples.path(example.name) if example else Path(options.file)


def is_problem(path: Path) -> bool:
    """Whether the file is a problem in JSON, by its ending; standard input by its first character."""
    if str(path) == STANDARD_INPUT:
        return read_bytes(path).lstrip()[:1] == b"{"
    return path.name.removesuffix(".gz").endswith(".json")


def model_of(options: argparse.Namespace, example: examples.Example | None) -> NetworkModel:
    """The model that was asked for, or that of the example."""
    return "gated" if (options.model or (example and example.model)) == "gated" else "relu"


def read_data(options: argparse.Namespace, example: examples.Example | None, *, outputs: bool = False) -> Dataset:
    """The data set that the options name; several `outputs` are refused unless the command knows them."""
    if options.max_patterns < 1:
        raise UsageError(f"--max-patterns must be at least 1, not {options.max_patterns}.")
    bias = options.bias if options.bias is not None else (example.bias if example else False)
    classes = getattr(options, "classes", None)
    if classes is None and options.target is None and example is not None:
        classes = example.classes or None
    squares = getattr(options, "loss", "squares") == "squares"
    data = read_csv(
        input_path(options, example),
        numbers=options.numbers or "decimal",
        target=options.target,
        classes=classes,
        center=getattr(options, "center", False) or bool(classes and squares and example and example.center),
        bias=bias,
        delimiter=options.delimiter,
        conv=getattr(options, "conv", None) or (example.conv if example else None),
        bags=getattr(options, "bags", None),
        pool=getattr(options, "pool", None),
        slope=slope_of(getattr(options, "slope", None), "--slope"),
    )
    if not outputs:
        data.require_one_output("this command")
    return data


def lasso_of(options: argparse.Namespace, data: Dataset) -> Lasso:
    """The group lasso of the columns of a data set."""
    data.require_single_rows("--groups")
    data.require_one_output("--groups")
    groups = options.groups or "1"
    return lasso(
        data.Z,
        int(groups) if groups.isdecimal() else groups,
        data.y,
        weights=options.weights,
        intercept=options.intercept,
        average=options.average,
    )


def limits_of(options: argparse.Namespace) -> Limits:
    """How long a proof without a list of patterns may take, and where it is done."""
    return limits(options.seconds, options.jobs, options.dask, as_option, getattr(options, "state", None))
