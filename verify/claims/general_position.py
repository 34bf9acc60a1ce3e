"""general-position: the columns of X are in general position (group general position of single columns)."""

from __future__ import annotations

from verify.claims.ggp import stated
from verify.facts import Facts
from verify.problem import Problem
from verify.text import Node


def general_position(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: no null vector on at most n + 1 columns has signed entries with sum 0."""
    return f"{stated(facts, node, 'columns', True)}: the columns are in general position"


def not_general_position(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: such a null vector exists."""
    return f"{stated(facts, node, 'columns', False)}: the columns are not in general position"
