"""The list of patterns, the optimal value and the fit."""

from __future__ import annotations

from verify.claims import PROVED, Row, require
from verify.facts import FIT, PATTERNS, PRIMAL, VALUE, Facts
from verify.problem import Problem
from verify.text import Node, show


def complete(problem: Problem, facts: Facts, node: Node) -> str:
    """The listed patterns are exactly D_Z."""
    total, cells = len(facts[PATTERNS].masks), facts[PATTERNS].open_cells
    listed = f"the {total} listed patterns are all of D_Z = {{1(Zu >= 0)}}"
    return f"{listed}: {cells} of open cells, {total - cells} of lower faces only"


def optimal(problem: Problem, facts: Facts, node: Node) -> str:
    """lower <= p* <= P(w) <= upper and upper - lower <= gap * upper."""
    primal, value = facts[PRIMAL], facts[VALUE]
    gap = value.upper - value.lower
    found = f"{show(gap)} > {show(value.gap)} * {show(value.upper)}"
    require(gap <= value.gap * value.upper, "upper - lower <= gap * upper", found, node)
    what = "blocks" if problem.model == "cgl" else "neurons"
    over = "" if problem.patterns is None else f" over these {len(problem.patterns)} patterns only"
    where = f"[{show(value.lower)}, {show(value.upper)}]"
    return (
        f"for lambda = {show(problem.lam)} the global minimum{over} lies in {where}, and the point with "
        f"{primal.neurons} {what} attains it up to {show(gap)} (relative gap at most {show(value.gap)})"
    )


def one_fit(problem: Problem, facts: Facts, node: Node) -> str:
    """P is strongly convex in the fit, so |fit - center|^2 <= 2 (upper - lower).

    Logistic: strictly convex in it, and P(w) - p* is at least the sum of the divergences KL(p*_k, p_k) of the
    probabilities, each at least 2 (p_k - p*_k)^2 (Pinsker).
    """
    said, far = "every solution has the same fit", f"at squared distance at most {show(facts[FIT].radius_squared)} from"
    if problem.logistic:
        return f"{said}, and its probabilities 1/(1 + exp(-fit_k)) are {far} those of the point"
    return f"{said}, {far} the center"


TABLE = (
    Row("patterns-complete", PROVED, (PATTERNS,), complete),
    Row("optimal", PROVED, (PRIMAL, VALUE), optimal),
    Row("fit", PROVED, (FIT,), one_fit),
)
