"""Run a claim on exact instances and compute its verdict.

Verdicts on a statement:

    holds      no drawn instance refutes it, and it says something about at least one
    vacuous    no drawn instance meets its hypotheses
    refuted    a witness refutes it (re-verified here), or the search found an instance that does
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed

from properties.codec import encode_text
from properties.model import Answer, Claim, Property

Verdict = Literal["holds", "vacuous", "refuted"]


class _Refuted(Exception):
    """Raised inside a search so that hypothesis shrinks the instance that refutes the statement."""


@dataclass(frozen=True)
class Search:
    """What a search over drawn instances saw: distinct instances met, how many were vacuous, the first failure,
    and how often each note was made."""

    digests: frozenset[str] = frozenset()
    vacuous: frozenset[str] = frozenset()
    drawn: int = 0
    failure: Any = None
    why: str = ""
    notes: Mapping[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Some instance refuted the statement."""
        return bool(self.why)

    @property
    def instances(self) -> int:
        """Distinct instances on which the statement held."""
        return len(self.digests) - len(self.vacuous)


@dataclass
class _Tally:
    digests: set[str] = field(default_factory=set)
    vacuous: set[str] = field(default_factory=set)
    drawn: int = 0
    failure: Any = None
    why: str = ""
    notes: Counter[str] = field(default_factory=Counter)


def digest(instance: Any) -> str:
    """A short fingerprint of an instance's exact text."""
    return blake2b(encode_text(instance).encode(), digest_size=8).hexdigest()


def search(prop: Property, examples: int, seed: int | None = None, shrink: bool = True) -> Search:
    """Draw up to `examples` instances; derandomised unless a seed is given. A failure is shrunk and kept."""
    tally = _Tally()

    def body(instance: Any) -> None:
        outcome = prop.check(instance)
        if outcome.answer is Answer.FAILS:
            tally.failure, tally.why = instance, outcome.why or "the statement is false here"
            raise _Refuted
        if tally.why:
            return
        tally.drawn += 1
        key = digest(instance)
        if key not in tally.digests:
            tally.notes.update(outcome.notes)
        tally.digests.add(key)
        if outcome.answer is Answer.VACUOUS:
            tally.vacuous.add(key)

    phases = [Phase.generate, Phase.shrink] if shrink else [Phase.generate]
    configured: Callable[[], None] = settings(
        max_examples=examples,
        derandomize=seed is None,
        database=None,
        deadline=None,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )(given(prop.instances)(body))
    if seed is not None:
        configured = with_seed(seed)(configured)
    with suppress(_Refuted):
        configured()
    met, empty = frozenset(tally.digests), frozenset(tally.vacuous)
    return Search(met, empty, tally.drawn, tally.failure, tally.why, dict(tally.notes))


@dataclass(frozen=True)
class Checked:
    """One witness or slip, re-verified: it must refute, `why` says how."""

    name: str
    refutes: bool
    why: str


@dataclass(frozen=True)
class Judgement:
    """A statement with its verdict and what it rests on."""

    statement: str
    verdict: Verdict
    instances: int
    evidence: str
    counterexample: Any = None


@dataclass(frozen=True)
class Entry:
    """One line of the ledger."""

    claim: Claim
    printed: Judgement
    witnesses: tuple[Checked, ...]
    repaired: Judgement | None
    slips: tuple[Checked, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong: a repaired claim that fails, a witness that no longer refutes, a refutation that is news."""
        out = [f"witness {w.name} no longer refutes the printed statement" for w in self.witnesses if not w.refutes]
        out += [f"{s.name} is no longer refuted" for s in self.slips if not s.refutes]
        if self.printed.verdict == "refuted" and not self.witnesses:
            out.append(f"{self.printed.evidence}; to keep the instance, put it among the witnesses")
        if self.repaired is not None and self.repaired.verdict != "holds":
            out.append(f"the repaired statement is {self.repaired.verdict}: {self.repaired.evidence}")
        return tuple(out)


def judge(prop: Property, found: Search, witnesses: tuple[Checked, ...] = ()) -> Judgement:
    """The verdict on a statement from its witnesses and from a search."""
    refuting = [w for w in witnesses if w.refutes]
    if refuting:
        evidence = "; ".join(f"refuted by {w.name}: {w.why}" for w in refuting)
        if found.failed:
            evidence += " (search finds another)"
        return Judgement(prop.statement, "refuted", found.instances, evidence, found.failure)
    if found.failed:
        return Judgement(prop.statement, "refuted", found.instances, f"refuted by search: {found.why}", found.failure)
    if found.instances == 0:
        evidence = f"vacuous: none of {len(found.digests)} exact instances meets its hypotheses"
        return Judgement(prop.statement, "vacuous", 0, evidence)
    return Judgement(prop.statement, "holds", found.instances, f"holds on {found.instances} exact instances")


def verify_witnesses(claim: Claim) -> tuple[tuple[Checked, ...], tuple[Checked, ...]]:
    """Every witness and every slip of a claim, checked again."""
    witnesses = []
    for w in claim.witnesses:
        outcome = claim.printed.check(w.instance)
        witnesses.append(Checked(w.name, outcome.answer is Answer.FAILS, outcome.why))
    slips = []
    for s in claim.slips:
        outcome = s.check(s.witness.instance)
        slips.append(Checked(f"{s.statement} [{s.witness.name}]", outcome.answer is Answer.FAILS, outcome.why))
    return tuple(witnesses), tuple(slips)


def run_claim(claim: Claim, examples: int, seed: int | None = None, shrink: bool = True) -> Entry:
    """The ledger line of one claim, computed now. A printed statement that a witness refutes is not shrunk."""
    witnesses, slips = verify_witnesses(claim)
    found = search(claim.printed, examples, seed, shrink=shrink and not claim.witnesses)
    printed = judge(claim.printed, found, witnesses)
    repaired = None
    if claim.repaired is not None:
        repaired = judge(claim.repaired, search(claim.repaired, examples, seed, shrink))
    return Entry(claim, printed, witnesses, repaired, slips)
