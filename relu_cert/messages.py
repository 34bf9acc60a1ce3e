"""How text from a file is shown in a message: escaped, so that no control character reaches a terminal, and cut."""

from __future__ import annotations

CUT = 40


def shown(text: str) -> str:
    """The text in quotes, with every unprintable character escaped, cut at 40 characters."""
    return repr(text) if len(text) <= CUT else f"{text[:CUT]!r}..."


def file_name(name: str) -> str:
    """A file's name as it is, or escaped where it would not print on one line."""
    return name if name and name.isprintable() else repr(name)
