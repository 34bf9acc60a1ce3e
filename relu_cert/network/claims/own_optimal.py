"""network-own-optimal: the network is optimal among networks with its own activation patterns, up to the gap.

Proved here and refuted over all patterns, it is stuck: a stationary point of a sub-sampled program (the candidates of
prop:stationary-points) that only a new pattern can leave.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.network.claims import optimal
from relu_cert.network.examine import Comparison

NAME = "network-own-optimal"
STATEMENT = "It is optimal among networks with its own activation patterns, up to the gap."


def decide(comparison: Comparison, gap: Fraction) -> Result | None:
    """The same over its own patterns; None where that was not asked."""
    if comparison.own is None:
        return None
    result = optimal.against(NAME, comparison, comparison.own.value, gap, "over its own patterns")
    stuck = optimal.decide(comparison, gap).verdict is Verdict.REFUTED
    if result.verdict is Verdict.PROVED and stuck:
        return replace(result, detail=f"{result.detail} Stuck: only a new pattern makes it better.")
    return result
