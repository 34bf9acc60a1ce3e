"""All vertices and edges of the polytope {alpha >= 0 : F alpha = g} of optimal weights; its shortest point.

FORMAT.md has the argument: a set of bases that no pivot leaves holds every vertex, because the graph of a polytope is
connected. Exactly known polytopes may be degenerate; their ties are broken lexicographically. Otherwise everything is
said of every F and g within the errors, and the polytope is proved to be nondegenerate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from verify.bounds import fraction, rational
from verify.shortest import check_shortest
from verify.system import System, chosen, on_grid, tableau
from verify.text import Node, show

MOST_BITS = 4096
Basis = tuple[int, ...]
Row = list[fmpq]


@dataclass(frozen=True)
class Polytope:
    """`vertices` are the supports of the minimal networks, by the numbers of the classes; `edges` join their numbers.

    `rank` is that of the outputs of all classes that some solution uses.
    """

    vertices: tuple[Basis, ...]
    edges: tuple[tuple[int, int], ...]
    tied: int
    used: tuple[int, ...]
    rank: int

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


def check_polytope(system: System, node: Node) -> Polytope:
    """Reject unless the listed vertices and edges are all there are."""
    fields = node.record("bits", "bases", "vertices", "edges", "min_norm")
    bits = fields["bits"].index(MOST_BITS + 1)
    if system.exact and bits:
        raise fields["bits"].reject("0, because the polytope is known exactly")
    short = system if system.exact else on_grid(system, bits)
    points, edges = walk(short, read_bases(system, fields["bases"]), fields["bases"])
    vertices = tuple(tuple(system.names[a] for a in support) for support in points)
    if tuple(entry.ascending(system.total) for entry in fields["vertices"].array()) != vertices:
        raise fields["vertices"].reject("the supports of the bases, each once, in the order of the bases")
    if tuple(entry.ascending(len(vertices)) for entry in fields["edges"].array()) != edges:
        raise fields["edges"].reject("the pairs of vertices that a pivot joins, each once, in ascending order")
    check_shortest(short, list(points.values()), fields["min_norm"])
    used = sorted({a for support in points for a in support})
    rank = int(chosen(short, used).rank()) if system.exact and system.rows else system.rows
    return Polytope(vertices, edges, system.total, tuple(system.names[a] for a in used), rank)


def read_bases(system: System, node: Node) -> dict[Basis, Node]:
    """The listed bases as columns of F, one or more, each once, with as many columns as F has rows."""
    column_of = {name: a for a, name in enumerate(system.names)}
    bases: dict[Basis, Node] = {}
    for entry in node.array():
        basis = tuple(column_of.get(name, -1) for name in entry.ascending(system.total))
        if len(basis) != system.rows or -1 in basis or basis in bases:
            raise entry.reject(f"{system.rows} classes that can be active, and each set of them once")
        bases[basis] = entry
    if not bases:
        raise node.reject("at least one basis")
    return bases


def walk(
    system: System, bases: dict[Basis, Node], node: Node
) -> tuple[dict[Basis, dict[int, Fraction]], tuple[tuple[int, int], ...]]:
    """The supports with their points, in the order of the bases, and the edges; rejected if a pivot leads elsewhere."""
    points: dict[Basis, dict[int, Fraction]] = {}
    number: dict[Basis, int] = {}
    numbers: dict[Basis, int] = {}
    pivots: list[tuple[Basis, Basis]] = []
    first = next(iter(bases))
    for basis, entry in bases.items():
        found = tableau(system, basis)
        if found is None:
            raise entry.reject("classes with independent columns of F")
        rows, inverse = found
        steps = lexicographic if system.exact else strict
        for entering, leaving in steps(system, rows, inverse, basis, first, entry):
            other = tuple(sorted({*basis, entering} - {leaving}))
            if other not in bases:
                names = [system.names[a] for a in other]
                raise node.reject(f"the basis {names} too, which a pivot leads to", f"{len(bases)} others")
            pivots.append((basis, other))
        support = tuple(a for a, row in zip(basis, rows, strict=True) if not system.exact or row[0] != 0)
        points.setdefault(support, {a: fraction(row[0]) for a, row in zip(basis, rows, strict=True)})
        numbers[basis] = number.setdefault(support, len(number))
    pairs = {tuple(sorted((numbers[a], numbers[b]))) for a, b in pivots if numbers[a] != numbers[b]}
    return points, tuple(sorted((i, j) for i, j in pairs))


def lexicographic(
    system: System, rows: list[Row], inverse: list[Row], basis: Basis, first: Basis, node: Node
) -> Iterator[tuple[int, int]]:
    """Every column with the one that it replaces in the basis: g is disturbed by eps f_1 + eps^2 f_2 + ..., where
    f_1, f_2, ... are the columns of the first basis."""
    heads = [[row[0], *(row[1 + a] for a in first)] for row in rows]
    for a, head in zip(basis, heads, strict=True):
        if next((x for x in head if x != 0), fmpq(0)) <= 0:
            raise node.reject(f"weights >= 0, lexicographically, for class {a}", show(fraction(head[0])))
    for entering in range(len(system.names)):
        if entering in basis:
            continue
        ratios = [
            ([x / row[1 + entering] for x in head], a)
            for a, head, row in zip(basis, heads, rows, strict=True)
            if row[1 + entering] > 0
        ]
        if not ratios:
            raise node.reject("a bounded polytope", f"a ray from class {entering}")
        yield entering, min(ratios)[1]


def strict(
    system: System, rows: list[Row], inverse: list[Row], basis: Basis, first: Basis, node: Node
) -> Iterator[tuple[int, int]]:
    """The same where weights are positive and ratios different for every F and g within the errors."""
    spans = [sum((abs(m) * rational(e) for m, e in zip(row, system.F_error, strict=True)), fmpq(0)) for row in inverse]
    moves = [sum((abs(m) * rational(e) for m, e in zip(row, system.g_error, strict=True)), fmpq(0)) for row in inverse]
    h, size = max(spans, default=fmpq(0)), len(basis)
    if size * h >= 1:
        raise node.reject("a basis that the errors cannot make singular")
    left = 1 - size * h
    x_error = (max(moves, default=fmpq(0)) + h * sum((abs(row[0]) for row in rows), fmpq(0))) / left
    for a, row in zip(basis, rows, strict=True):
        if row[0] <= x_error:
            raise node.reject(
                f"a weight > {show(fraction(x_error))} of class {system.names[a]}", show(fraction(row[0]))
            )
    for entering in range(len(system.names)):
        if entering in basis:
            continue
        T = [row[1 + entering] for row in rows]
        error = h * (1 + sum((abs(t) for t in T), fmpq(0))) / left
        i = min((i for i in range(size) if T[i] > error), key=lambda i: rows[i][0] / T[i], default=None)
        if i is None:
            raise node.reject(f"a class that certainly leaves when {system.names[entering]} enters")
        for l in range(size):
            if l != i and (rows[l][0] - x_error) * (T[i] - error) <= (T[l] + error) * (rows[i][0] + x_error):
                pair = [system.names[basis[i]], system.names[basis[l]]]
                raise node.reject(f"different ratios when {system.names[entering]} enters", f"{pair} within the errors")
        yield entering, basis[i]
