"""What a claim is: a statement that can be checked on an exact instance, and the verdict that a machine reaches.

A `Property` is a strategy for instances and an exact check. The check answers with an `Outcome`: the statement
holds on the instance, fails on it, or says nothing about it (its hypotheses are not met). A `Claim` is the paper's
statement as printed, with exact witnesses against it where it fails and the repaired statement beside it.
No verdict is stored anywhere: `properties.run` computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hypothesis.strategies import SearchStrategy


class Answer(Enum):
    """What a statement does on one instance."""

    HOLDS = "holds"
    FAILS = "fails"
    VACUOUS = "vacuous"


@dataclass(frozen=True)
class Outcome:
    """The answer on one instance and the exact reason; `notes` are counted by a campaign."""

    answer: Answer
    why: str = ""
    notes: tuple[str, ...] = ()


HOLDS = Outcome(Answer.HOLDS)


def fails(why: str) -> Outcome:
    """The statement is false on this instance, because of `why`."""
    return Outcome(Answer.FAILS, why)


def vacuous(why: str) -> Outcome:
    """The statement's hypotheses are not met on this instance."""
    return Outcome(Answer.VACUOUS, why)


def yes(holds: bool) -> str:
    """For sentences."""
    return "yes" if holds else "no"


def expect(condition: bool, why: str) -> Outcome:
    """HOLDS if the condition is true, else FAILS with the reason."""
    return HOLDS if condition else fails(why)


def first_failure(*outcomes: Outcome) -> Outcome:
    """The first outcome that fails, else the first vacuous one, else HOLDS: a conjunction."""
    for answer in (Answer.FAILS, Answer.VACUOUS):
        for outcome in outcomes:
            if outcome.answer is answer:
                return outcome
    return HOLDS


Check = Callable[[Any], Outcome]


@dataclass(frozen=True)
class Property:
    """A statement in one sentence, the instances it speaks about, and its exact check."""

    statement: str
    instances: SearchStrategy[Any]
    check: Check


@dataclass(frozen=True)
class Witness:
    """An exact instance on which a statement fails."""

    name: str
    instance: Any


@dataclass(frozen=True)
class Slip:
    """A step of a printed proof, or a repair that suggests itself, that fails on a witness."""

    statement: str
    check: Check
    witness: Witness


@dataclass(frozen=True)
class Claim:
    """A claim of the paper under its LaTeX label (or a name in words, where the paper gives no label).

    `witnesses` are exact instances against the printed statement: each is re-verified in every run.
    `repaired` is the statement that survives; for a claim that holds, a stronger one that holds too.
    """

    label: str
    title: str
    printed: Property
    witnesses: tuple[Witness, ...] = ()
    repaired: Property | None = None
    slips: tuple[Slip, ...] = ()
