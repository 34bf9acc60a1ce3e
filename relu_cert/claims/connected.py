"""connected: which optimal ReLU networks of width m can be joined by a path of optimal networks, for every m.

The set of optimal networks of width m, as points ((W_1i, w_2i))_i, is a union of cells: a cell says which tied neuron
stands at each of the m places; its points are the weights t_i >= 0 whose sums over equal neurons lie in the polytope.
The vertices of a cell are vertices u of the polytope with their neurons put in different places; every cell has one,
and cells that meet have one in common. Two of them lie in a common cell iff no place has different neurons. So

* the isolated networks are the vertices of width m, in all m! orders (with a zero neuron, or two equal ones, weight can
  be moved);
* a vertex of width < m can be carried to all places, and two of them can be joined directly iff together they have at
  most m neurons.

The number of components is m! #{u : |u| = m} + the components of the graph on {u : |u| < m} whose edges are the pairs
with |u + u'| <= m neurons. This gives, and sharpens, the staircase of connectivity of Kim, Mishkin and Pilanci (2024):
finite for m = m*, with an isolated point for m = M*, none for m > M*, connected for m >= min(m* + M*, n + 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import networkx as nx

from relu_cert.claims.model import Result, Verdict
from relu_cert.claims.optimal_set import counted, evidence, undecided
from relu_cert.prove.facts import Facts
from relu_cert.prove.polytope.model import Polytope

NAME = "connected"
STATEMENT = "For every width the connected components of the set of optimal networks are known."
SHOWN = 4


@dataclass(frozen=True)
class Step:
    """The optimal networks of one width: isolated ones, and other components."""

    width: int
    isolated: int
    others: int


def applies(facts: Facts) -> bool:
    """ReLU networks: the claim is about the parameters of neurons that can be split and reordered."""
    return facts.problem.model == "relu"


def decide(facts: Facts) -> Result:
    """The staircase, from m* to the width from which on the set is connected."""
    if facts.lam**2 >= facts.lambda_max.squared:
        return Result(NAME, Verdict.PROVED, "zero", "lambda >= lambda_max: one network of every width, the zero one.")
    if facts.polytope is None:
        return undecided(NAME, facts)
    steps = staircase(facts.polytope)
    told = [f"width {step.width}: {_told(step)}" for step in steps[:-1]]
    if len(told) > SHOWN:
        told = [*told[: SHOWN - 1], "...", told[-1]]
    detail = "; ".join([*told, f"connected from width {steps[-1].width} on"])
    return Result(NAME, Verdict.PROVED, f"staircase, {evidence(facts.polytope)}", f"{detail}.")


def staircase(found: Polytope) -> tuple[Step, ...]:
    """The steps from m* on; for the last width and all larger ones nothing is isolated and there is one component."""
    steps = []
    for m in range(found.m_star, found.rank + 2):
        narrow = [frozenset(support) for support in found.vertices if len(support) < m]
        # An edge of the polytope has at most rank + 1 neurons: beyond that its graph joins everything.
        others = 1 if m > found.rank else _components(narrow, m)
        steps.append(Step(m, found.widths.count(m) * factorial(m), others))
    while len(steps) > 1 and (steps[-2].isolated, steps[-2].others) == (0, 1):
        steps.pop()
    return tuple(steps)


def _components(supports: list[frozenset[int]], m: int) -> int:
    graph = nx.Graph()
    graph.add_nodes_from(supports)
    graph.add_edges_from((u, v) for i, u in enumerate(supports) for v in supports[:i] if len(u | v) <= m)
    return int(nx.number_connected_components(graph))


def _told(step: Step) -> str:
    parts = [counted(step.isolated, "isolated network", "isolated networks")] if step.isolated else []
    if step.others:
        parts.append(f"{step.others} {'connected part' if step.others == 1 else 'connected parts'}")
    return " and ".join(parts)
