"""continuous: the optimal network is unique for every lambda of an interval, and so it moves continuously."""

from __future__ import annotations

from verify.claims.p_unique import WHAT
from verify.facts import Facts, needed
from verify.problem import Problem
from verify.text import Node, show


def continuous(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: unique on every piece; the optimal sets are bounded and their graph is closed."""
    path = needed(facts.path, "path", node)
    what = WHAT[problem.model]
    return (
        f"for every lambda in [{show(path.lo)}, {show(path.hi)}] the optimal {what} is unique, and it moves "
        f"continuously (pieces: {path.pieces})"
    )


def not_continuous(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: at some lambda inside, a network is optimal to which those beside it do not tend."""
    jump = needed(facts.jump, "jump", node)
    return (
        f"at lambda = {show(jump.lam)}, in [{show(jump.lo)}, {show(jump.hi)}], a {WHAT[problem.model]} is optimal that "
        "is no limit of optimal ones from one side"
    )
