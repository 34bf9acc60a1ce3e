"""What every command does with its results: decide where they go, re-check the certificate, write files whole."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from relu_cert.certificate import write_text
from relu_cert.checker import accepted
from relu_cert.data.dataset import Source
from relu_cert.data.raw import STANDARD_INPUT, digest, read_bytes
from relu_cert.errors import DataError, UsageError
from relu_cert.files import Place, decide_places, refusal
from relu_cert.network.formats import ENDINGS


class Told(Protocol):
    """What every command finds."""

    def to_json(self) -> dict[str, Any]:
        """The object of --json."""

    def to_text(self) -> str:
        """The report for a terminal."""


def stem(path: Path) -> str:
    """The file's name without its endings, for files that are named after it."""
    name = "stdin" if str(path) == STANDARD_INPUT else path.name.removesuffix(".gz")
    return name.rsplit(".", 1)[0] or "relu_cert"


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


def told(options: argparse.Namespace, report: Told, check: str = "", **files: object) -> None:
    """The report, as an object or as a text, with how to check it again and a line for each file that was written."""
    if options.json:
        print(json.dumps(report.to_json(), indent=2))
        return
    print(report.to_text().rstrip("\n") + (f"\nre-check it  {check}" if check else ""))
    name_files(**files)


def name_files(**files: object) -> None:
    """A line for each file that was written; what was not asked for is None."""
    for what, path in files.items():
        if path is not None:
            print(f"{what:<12} {path}")


def recheck(text: str, source: Source, raw: bytes | None = None, network: bytes | None = None) -> None:
    """Nothing is reported that the independent checker does not accept, together with the raw data and the network."""
    accepted(text, again(source.path, source.sha256) if raw is None else raw, network)


def again(name: str, sha256: str) -> bytes | None:
    """A file once more, for the checker's own reader; None where it cannot be read twice (a pipe)."""
    path = Path(name)
    if name != STANDARD_INPUT and not path.is_file():
        return None
    raw = read_bytes(path)
    if digest(raw) != sha256:
        raise DataError(f"{path}: the file was changed while it was at work here; run the command again.")
    return raw
