"""Sentences of the reports: words, and the verdicts of the certificate without which they are not said.

Numbers in them (bounds, widths, dimensions) are facts of the same certificate, which the checker derives again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from relu_cert.claims.claim import Result, Verdict

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
