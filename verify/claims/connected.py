"""connected: for each width m, the connected components of the set of optimal ReLU networks of width m."""

from __future__ import annotations

from math import prod

from verify.claims.optimal_set import all_networks
from verify.facts import Facts
from verify.polytope import Polytope
from verify.problem import Problem
from verify.text import Node

SHOWN = 12


def connected(problem: Problem, facts: Facts, node: Node) -> str:
    """PROVED: the staircase of connectivity, from the supports of the vertices (FORMAT.md has the argument)."""
    if problem.model != "relu" or problem.patterns is not None:
        raise node.reject("a ReLU network over all patterns: the claim is about the parameters of its neurons")
    found = all_networks(problem, facts, node)
    if found is None:
        return "lambda >= lambda_max: for every width the zero network is the only optimal one"
    steps = staircase(found)
    told = [f"width {m}: {isolated} isolated networks, {others} other components" for m, isolated, others in steps[:-1]]
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
