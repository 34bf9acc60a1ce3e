"""patterns-complete: the listed patterns are exactly D_Z."""

from __future__ import annotations

from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node


def patterns_complete(problem: Problem, facts: Facts, node: Node) -> str:
    """What is proved about the patterns."""
    patterns = needed(facts.patterns, "patterns", node)
    total, lower = len(patterns.masks), len(patterns.masks) - patterns.open_cells
    return (
        f"the {total} listed patterns are all of D_Z = {{1(Zu >= 0)}}: {patterns.open_cells} of open cells, "
        f"{lower} of lower faces only"
    )
