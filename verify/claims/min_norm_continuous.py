"""min-norm-continuous: on an interval of lambdas the optimal weights of least norm move continuously."""

from __future__ import annotations

from verify.claims.set_continuous import set_continuous
from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node, show


def min_norm_continuous(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: the optimal set, convex and compact, moves continuously, and so does its only shortest point."""
    return f"{set_continuous(problem, facts, node)}; and so does its point of least norm"


def not_min_norm_continuous(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: at some lambda inside, shorter weights are optimal than those to which the only ones beside it tend."""
    jump = needed(facts.jump, "jump", node)
    here, beside = jump.lam**2 * jump.shorter, jump.lam**2 * jump.limit
    return (
        f"the minimum-norm path jumps at lambda = {show(jump.lam)}, in [{show(jump.lo)}, {show(jump.hi)}]: |w|^2 is at "
        f"most {show(here)} there and tends to {show(beside)} from one side"
    )
