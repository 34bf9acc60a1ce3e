"""curve: at every listed lambda the objective, the width, the weights and the directions are within their bounds."""

from __future__ import annotations

from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node


def curve(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: every sample lies in the tube of its piece, and each of its neurons is proved active."""
    found = needed(facts.curve, "curve", node)
    if not found.samples:
        raise node.reject("a curve with at least one lambda", "none")
    return f"{found.samples} lambdas with the objective and all neurons, widths {found.narrowest} to {found.widest}"
