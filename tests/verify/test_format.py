"""The page of the format is complete: every key of a certificate has its place there, and every library is named."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import verify
from tests.verify.score import CORPUS

FOLDER = Path(verify.__file__).parent
PAGE = (FOLDER / "FORMAT.md").read_text()
SIGNS = {"+", "-"}
FRAME = {"claims", "claim", "verdict", "facts"}  # what is claimed, and on what ground
# What reads no bytes and computes nothing that a verdict rests on.
PLUMBING = {
    *(
        "__future__",
        "argparse",
        "ast",
        "binascii",
        "collections",
        "contextlib",
        "dataclasses",
        "faulthandler",
        "functools",
    ),
    *("graphlib", "io", "itertools", "operator", "os", "pathlib", "pkgutil", "resource", "select", "shutil", "signal"),
    *("string", "subprocess", "sys", "textwrap", "time", "traceback", "typing", "verify", "warnings"),
}


def section(start: str, end: str) -> str:
    """A part of the page."""
    return PAGE[PAGE.index(start) : PAGE.index(end, PAGE.index(start))]


CHOICES = section("**What a certificate may choose**", "## What must be trusted")


def named(text: str) -> set[str]:
    """What stands in backticks."""
    return set(re.findall(r"`([^`]+)`", text))


def keys(value: Any) -> Iterator[str]:
    """All keys of a JSON value."""
    if isinstance(value, dict):
        yield from value
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from keys(entry)


def test_every_key_is_a_choice_of_a_known_kind() -> None:
    """`What a certificate may choose` names every key that an accepted certificate of the corpus has."""
    trees = [json.loads(path.read_bytes()) for path in sorted((CORPUS / "accepted").glob("*.json"))]
    used = {key for tree in trees if tree["format"] == "relu_cert certificate" for key in keys(tree)}
    assert len(used) > 150
    assert (
        used - SIGNS - FRAME - named(section("**What a certificate may choose**", "## What must be trusted")) == set()
    )


def test_the_list_of_choices_names_no_other_key() -> None:
    """Each of its names is a word of the checker's sources: what is gone from the format is gone from the list."""
    sources = "".join(path.read_text() for path in FOLDER.rglob("*.py"))
    words = set(re.findall(r'"([^"\s]+)"', sources)) | {"--expect", "--data", "--network", "format", "problem"}
    assert named(CHOICES) - words - {path.stem for path in (FOLDER / "rules").glob("*.py")} == set()


def test_every_library_that_must_be_trusted_is_named() -> None:
    """What the checker imports, but for plumbing, stands under `What must be trusted`, and nothing else does."""
    imported = set()
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    listed = named(section("## What must be trusted", "## Exit codes"))
    assert imported - PLUMBING - listed == set()
    assert {name for name in listed if name in sys.stdlib_module_names} <= imported
