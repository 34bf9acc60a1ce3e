"""network-nearest: how far the merged network is from the nearest optimal one."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.network.claims.words import have, neurons
from relu_cert.network.examine import Comparison
from relu_cert.report.text import at_least, at_most, scientific

NAME = "network-nearest"
STATEMENT = "The distance from the nearest optimal network, after merging, is enclosed."


def decide(comparison: Comparison, gap: Fraction) -> Result:
    """The least distance over all matchings of neurons and all optimal networks, from both sides."""
    del gap
    found = comparison.closest
    if found is None:
        why = comparison.facts.unsettled or comparison.facts.unlisted or "the optimal set is not known"
        return Result(NAME, Verdict.UNDECIDED, "", f"{why}.")
    low, high = found.distance.lower, found.distance.upper
    if found.distance.upper == 0:
        return Result(NAME, Verdict.PROVED, "equality", "merged, the network is an optimal one, exactly.")
    about = scientific(high)
    far = f"{about} away" if scientific(low) == about else f"between {at_least(low)} and {at_most(high)} away"
    left = len(comparison.examination.cells.neurons)
    pairs = f"; {len(found.pairs)} of its {neurons(left)}, merged, {have(len(found.pairs))} a partner" if left else ""
    return Result(NAME, Verdict.PROVED, "assignment", f"the nearest optimal network is {far}{pairs}.")
