"""min-norm-continuous: the weights of least norm move continuously on the interval (the paper's closing conjecture).

Where the network is unique it is the one of least norm, and continuous. Where the set of optimal networks moves
continuously, so does its shortest point: the set is convex and compact, and the norm strictly convex. The conjecture
that the minimum-norm path is always continuous is false: at some lambda one more neuron ties, with an output that
depends on the others, and only there.
"""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.exact import norm_squared
from relu_cert.path.model import Jump
from relu_cert.prove.facts import Facts
from relu_cert.report.text import short

NAME = "min-norm-continuous"
STATEMENT = "On the interval of lambdas the optimal weights of least norm move continuously."


def applies(facts: Facts) -> bool:
    """Where an interval was asked for."""
    return facts.path is not None


def decide(facts: Facts) -> Result:
    """Unique, or a set that moves continuously, on the whole interval; or an exact jump."""
    found = facts.path
    if found is None:
        raise ValueError("no interval was asked for")
    if found.unique:
        detail = "the optimal network is unique on the whole interval, so it is the one of least norm."
        return Result(NAME, Verdict.PROVED, "pieces", detail)
    if found.complete:
        detail = "the set of optimal networks moves continuously on the whole interval, and so does its shortest point."
        return Result(NAME, Verdict.PROVED, "lifted pieces", detail)
    if facts.jump is not None:
        return Result(NAME, Verdict.REFUTED, "exact jump", _told(facts.jump))
    count = len(found.gaps)
    parts = f"{count} part{'s' if count > 1 else ''}"
    detail = f"{parts} of the interval {'are' if count > 1 else 'is'} open, and no exact jump was found."
    return Result(NAME, Verdict.UNDECIDED, "", detail)


def _told(jump: Jump) -> str:
    """|w|^2 = lambda^2 |alpha|^2 at the jump and beside it."""
    square = jump.lam**2
    here, beside = square * norm_squared(jump.shorter), square * norm_squared(jump.limit)
    side = "below" if jump.side > 0 else "above"
    jumps = f"it jumps at lambda = {short(jump.lam)}: |w|^2 <= {short(here)} there"
    return f"{jumps}, and tends to {short(beside)} from {side}."
