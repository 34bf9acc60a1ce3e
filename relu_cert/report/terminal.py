"""What a report is on the terminal, and what it knows of it: how wide it is, and whether it wants colour."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Sequence
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:  # `explain` needs the words alone, at once
    from relu_cert.claims.claim import Result

COLOURS = {"PROVED": "green", "REFUTED": "red", "UNDECIDED": "yellow"}
NAMES = 13  # the room for the name of a line
PLAIN = 80  # columns where there is no terminal
NARROWEST = 40


def columns() -> int:
    """As wide as the terminal; 80 where the text goes elsewhere."""
    return max(get_terminal_size((PLAIN, 24)).columns, NARROWEST) if _terminal() else PLAIN


def wants_colours() -> bool:
    """Whether colours and bold are wanted: on a terminal that does not say NO_COLOR, and is not dumb."""
    return _terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def render(parts: Iterable[RenderableType]) -> str:
    """The parts one below the other, as the terminal wants them; a plain text is not broken."""
    stream = io.StringIO()
    colour = wants_colours()
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


def report(headline: str, lines: Iterable[str], results: Sequence[Result], *after: str) -> str:
    """What every report has: a sentence, what it is about, the verdicts, and what comes after these. The lines are
    broken, and go on below the words after their name."""
    head = [fold(headline), "", *(fold(line, NAMES) for line in lines), ""]
    return render([*head, claims_table(results), "", *after])


def claims_table(results: Sequence[Result]) -> Table:
    """One line a claim: verdict, name, detail."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for r, why in zip(results, told_once(results), strict=True):
        table.add_row(Text(str(r.verdict), style=f"bold {COLOURS[r.verdict]}"), r.claim, Text(why))
    return table


def told_once(results: Sequence[Result]) -> list[str]:
    """Why each is so; what is undecided for the reason of the claim above it says that."""
    found, before = [], ""
    for result in results:
        undecided = result.detail if result.verdict == "UNDECIDED" else ""
        found.append("for the same reason." if undecided and undecided == before else result.detail)
        before = undecided
    return found


def shorten(lines: Sequence[str], most: int) -> list[str]:
    """The first lines, and how many more there are."""
    more = [f"  ... and {len(lines) - most} more (all with --json)"] if len(lines) > most else []
    return [*lines[:most], *more]


def fold(text: str, indent: int = 0) -> str:
    """The text broken at the terminal's width; later lines are indented."""
    lines = wrap(text, columns(), subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False)
    return "\n".join(lines)


def _terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()
