"""The vocabulary of verdicts, and how a claim is declared.

A claim is a function from facts to an answer, with `claim` above it: its name, the statement that is proved or refuted,
and where it applies. Declared anywhere in this package, it is a claim of `check`, of the reports and of certificates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from relu_cert.problem.problem import Problem


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


Answer = tuple[Verdict, str, str]
"""A verdict, its evidence and its detail."""


def proved(evidence: str, detail: str) -> Answer:
    """The statement holds."""
    return Verdict.PROVED, evidence, detail


def refuted(evidence: str, detail: str) -> Answer:
    """The statement is false."""
    return Verdict.REFUTED, evidence, detail


def undecided(detail: str) -> Answer:
    """What is missing."""
    return Verdict.UNDECIDED, "", detail


@dataclass(frozen=True)
class Claim:
    """A claim, ready to be decided.

    `answer`    from what it is decided on (facts; for given networks a comparison and a gap) to the answer
    `applies`   whether there is something to say
    `refused`   why `check` cannot decide it for such a problem, whatever its solution is; empty where it can
    `variants`  where it holds beyond least squares of one output without an l2 penalty: "elastic", "logistic", "free",
                "outputs" (several of them, with free terms or not)
    `zero`      what is proved where lambda >= lambda_max, if that settles it
    """

    name: str
    statement: str
    answer: Callable[..., Answer | None]
    applies: Callable[[Any], bool]
    refused: Callable[[Problem], str]
    variants: tuple[str, ...]
    zero: str


CLAIMS: list[Claim] = []
VARIANTS = ("elastic", "logistic", "free")


def claim(
    name: str,
    statement: str,
    *,
    applies: Callable[[Any], bool] = lambda facts: True,
    refused: Callable[[Problem], str] = lambda problem: "",
    variants: tuple[str, ...] = (),
    zero: str = "",
    among: list[Claim] = CLAIMS,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the function below as the claim of that name, the last one so far."""

    def declared(answer: Callable[..., Any]) -> Callable[..., Any]:
        among.append(Claim(name, statement, answer, applies, refused, variants, zero))
        return answer

    return declared
