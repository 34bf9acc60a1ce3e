"""network-prune: the network without what depends on other neurons, at the same or a better objective."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.network.claims.words import neurons
from relu_cert.network.examine import Comparison
from relu_cert.network.record import prunable
from relu_cert.report.text import decimal

NAME = "network-prune"
STATEMENT = "Pruned to independent outputs it has the same fit and no higher objective."


def decide(comparison: Comparison, gap: Fraction) -> Result:
    """The same fit exactly, sum |w| no larger, outputs independent."""
    del gap
    found = comparison.examination
    m, left = found.network.m, len(found.pruned.neurons)
    if not prunable(found):
        return Result(NAME, Verdict.UNDECIDED, "", "the pruned network has numbers of more digits than are checked.")
    at = f"P = {decimal(found.pruned_P.upper, 12)}"
    if left == m:
        return Result(NAME, Verdict.PROVED, "exact rank", f"nothing to prune: {neurons(m)}, {at}.")
    less = "lower" if found.pruned_P.upper < found.P.lower else "no higher"
    return Result(NAME, Verdict.PROVED, "exact rank", f"{left} of {neurons(m)} do the same on the data, {at}, {less}.")
