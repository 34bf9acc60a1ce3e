"""The vocabulary of verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What is said about a claim. There is no fourth word and no shade."""

    PROVED = "PROVED"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True)
class Result:
    """A claim with its verdict: `evidence` names the kind of proof, `detail` says it in one sentence.

    For UNDECIDED, `evidence` is empty and `detail` says what is missing.
    """

    claim: str
    verdict: Verdict
    evidence: str
    detail: str
