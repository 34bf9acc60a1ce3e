"""All vertices and edges of the polytope {alpha >= 0 : F alpha = g} of optimal weights; its shortest point.

FORMAT.md has the argument: a set of bases that no pivot leaves holds every vertex, because the graph of a polytope is
connected. Where vertices are degenerate, g is tilted a little, so that ties are broken. Everything is said of every F
and g within the errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import fmpq

from verify.facts import NEURONS, POLYTOPE, SET, SHORTEST, Facts
from verify.numbers.bounds import fraction, rational
from verify.problem.problem import Problem
from verify.rule import Rule
from verify.sets.shortest import Shortest, check_shortest, weights
from verify.sets.solutions import OptimalSet, System, lifted
from verify.sets.system import MOST_BITS, chosen, on_grid, restricted, tableau
from verify.text import Node, Vector

Basis = tuple[int, ...]
Scalar = Any  # fmpq, or a Number of a field: exact numbers that mix with rationals
Row = list[Scalar]


@dataclass(frozen=True)
class Polytope:
    """`vertices` are the supports of the minimal networks, by the numbers of the classes; `edges` join their numbers.

    `rank` is that of the outputs of all classes that some solution uses. `points` are the weights of the vertices, by
    the numbers of the classes: each entry is within the vertex's one of `errors`, and the other weights are exactly 0.
    """

    vertices: tuple[Basis, ...]
    edges: tuple[tuple[int, int], ...]
    tied: int
    used: tuple[int, ...]
    rank: int
    shortest: Shortest | None = None
    points: tuple[dict[int, Fraction], ...] = ()
    errors: Vector = ()

    @property
    def dimension(self) -> int:
        """The dimension of the set of optimal weights."""
        return len(self.used) - self.rank

    @property
    def widths(self) -> list[int]:
        """The numbers of neurons of the minimal networks, one for each vertex."""
        return [len(support) for support in self.vertices]

    @property
    def nondegenerate(self) -> bool:
        """Whether every vertex has as many positive weights as the outputs have rank."""
        return all(width == self.rank for width in self.widths)


def check_polytope(system: System, node: Node, support: tuple[int, ...] | None = None) -> Polytope:
    """Reject unless the listed vertices and edges are all there are. `support`: of the only solution, if that is known
    to be the only one; if it is the only basis, too, the classes outside of it are left aside."""
    fields = node.record("bits", "tilt", "bases", "vertices", "edges", "min_norm")
    bits = fields["bits"].index(MOST_BITS + 1)
    fields["bits"].require(not system.exact or not bits, "0, because the polytope is known exactly")
    if support is not None and fields["bases"].value == [list(support)]:
        system = restricted(system, support)
    short = system if system.exact else on_grid(system, bits)
    tilt = fields["tilt"].vector(system.rows)
    fields["tilt"].require(all(c > 0 for c in tilt), "positive numbers")
    points, errors, edges = walk(short, tilt, read_bases(system, fields["bases"]), fields["bases"])
    vertices = tuple(tuple(system.names[a] for a in support) for support in points)
    if tuple(entry.ascending(system.total) for entry in fields["vertices"].array()) != vertices:
        raise fields["vertices"].reject("the supports of the bases, each once, in the order of the bases")
    if tuple(entry.ascending(len(vertices)) for entry in fields["edges"].array()) != edges:
        raise fields["edges"].reject("the pairs of vertices that a pivot joins, each once, in ascending order")
    if fields["min_norm"].value is not None and not system.rational:
        raise fields["min_norm"].reject("null, because the polytope is known in a field of algebraic numbers")
    shortest = check_shortest(short, list(points.values()), fields["min_norm"])
    used = sorted({a for support in points for a in support})
    rank = chosen(short, used).rref()[1] if system.exact else system.rows
    numbers = tuple(system.names[a] for a in used)
    named = tuple({system.names[a]: x for a, x in point.items()} for point in points.values())
    return Polytope(vertices, edges, system.total, numbers, rank, shortest, named, tuple(errors))


def read_bases(system: System, node: Node) -> dict[Basis, Node]:
    """The listed bases as columns of F, one or more, each once, with as many columns as F has rows."""
    column_of = {name: a for a, name in enumerate(system.names)}
    bases: dict[Basis, Node] = {}
    for entry in node.array():
        basis = tuple(column_of.get(name, -1) for name in entry.ascending(system.total))
        if len(basis) != system.rows or -1 in basis or basis in bases:
            raise entry.reject(f"{system.rows} classes that can be active, and each set of them once")
        bases[basis] = entry
    node.require(bases, "at least one basis")
    return bases


def walk(
    system: System, tilt: Vector, bases: dict[Basis, Node], node: Node
) -> tuple[dict[Basis, dict[int, Fraction]], list[Fraction], tuple[tuple[int, int], ...]]:
    """The supports with their points, in the order of the bases, the errors of these, and the edges; rejected if a
    pivot leads elsewhere."""
    points: dict[Basis, dict[int, Fraction]] = {}
    errors: list[Fraction] = []
    number: dict[Basis, int] = {}
    numbers: dict[Basis, int] = {}
    first = next(iter(bases))
    for basis, entry in bases.items():
        corner = read_corner(system, basis, dict(zip(first, tilt, strict=True)), entry)
        point = {a: fraction(x) for i, (a, x) in enumerate(zip(basis, corner.x, strict=True)) if i not in corner.zeros}
        if tuple(point) not in points:
            points[tuple(point)] = point
            errors.append(fraction(corner.error))
        numbers[basis] = number.setdefault(tuple(point), len(number))
    ends = ((numbers[a], numbers[b]) for a, b in pivots(system, bases, node))
    return points, errors, tuple(sorted({(min(pair), max(pair)) for pair in ends if pair[0] != pair[1]}))


def pivots(system: System, bases: Iterable[Basis], node: Node) -> Iterator[tuple[Basis, Basis]]:
    """Each basis B with the one that is reached when a class j enters: it consists of classes of B and j. Both are
    vertices of the tilted polytope, in whose face of the classes B and j, a segment, there are no other two."""
    ridges: dict[Basis, list[Basis]] = {}
    for basis in bases:
        for place in range(len(basis)):
            ridges.setdefault(basis[:place] + basis[place + 1 :], []).append(basis)
    for basis in bases:
        beside = {other for place in range(len(basis)) for other in ridges[basis[:place] + basis[place + 1 :]]}
        missing = set(range(len(system.names))).difference(basis, *beside)
        if missing:
            names = [system.names[a] for a in basis], system.names[min(missing)]
            raise node.reject(f"the basis, too, that is reached from {names[0]} when {names[1]} enters", "none")
        yield from ((basis, other) for other in beside)


@dataclass(frozen=True)
class Corner:
    """x = F_B^-1 g of one basis B, each entry within `error`: exactly 0 at the places `zeros`, elsewhere positive."""

    x: Row
    error: Scalar
    zeros: frozenset[int]


def read_corner(system: System, basis: Basis, tilt: dict[int, Fraction], node: Node) -> Corner:
    """Reject unless the basis is independent, x >= 0, and x + eps z > 0 for small eps > 0, within all errors, where z =
    F_B^-1 (the tilt of g)."""
    rows = tableau(system, basis)
    if rows is None:
        raise node.reject("classes with independent columns of F")
    zero, size, inverse = fmpq(0), len(basis), [row[1 + len(system.names) :] for row in rows if not system.exact]
    F_error, g_error = (list(map(rational, errors)) for errors in (system.F_error, system.g_error))
    spans: Row = [sum((abs(m) * e for m, e in zip(row, F_error, strict=True) if e), zero) for row in inverse]
    moves: Row = [sum((abs(m) * e for m, e in zip(row, g_error, strict=True) if e), zero) for row in inverse]
    h: Scalar = max(spans, default=zero)
    node.require(size * h < 1, "a basis that the errors cannot make singular")
    left: Scalar = 1 - size * h
    x: Row = [row[0] for row in rows]
    x_error: Scalar = (max(moves, default=zero) + (h * sum(map(abs, x), zero) if h else zero)) / left
    zeros = frozenset(i for i in range(size) if abs(x[i]) <= x_error)
    rest = {a for i, a in enumerate(basis) if i not in zeros}
    void = [l for l, columns in system.silent.items() if rest <= columns]  # 0 on the rest, so that x is 0 at `zeros`
    if any(x_i < -x_error for x_i in x) or (not system.exact and len(void) < len(zeros)):
        named = [system.names[a] for a in basis]
        raise node.reject(f"weights of {named} that are positive, or 0 by silent rows", ", ".join(map(str, zeros)))
    z: Row = [sum((row[1 + b] * rational(c) for b, c in tilt.items()), zero) for row in rows]
    z_error: Scalar = zero
    for b, c in tilt.items():
        if h and b not in basis:
            T: Row = [row[1 + b] for row in rows]
            z_error += rational(c) * h * (1 + sum(map(abs, T), zero)) / left
    node.require(all(z[i] > z_error for i in zeros), "a tilt that makes the weights positive that are 0")
    return Corner(x, x_error, zeros)


def check(problem: Problem, facts: Facts, node: Node) -> Facts:
    """The polytope, its shortest point, and which neurons some solution uses: those of all vertices."""
    polytope = check_polytope(weights(problem, facts[SET], node), node, support_of(facts[SET]))
    neurons = used_by(facts[NEURONS], polytope.used)
    return Facts({POLYTOPE: polytope, NEURONS: neurons, SHORTEST: polytope.shortest})


def support_of(found: OptimalSet) -> tuple[int, ...] | None:
    """The neurons of the only solution of an exact set; None if there are more."""
    if not found.exact or found.dimension:
        return None
    return tuple(a for a, neuron in enumerate(found.neurons) if neuron.active)


def used_by(found: OptimalSet, used: Sequence[int]) -> OptimalSet:
    """The same where the neurons that some solution uses are known: those of all vertices (`exact_set`)."""
    if not found.exact:
        return found
    return replace(found, neurons=tuple(replace(one, active=a in used) for a, one in enumerate(found.neurons)))


RULE = Rule((POLYTOPE, SHORTEST), check, rests=(SET, NEURONS), sharpens=(NEURONS,), applies=lifted, bags=True)
