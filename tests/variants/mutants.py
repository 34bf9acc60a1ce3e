"""What may be accepted of the changed certificates of a variant: only what is still true."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import verify
from tests.variants.stated import optimal_value
from tests.verify.mutate import mutants

HARMLESS = (
    r"facts\.patterns\..*",  # other witnesses, circuits, covers: the checker counts again
    r"facts\.(dual|lambda_max)\.multipliers.*",  # other multipliers that prove the same
    r"facts\.lambda_max\.attained.*",
    r"facts\.primal\.neurons.*",  # another order
    r"facts\.dual\.excess.*",
    r"facts\.dual\.theta",  # logistic: the bounds have a little room
    r"facts\.value\.(gap|lower|upper)",
    r"facts",  # a fact less
    r"claims.*",  # a claim less
    r"input\.numbers",  # the data are integers
    r"problem",  # the order of its keys
    r"problem\.(lambda|delta|model|patterns.*)",  # another problem, for which the same evidence holds
)


FACTS = ("patterns", "lambda_max", "primal", "dual", "value", "fit")
CLAIMS = ("patterns-complete", "optimal", "fit", "convex-unique")


def plain(certificate: dict[str, Any]) -> dict[str, Any]:
    """The certificate without the facts about the optimal set, which have slack of their own, and their claims."""
    facts = {name: fact for name, fact in certificate["facts"].items() if name in FACTS}
    names = CLAIMS if "delta" in certificate["problem"] else CLAIMS[:3]
    return {**certificate, "facts": facts, "claims": [c for c in certificate["claims"] if c["claim"] in names]}


def flipped(certificate: dict[str, Any], claim: str) -> bytes:
    """The certificate with the opposite verdict on one claim."""
    other = {"PROVED": "REFUTED", "REFUTED": "PROVED"}
    claims = [
        {**c, "verdict": other.get(c["verdict"], "PROVED")} if c["claim"] == claim else c for c in certificate["claims"]
    ]
    return json.dumps({**certificate, "claims": claims}).encode()


def false_survivors(certificate: dict[str, Any], raw: bytes, spread: int | None = 2) -> tuple[int, list[str]]:
    """How many mutants there are, and those that are accepted though they say something that is not true."""
    total, false = 0, []
    for mutant in mutants(certificate, spread):
        total += 1
        try:
            lines = verify.check(mutant.text.encode(), raw)
        except (verify.Rejected, verify.Declined):
            continue
        changed = json.loads(mutant.text)
        if changed != certificate and not (allowed(mutant.place) and true(changed, certificate, lines)):
            false.append(mutant.name)
    return total, false


def allowed(place: str) -> bool:
    """Whether a true change can be made at a place."""
    return any(re.fullmatch(pattern, place) for pattern in HARMLESS)


def true(changed: dict[str, Any], original: dict[str, Any], lines: list[verify.Line]) -> bool:
    """Whether the interval holds p* of the problem as it is stated now, and no claim is stronger than it was."""
    said = {claim["claim"]: claim["verdict"] for claim in original["claims"]}
    if any(line.verdict not in ("UNDECIDED", said.get(line.claim)) for line in lines):
        return False
    if "value" not in changed["facts"]:
        return True
    value = changed["facts"]["value"]
    lower, upper = (float(Fraction(value[key])) for key in ("lower", "upper"))
    optimum = optimal_value(changed["problem"])
    return lower - 1e-6 <= optimum <= upper + 1e-6
