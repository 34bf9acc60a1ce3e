"""The polytope of optimal weights: all of it, its vertices, how they hang together, its shortest point."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from verify.claims import PROVED, Row
from verify.claims.unique import beyond
from verify.facts import LAMBDA_MAX, POLYTOPE, SHORTEST, Facts
from verify.problem.problem import Problem
from verify.text import Node, show

if TYPE_CHECKING:
    from verify.rules.polytope import Polytope

SHOWN = 12


def listed(problem: Problem, facts: Facts, node: Node) -> str:
    """E, S and the polytope, with all its vertices and edges."""
    found = facts[POLYTOPE]
    kind = "nondegenerate" if found.nondegenerate else "degenerate"
    return (
        f"neurons tied at lambda (E): {found.tied}, that can be active (S): {len(found.used)}; their weights form a "
        f"{kind} polytope of dimension {found.dimension} (vertices: {len(found.vertices)}, edges: {len(found.edges)})"
    )


def minimal(problem: Problem, facts: Facts, node: Node) -> str:
    """Minimal networks are the vertices (prop:minimal-solutions). A network with the fewest neurons is minimal,
    because a point with dependent outputs can lose a neuron: so no optimal network is narrower than m*."""
    widths = facts[POLYTOPE].widths
    counts = ", ".join(f"{widths.count(m)} of width {m}" for m in sorted(set(widths)))
    return f"minimal networks: {counts}; m* = {min(widths)}, M* = {max(widths)}; no optimal network is narrower than m*"


def about_neurons(problem: Problem, node: Node) -> None:
    """The claim `connected` is about the parameters of neurons."""
    of_relu = problem.model == "relu" and problem.patterns is None
    node.require(of_relu, "a ReLU network over all patterns", "another problem")


def connected_at_zero(problem: Problem, facts: Facts, node: Node) -> str:
    """Zero is connected."""
    about_neurons(problem, node)
    said = "lambda >= lambda_max: for every width the zero network is the only optimal one"
    return beyond(said)(problem, facts, node)


def connected(problem: Problem, facts: Facts, node: Node) -> str:
    """The staircase of connectivity, from the supports of the vertices (FORMAT.md has the argument)."""
    about_neurons(problem, node)
    steps = staircase(facts[POLYTOPE])
    told = [f"width {m} (isolated networks: {alone}, other components: {rest})" for m, alone, rest in steps[:-1]]
    if len(told) > SHOWN:
        told = [*told[:SHOWN], "..."]
    return "; ".join([*told, f"connected for every width from {steps[-1][0]} on"])


def staircase(found: Polytope) -> list[tuple[int, int, int]]:
    """(m, isolated networks, other components) from m = m* on; the last m and every larger one: none isolated, and one.

    Isolated networks of width m are the vertices of width m, in m! orders. The other components are those of the graph
    of the vertices of width < m, in which two are joined if together they have at most m neurons. An edge of the
    polytope has at most rank + 1 neurons, so that this graph is connected for m > rank.
    """
    supports = [frozenset(support) for support in found.vertices]
    steps = []
    for m in range(min(found.widths), found.rank + 2):
        isolated = found.widths.count(m) * prod(range(1, m + 1))
        narrow = [support for support in supports if len(support) < m]
        steps.append((m, isolated, 1 if m > found.rank else components(narrow, m)))
    while len(steps) > 1 and steps[-2][1:] == (0, 1):
        steps.pop()
    return steps


def components(supports: list[frozenset[int]], m: int) -> int:
    """The number of components of the graph in which two supports are joined if their union has at most m elements."""
    rest, count = set(supports), 0
    while rest:
        count += 1
        reached = [rest.pop()]
        while reached:
            here = reached.pop()
            near = {other for other in rest if len(here | other) <= m}
            rest -= near
            reached += near
    return count


def shortest(problem: Problem, facts: Facts, node: Node) -> str:
    """The optimal weights of least norm."""
    found = facts[SHORTEST]
    active = sum(map(bool, found.weights))
    known = f"the shortest weights, each neuron merged, are known within {show(found.radius)}"
    return f"{known}; {active} of them are positive"


ONLY_ZERO = "lambda >= lambda_max: the zero network is the only one, m* = M* = 0"
TABLE = (
    Row("optimal-set", PROVED, (LAMBDA_MAX,), beyond("lambda >= lambda_max: the optimal set is the point zero")),
    Row("optimal-set", PROVED, (POLYTOPE,), listed),
    Row("minimal", PROVED, (LAMBDA_MAX,), beyond(ONLY_ZERO)),
    Row("minimal", PROVED, (POLYTOPE,), minimal),
    Row("connected", PROVED, (LAMBDA_MAX,), connected_at_zero),
    Row("connected", PROVED, (POLYTOPE,), connected),
    Row("min-norm", PROVED, (LAMBDA_MAX,), beyond("lambda >= lambda_max: all weights are zero")),
    Row("min-norm", PROVED, (SHORTEST,), shortest),
)
