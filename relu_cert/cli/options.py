"""Options that several commands share, and the data they lead to."""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path

from relu_cert import examples
from relu_cert.check import DEFAULT_MAX_PATTERNS
from relu_cert.data import read_csv
from relu_cert.data.model import Dataset
from relu_cert.data.numbers import NumberError, parse_number
from relu_cert.errors import UsageError


def add_data_options(command: argparse.ArgumentParser) -> None:
    """What to read, and how."""
    data = command.add_argument_group("data")
    data.add_argument("file", nargs="?", help="a CSV file, plain or .gz (check also takes a problem as .json)")
    data.add_argument("--example", metavar="NAME", help=f"a bundled example: {', '.join(examples.names())}")
    data.add_argument("--target", metavar="NAME|INDEX", help="the column to predict (default: the last one)")
    data.add_argument("--bias", action="store_true", default=None, help="append a column of ones")
    data.add_argument(
        "--numbers",
        choices=("decimal", "binary64"),
        help="read 0.1 as 1/10 (decimal, the default) or as the nearest double",
    )
    data.add_argument("--delimiter", metavar="CHAR", help="the field separator (default: a comma; 'tab' is understood)")
    data.add_argument(
        "--max-patterns",
        type=int,
        metavar="N",
        default=DEFAULT_MAX_PATTERNS,
        help=f"refuse data with more activation patterns (default: {DEFAULT_MAX_PATTERNS})",
    )


def add_output_options(command: argparse.ArgumentParser) -> None:
    """How to tell."""
    output = command.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    output.add_argument("--quiet", action="store_true", help="no progress on stderr")
    output.add_argument("--force", action="store_true", help="replace files that relu_cert did not write")


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


def read_data(options: argparse.Namespace, example: examples.Example | None) -> Dataset:
    """The data set that the options name."""
    if options.max_patterns < 1:
        raise UsageError(f"--max-patterns must be at least 1, not {options.max_patterns}.")
    bias = options.bias if options.bias is not None else (example.bias if example else False)
    return read_csv(
        input_path(options, example),
        numbers=options.numbers or "decimal",
        target=options.target,
        bias=bias,
        delimiter=options.delimiter,
    )


def positive(text: str, what: str) -> Fraction:
    """A positive rational from the command line: 1/10, 0.1 or 1e-1."""
    try:
        number = parse_number(text.strip(), "decimal")
    except NumberError as error:
        raise UsageError(f"{what} must be a number such as 1/10 or 0.1; {text!r} is {error}.") from None
    if number <= 0:
        raise UsageError(f"{what} must be positive, not {text.strip()}.")
    return number
