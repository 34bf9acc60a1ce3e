"""What every command does with its results: decide where they go, re-check the certificate, write files whole.

Options that several commands share, and the data they lead to.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from relu_cert import examples
from relu_cert.certificate import write_text
from relu_cert.checker import accepted
from relu_cert.cover.limits import Limits
from relu_cert.data import read_csv
from relu_cert.data.dataset import Architecture, Dataset
from relu_cert.data.raw import STANDARD_INPUT, digest, read_bytes
from relu_cert.driver.optimum import Stages
from relu_cert.driver.variant import NetworkModel
from relu_cert.errors import DataError, UsageError
from relu_cert.files import Place, decide_places, refusal
from relu_cert.lasso import Lasso, lasso
from relu_cert.network.formats import ENDINGS
from relu_cert.report.shown import Report, Shown
from relu_cert.request import as_option, limits


def decide(options: argparse.Namespace, inputs: Mapping[str, object], outputs: Mapping[str, object]) -> None:
    """Before any work: every output can be written, and takes nothing from the user. Names that are None are left out.

    `inputs` say what each file is ("the data"), `outputs` which option names it.
    """
    for what, name in outputs.items():
        if name == "":
            raise UsageError(f"{what} needs the name of a file.")
    read, written = (
        [Place(what, Path(str(name))) for what, name in files.items() if name is not None]
        for files in (inputs, outputs)
    )
    decide_places(read, written, force=options.force)


def require_ending(option: str, name: str | None) -> None:
    """UsageError if a network is to be written into a file whose ending no format has."""
    if name and Path(name).suffix.lower() not in ENDINGS:
        raise UsageError(f"{option} {name}: unknown kind of network file; the endings are {', '.join(ENDINGS)}.")


def write_file(path: Path, text: str, option: str) -> None:
    """Write the file; the option is the one to choose another place with."""
    try:
        write_text(path, text)
    except OSError as error:
        raise refusal(path, option, error) from None


def print_report(options: argparse.Namespace, report: Shown, **files: object) -> None:
    """The page, if it is wanted; then the report, as an object or as a text with a line for each file that was
    written."""
    page = getattr(options, "html", None)
    if page:
        write_file(Path(page), report.html(), "--html")
    if options.json:
        print(json.dumps(report.to_json(), indent=2))
        return
    print(report.to_text().rstrip("\n"))
    name_files(**files, page=page)


def name_files(**files: object) -> None:
    """A line for each file that was written; what was not asked for is None."""
    for what, path in files.items():
        if path is not None:
            print(f"{what:<12} {path}")


def write_certificate(
    options: argparse.Namespace, stages: Stages, report: Report, raw: bytes | None = None, network: bytes | None = None
) -> None:
    """Write the certificate, if the independent checker accepts it together with the raw data and the network."""
    if not options.no_verify:
        with stages.stage("verify"):
            source = report.source
            accepted(report.certificate_text, reread_input(source.path, source.sha256) if raw is None else raw, network)
    write_file(report.certificate_path, report.certificate_text, "--certificate")


def reread_input(name: str, sha256: str) -> bytes | None:
    """A file once more, for the checker's own reader; None where it cannot be read twice (a pipe)."""
    path = Path(name)
    if name != STANDARD_INPUT and not path.is_file():
        return None
    raw = read_bytes(path)
    if digest(raw) != sha256:
        raise DataError(f"{path}: the file was changed while relu_cert was running; run the command again.")
    return raw


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
        delimiter=options.delimiter,
        **parts_of(options, example),
    )
    if not outputs:
        data.require_one_output("this command")
    return data


def parts_of(options: argparse.Namespace, example: examples.Example | None) -> Any:
    """The parts of the architecture that the options name, or the example."""
    named = ((part.name, getattr(options, part.name, None)) for part in fields(Architecture))
    asked = {name: value for name, value in named if value is not None}
    return asked if example is None else {"bias": example.bias, "conv": example.conv} | asked


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
