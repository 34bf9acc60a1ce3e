"""one-neuron: the exact path of the network with a single neuron on a single feature, with its jumps (prop:one-neuron).

A network that is too narrow has no continuous path: at a jump two networks with different fits are optimal.
"""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.prove.facts import Facts
from relu_cert.report.text import short

NAME = "one-neuron"
STATEMENT = "For every lambda the optimal network of a single neuron on a single feature is known, with all its jumps."


def applies(facts: Facts) -> bool:
    """Where it was asked for."""
    return facts.one_neuron is not None


def decide(facts: Facts) -> Result:
    """An upper envelope of at most four lines."""
    found = facts.one_neuron
    if found is None:
        raise ValueError("the path of one neuron was not asked for")
    where = ", ".join(short(jump.lo) for jump in found.jumps)
    detail = f"zero for lambda >= {short(found.top)}; below, {len(found.branches)} branches"
    jumps = f", with jumps at {where}" if found.jumps else ", without a jump"
    return Result(NAME, Verdict.PROVED, "envelope", f"{detail}{jumps if found.branches else ''}.")
