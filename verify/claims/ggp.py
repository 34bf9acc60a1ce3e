"""ggp: the blocks are in group general position, so that the solution is unique for every lambda > 0."""

from __future__ import annotations

from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node


def ggp(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: no null vector on at most n + 1 blocks has signed norms with sum 0."""
    return f"{stated(facts, node, 'groups', True)}: group general position, the solution is unique for every lambda > 0"


def not_ggp(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: such a null vector exists."""
    return f"{stated(facts, node, 'groups', False)}: no group general position"


def stated(facts: Facts, node: Node, part: str, expected: bool) -> str:
    """What the fact `ggp` proves about `groups` or `columns`, if it is what the verdict says."""
    position = needed(facts.ggp, "ggp", node)
    answer = position.groups if part == "groups" else position.columns
    holds, reason = needed(answer, f"ggp with {part} that are not null", node)
    if holds != expected:
        raise node.reject(f"the verdict {'PROVED' if holds else 'REFUTED'}", reason)
    return reason
