"""The claims, in tables of rows: each row is a way to prove or to refute one. A table is loaded for its claims only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

from verify.errors import Rejected
from verify.facts import Fact, Facts
from verify.problem.problem import Problem
from verify.text import Node

PROVED, REFUTED, UNDECIDED = VERDICTS = ("PROVED", "REFUTED", "UNDECIDED")
NETWORK = "objective optimal own-optimal stationary balanced merged independent prune directions nearest"
TABLES = {
    "optimal": ("optimal",),
    "single": ("patterns-complete", "fit", "ggp", "general-position", "breakpoints", "curve"),
    "unique": ("p-unique", "convex-unique"),
    "polytope": ("optimal-set", "minimal", "connected", "min-norm"),
    "paths": ("continuous", "set-continuous", "min-norm-continuous"),
    "neurons": ("e-equals-a", "licq", "strict-complementarity", "sensitivity"),
    "solution": ("solution-optimal",),
    "network": tuple(f"network-{name}" for name in NETWORK.split()),
}
CLAIMS = tuple(claim for claims in TABLES.values() for claim in claims)
SEVERAL = {"optimal", "fit", "p-unique", "optimal-set", "minimal", "connected", "min-norm", "e-equals-a"}
SEVERAL |= {"network-objective", "network-optimal", "network-stationary", "network-balanced"}
Says = Callable[[Problem, Facts, Node], str]


@dataclass(frozen=True)
class Row:
    """A way to the verdict, on the ground of the facts of `rests`: `says` in words what they prove, or rejects."""

    claim: str
    verdict: str
    rests: tuple[Fact[Any], ...]
    says: Says


def rows(claim: str, verdict: str) -> list[Row]:
    """The ways to this verdict."""
    table = next(table for table, claims in TABLES.items() if claim in claims)
    found: tuple[Row, ...] = resolve_name(f"verify.claims.{table}:TABLE")
    return [row for row in found if (row.claim, row.verdict) == (claim, verdict)]


def way(problem: Problem, facts: Facts, claim: str, verdict: str, node: Node) -> tuple[str, str]:
    """In words what the facts prove about the claim, and which; rejected if they do not prove the verdict."""
    if problem.targets > 1 and claim not in SEVERAL:
        raise node.reject("a claim about networks with several outputs", claim)
    ways = rows(claim, verdict)
    missing = [[fact.name for fact in row.rests if facts.get(fact) is None] for row in ways]
    if verdict == UNDECIDED and [] not in missing:
        return "nothing is claimed", ""
    Node(verdict, node, "verdict").require(ways, f"PROVED or UNDECIDED, because nothing can refute {claim}")
    one_of = " or ".join(dict.fromkeys(names[0] for names in missing if names))
    reason = node.reject(f"the fact {one_of}, which this rests on", "none")
    for row in (row for row, names in zip(ways, missing, strict=True) if not names):
        try:
            return row.says(problem, facts, node), ", ".join(fact.name for fact in row.rests)
        except Rejected as error:
            reason = error
    raise reason
