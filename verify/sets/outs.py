"""That every block is out or in a class. Out: bound + |X| R < lambda, so that the block is zero in every solution."""

from __future__ import annotations

from collections.abc import Sequence

from verify.numbers.patterns import Patterns
from verify.optimal.ball import Ball, Class
from verify.optimal.multipliers import lengths, not_out, read_entries
from verify.problem.problem import SIGNS
from verify.text import Node, bit_text, show


def check_outs(ball: Ball, patterns: Patterns | None, classes: Sequence[Class], multipliers: Node, out: Node) -> None:
    """Reject unless every block has a class or is out, and no block (no fine piece) has two classes."""
    problem = ball.problem
    out.require(problem.model == "relu" or out.value is None, "null")
    keys = {a.key for a in classes}
    if len(keys) != len(classes):
        raise out.reject("no two classes of the same block (relu: of the same sign and pattern)", "two")
    if problem.model == "cgl":
        from verify.sets.direct import check_blocks_out

        check_blocks_out(ball, {b for _, b in keys}, multipliers, out)
    elif patterns is None:
        raise out.reject("the fact patterns, which this rests on", "none")
    elif problem.model == "gated":
        from verify.sets.direct import check_patterns_out

        check_patterns_out(ball, patterns, {D for _, D in keys}, multipliers, out)
    else:
        bounds, sides = multipliers.record("+", "-"), out.record("+", "-")
        for sign, xi in SIGNS.items():
            check_side(ball, patterns, xi, [a for a in classes if a.key[0] == xi], bounds[sign], sides[sign])


def check_side(ball: Ball, patterns: Patterns, xi: int, classes: Sequence[Class], multipliers: Node, out: Node) -> None:
    """ReLU: every fine piece inside a piece that is not out has a class or exactly one entry of `out`.

    P' has the rows whose t_k is not surely negative; rows of Z that are zero tell no fine pieces apart. A class is that
    of all fine pieces that agree with its pattern off its kinks.
    """
    n = ball.problem.N
    t = tuple(xi * x for x in ball.problem.spread(ball.theta))
    fine_P = ball.fine[xi]
    apart = fine_P & ball.nonzero
    P, tied = not_out(ball, xi, multipliers, patterns)
    needed = {mask & apart for mask in patterns.masks[: patterns.open_cells] if mask & P in tied}
    for a in classes:
        signed = apart & ~a.zeros
        needed = {piece for piece in needed if (piece ^ a.key[1]) & signed}
    entries = out.array()
    for (base, length), entry in zip(lengths(ball.problem, read_entries(t, fine_P, entries)), entries, strict=True):
        entry.require(base & apart in needed, "a fine piece that is not out otherwise, has no class and no entry yet")
        needed.remove(base & apart)
        if length >= ball.out_below:
            raise entry.reject(f"|Z'm|^2 < {show(ball.out_below)}", show(length))
    if needed:
        missing = "".join(c if apart >> k & 1 else "*" for k, c in enumerate(bit_text(min(needed), n)))
        raise out.reject("a class or an entry for every fine piece that is not out", f"none for {missing}")
