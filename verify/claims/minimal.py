"""minimal: all minimal networks are known, and with them the least width m* and the largest minimal width M*."""

from __future__ import annotations

from verify.claims.optimal_set import all_networks
from verify.facts import Facts
from verify.problem import Problem
from verify.text import Node


def minimal(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: minimal networks are the vertices (prop:minimal-solutions). A network with the fewest neurons is minimal,
    because a point with dependent outputs can lose a neuron: so no optimal network is narrower than m*."""
    found = all_networks(problem, facts, node)
    if found is None:
        return "lambda >= lambda_max: the zero network is the only one, m* = M* = 0"
    widths = found.widths
    counts = ", ".join(f"{widths.count(m)} of width {m}" for m in sorted(set(widths)))
    return f"minimal networks: {counts}; m* = {min(widths)}, M* = {max(widths)}; no optimal network is narrower than m*"
