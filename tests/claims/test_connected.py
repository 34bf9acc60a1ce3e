"""optimal-set, minimal and connected: the ledger's instances, and the staircase against the union of all cells."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import networkx as nx
import pytest
from hypothesis import given, settings

from properties.exact import polytope as truth
from properties.exact.linalg import Vector, mat, vec
from properties.strategies import PlantedReLU, plant_relu, planted_box
from relu_cert.claims.optimal_set import Step, staircase
from relu_cert.prove.polytope.polytope import Polytope
from relu_cert.prove.polytope.shortest import shortest
from relu_cert.prove.polytope.walk import exact_start, exact_system, walk
from tests.prove.test_polytope_planted import direct, settled

BOX = mat([[3, 0], [-3, 0], [0, 4], [0, -4]])


def listed(outputs: tuple[Vector, ...], fit: Vector, start: tuple[int, ...]) -> Polytope:
    """The polytope of weights of exactly known outputs."""
    system = exact_system(outputs, fit)
    found = walk(system, exact_start(system, start), 10_000)
    points = tuple(tuple(p.get(a, Fraction(0)) for a in range(len(outputs))) for p in found.points.values())
    used = sorted({a for support in found.points for a in support})
    return Polytope(
        0,
        found.tilt,
        found.bases,
        tuple(found.points),
        points,
        found.edges,
        shortest(system, list(found.points.values())),
        len(outputs),
        int(system.on(used).rank()),
    )


def of(planted: PlantedReLU) -> Polytope:
    """The polytope of a planted network."""
    return listed(planted.q, planted.yhat, truth.support(planted.vertices[0]))


def cells(planted: PlantedReLU, m: int) -> int:
    """The number of components of the set of optimal networks of width m, from the definition.

    A cell says which neuron stands at each place; two cells meet iff the weights can be zero where they differ.
    """
    neurons = range(len(planted.q))
    graph = nx.Graph()

    def there(places: tuple[int, ...]) -> bool:
        return bool(truth.vertices([planted.q[a] for a in sorted(set(places))], planted.yhat))

    full = [c for c in product(neurons, repeat=m) if there(c)]
    graph.add_nodes_from(full)
    graph.add_edges_from(
        (c, e) for c, e in combinations(full, 2) if there(tuple(a for a, b in zip(c, e, strict=True) if a == b))
    )
    return int(nx.number_connected_components(graph))


def expected(found: Polytope, m: int) -> int:
    """The number of components that the staircase says."""
    steps = staircase(found)
    step = next((step for step in steps if step.width == m), None)
    return step.isolated + step.others if step else (0 if m < found.m_star else 1)


def box(*weights: int) -> PlantedReLU:
    """The rectangle with sides 3 and 4: four neurons (+-3, +-4) tie."""
    planted = plant_relu(BOX, vec([1, 1, 1, 1]), weights)
    assert planted is not None
    return planted


@pytest.mark.parametrize("weights", [(1, 0, 0, 1), (1, 1, 1, 1), (1, 0, 0, 0), (2, 1, 0, 0), (1, 2, 3, 1)])
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_the_staircase_counts_the_components(weights: tuple[int, ...], m: int) -> None:
    """For every width the number of components is that of the union of all cells, built from the definition."""
    planted = box(*weights)
    assert expected(of(planted), m) == cells(planted, m)


@settings(max_examples=15, derandomize=True, deadline=None)
@given(planted_box(max_d=2))
def test_the_staircase_on_any_box(planted: PlantedReLU) -> None:
    """The same for rotated boxes with any weights, at widths 2 and 3."""
    if any(planted.yhat):
        assert [expected(of(planted), m) for m in (2, 3)] == [cells(planted, m) for m in (2, 3)]


def test_the_staircase_of_the_rectangle() -> None:
    """Two vertices of width 2 without a common neuron: four points, then two parts, connected from m* + M* = 4 on."""
    assert staircase(of(box(1, 0, 0, 1))) == (Step(2, 4, 0), Step(3, 0, 2), Step(4, 0, 1))


def test_ledger_m_star_is_not_the_span() -> None:
    """Z = ((3,0),(-3,0),(0,4),(0,-4)), y = (10,10,17,17), lambda = 5: m* = 2, though the outputs span 3 dimensions."""
    found = of(box(1, 0, 0, 1))
    assert box(1, 0, 0, 1).y == vec([10, 10, 17, 17])
    assert (found.m_star, found.M_star, found.rank, found.dimension) == (2, 2, 3, 1)
    assert not found.nondegenerate
    assert nx.number_of_edges(found.graph()) == 1


def test_ledger_minimal_networks_of_different_widths() -> None:
    """X = [1 -1 0; 1 1 1], y = (0,3), lambda = 1: the minimal solutions are (0,0,2) and (1,1,0)."""
    from properties.exact.problem import problem

    facts = settled(direct(problem([[1, -1, 0], [1, 1, 1]], [1, 1, 1], [0, 3], 1)), Fraction(1))
    found = facts.polytope
    assert found is not None
    assert sorted(found.points) == [vec([0, 0, 2]), vec([1, 1, 0])]
    assert (found.m_star, found.M_star, found.dimension, found.nondegenerate) == (1, 2, 1, False)
    assert found.min_norm is not None
    assert found.min_norm.weights == vec(["2/3", "2/3", "2/3"])


def test_the_cube_by_parity() -> None:
    """Eight points of a cube in R^3, all weights 1: the vertices are found by brute force too; 4 neurons are enough."""
    corners = tuple((Fraction(1), *map(Fraction, c)) for c in product((0, 1), repeat=3))
    fit = tuple(sum(column, Fraction(0)) for column in zip(*corners, strict=True))
    vertices = truth.vertices(corners, fit)
    found = listed(corners, fit, truth.support(vertices[0]))
    assert sorted(found.points) == sorted(vertices)
    assert found.m_star == min(len(truth.support(v)) for v in vertices) == 2
    assert found.M_star == 4
    assert found.dimension == 4
    assert nx.is_connected(found.graph())
