"""Claims that say what a single fact says."""

from __future__ import annotations

from verify.claims import PROVED, REFUTED, Row, Says
from verify.facts import COLUMNS, CURVE, DUAL, FIT, GROUPS, PATTERNS, Fact, Facts
from verify.problem.problem import Problem
from verify.text import Node, show


def complete(problem: Problem, facts: Facts, node: Node) -> str:
    """The listed patterns are exactly D_Z."""
    total, cells = len(facts[PATTERNS].masks), facts[PATTERNS].open_cells
    listed = f"the listed patterns ({total}) are all of D_Z = {{1(Zu >= 0)}}"
    return f"{listed}: {cells} of open cells, {total - cells} of lower faces only"


def one_fit(problem: Problem, facts: Facts, node: Node) -> str:
    """P is strongly convex in the fit, so |fit - center|^2 <= 2 (upper - lower).

    Logistic: strictly convex in it, and P(w) - p* is at least the sum of the divergences KL(p*_k, p_k) of the
    probabilities, each at least 2 (p_k - p*_k)^2 (Pinsker), and of 1/2 (fit_k - fit*_k)^2 at rows of zeros. Beside
    free terms, but for a decayed bias, there need not be a solution. Softmax: likewise with |p_k - p*_k|^2, for fits
    whose rows have the sum 0, as those of solutions have; beside free constants these have any.
    """
    if problem.logistic and problem.targets > 1:
        if problem.free:
            node.require("skip" not in problem.free and not problem.roots, "constants alone", ", ".join(problem.free))
            attained = "Y - Theta > 0, which shows that p* is attained beside free terms"
            node.require(all(y > t for y, t in zip(problem.y, facts[DUAL].theta, strict=True)), attained, "0 at a row")
        same = "fit but for numbers that all outputs have in common" if problem.free else "fit"
        far = f"at squared distance at most {show(facts[FIT].radius_squared)} from those of the point"
        return f"every solution has the same {same}, and its probabilities exp(fit_kc) / sum_b exp(fit_kb) are {far}"
    if problem.logistic and problem.free and not problem.roots:
        attained = "theta_k != 0 at every row, which shows that p* is attained beside free terms"
        node.require(all(facts[DUAL].theta), attained, "theta_k = 0 at a row")
    said, far = "every solution has the same fit", f"at squared distance at most {show(facts[FIT].radius_squared)} from"
    if problem.logistic:
        return f"{said}, and its probabilities 1/(1 + exp(-fit_k)) are {far} those of the point"
    return f"{said}, {far} the center"


def answer(fact: Fact[tuple[bool, str]], expected: bool, then: str) -> Says:
    """The answer and its reason: null vectors on at most n + 1 blocks whose signed norms have the sum 0, or none."""

    def says(problem: Problem, facts: Facts, node: Node) -> str:
        holds, reason = facts[fact]
        node.require(holds == expected, f"the verdict {PROVED if holds else REFUTED}", reason)
        return f"{reason}: {then}"

    return says


def breakpoints(problem: Problem, facts: Facts, node: Node) -> str:
    """Unique networks on each interval, and other active neurons, or other faces, at its two ends."""
    found = facts[CURVE]
    node.require(bool(found.breakpoints), "a curve with at least one breakpoint", "none")
    return (
        "the active neurons or their faces change in every interval listed, of relative width 10^-12 (intervals: "
        f"{found.breakpoints}; pieces on which no neuron enters or leaves: {found.branches})"
    )


def curve(problem: Problem, facts: Facts, node: Node) -> str:
    """Every sample lies in the tube of its piece, and each of its neurons is proved active."""
    found = facts[CURVE]
    node.require(bool(found.samples), "a curve with at least one lambda", "none")
    bounds = f"the objective in an interval of length at most {show(found.gap)}"
    bounds += f", weights and directions within {show(found.radius)}"
    ends = f"widths {found.narrowest} to {found.widest}"
    return f"the objective and all neurons at each listed lambda ({found.samples}), {ends}: {bounds}"


UNIQUE = "group general position, the solution is unique for every lambda > 0"
TABLE = (
    Row("patterns-complete", PROVED, (PATTERNS,), complete),
    Row("fit", PROVED, (FIT, DUAL), one_fit),
    Row("ggp", PROVED, (GROUPS,), answer(GROUPS, True, UNIQUE)),
    Row("ggp", REFUTED, (GROUPS,), answer(GROUPS, False, "no group general position")),
    Row("general-position", PROVED, (COLUMNS,), answer(COLUMNS, True, "the columns are in general position")),
    Row("general-position", REFUTED, (COLUMNS,), answer(COLUMNS, False, "the columns are not in general position")),
    Row("breakpoints", PROVED, (CURVE,), breakpoints),
    Row("curve", PROVED, (CURVE,), curve),
)
