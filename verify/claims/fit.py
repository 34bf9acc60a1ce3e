"""fit: all solutions have the same fit, and it lies in a ball around the fit of `primal`."""

from __future__ import annotations

from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node, show


def fit(problem: Problem, facts: Facts, node: Node) -> str:
    """What is proved about the fit: P is strongly convex in it, so |fit - center|^2 <= 2 (upper - lower)."""
    ball = needed(facts.fit, "fit", node)
    return f"every solution has the same fit, at squared distance at most {show(ball.radius_squared)} from the center"
