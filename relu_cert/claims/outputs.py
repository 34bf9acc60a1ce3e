"""What is said of all optimal networks with several outputs: where they are one, the set is a point."""

from __future__ import annotations

from relu_cert.claims.claim import Answer, proved, refuted, undecided
from relu_cert.evidence.outputs import Pair
from relu_cert.figures import at_most, count
from relu_cert.prove.facts import Facts

OF_THE_SET = ("p-unique", "e-equals-a", "optimal-set", "minimal", "connected", "min-norm")
OF_THE_POLYTOPE = OF_THE_SET[2:]


def of_the_set(facts: Facts, claim: str) -> Answer:
    """The answer to a claim about all optimal networks."""
    found = facts.alone
    if found is None:
        return undecided(f"{facts.unsettled}.")
    if isinstance(found, Pair):
        if claim != "p-unique":
            return undecided("there are two optimal networks, and mixtures of them; the set is not described.")
        widths = f"of widths {len(found.first)} and {len(found.second)}"
        return refuted(
            "exact optimum", f"two different optimal networks, exactly, {widths}; mixtures of them are, too."
        )
    K = len(found.classes)
    if claim == "p-unique":
        outputs = "its output is not zero" if K == 1 else "their outputs are independent"
        each = f"{count(K, 'neuron')} can be active, each with one direction; {outputs}."
        return proved("independence", each if K else "no neuron can be active.")
    if not found.active:
        return undecided("a neuron may have weight zero.")
    joined = f"{K}! isolated networks of width {K}; connected for every width from {K + 1} on."
    said = {
        "e-equals-a": f"{count(K, 'neuron')} tied at lambda, all of them active.",
        "optimal-set": f"one point: the weights of {count(K, 'neuron')}.",
        "minimal": f"m* = M* = {K}: no optimal network is narrower.",
        "connected": joined if K else "connected for every width.",
        "min-norm": f"the weights are known within {at_most(found.error)}.",
    }
    return proved("polytope" if claim in OF_THE_POLYTOPE else "independence", said[claim])
