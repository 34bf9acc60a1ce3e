"""breakpoints: every listed interval holds a lambda at which a neuron enters, leaves or changes its face."""

from __future__ import annotations

from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node


def breakpoints(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: unique networks on the interval, and other active neurons, or other faces, at its two ends."""
    found = needed(facts.curve, "curve", node)
    if not found.breakpoints:
        raise node.reject("a curve with at least one breakpoint", "none")
    return (
        f"{found.breakpoints} intervals of relative width 10^-12, in each of which the active neurons or their faces "
        f"change; {found.branches} pieces on which no neuron enters or leaves"
    )
