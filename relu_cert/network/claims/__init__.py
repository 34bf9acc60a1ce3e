"""What is said about a given network: one module per claim, with NAME, STATEMENT and `decide`."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType

from relu_cert.claims.model import Result
from relu_cert.network.claims import (
    balanced,
    directions,
    independent,
    merged,
    nearest,
    objective,
    optimal,
    own_optimal,
    prune,
    stationary,
)
from relu_cert.network.examine import Comparison

CLAIMS: tuple[ModuleType, ...] = (
    objective,
    optimal,
    own_optimal,
    stationary,
    balanced,
    merged,
    independent,
    prune,
    directions,
    nearest,
)
STATEMENTS: dict[str, str] = {claim.NAME: claim.STATEMENT for claim in CLAIMS}


def network_verdicts(comparison: Comparison, gap: Fraction) -> tuple[Result, ...]:
    """The verdicts, in the order in which they are read."""
    found = (claim.decide(comparison, gap) for claim in CLAIMS)
    return tuple(result for result in found if result is not None)


__all__ = ["CLAIMS", "STATEMENTS", "network_verdicts"]
