"""The commands that a page names, so that a reader can do again what it says."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from xml.etree.ElementTree import Element

from relu_cert.data.model import Dataset
from relu_cert.report.html.markup import e
from relu_cert.report.html.page import files


def data_arguments(data: Dataset) -> str:
    """The file and the options with which it was read, for the shell."""
    source = data.source
    options = [quote(source.path)]
    options += ["--bias"] * source.bias
    options += ["--numbers binary64"] * (source.numbers == "binary64")
    options += [f"--delimiter {quote(source.delimiter)}"] * (source.delimiter != ",")
    options += [f"--target {source.target}"] * (source.target not in (-1, data.d - source.bias))
    return " ".join(options)


def certificate_name(source: str) -> str:
    """The name under which `check` writes the certificate of a file."""
    return Path(source).name.removesuffix(".gz").rsplit(".", 1)[0] + ".cert.json"


def verify_section(how: str, lines: list[str], data: Dataset | None) -> tuple[Element, ...]:
    """A sentence, the commands, and the hash of the data."""
    shown = [files([("data", data.source.path, data.source.sha256)])] if data is not None else []
    return e("p", how), e("pre", e("code", "\n".join(lines))), *shown
