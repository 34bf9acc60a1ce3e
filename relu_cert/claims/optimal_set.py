"""Claims about the set of all optimal networks: the polytope of their weights, read off its vertices."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial

from relu_cert.claims.claim import Answer, claim, proved, undecided
from relu_cert.figures import at_most, enclosed_number, short
from relu_cert.prove.facts import Facts
from relu_cert.prove.polytope.polytope import Polytope

SHOWN = 4


@claim(
    "optimal-set",
    "The set of all optimal networks is known: its neurons, its dimension, all its vertices and edges.",
    variants=("free",),
    zero="lambda >= lambda_max: the zero network alone.",
)
def optimal_set(facts: Facts) -> Answer:
    """The neurons tied at lambda (E), those that some solution uses (S), and the polytope of their weights
    (prop:sol-fn-cgl with the canonical dual vectors)."""
    found = facts.polytope
    if found is None:
        return _why_unlisted(facts)
    neurons, network, _ = _nouns(facts)
    shape = _shape(found) if found.dimension else f"one {network}"
    tied = f"E: {_count(found.tied, neurons[:-1], neurons)} tied at lambda"
    return proved(_evidence(found), f"{tied}, S: {len(found.used)} can be active; {shape}.")


@claim(
    "minimal",
    "All minimal networks are known, and no optimal network is narrower than m*.",
    variants=("free",),
    zero="lambda >= lambda_max: the zero network alone, m* = M* = 0.",
)
def minimal(facts: Facts) -> Answer:
    """The numbers of neurons of all vertices (prop:minimal-solutions, cor:minimal-unique).

    A network is minimal iff the outputs of its neurons are independent, that is iff it is a vertex. A network with the
    fewest neurons of all is minimal (else it could be pruned): so no optimal network has fewer than m* neurons.
    """
    found = facts.polytope
    if found is None:
        return _why_unlisted(facts)
    widths = found.widths
    _, one, many = _nouns(facts)
    networks = [f"{_count(widths.count(m), one, many)} of width {m}" for m in sorted(set(widths))]
    return proved(_evidence(found), f"m* = {found.m_star}, M* = {found.M_star}; minimal: {', '.join(networks)}.")


@dataclass(frozen=True)
class Step:
    """The optimal networks of one width: isolated ones, and other components."""

    width: int
    isolated: int
    others: int


@claim(
    "connected",
    "For every width the connected components of the set of optimal networks are known.",
    applies=lambda facts: facts.problem.network is not None,
    refused=lambda problem: "" if problem.network else "it is about ReLU networks over all patterns",
    zero="lambda >= lambda_max: one network of every width, the zero one.",
)
def connected(facts: Facts) -> Answer:
    """The staircase, from m* to the width from which on the set is connected. It is about the parameters of neurons
    that can be split and reordered: ReLU networks.

    The set of optimal networks of width m, as points ((W_1i, w_2i))_i, is a union of cells: a cell says which tied
    neuron stands at each of the m places; its points are the weights t_i >= 0 whose sums over equal neurons lie in the
    polytope. The vertices of a cell are vertices u of the polytope with their neurons put in different places; every
    cell has one, and cells that meet have one in common. Two of them lie in a common cell iff no place has different
    neurons. So

    * the isolated networks are the vertices of width m, in all m! orders (with a zero neuron, or two equal ones, weight
      can be moved);
    * a vertex of width < m can be carried to all places, and two of them can be joined directly iff together they have
      at most m neurons.

    The number of components is m! #{u : |u| = m} + the components of the graph on {u : |u| < m} whose edges are the
    pairs with |u + u'| <= m neurons. This gives, and sharpens, the staircase of connectivity of Kim, Mishkin and
    Pilanci (2024): finite for m = m*, with an isolated point for m = M*, none for m > M*, connected for
    m >= min(m* + M*, n + 1).
    """
    if facts.polytope is None:
        return _why_unlisted(facts)
    steps = staircase(facts.polytope)
    told = [f"width {step.width}: {_describe_set(step)}" for step in steps[:-1]]
    if len(told) > SHOWN:
        told = [*told[: SHOWN - 1], "...", told[-1]]
    detail = "; ".join([*told, f"connected from width {steps[-1].width} on"])
    return proved(f"staircase, {_evidence(facts.polytope)}", f"{detail}.")


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
    """The parts of the graph in which supports with at most m neurons together are joined."""
    parts: list[list[frozenset[int]]] = []
    for u in supports:
        near = [part for part in parts if any(len(u | v) <= m for v in part)]
        parts = [part for part in parts if part not in near] + [[u, *(v for part in near for v in part)]]
    return len(parts)


def _describe_set(step: Step) -> str:
    parts = [_count(step.isolated, "isolated network", "isolated networks")] if step.isolated else []
    if step.others:
        parts.append(_count(step.others, "connected part", "connected parts"))
    return " and ".join(parts)


@claim(
    "min-norm",
    "The optimal weights of least norm, each neuron merged, are known, exactly or within the radius.",
    zero="lambda >= lambda_max: all weights are 0.",
)
def min_norm(facts: Facts) -> Answer:
    """The shortest point of the polytope of optimal weights (prop:min-norm-program), exactly or enclosed.

    Every neuron is merged, w_a = alpha_a v_a for the tied neurons a with |v_a| = lambda, so
    |w|^2 = lambda^2 |alpha|^2. There is only one, because the norm is strictly convex.
    """
    found = facts.min_norm
    if found is None:
        return undecided(f"{facts.unsettled or 'the signs of the shortest weights are not proved'}.")
    low, high = (
        facts.lam**2 * sum((max(x + off, Fraction(0)) ** 2 for x in found.weights if x), Fraction(0))
        for off in (-found.radius, found.radius)
    )
    neurons = _nouns(facts)[0]
    active = _count(sum(map(bool, found.weights)), neurons[:-1], neurons)
    if found.radius:
        size = enclosed_number(low, high, 10)
        told = f"|w|^2 {'' if size.startswith('from') else '= '}{size} on {active}"
        return proved("enclosed", f"{told}, weights within {at_most(found.radius)}.")
    return proved("exact", f"|w|^2 = {short(high, 20)} on {active}, exactly.")


def _evidence(found: Polytope) -> str:
    """The kind of proof."""
    return "pivots over the ball" if found.bits else "exact pivots"


def _why_unlisted(facts: Facts) -> Answer:
    """What is missing."""
    return undecided(f"{facts.unlisted or facts.unsettled or 'the optimal set is not known'}.")


def _count(count: int, one: str, many: str) -> str:
    """1 vertex, 2 vertices"""
    return f"{count} {one if count == 1 else many}"


def _nouns(facts: Facts) -> tuple[str, str, str]:
    """What the solutions are made of, one of them, and several."""
    return ("groups", "solution", "solutions") if facts.problem.kind == "cgl" else ("neurons", "network", "networks")


def _shape(found: Polytope) -> str:
    kind = "" if found.nondegenerate else ", degenerate"
    parts = f"{_count(len(found.vertices), 'vertex', 'vertices')} and {_count(len(found.edges), 'edge', 'edges')}"
    return f"a polytope of dimension {found.dimension} with {parts}{kind}"
