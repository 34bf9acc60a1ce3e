"""fit: all solutions have the same fit, and it lies in a ball around the fit of `primal`."""

from __future__ import annotations

from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node, show


def fit(problem: Problem, facts: Facts, node: Node) -> str:
    """What is proved about the fit: P is strongly convex in it, so |fit - center|^2 <= 2 (upper - lower).

    Logistic: strictly convex in it, and P(w) - p* is at least the sum of the divergences KL(p*_k, p_k) of the
    probabilities, each at least 2 (p_k - p*_k)^2 (Pinsker).
    """
    ball = needed(facts.fit, "fit", node)
    if problem.logistic:
        return (
            "every solution has the same fit, and its probabilities 1/(1 + exp(-fit_k)) are at squared distance at "
            f"most {show(ball.radius_squared)} from those of the point"
        )
    return f"every solution has the same fit, at squared distance at most {show(ball.radius_squared)} from the center"
