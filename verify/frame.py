"""The frame of every file that is checked: its format, its version, its keys, and the end."""

from __future__ import annotations

from verify.errors import Declined
from verify.text import Fields, Node, describe

REFUTATION = "relu_cert refutation"


def frame(top: Node, name: str, version: int, *keys: str) -> Fields:
    """The fields of a file of this format, whose last key is `end`; one of another version is declined."""
    if isinstance(top.value, dict) and top.value.get("format") == name:
        found = top.value.get("version")
        if type(found) is int and found != version:
            raise Declined("certificate.version", f"version {version}", describe(found))
    fields = top.record("format", "version", *keys, "end")
    fields["format"].text(name)
    fields["version"].index(version + 1)
    fields["end"].text(name)
    top.require(next(reversed(fields)) == "end", "the key end at the end", f"the key {next(reversed(fields))}")
    return fields
