"""What is known of a planted instance, all of it exactly, and whether an answer contradicts it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import networkx as nx

from properties.exact import polytope
from properties.exact.linalg import Vector, dot, norm2, rank, scale, sub
from properties.exact.problem import CGL, dual_vectors
from properties.soundness.case import Answer
from properties.strategies import PlantedCGL, PlantedReLU
from relu_cert.claims.connected import staircase

MOST_SETS = 6  # tied neurons whose sets are all tried for the shortest weights
MOST_CELLS = 400  # the components of the optimal networks of one width are counted by brute force up to here


@dataclass(frozen=True)
class Truth:
    """The optimum of an instance: r*, the outputs q of the tied neurons, and the vertices of the optimal weights.

    `carriers` are how many blocks of the convex program carry each neuron; `tight` the constraints tight at it, each
    half-space, or hyperplane of the data, once (None: not worked out).
    """

    convex: CGL
    r: Vector
    q: tuple[Vector, ...]
    alpha: Vector
    vertices: tuple[Vector, ...]
    carriers: tuple[int, ...]
    tight: tuple[frozenset[Vector], ...] | None = None

    @property
    def yhat(self) -> Vector:
        """The fit."""
        return sub(self.convex.y, self.r)

    @property
    def value(self) -> Fraction:
        """p* = 1/2 |r|^2 + lambda^2 sum alpha"""
        return norm2(self.r) / 2 + self.convex.lam2 * sum(self.alpha, Fraction(0))

    @cached_property
    def lambda_max_squared(self) -> Fraction:
        """max_b |Proj_{C_b}(X_b'y)|^2"""
        return max(norm2(v) for v in dual_vectors(self.convex, self.convex.y))

    @property
    def p_unique(self) -> bool:
        """One optimal network."""
        return len(self.vertices) == 1

    @property
    def convex_unique(self) -> bool:
        """One solution of the convex program: one network, and every neuron of it in one block."""
        return self.p_unique and all(self.carriers[a] == 1 for a in polytope.support(self.vertices[0]))

    @property
    def all_active(self) -> bool:
        """One network, and every neuron that ties is in it: without this it is not differentiable in lambda and y."""
        return self.p_unique and all(self.vertices[0])

    @property
    def licq(self) -> bool | None:
        """At every neuron that some solution uses the tight constraints are independent."""
        if self.tight is None:
            return None
        used = frozenset().union(*self.supports)
        return all(rank(list(self.tight[a])) == len(self.tight[a]) for a in used if self.tight[a])

    @property
    def smooth(self) -> bool | None:
        """Differentiable in lambda and y: never without E = A, and with it where no constraint is tight."""
        if not self.all_active:
            return False
        return True if self.tight is not None and not any(self.tight) else None

    @cached_property
    def supports(self) -> tuple[frozenset[int], ...]:
        """The neurons of every vertex."""
        return tuple(frozenset(polytope.support(alpha)) for alpha in self.vertices)

    @cached_property
    def shortest(self) -> Vector | None:
        """The weights of least norm, each neuron once; None if there are too many neurons to try all sets of them."""
        return polytope.least_norm(self.q, self.yhat) if len(self.q) <= MOST_SETS else None

    @property
    def edges(self) -> int:
        """Pairs of vertices whose neurons have outputs with a single dependence."""
        return sum(
            rank([self.q[a] for a in u | v]) == len(u | v) - 1
            for i, u in enumerate(self.supports)
            for v in self.supports[:i]
        )

    def components(self, m: int) -> int | None:
        """The components of the set of optimal networks of width m, from all its cells; None if these are too many.

        A cell says which tied neuron stands at each place. It is there if its neurons carry a vertex, and two of them
        meet if the neurons on which they agree carry one.
        """
        if len(self.q) ** m > MOST_CELLS:
            return None
        carry = {
            chosen: any(u <= chosen for u in self.supports)
            for c in product(range(len(self.q)), repeat=m)
            for chosen in [frozenset(c)]
        }
        cells = [c for c in product(range(len(self.q)), repeat=m) if carry[frozenset(c)]]
        graph: nx.Graph[tuple[int, ...]] = nx.Graph()
        graph.add_nodes_from(cells)
        for i, c in enumerate(cells):
            for other in cells[:i]:
                agreed = frozenset(a for a, b in zip(c, other, strict=True) if a == b)
                if any(u <= agreed for u in self.supports):
                    graph.add_edge(c, other)
        return int(nx.number_connected_components(graph))


def truth_of_network(planted: PlantedReLU) -> Truth:
    """The truth about a planted ReLU network."""
    carriers = tuple(len(blocks) for blocks in planted.carriers)
    tight = tuple(
        frozenset(scale(1 / _lead(z), z) for z in planted.Z if any(z) and not dot(z, v)) for _, v in planted.neurons
    )
    return Truth(planted.problem, planted.r, planted.q, planted.alpha, planted.vertices, carriers, tight)


def truth_of_direct(planted: PlantedCGL) -> Truth:
    """The truth about a planted constrained group lasso (gated networks are one)."""
    E = planted.E
    vertices = tuple(tuple(alpha[b] for b in E) for alpha in planted.vertices)
    q, alpha = tuple(planted.q[b] for b in E), tuple(planted.alpha[b] for b in E)
    cones = {b: [k for k in planted.problem.blocks[b].K if any(k) and not dot(k, planted.v[b])] for b in E}
    tight = tuple(frozenset(scale(1 / abs(_lead(k)), k) for k in cones[b]) for b in E)
    return Truth(planted.problem, planted.r, q, alpha, vertices, (1,) * len(E), tight)


def _lead(a: Vector) -> Fraction:
    """The first entry that is not 0."""
    return next(x for x in a if x)


def contradiction(answer: Answer, truth: Truth) -> str:
    """Where the answer contradicts the truth; "" if nowhere."""
    facts, said = answer.facts, answer.said
    value, fit = facts.value, facts.fit
    if facts.lambda_max.squared != truth.lambda_max_squared:
        return f"lambda_max^2 is {truth.lambda_max_squared}, not {facts.lambda_max.squared}"
    if not value.lower <= truth.value <= value.upper:
        return f"p* = {truth.value} is not in [{float(value.lower)}, {float(value.upper)}]"
    if norm2(sub(fit.center, truth.yhat)) > fit.radius_squared:
        return "the fit is not in its ball"
    known = {"p-unique": truth.p_unique, "convex-unique": truth.convex_unique, "e-equals-a": truth.all_active}
    known |= {} if truth.licq is None else {"licq": truth.licq}
    for claim, holds in known.items():
        if said.get(claim) == ("REFUTED" if holds else "PROVED"):
            return f"{claim} is {said[claim]}, but it {'holds' if holds else 'does not hold'}"
    if said.get("sensitivity") == ("REFUTED" if truth.smooth else "PROVED") and truth.smooth is not None:
        return f"sensitivity is {said['sensitivity']}, but the conditions say otherwise"
    if not truth.p_unique and "PROVED" in (said.get("ggp"), said.get("continuous")):
        return "the solution is not unique, but ggp or continuous is PROVED"
    return _wrong_shortest(answer, truth) or _wrong_polytope(answer, truth)


def _wrong_shortest(answer: Answer, truth: Truth) -> str:
    """Where the weights of least norm are others; they are compared in order of size."""
    found, shortest = answer.facts.min_norm, truth.shortest
    if found is None or shortest is None:
        return ""
    size = max(len(found.weights), len(shortest))
    ours, theirs = (sorted((*w, *[Fraction(0)] * (size - len(w)))) for w in (shortest, found.weights))
    if any(abs(a - b) > found.radius for a, b in zip(ours, theirs, strict=True)):
        return f"the shortest weights are {shortest}, not within {float(found.radius)} of {found.weights}"
    return ""


def _wrong_polytope(answer: Answer, truth: Truth) -> str:
    """Where the listed polytope is another one."""
    found = answer.facts.polytope
    if found is None:
        return ""
    ours = sorted(len(u) for u in truth.supports)
    if sorted(found.widths) != ours:
        return f"the vertices have widths {ours}, not {sorted(found.widths)}"
    if found.dimension != polytope.dimension(truth.vertices):
        return f"the optimal set has dimension {polytope.dimension(truth.vertices)}, not {found.dimension}"
    if len(found.edges) != truth.edges:
        return f"the optimal set has {truth.edges} edges, not {len(found.edges)}"
    if found.tied != len(truth.q):
        return f"{len(truth.q)} neurons are tied at lambda, not {found.tied}"
    if len(found.used) != len(frozenset().union(*truth.supports)):
        return f"{len(found.used)} neurons are used by some solution: wrong"
    if answer.said.get("connected") != "PROVED":
        return ""
    for step in staircase(found):
        parts = truth.components(step.width)
        if parts is not None and parts != step.isolated + step.others:
            return f"width {step.width} has {parts} components, not {step.isolated} + {step.others}"
    return ""
