"""What a report knows of the terminal: how wide it is, and whether it wants colour."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from shutil import get_terminal_size
from textwrap import wrap

from rich.console import Console, RenderableType

PLAIN = 80  # columns where there is no terminal
NARROWEST = 40


def columns() -> int:
    """As wide as the terminal; 80 where the text goes elsewhere."""
    return max(get_terminal_size((PLAIN, 24)).columns, NARROWEST) if _terminal() else PLAIN


def coloured() -> bool:
    """Whether colours and bold are wanted: on a terminal that does not say NO_COLOR, and is not dumb."""
    return _terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def rendered(parts: Iterable[RenderableType]) -> str:
    """The parts one below the other, as the terminal wants them; a plain text is not broken."""
    stream = io.StringIO()
    colour = coloured()
    console = Console(
        file=stream,
        width=columns(),
        force_terminal=colour,
        color_system="auto" if colour else None,
        no_color=not colour,
        highlight=False,
        legacy_windows=False,
    )
    for part in parts:
        console.print(part, markup=False, soft_wrap=isinstance(part, str))
    return "".join(line.rstrip() + "\n" for line in stream.getvalue().splitlines())


def wrapped(text: str, indent: int = 0) -> str:
    """The text broken at the terminal's width; later lines are indented."""
    lines = wrap(text, columns(), subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False)
    return "\n".join(lines)


def _terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()
