"""network-independent: the outputs of the neurons are linearly independent."""

from __future__ import annotations

from fractions import Fraction

from relu_cert.claims.model import Result, Verdict
from relu_cert.network.claims.words import have, neurons
from relu_cert.network.examine import Comparison
from relu_cert.report.text import decimal

NAME = "network-independent"
STATEMENT = "The outputs of its neurons are linearly independent."


def decide(comparison: Comparison, gap: Fraction) -> Result:
    """The exact rank of the outputs."""
    del gap
    found = comparison.examination
    m = len(found.neurons)
    if found.rank == m:
        if m < 2:
            only = "the network is zero" if m == 0 else "its only neuron has an output other than zero"
            return Result(NAME, Verdict.PROVED, "exact rank", f"{only}: nothing can be pruned free.")
        detail = f"the outputs of the {m} neurons are independent: none can be pruned free."
        return Result(NAME, Verdict.PROVED, "exact rank", detail)
    left = len(found.pruned.neurons)
    pruned = f"merged and pruned, {neurons(left)} {have(left)} the same fit at P = {decimal(found.pruned_P.upper, 12)}"
    detail = f"the outputs of {m} neurons have rank {found.rank}; {pruned}, which is no higher."
    return Result(NAME, Verdict.REFUTED, "exact rank", detail)
