"""network-balanced: both layers of every neuron have the same norm (lemma:scaling-unique)."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.network.claims.words import some_of
from relu_cert.network.examine import Comparison
from relu_cert.report.text import scientific

NAME = "network-balanced"
STATEMENT = "Both layers of every neuron have the same norm."


def decide(comparison: Comparison, gap: Fraction) -> Result:
    """|W1_i|^2 = w2_i^2, compared exactly; balancing gains sum lambda/2 (|W1_i| - |w2_i|)^2."""
    del gap
    found = comparison.examination
    wrong = [i for i, scale in enumerate(found.scales) if not scale.balanced]
    if not wrong:
        return Result(NAME, Verdict.PROVED, "arithmetic", "|W1_i| = |w2_i| for every neuron, exactly.")
    costs = sum((found.scales[i].excess.upper for i in wrong), Fraction(0))
    dead = sum(scale.dead for scale in found.scales if not scale.balanced)
    also = f"; {dead} of them dead" if dead else ""
    detail = f"{some_of(len(wrong), found.network.m)}, at a cost of {scientific(costs)}{also}."
    return Result(NAME, Verdict.REFUTED, "arithmetic", detail)
