"""one-neuron: the whole path of the network with a single neuron on a single feature (prop:one-neuron)."""

from __future__ import annotations

from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node, show


def one_neuron(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: zero from the top on; below, each branch is optimal between its jumps."""
    found = needed(facts.one_neuron, "one_neuron", node)
    jumps = max(found.branches - 1, 0)
    said = f"one neuron is zero for lambda >= {show(found.top)}; below, {found.branches} branches with {jumps} jumps"
    return f"{said}, and the neuron of the other sign is as good at every lambda" if found.twins else said
