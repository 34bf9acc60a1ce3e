"""How results show themselves in Python: a short repr, the report as str, the object of --json, HTML for notebooks."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from relu_cert.certificate import certificate, dumps
from relu_cert.checker import recheck_command
from relu_cert.claims.claim import Result
from relu_cert.data.dataset import Dataset, Source
from relu_cert.exact import rational
from relu_cert.prove.facts import Facts

if TYPE_CHECKING:  # `explain` needs the words alone, at once
    from relu_cert.claims.claim import Result


from relu_cert.claims.claim import Result, Verdict


def plain(value: Any) -> Any:
    """A value as JSON has it: exact numbers as texts p/q, a dataclass as an object of its fields, tuples as lists."""
    if isinstance(value, Fraction):
        return rational(value)
    if isinstance(value, str | Path):
        return str(value)
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return value


def picked(value: Any, names: str) -> dict[str, Any]:
    """Some attributes of a value, by their names."""
    return {name: getattr(value, name) for name in names.split()}


def known(value: Any, names: str) -> dict[str, Any]:
    """The same without those that are None."""
    return {name: one for name, one in picked(value, names).items() if one is not None}


class Shown:
    """A result with a headline, a text and a JSON object. Its dataclass has repr=False: the repr is the headline."""

    @property
    def headline(self) -> str:
        """What was found, in a sentence."""
        raise NotImplementedError

    def to_text(self) -> str:
        """The report as the command prints it."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """The object that the command prints with --json."""
        raise NotImplementedError

    def html(self) -> str:
        """The report as one self-contained HTML page, the same as the command's --html."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The object that the command prints with --json."""
        return self.to_json()

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline}>"

    def _repr_html_(self) -> str:
        from relu_cert.report.html.notebook import notebook

        return notebook(self.headline, self.to_text(), self.html())


@dataclass(frozen=True, repr=False)
class Report(Shown):
    """What a command with a certificate found: the file that was read and what it holds if it is a CSV, the verdicts,
    and where the certificate goes."""

    source: Source
    data: Dataset | None
    results: tuple[Result, ...]
    certificate_path: Path

    if TYPE_CHECKING:

        @property
        def facts(self) -> Facts:
            """What was proved."""

    @property
    def name(self) -> str:
        """The name of the file."""
        return Path(self.source.path).name

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features, as far as they have any."""
        return self.data.names if self.data else ()

    @cached_property
    def certificate_text(self) -> str:
        """The certificate file."""
        return dumps(certificate(self.source, self.facts, self.results))

    @property
    def recheck(self) -> str:
        """The command that checks the certificate again, with the data."""
        return recheck_command(self.certificate_path, self.source.path)

    @property
    def certificate_lines(self) -> tuple[str, str]:
        """Where the certificate is, and how to check it again."""
        return f"certificate  {self.certificate_path}", f"re-check it  {self.recheck}"


COLOURS = {"PROVED": "green", "REFUTED": "red", "UNDECIDED": "yellow"}
NAMES = 13  # the room for the name of a line
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


def report(headline: str, lines: Iterable[str], results: Sequence[Result], *after: str) -> str:
    """What every report has: a sentence, what it is about, the verdicts, and what comes after these. The lines are
    broken, and go on below the words after their name."""
    head = [wrapped(headline), "", *(wrapped(line, NAMES) for line in lines), ""]
    return rendered([*head, claims_table(results), "", *after])


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


def shortened(lines: Sequence[str], most: int) -> list[str]:
    """The first lines, and how many more there are."""
    more = [f"  ... and {len(lines) - most} more (all with --json)"] if len(lines) > most else []
    return [*lines[:most], *more]


def wrapped(text: str, indent: int = 0) -> str:
    """The text broken at the terminal's width; later lines are indented."""
    lines = wrap(text, columns(), subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False)
    return "\n".join(lines)


def _terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


Needs = tuple[tuple[str, Verdict], ...]


@dataclass(frozen=True)
class Sentence:
    """Words, and what must have been decided, and how, for them to be true; `holds`: what its numbers need beside."""

    words: str
    needs: Needs = ()
    holds: bool = True

    def true(self, results: Iterable[Result]) -> bool:
        """Whether these verdicts, and its numbers, allow it."""
        said = {result.claim: result.verdict for result in results}
        return self.holds and all(said.get(claim) is verdict for claim, verdict in self.needs)


def proved(*claims: str) -> Needs:
    """All of them PROVED."""
    return tuple((claim, Verdict.PROVED) for claim in claims)


def refuted(*claims: str) -> Needs:
    """All of them REFUTED."""
    return tuple((claim, Verdict.REFUTED) for claim in claims)


def first_true(results: Sequence[Result], sentences: Iterable[Sentence]) -> str:
    """The words of the first sentence that may be said; none where there is no such."""
    return next((one.words for one in sentences if one.true(results)), "")
