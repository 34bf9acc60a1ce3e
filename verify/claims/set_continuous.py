"""set-continuous: on an interval of lambdas the set of optimal networks moves continuously."""

from __future__ import annotations

from verify.claims.continuous import whole
from verify.claims.p_unique import WHAT
from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node, show


def set_continuous(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: on every piece, plain or lifted, and the pieces are closed and cover the interval."""
    path = whole(facts, node)
    what = f"the set of optimal {WHAT[problem.model]}s"
    return f"for every lambda in [{show(path.lo)}, {show(path.hi)}] {what} moves continuously (pieces: {path.pieces})"


def not_set_continuous(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: at some lambda inside, a network is optimal to which those beside it do not tend."""
    jump = needed(facts.jump, "jump", node)
    return (
        f"at lambda = {show(jump.lam)}, in [{show(jump.lo)}, {show(jump.hi)}], a {WHAT[problem.model]} is optimal that "
        "is no limit of optimal ones from one side"
    )
