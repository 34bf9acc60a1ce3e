"""What is known of a planted instance, all of it exactly, and whether an answer contradicts it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import networkx as nx

from properties.exact import polytope
from properties.exact.linalg import Vector, matvec, norm2, rank, sub
from properties.exact.patterns import patterns
from properties.exact.position import general_position
from properties.exact.problem import CGL, Block, Weights, dual_vectors
from properties.soundness import faces
from properties.soundness.case import Answer, NetworkCase
from properties.soundness.held import Held, numbers, truths, wrong
from properties.strategies import PlantedCGL, PlantedReLU, PlantedSampled
from relu_cert.claims.optimal_set import staircase

MOST_SETS = 6  # tied neurons whose sets are all tried for the shortest weights
MOST_CELLS = 400  # the components of the optimal networks of one width are counted by brute force up to here


@dataclass(frozen=True)
class Truth:
    """The optimum of an instance: r*, the tied neurons v with their outputs q, and the vertices of the optimal weights.

    `carriers` are the blocks of the convex program that carry each neuron, `problem` is the kind of the problem (one of
    `held.PROBLEMS`).
    """

    convex: CGL
    r: Vector
    v: Weights
    q: tuple[Vector, ...]
    alpha: Vector
    vertices: tuple[Vector, ...]
    carriers: tuple[tuple[int, ...], ...]
    problem: str = "direct"

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
        return self.p_unique and all(len(self.carriers[a]) == 1 for a in polytope.support(self.vertices[0]))

    @property
    def all_active(self) -> bool:
        """One network, and every neuron that ties is in it: without this it is not differentiable in lambda and y."""
        return self.p_unique and all(self.vertices[0])

    @property
    def used(self) -> tuple[int, ...]:
        """The neurons of some solution."""
        return tuple(sorted(frozenset().union(*self.supports)))

    def _blocks(self, a: int) -> list[Block]:
        return [self.convex.blocks[b] for b in self.carriers[a]]

    @cached_property
    def licq(self) -> bool:
        """At every neuron that some solution uses the tight constraints are independent, in each of its blocks, every
        hyperplane counted once."""
        return all(faces.independent(faces.tight(block, self.v[a])) for a in self.used for block in self._blocks(a))

    @cached_property
    def strict(self) -> bool:
        """Every neuron that some solution uses loses at first order wherever it leaves its face, into any block."""
        return all(faces.strict(block, self.r, self.v[a]) for a in self.used for block in self._blocks(a))

    @property
    def smooth(self) -> bool | None:
        """Differentiable in lambda and y: never without E = A, and with it where strict complementarity holds."""
        if not self.all_active:
            return False
        return True if self.strict else None

    @cached_property
    def slopes(self) -> faces.Slopes | None:
        """The derivatives, where they are known to exist and there is a neuron."""
        if not self.smooth or not self.v:
            return None
        neurons = [(self._blocks(a)[0], v) for a, v in enumerate(self.v)]
        return faces.slopes(neurons, self.vertices[0], self.r, self.convex.lam)

    @cached_property
    def known(self) -> dict[str, bool]:
        """The claims that are true, and those that are not."""
        out = {
            "p-unique": self.p_unique,
            "convex-unique": self.convex_unique,
            "e-equals-a": self.all_active,
            "licq": self.licq,
            "strict-complementarity": self.strict,
        }
        out |= {} if self.smooth is None else {"sensitivity": self.smooth}
        out |= {} if self.p_unique else {"continuous": False}  # on every interval around this lambda
        if not self.problem.startswith("relu"):
            blocks = [block.X for block in self.convex.blocks]
            columns = [tuple((x,) for x in column) for column in self.convex.columns]
            for claim, of in (("ggp", blocks), ("general-position", columns)):
                holds = general_position(of)
                out |= {} if holds is None else {claim: holds}
        return out

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


def truth_at(convex: CGL, r: Vector, problem: str) -> Truth:
    """The truth about a problem whose optimal residual is r. Blocks of a ReLU network that carry the same neuron (the
    same sign, the same v) are one."""
    found: dict[tuple[int, Vector], list[int]] = {}
    v = dual_vectors(convex, r)
    for b, u in enumerate(v):
        if norm2(u) == convex.lam2:
            key = ((-1) ** b, u) if problem.startswith("relu") else (b, ())
            found.setdefault(key, []).append(b)
    carriers = tuple(map(tuple, found.values()))
    q = tuple(matvec(convex.blocks[blocks[0]].X, v[blocks[0]]) for blocks in carriers)
    vertices = polytope.vertices(q, sub(convex.y, r))
    return Truth(convex, r, tuple(v[b[0]] for b in carriers), q, vertices[0], vertices, carriers, problem)


def truth_of_network(planted: PlantedReLU) -> Truth:
    """The truth about a planted ReLU network."""
    return truth_at(planted.problem, planted.r, "relu")


def truth_of_gated(planted: PlantedCGL) -> Truth:
    """The truth about a planted gated network."""
    return truth_at(planted.problem, planted.r, "gated")


def truth_of_direct(planted: PlantedCGL) -> Truth:
    """The truth about a planted constrained group lasso."""
    return truth_at(planted.problem, planted.r, "direct")


def truth_of_sampled(planted: PlantedSampled) -> Truth:
    """The truth about a network over some patterns."""
    return truth_at(planted.convex.problem, planted.convex.r, f"{planted.gates.model}-some")


def contradiction(answer: Answer, truth: Truth) -> str:
    """Where the answer contradicts the truth; "" if nowhere."""
    facts, said = answer.facts, answer.said
    value, fit = facts.value, facts.fit
    largest = facts.lambda_max
    if largest.squared < truth.lambda_max_squared or (largest.exact and largest.squared > truth.lambda_max_squared):
        return f"lambda_max^2 is {truth.lambda_max_squared}, not {facts.lambda_max.squared}"
    if not value.lower <= truth.value <= value.upper:
        return f"p* = {truth.value} is not in [{float(value.lower)}, {float(value.upper)}]"
    if norm2(sub(fit.center, truth.yhat)) > fit.radius_squared:
        return "the fit is not in its ball"
    if not truth.p_unique and said.get("ggp") == "PROVED":
        return "the solution is not unique, but ggp is PROVED"
    return (
        wrong(said, truth.known)
        or _wrong_patterns(answer)
        or _wrong_shortest(answer, truth)
        or _wrong_polytope(answer, truth)
        or _wrong_slopes(answer, truth)
    )


def held_against(answer: Answer, truth: Truth) -> Held:
    """What the claims of an answer are held against."""
    known = ["optimal", "fit", "patterns-complete"]
    known += ["min-norm"] if truth.shortest is not None else []
    known += ["optimal-set", "minimal"]
    known += ["connected"] if truth.components(max(1, min(map(len, truth.supports)))) is not None else []
    return numbers(known) | truths(truth.known)


def _wrong_patterns(answer: Answer) -> str:
    """Where the patterns are others than those of the enumeration by cocircuits."""
    theirs, case = answer.facts.problem.listed, answer.case
    if theirs is None or not isinstance(case, NetworkCase) or case.cover:
        return ""
    ours = patterns(case.Z)
    if {tuple(map(bool, row)) for row in theirs.array()} != set(ours.all):
        return f"there are {len(ours.all)} patterns, not these {len(theirs)}"
    if theirs.open_cells != len(ours.open):
        return f"there are {len(ours.open)} open cells, not {theirs.open_cells}"
    return ""


def _wrong_slopes(answer: Answer, truth: Truth) -> str:
    """Where the derivatives are others."""
    found, slopes = answer.facts.derivatives, truth.slopes
    if found is None or slopes is None:
        return ""
    if norm2(sub(found.by_lam.r, slopes.r_lam)) > found.radius**2:
        return f"dr/dlambda is {slopes.r_lam}, not within {float(found.radius)} of {found.by_lam.r}"
    if found.freedom is not None and abs(found.freedom - slopes.freedom) > len(truth.r) * found.radius:
        return f"there are {slopes.freedom} degrees of freedom, not {float(found.freedom)}"
    return ""


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
    if len(found.used) != len(truth.used):
        return f"{len(truth.used)} neurons are used by some solution, not {len(found.used)}"
    if not found.bits and sorted(map(sorted, found.points)) != sorted(map(sorted, truth.vertices)):
        return f"the vertices are {truth.vertices}, not {found.points}"
    if answer.said.get("connected") != "PROVED":
        return ""
    for step in staircase(found):
        parts = truth.components(step.width)
        if parts is not None and parts != step.isolated + step.others:
            return f"width {step.width} has {parts} components, not {step.isolated} + {step.others}"
    return ""
