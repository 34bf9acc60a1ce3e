"""Refutations: which printed statement each label stands for, and which checker reads the instance against it.

`statements.tsv` has a line for each: the label, the checker, the statement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name

from verify.frame import REFUTATION, frame
from verify.text import Limits, Node, within_limits

VERSION = 1
TINY = Limits(size=2**17, digits=200, values=4000)


@dataclass(frozen=True)
class Refutable:
    """A printed statement that fails, and the checker of an instance against it: in words what contradicts it."""

    statement: str
    check: Callable[[Node], str]


LISTED = (line.split("\t") for line in Path(__file__).with_suffix(".tsv").read_text().splitlines())
REFUTABLE = {name: Refutable(text, resolve_name(f"verify.refutations.{by}")) for name, by, text in LISTED}


def check_refutation(raw: bytes, top: Node) -> tuple[str, str]:
    """The label and, in words, what contradicts its printed statement; rejected if nothing does."""
    within_limits(raw, TINY, "refutation")
    fields = frame(top, REFUTATION, VERSION, "claim", "statement", "witness")
    label = fields["claim"].text(*REFUTABLE)
    fields["statement"].text(REFUTABLE[label].statement)
    return label, REFUTABLE[label].check(fields["witness"])
