"""How results show themselves in Python: a short repr, the report as str, the object of --json, HTML for notebooks.

Sentences of the reports: words, and the verdicts of the certificate without which they are not said.

Numbers in them (bounds, widths, dimensions) are facts of the same certificate, which the checker derives again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relu_cert.certificate import certificate, dumps
from relu_cert.checker import recheck_command
from relu_cert.claims.claim import Result, Verdict
from relu_cert.data.dataset import Dataset, Source
from relu_cert.exact import rational
from relu_cert.figures import at_most
from relu_cert.prove.facts import Facts, Value


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
        from relu_cert.report.html.page import notebook

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


def proved_to(value: Value) -> str:
    """How well p* is known: where it may be 0 no relative gap says that."""
    if value.lower == value.upper:
        return "exactly"
    return f"proved to a relative {at_most(value.relative_gap)}" if value.lower > 0 else "proved"


def proved(*claims: str) -> Needs:
    """All of them PROVED."""
    return tuple((claim, Verdict.PROVED) for claim in claims)


def refuted(*claims: str) -> Needs:
    """All of them REFUTED."""
    return tuple((claim, Verdict.REFUTED) for claim in claims)


def first_true(results: Sequence[Result], sentences: Iterable[Sentence]) -> str:
    """The words of the first sentence that may be said; none where there is no such."""
    return next((one.words for one in sentences if one.true(results)), "")
