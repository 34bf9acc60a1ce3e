"""Controls: exact instances, most of them forged, with the answer that a claim's check must give, and its reason.

A statement that is true never fails on honest instances, so these alone cannot show that its check would notice. A
forged instance has one part of its planted truth falsified (a weight, a residual, a row); the check must object, for
the right reason. `controls/NAME.json` holds those of one claim, each needed to notice some broken line of its check;
the broken lines that change no answer at all, each with the reason (`equivalent`); and those that no instance was
found to notice (`unnoticed`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from properties.codec import decode
from properties.model import Check, Claim

FOLDER = Path(__file__).parent / "controls"


@dataclass(frozen=True)
class Control:
    """One instance (as stored), which statement it is for, and the answer with its reason."""

    which: str
    answer: str
    why: str
    instance: Any


def checks(claim: Claim) -> dict[str, Check]:
    """The checks of a claim by name: printed, repaired, slip 0, slip 1, ..."""
    out = {"printed": claim.printed.check}
    if claim.repaired is not None:
        out["repaired"] = claim.repaired.check
    return out | {f"slip {i}": slip.check for i, slip in enumerate(claim.slips)}


@cache
def controls(name: str) -> tuple[Control, ...]:
    """The controls of a claim's module."""
    return tuple(Control(**stored) for stored in _stored(name)["controls"])


def equivalent(name: str) -> dict[str, str]:
    """The broken lines that cannot change an answer, and why."""
    return dict(_stored(name).get("equivalent", {}))


def unnoticed(name: str) -> tuple[str, ...]:
    """The broken lines that none of them notices, without a reason yet."""
    return tuple(_stored(name)["unnoticed"])


def _stored(name: str) -> dict[str, Any]:
    path = FOLDER / f"{name}.json"
    return dict(json.loads(path.read_text())) if path.exists() else {"controls": [], "unnoticed": []}


def answered(check: Check, instance: Any) -> tuple[str, str]:
    """What a check answers, and why; an exception is an answer of its own."""
    try:
        outcome = check(decode(instance))
    except Exception as error:  # whatever a forged instance provokes
        return type(error).__name__, str(error)
    return outcome.answer.value, outcome.why


def complaints(claim: Claim, wanted: Sequence[Control]) -> Iterator[str]:
    """Where a claim's checks answer otherwise than its controls say, or a witness no longer refutes."""
    found = checks(claim)
    for i, control in enumerate(wanted):
        said = answered(found[control.which], control.instance)
        if said != (control.answer, control.why):
            yield f"control {i} ({control.which}): {said} instead of {(control.answer, control.why)}"
