"""What every command does with its results: decide where they go, re-check the certificate, write files whole."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from relu_cert.certificate import write_text
from relu_cert.checker import accepted
from relu_cert.data.raw import STANDARD_INPUT, digest, read_bytes
from relu_cert.driver.optimum import Stages
from relu_cert.errors import DataError, UsageError
from relu_cert.files import Place, decide_places, refusal
from relu_cert.network.formats import ENDINGS
from relu_cert.report.shown import Report, Shown


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


def told(options: argparse.Namespace, report: Shown, **files: object) -> None:
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
            accepted(report.certificate_text, again(source.path, source.sha256) if raw is None else raw, network)
    write_file(report.certificate_path, report.certificate_text, "--certificate")


def again(name: str, sha256: str) -> bytes | None:
    """A file once more, for the checker's own reader; None where it cannot be read twice (a pipe)."""
    path = Path(name)
    if name != STANDARD_INPUT and not path.is_file():
        return None
    raw = read_bytes(path)
    if digest(raw) != sha256:
        raise DataError(f"{path}: the file was changed while it was at work here; run the command again.")
    return raw
