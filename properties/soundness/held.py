"""What an answer was held against, claim by claim: notes that a campaign counts and its summary puts in a table.

A wrong PROVED can only be seen where the claim is known to fail, a wrong REFUTED only where it is known to hold. So
both are counted apart, and apart from what is weaker: numbers of the claim, another answer, an opinion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

HOLDS = "holds"  # the claim is known to be true
FAILS = "fails"  # the claim is known to be false
NUMBERS = "numbers"  # what the claim says is known is known exactly, and compared
RELATED = "related"  # the answer to another problem, of which the theory says how the two are related
OPINION = "opinion"  # floats, or bounds by other means
SYMPY = "sympy"  # the paper's definitions in sympy, which decided it
AGAINST = (HOLDS, FAILS, NUMBERS, RELATED, OPINION, SYMPY)
PROBLEMS = ("relu", "gated", "direct", "relu-some", "gated-some", "elastic", "logistic", "bags", "free", "outputs")

Held = dict[str, str]


@dataclass(frozen=True)
class Noted:
    """One answer to a claim: its verdict, what it was held against, and on which kind of problem."""

    claim: str
    verdict: str
    against: str
    problem: str

    def __str__(self) -> str:
        return f"{self.claim} {self.verdict} {self.against} {self.problem}"


def read(note: str) -> Noted | None:
    """The note, if it says what the verdict was held against (a plain one is a claim and a verdict).

    >>> read("p-unique PROVED holds relu").against
    'holds'
    """
    parts = note.split(" ")
    return Noted(*parts) if len(parts) == 4 else None


def truths(known: Mapping[str, bool]) -> Held:
    """Claims that are known to hold, and known to fail."""
    return {claim: HOLDS if holds else FAILS for claim, holds in known.items()}


def numbers(claims: Iterable[str]) -> Held:
    """Claims whose numbers are known."""
    return dict.fromkeys(claims, NUMBERS)


def wrong(said: Mapping[str, str], known: Mapping[str, bool]) -> str:
    """The first verdict that is not the truth; "" if there is none."""
    for claim, holds in known.items():
        if said.get(claim) == ("REFUTED" if holds else "PROVED"):
            return f"{claim} is {said[claim]}, but it {'holds' if holds else 'does not hold'}"
    return ""


def notes(said: Mapping[str, str], held: Held, problem: str) -> tuple[str, ...]:
    """What a campaign counts: every verdict, and those that were held against something."""
    plain = [f"{claim} {verdict}" for claim, verdict in said.items()]
    noted = [str(Noted(claim, said[claim], against, problem)) for claim, against in held.items() if claim in said]
    return (*plain, *noted)
