"""optimal-set: E, S and the polytope of optimal weights (prop:sol-fn-cgl with the canonical dual vectors)."""

from __future__ import annotations

from relu_cert.claims.model import Result, Verdict
from relu_cert.prove.facts import Facts
from relu_cert.prove.polytope.model import Polytope

NAME = "optimal-set"
STATEMENT = "The set of all optimal networks is known: its neurons, its dimension, all its vertices and edges."


def applies(facts: Facts) -> bool:
    """Always."""
    return True


def decide(facts: Facts) -> Result:
    """The neurons tied at lambda (E), those that some solution uses (S), and the polytope of their weights."""
    if facts.lam**2 >= facts.lambda_max.squared:
        return Result(NAME, Verdict.PROVED, "zero", "lambda >= lambda_max: the zero network alone.")
    if facts.polytope is None:
        return undecided(NAME, facts)
    found = facts.polytope
    neurons, network, _ = nouns(facts)
    shape = _shape(found) if found.dimension else f"one {network}"
    detail = (
        f"E: {counted(found.tied, neurons[:-1], neurons)} tied at lambda, S: {len(found.used)} can be active; {shape}."
    )
    return Result(NAME, Verdict.PROVED, evidence(found), detail)


def evidence(found: Polytope) -> str:
    """The kind of proof."""
    return "pivots over the ball" if found.bits else "exact pivots"


def undecided(name: str, facts: Facts) -> Result:
    """What is missing."""
    reason = facts.unlisted or facts.unsettled or "the optimal set is not known"
    return Result(name, Verdict.UNDECIDED, "", f"{reason}.")


def counted(count: int, one: str, many: str) -> str:
    """1 vertex, 2 vertices"""
    return f"{count} {one if count == 1 else many}"


def nouns(facts: Facts) -> tuple[str, str, str]:
    """What the solutions are made of, one of them, and several."""
    return ("groups", "solution", "solutions") if facts.problem.kind == "cgl" else ("neurons", "network", "networks")


def _shape(found: Polytope) -> str:
    kind = "" if found.nondegenerate else ", degenerate"
    parts = f"{counted(len(found.vertices), 'vertex', 'vertices')} and {counted(len(found.edges), 'edge', 'edges')}"
    return f"a polytope of dimension {found.dimension} with {parts}{kind}"
