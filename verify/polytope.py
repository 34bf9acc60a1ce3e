"""All vertices and edges of the polytope {alpha >= 0 : F alpha = g} of optimal weights; its shortest point.

FORMAT.md has the argument: a set of bases that no pivot leaves holds every vertex, because the graph of a polytope is
connected. Where vertices are degenerate, g is tilted a little, so that ties are broken. Everything is said of every F
and g within the errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import fmpq

from verify.bounds import fraction, rational
from verify.field_system import FieldSystem, field_rank, field_restricted, field_tableau
from verify.shortest import Shortest, check_shortest
from verify.system import MOST_BITS, System, chosen, on_grid, restricted, tableau
from verify.text import Node, Vector

PLACES = 1024  # bits behind the point where ratios within errors are compared
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
    if system.exact and bits:
        raise fields["bits"].reject("0, because the polytope is known exactly")
    if support is not None and fields["bases"].value == [list(support)]:
        system = field_restricted(system, support) if isinstance(system, FieldSystem) else restricted(system, support)
    short = system if system.exact else on_grid(system, bits)
    tilt = fields["tilt"].vector(system.rows)
    if any(c <= 0 for c in tilt):
        raise fields["tilt"].reject("positive numbers")
    points, errors, edges = walk(short, tilt, read_bases(system, fields["bases"]), fields["bases"])
    vertices = tuple(tuple(system.names[a] for a in support) for support in points)
    if tuple(entry.ascending(system.total) for entry in fields["vertices"].array()) != vertices:
        raise fields["vertices"].reject("the supports of the bases, each once, in the order of the bases")
    if tuple(entry.ascending(len(vertices)) for entry in fields["edges"].array()) != edges:
        raise fields["edges"].reject("the pairs of vertices that a pivot joins, each once, in ascending order")
    shortest = None
    if not isinstance(short, FieldSystem):
        shortest = check_shortest(short, list(points.values()), fields["min_norm"])
    elif fields["min_norm"].value is not None:
        raise fields["min_norm"].reject("null, because the polytope is known in a field of algebraic numbers")
    used = sorted({a for support in points for a in support})
    rank = rank_of(short, used) if system.exact and system.rows else system.rows
    numbers = tuple(system.names[a] for a in used)
    named = tuple({system.names[a]: x for a, x in point.items()} for point in points.values())
    return Polytope(vertices, edges, system.total, numbers, rank, shortest, named, tuple(errors))


def rank_of(system: System, columns: list[int]) -> int:
    """The rank of some columns of F."""
    return field_rank(system, columns) if isinstance(system, FieldSystem) else int(chosen(system, columns).rank())


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
    system: System, tilt: Vector, bases: dict[Basis, Node], node: Node
) -> tuple[dict[Basis, dict[int, Fraction]], list[Fraction], tuple[tuple[int, int], ...]]:
    """The supports with their points, in the order of the bases, the errors of these, and the edges; rejected if a
    pivot leads elsewhere."""
    points: dict[Basis, dict[int, Fraction]] = {}
    errors: list[Fraction] = []
    number: dict[Basis, int] = {}
    numbers: dict[Basis, int] = {}
    pivots: list[tuple[Basis, Basis]] = []
    meetings: list[tuple[Basis, Node]] = []
    first = next(iter(bases))
    for basis, entry in bases.items():
        corner = read_corner(system, basis, dict(zip(first, tilt, strict=True)), entry)
        for entering in sorted(set(range(len(system.names))) - set(basis)):
            gone, meeting = leaving(corner, entering, entry)
            other = tuple(sorted({*basis, entering} - {gone}))
            if other not in bases:
                names = [system.names[a] for a in other]
                raise node.reject(f"the basis {names} too, which a pivot leads to", f"{len(bases)} others")
            pivots.append((basis, other))
            if meeting is not None:
                meetings.append((meeting, entry))
        weights: Iterable[Any] = corner.x if isinstance(system, FieldSystem) else map(fraction, corner.x)
        point = {a: x for i, (a, x) in enumerate(zip(basis, weights, strict=True)) if i not in corner.zeros}
        if tuple(point) not in points:
            points[tuple(point)] = point
            errors.append(fraction(corner.x_error))
        numbers[basis] = number.setdefault(tuple(point), len(number))
    for meeting, entry in meetings:
        if meeting not in points:
            names = [system.names[a] for a in meeting]
            raise entry.reject(f"a vertex {names}, so that ratios are equal which the errors do not tell apart", "none")
    pairs = {tuple(sorted((numbers[a], numbers[b]))) for a, b in pivots if numbers[a] != numbers[b]}
    return points, errors, tuple(sorted((i, j) for i, j in pairs))


@dataclass(frozen=True)
class Corner:
    """One basis: F_B^-1 [g | F] in `rows`; x = F_B^-1 g, exactly 0 at the places `zeros`, elsewhere above its error;
    z = F_B^-1 (the tilt of g), positive at `zeros`; h / left and the columns bound the errors of the rows. `void` are
    the rows that are silent on all of the basis but `zeros`."""

    system: System
    basis: Basis
    rows: list[Row]
    x: Row
    x_error: Scalar
    z: Row
    z_error: Scalar
    h: Scalar
    left: Scalar
    zeros: frozenset[int]
    void: tuple[int, ...]

    def column(self, a: int) -> tuple[Row, Scalar]:
        """F_B^-1 F_a and the error of its entries (none for a column of the basis)."""
        T = [row[1 + a] for row in self.rows]
        return T, fmpq(0) if a in self.basis or not self.h else self.h * (1 + sum(map(abs, T), fmpq(0))) / self.left


def read_corner(system: System, basis: Basis, tilt: dict[int, Fraction], node: Node) -> Corner:
    """Reject unless the basis is independent, x >= 0, and x + eps z > 0 for small eps > 0, within all errors."""
    rows: list[Row] | None
    inverse: list[Row]
    rows, inverse = (field_tableau(system, basis), []) if isinstance(system, FieldSystem) else tableau(system, basis)
    if rows is None:
        raise node.reject("classes with independent columns of F")
    zero, size = fmpq(0), len(basis)
    F_error, g_error = (list(map(rational, errors)) for errors in (system.F_error, system.g_error))
    spans: Row = [sum((abs(m) * e for m, e in zip(row, F_error, strict=True) if e), zero) for row in inverse]
    moves: Row = [sum((abs(m) * e for m, e in zip(row, g_error, strict=True) if e), zero) for row in inverse]
    h: Scalar = max(spans, default=zero)
    if size * h >= 1:
        raise node.reject("a basis that the errors cannot make singular")
    left: Scalar = 1 - size * h
    x: Row = [row[0] for row in rows]
    x_error: Scalar = (max(moves, default=zero) + (h * sum(map(abs, x), zero) if h else zero)) / left
    zeros = frozenset(i for i in range(size) if abs(x[i]) <= x_error)
    rest = {a for i, a in enumerate(basis) if i not in zeros}
    void = tuple(l for l, columns in system.silent.items() if rest <= columns)
    if any(x_i < -x_error for x_i in x) or (not system.exact and len(void) < len(zeros)):
        named = [system.names[a] for a in basis]
        raise node.reject(f"weights of {named} that are positive, or 0 by silent rows", ", ".join(map(str, zeros)))
    corner = Corner(system, basis, rows, x, x_error, x, zero, h, left, zeros, void)
    parts = {b: corner.column(b) for b in tilt}
    z = [sum((parts[b][0][i] * rational(c) for b, c in tilt.items()), zero) for i in range(size)]
    z_error = sum((parts[b][1] * rational(c) for b, c in tilt.items()), zero)
    if any(z[i] <= z_error for i in zeros):
        raise node.reject("a tilt that makes the weights positive that are 0")
    return replace(corner, z=z, z_error=z_error)


def leaving(corner: Corner, entering: int, node: Node) -> tuple[int, Basis | None]:
    """The class that leaves the basis: the ratio of x + eps z to T is least there, for all small eps > 0.

    If the ratios of x may be equal for several classes, then also the support of the point where all of these are 0: if
    that is a vertex, they are equal.
    """
    T, error = corner.column(entering)
    zeros = corner.zeros
    still = at_rest(corner, entering)
    rising = [i for i in range(len(T)) if T[i] > error and i not in still]
    tied = [i for i in rising if i in zeros]
    if not rising or (not tied and any(T[l] + error > 0 for l in zeros - still)):
        raise node.reject(f"a class that certainly leaves when {corner.system.names[entering]} enters")
    if tied:
        others = [l for l in zeros - still if T[l] + error > 0]
        return corner.basis[least(corner, T, error, others, node)], None
    i = min(rising, key=lambda i: corner.x[i] / T[i])
    places = set(range(len(T))) - zeros
    near = [l for l in places if l == i or not surely_less(corner.x, corner.x_error, T, error, i, l)]
    if len(near) == 1:
        return corner.basis[i], None
    kept = [corner.basis[l] for l in places if l not in near] + [corner.basis[l] for l in zeros - still if T[l] < 0]
    return corner.basis[least(corner, T, error, near, node)], tuple(sorted([*kept, entering]))


def at_rest(corner: Corner, entering: int) -> frozenset[int]:
    """Places among `zeros` where T = F_B^-1 F_entering is exactly 0.

    The void rows of F_B T = F_entering have entries at `zeros` only, and are as many. Where the column that enters is 0
    in all of them, so is T; and a row in which it is 0 and only one place is neither 0 nor at rest puts that at rest.
    """
    system = corner.system
    if system.exact:
        return frozenset()
    quiet = [l for l in corner.void if entering in system.silent[l]]
    if len(quiet) == len(corner.void):
        return corner.zeros
    rest: frozenset[int] = frozenset()
    while True:
        left = [[i for i in corner.zeros - rest if corner.basis[i] not in system.silent[l]] for l in quiet]
        found = [
            places[0]
            for l, places in zip(quiet, left, strict=True)
            if len(places) == 1 and abs(system.F[l, corner.basis[places[0]]]) > rational(system.F_error[l])
        ]
        if not found:
            return rest
        rest |= set(found)


def least(corner: Corner, T: Row, error: Scalar, places: list[int], node: Node) -> int:
    """The place where z / T is certainly least; T is positive there."""
    i = min((l for l in places if T[l] > error), key=lambda l: corner.z[l] / T[l])
    for l in places:
        if l != i and not surely_less(corner.z, corner.z_error, T, error, i, l):
            pair = [corner.system.names[corner.basis[i]], corner.system.names[corner.basis[l]]]
            raise node.reject("ratios that are different, or equal at a vertex", f"those of {pair} within the errors")
    return i


def surely_less(x: Row, x_error: Scalar, T: Row, T_error: Scalar, i: int, l: int) -> bool:
    """Whether x_i T_l < x_l T_i within the errors: where T_l > 0, the ratio x / T is less at i than at l."""
    if not (x_error or T_error):
        return bool(x[i] * T[l] < x[l] * T[i])
    left = corners(interval(x[i], x_error), interval(T[l], T_error))
    return max(left) < min(corners(interval(x[l], x_error), interval(T[i], T_error)))


def interval(a: fmpq, error: fmpq) -> tuple[int, int]:
    """Integers around 2^PLACES times all numbers within the error of a: short ones, whatever the length of a."""
    low = int((a.p << PLACES) // a.q)
    spread = int(-((-error.p << PLACES) // error.q))
    return low - spread, low + 1 + spread


def corners(a: tuple[int, int], b: tuple[int, int]) -> list[int]:
    """The products at the ends of two intervals: the others are between them."""
    return [s * t for s in a for t in b]
