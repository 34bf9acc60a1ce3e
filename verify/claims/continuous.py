"""continuous: the optimal network is unique for every lambda of an interval, and so it moves continuously."""

from __future__ import annotations

from verify.claims.p_unique import WHAT, not_p_unique
from verify.facts import Facts, needed
from verify.path import Path
from verify.problem import Problem
from verify.text import Node, show


def continuous(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: unique on every piece; the optimal sets are bounded and their graph is closed."""
    path = whole(facts, node)
    if not path.unique:
        raise node.reject("pieces on which the network is unique", "lifted pieces on which it need not be")
    what = WHAT[problem.model]
    return (
        f"for every lambda in [{show(path.lo)}, {show(path.hi)}] the optimal {what} is unique, and it moves "
        f"continuously (pieces: {path.pieces})"
    )


def whole(facts: Facts, node: Node) -> Path:
    """The path, if its pieces cover the interval."""
    path = needed(facts.path, "path", node)
    if not path.complete:
        raise node.reject("pieces that cover the interval, at least up to lambda_max", "a hole")
    return path


def not_continuous(problem: Problem, facts: Facts, node: Node) -> str:
    """REFUTED: at some lambda of the interval the network is not unique."""
    what = WHAT[problem.model]
    if (jump := facts.jump) is not None:
        return (
            f"at lambda = {show(jump.lam)}, in [{show(jump.lo)}, {show(jump.hi)}], a {what} is optimal that "
            "is no limit of optimal ones from one side"
        )
    path = needed(facts.path, "path or jump", node)
    if (several := path.several) is not None:
        return (
            f"for every lambda in [{show(several.lo)}, {show(several.hi)}], a part of [{show(path.lo)}, "
            f"{show(path.hi)}], the {what}s that are optimal form a set of dimension {several.dimension} or more"
        )
    if not path.lo <= problem.lam <= path.hi:
        raise node.reject("a jump, a piece where the network is not unique, or such a lambda in the interval", "none")
    return (
        f"at lambda = {show(problem.lam)}, in [{show(path.lo)}, {show(path.hi)}], {not_p_unique(problem, facts, node)}"
    )
