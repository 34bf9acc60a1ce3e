"""How the optimal networks move with lambda."""

from __future__ import annotations

from verify.claims import PROVED, REFUTED, Row
from verify.claims.unique import WHAT, only, several
from verify.facts import JUMP, PATH, SET, Facts
from verify.problem.problem import Problem
from verify.text import Node, show

OPEN = "a jump, a piece where the network is not unique, or such a lambda in the interval"


def continuous(problem: Problem, facts: Facts, node: Node) -> str:
    """Unique on every piece, and so continuous: the optimal sets are bounded and their graph is closed."""
    path = facts[PATH]
    set_continuous(problem, facts, node)
    unique = all(piece.found.unique for piece in path.pieces)
    node.require(unique, "pieces on which the network is unique", "lifted pieces on which it need not be")
    moves = f"{only(problem)}, and it moves continuously (pieces: {len(path.pieces)})"
    return f"for every lambda in [{show(path.lo)}, {show(path.hi)}] {moves}"


def set_continuous(problem: Problem, facts: Facts, node: Node) -> str:
    """On every piece, plain or lifted, the set of optimal networks is; the pieces are closed and cover the interval."""
    path, what = facts[PATH], f"the set of optimal {WHAT[problem.model]}s"
    node.require(path.complete, "pieces that cover the interval, at least up to lambda_max", "a hole")
    moves = f"{what} moves continuously (pieces: {len(path.pieces)})"
    return f"for every lambda in [{show(path.lo)}, {show(path.hi)}] {moves}"


def min_norm_continuous(problem: Problem, facts: Facts, node: Node) -> str:
    """The set is convex and compact, and so its only shortest point moves continuously, too."""
    return f"{set_continuous(problem, facts, node)}; and so does its point of least norm"


def jumps(problem: Problem, facts: Facts, node: Node) -> str:
    """At some lambda inside, a network is optimal to which those beside it do not tend."""
    jump = facts[JUMP]
    return (
        f"at lambda = {show(jump.lam)}, in [{show(jump.lo)}, {show(jump.hi)}], a {WHAT[problem.model]} is optimal that "
        "is no limit of optimal ones from one side"
    )


def min_norm_jumps(problem: Problem, facts: Facts, node: Node) -> str:
    """At some lambda inside, shorter weights are optimal than those to which the only ones beside it tend."""
    jump = facts[JUMP]
    here, beside = jump.lam**2 * jump.shorter, jump.lam**2 * jump.limit
    return (
        f"the minimum-norm path jumps at lambda = {show(jump.lam)}, in [{show(jump.lo)}, {show(jump.hi)}]: |w|^2 is at "
        f"most {show(here)} there and tends to {show(beside)} from one side"
    )


def several_on_a_piece(problem: Problem, facts: Facts, node: Node) -> str:
    """On a piece, or on its part in [lo, hi], the network is not unique."""
    path = facts[PATH]
    for piece in path.pieces:
        lo, hi = max(piece.lo, path.lo), min(piece.hi, path.hi)
        if piece.found.dimension > 0 and lo <= hi:
            where = f"for every lambda in [{show(lo)}, {show(hi)}], a part of [{show(path.lo)}, {show(path.hi)}], the"
            form = f"form a set of dimension {piece.found.dimension} or more"
            return f"{where} {WHAT[problem.model]}s that are optimal {form}"
    raise node.reject(OPEN, "none")


def several_here(problem: Problem, facts: Facts, node: Node) -> str:
    """At the problem's own lambda it is not."""
    path = facts[PATH]
    node.require(path.lo <= problem.lam <= path.hi, OPEN, "none")
    here = f"at lambda = {show(problem.lam)}, in [{show(path.lo)}, {show(path.hi)}]"
    return f"{here}, {several(problem, facts, node)}"


TABLE = (
    Row("continuous", PROVED, (PATH,), continuous),
    Row("continuous", REFUTED, (JUMP,), jumps),
    Row("continuous", REFUTED, (PATH,), several_on_a_piece),
    Row("continuous", REFUTED, (PATH, SET), several_here),
    Row("set-continuous", PROVED, (PATH,), set_continuous),
    Row("set-continuous", REFUTED, (JUMP,), jumps),
    Row("min-norm-continuous", PROVED, (PATH,), min_norm_continuous),
    Row("min-norm-continuous", REFUTED, (JUMP,), min_norm_jumps),
)
