"""A dual feasible point, by a cover: xi theta.(Zu)_+ <= lambda |u| for all u, whatever the patterns are."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from verify.cover.check import check_cover
from verify.facts import COVER, DUAL, PRIMAL, Facts, needed
from verify.problem.problem import Problem
from verify.rule import Rule, unlisted
from verify.rules.value import Dual
from verify.text import Node, Vector

MOST_BITS = 4096


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """Reject unless the cover proves theta dual feasible."""
    fields = node.record("theta", "proof")
    node.require(facts.get(DUAL) is None, "one proof of the dual point, by `dual`, `cover` or `leaders`", "two")
    theta = read_theta(problem, facts, fields["theta"])
    if problem.free or problem.logistic:
        from verify.problem.variants import check_point

        check_point(problem, theta, fields["theta"])
    return Facts({DUAL: Dual(theta), COVER: check_cover(problem, theta, problem.lam**2, fields["proof"])})


def read_theta(problem: Problem, facts: Facts, node: Node) -> Vector:
    """A vector; or tau (floor(r_k 2^bits) / 2^bits + m_k) with r the residual of `primal` and the moves m."""
    if not isinstance(node.value, dict):
        return node.vector(len(problem.y))
    fields = node.record("tau", "bits", optional=("moves",))
    tau, bits = fields["tau"].number(), fields["bits"].index(MOST_BITS)
    fit = needed(facts.get(PRIMAL), "primal", node).fit
    theta = [Fraction(floor((y_k - f_k) * 2**bits), 2**bits) for y_k, f_k in zip(problem.y, fit, strict=True)]
    for entry in fields["moves"].array() if "moves" in fields else ():
        k, m = entry.array(2)
        theta[k.index(len(problem.y))] += m.number()
    return tuple(tau * t for t in theta)


RULE = Rule((DUAL, COVER), check, applies=unlisted, bags=True)
