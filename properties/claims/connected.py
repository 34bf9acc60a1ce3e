"""The staircase of connectivity (Kim, Mishkin and Pilanci, 2024): which optimal networks of width m a path joins.

A network of width m is a point ((W_1, w2_1), ..., (W_m, w2_m)). It is optimal iff every place i holds a tied neuron c_i
with a weight t_i >= 0 (t_i = 0: the zero neuron, whatever c_i is) and the weights of each neuron add up to a point of
the polytope {alpha >= 0 : sum alpha_a q_a = yhat}. So the set is a union of cells, one for every word c of m neurons,
each a polytope; two cells meet iff yhat is a non-negative combination of the outputs at the places where they agree.

`by_cells` lists all words, decides by exact linear feasibility which cells are there and which meet, and knows from its
vertices whether a component is one point. `by_vertices` is the formula: the isolated networks are the vertices with m
neurons in all m! orders; the vertices u with fewer neurons are joined directly iff two together have at most m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import factorial

import networkx as nx
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from properties.exact.cone import feasible
from properties.exact.linalg import Vector, mat, rank, vec
from properties.exact.polytope import support, vertices
from properties.model import Claim, Outcome, Property, Slip, Witness, expect, first_failure, vacuous
from properties.strategies import PlantedCGL, PlantedReLU, plant_relu, planted_antipodal, planted_box, planted_cgl
from properties.strategies import planted_relu as any_relu

LABEL = "connected: the staircase"
STATEMENT = (
    "Optimal networks of width m: finitely many for m = m*, an isolated one for m = M*, none for m > M*, "
    "connected for m >= min(m* + M*, n + 1)."
)
SHARPER = (
    "They have m! #{u : |u| = m} isolated points and as many other components as the graph of the vertices with "
    "|u| < m, joined where |u + v| <= m; one component for m >= min(m* + M*, rank + 1)."
)
MOST_CELLS = 256

Word = tuple[int, ...]
Count = tuple[int, int]  # isolated points, other components


@dataclass(frozen=True)
class Configuration:
    """The outputs q_a of the tied neurons, and the fit."""

    q: tuple[Vector, ...]
    yhat: Vector

    @property
    def supports(self) -> tuple[frozenset[int], ...]:
        """The neurons of every vertex."""
        return tuple(frozenset(support(alpha)) for alpha in vertices(self.q, self.yhat))


@dataclass(frozen=True)
class Staircase:
    """A planted problem and, for m = 0, 1, ..., the isolated points and other components of its networks of width m."""

    planted: PlantedReLU | PlantedCGL
    steps: tuple[Count, ...]


def configuration(planted: PlantedReLU | PlantedCGL) -> Configuration:
    """The tied neurons of a planted problem."""
    if isinstance(planted, PlantedReLU):
        return Configuration(planted.q, planted.yhat)
    return Configuration(tuple(planted.q[b] for b in planted.E), planted.yhat)


def by_cells(c: Configuration, m: int) -> Count:
    """From all cells of width m."""

    @cache
    def carries(chosen: frozenset[int]) -> bool:
        return feasible([c.q[a] for a in chosen], c.yhat) is not None

    cells = {word: corners(c, word) for word in product(range(len(c.q)), repeat=m)}
    graph: nx.Graph[Word] = nx.Graph()
    graph.add_nodes_from(cells)  # a word without corners has no cell: it touches no other and counts nowhere
    for word, other in combinations(graph, 2):
        if carries(frozenset(a for a, b in zip(word, other, strict=True) if a == b)):
            graph.add_edge(word, other)
    parts = [len(set().union(*(cells[word] for word in part))) for part in nx.connected_components(graph)]
    return sum(size == 1 for size in parts), sum(size > 1 for size in parts)


def corners(c: Configuration, word: Word) -> set[tuple[tuple[int, int, Fraction], ...]]:
    """The vertices of a cell as networks: (place, neuron, weight) where the weight is not zero."""
    found = vertices([c.q[a] for a in word], c.yhat)
    return {tuple((i, word[i], t) for i, t in enumerate(weights) if t) for weights in found}


def by_vertices(supports: Sequence[frozenset[int]], m: int) -> Count:
    """By the formula."""
    narrow = [u for u in supports if len(u) < m]
    graph: nx.Graph[frozenset[int]] = nx.Graph()
    graph.add_nodes_from(narrow)
    graph.add_edges_from((u, v) for u, v in combinations(narrow, 2) if len(u | v) <= m)
    isolated = factorial(m) * sum(len(u) == m for u in supports)
    return isolated, nx.number_connected_components(graph)


def widths(c: Configuration) -> range:
    """All widths up to the one from which on the set is connected, as far as the cells can be listed."""
    return range(1 + max(m for m in range(len(c.yhat) + 2) if len(c.q) ** m <= MOST_CELLS))


def climbed(planted: PlantedReLU | PlantedCGL) -> Staircase:
    """The planted problem with its steps, counted from the cells."""
    c = configuration(planted)
    return Staircase(planted, tuple(by_cells(c, m) for m in widths(c)))


def steps_are_right(s: Staircase) -> Outcome:
    """Every width by its cells, again."""
    again = climbed(s.planted).steps
    return expect(s.steps == again, f"the steps are {again}, not {s.steps}")


def check(s: Staircase) -> Outcome:
    """The printed steps."""
    c = configuration(s.planted)
    if not any(c.yhat):
        return first_failure(vacuous("only the zero network"), steps_are_right(s))
    sizes = sorted(map(len, c.supports))
    least, largest = sizes[0], sizes[-1]
    connected = min(least + largest, len(c.yhat) + 1)
    outcomes = []
    for m, (isolated, others) in enumerate(s.steps):
        told = f"width {m}: {isolated} isolated points and {others} other components; m* = {least}, M* = {largest}"
        outcomes += [
            expect(m >= least or (isolated, others) == (0, 0), f"{told}: too narrow"),
            expect(m != least or (isolated > 0 and others == 0), f"{told}: not finite"),
            expect(m != largest or isolated > 0, f"{told}: none isolated"),
            expect(m <= largest or isolated == 0, f"{told}: an isolated one"),
            expect(m < connected or isolated + others == 1, f"{told}: not connected"),
        ]
    return first_failure(*outcomes, steps_are_right(s))


def check_formula(s: Staircase) -> Outcome:
    """The formula and the sharper last step, width by width."""
    c = configuration(s.planted)
    if not any(c.yhat):
        return first_failure(vacuous("only the zero network"), steps_are_right(s))
    supports = c.supports
    sizes = sorted(map(len, supports))
    connected = min(sizes[0] + sizes[-1], rank(c.q) + 1)
    outcomes = []
    for m, cells in enumerate(s.steps):
        formula = by_vertices(supports, m)
        outcomes += [
            expect(m < connected or sum(cells) == 1, f"width {m} is not connected"),
            expect(cells == formula, f"width {m}: (isolated, others) = {cells} by the cells, {formula} by the formula"),
        ]
    return first_failure(*outcomes, steps_are_right(s))


def apart_at_the_largest(s: Staircase) -> Outcome:
    """The set of width M* has two components or more."""
    largest = max(map(len, configuration(s.planted).supports))
    return expect(sum(s.steps[largest]) > 1, f"M* = {largest}, and there is one network of this width")


def instances() -> SearchStrategy[Staircase]:
    """Planted networks with up to five tied neurons, and polytopes of any shape as group lassos."""
    networks = st.one_of(planted_box(max_d=2), planted_antipodal(max_n=4), any_relu(max_n=4))
    lassos = planted_cgl(max_size=1, max_n=3, max_active=5, max_inactive=0, min_active=2, constrained=False)
    return st.one_of(lassos, networks, lassos).filter(lambda planted: len(configuration(planted).q) <= 5).map(climbed)


def _one_point() -> PlantedReLU:
    found = plant_relu(mat([[1]]), vec([1]), (2,))
    if found is None:
        raise ArithmeticError("the neuron u = 1 ties")
    return found


CLAIM = Claim(
    LABEL,
    "Paths between optimal networks",
    Property(STATEMENT, instances(), check),
    repaired=Property(SHARPER, instances(), check_formula),
    slips=(
        Slip(
            "an isolated network of width M* makes the set disconnected",
            apart_at_the_largest,
            Witness("Z = 1, y = 3, lambda = 1", climbed(_one_point())),
        ),
    ),
)
