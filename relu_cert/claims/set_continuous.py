"""set-continuous: the set of optimal networks moves continuously on the interval, also where it is not one network.

Where the network is unique the set is a point that moves continuously. Where the residual is proved orthogonal to a
subspace, the set is a polytope {alpha >= 0 : F alpha = g} whose equations have full rank and move continuously, and
which keeps a point strictly inside: such a polytope is continuous in the Hausdorff distance. At the lambda where that
sets in, the set is still a point or keeps a point strictly inside. So no optimal network appears or vanishes suddenly.
"""

from __future__ import annotations

from relu_cert.claims.continuous import interval, open_parts
from relu_cert.claims.model import Result, Verdict
from relu_cert.prove.facts import Facts
from relu_cert.report.text import count, short

NAME = "set-continuous"
STATEMENT = "On the whole interval of lambdas the set of optimal networks moves continuously."


def applies(facts: Facts) -> bool:
    """Where an interval was asked for."""
    return facts.path is not None


def decide(facts: Facts) -> Result:
    """Every piece of the interval is settled, plain or lifted; or an exact jump; or the list of what is open."""
    found = facts.path
    if found is None:
        raise ValueError("no interval was asked for")
    if found.complete:
        if not found.pieces:
            return Result(NAME, Verdict.PROVED, "zero", "lambda >= lambda_max: zero is the only solution.")
        where, lifted = interval(found), [piece for piece in found.pieces if piece.lifted is not None]
        detail = f"for every lambda in {where}, in {count(len(found.pieces), 'piece')}"
        if found.unique:
            return Result(NAME, Verdict.PROVED, "pieces", f"{detail}: the network is unique.")
        largest = max(piece.dimension for piece in lifted)
        detail += f", {len(lifted)} of them lifted: sets of dimension up to {largest}."
        return Result(NAME, Verdict.PROVED, "lifted pieces", detail)
    if facts.jump is not None:
        detail = f"at lambda = {short(facts.jump.lam)} there are optimal networks that no nearby ones tend to."
        return Result(NAME, Verdict.REFUTED, "exact jump", detail)
    return Result(NAME, Verdict.UNDECIDED, "", open_parts(found))
