"""The tree of cones, read and walked: every point of the row space lies in a leaf.

The roots are the 2^d sign cones of a basis; with free biases they are prisms over those of the weights, and cover all
points that count. A bisection replaces g_i, then g_j, by p = m g_i + g_j; a star replaces,
one at a time, each g_i with x_i > 0 by some u = sum x_i g_i, x >= 0 (a listed vector, or the point where a listed plane
meets a facet): cone(g) is the union of such children, because a point sum tau_i g_i loses the generator with the least
tau_i / x_i. A sign split has both closed sides of a line.
"""

from __future__ import annotations

import base64
import binascii
import lzma
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd

from flint import fmpq_mat, fmpz_mat

from verify.cover.lines import Row
from verify.errors import Declined
from verify.text import Node

RULE, TURNED, ATOMS, NEURON, RAY, SIGN, STAR, FACE = 200, 201, 202, 203, 204, 210, 211, 212
Planes = dict[int, tuple[Row, tuple[Row, ...]]]  # listed vectors, and what spans their faces
WEIGHT = 256
MOST_BYTES = 2**28
Signs = tuple[tuple[int, int], ...]  # (a convex line, by its number among these; 1: p.u >= 0, 0: p.u <= 0)
Atom = tuple[int, bytes]
Part = tuple[tuple[int, ...], Signs]  # the generators of a cone, and its sides


@dataclass(frozen=True)
class Special:
    """A leaf that rests on a listed neuron or ray: its generators, its sign constraints, the number, atoms."""

    cone: tuple[int, ...]
    signs: Signs
    code: int
    number: int
    atoms: tuple[Atom, ...] = ()


@dataclass
class Leaves:
    """All leaves of one sign. Strict ones are kept as columns: generators, direction of c, atoms (leaf, weight, q)."""

    vertices: list[Row] = field(default_factory=list)
    cones: list[tuple[int, ...]] = field(default_factory=list)
    turns: list[bytes] = field(default_factory=list)
    atom_leaf: list[int] = field(default_factory=list)
    atom_weight: list[int] = field(default_factory=list)
    atom_point: list[bytes] = field(default_factory=list)
    signs: dict[int, Signs] = field(default_factory=dict)
    special: list[Special] = field(default_factory=list)


def stream(node: Node) -> bytes:
    """base64 of an xz stream."""
    try:
        packed = base64.b64decode(node.text(), validate=True)
        reader = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=2**27)
        raw = reader.decompress(packed, MOST_BYTES + 1)
    except (binascii.Error, ValueError, lzma.LZMAError, EOFError) as error:
        raise node.reject("base64 of an xz stream", str(error)) from None
    if len(raw) > MOST_BYTES:
        raise Declined(node.place, f"at most {MOST_BYTES} bytes", "more")
    if not reader.eof or reader.unused_data:
        raise node.reject("one whole xz stream", "more, or less")
    return raw


class Reader:
    """The four streams of one sign, read from their beginnings; they must be used up."""

    def __init__(self, node: Node, d: int) -> None:
        names = ("codes", "multipliers", "data", "rows")
        fields = node.record(*names)
        self.node, self.d = node, d
        self.codes, self.multipliers, self.data, rows = (stream(fields[name]) for name in names)
        if len(rows) % 2:
            raise fields["rows"].reject("two bytes a row")
        self.rows = [rows[i] | rows[i + 1] << 8 for i in range(0, len(rows), 2)]
        self.at = [0, 0, 0, 0]

    def code(self) -> int:
        """The next code."""
        return self._next(0, self.codes)

    def multiplier(self) -> tuple[int, int]:
        """(m, 1) or (1, m), m = 2^s or 3 2^s."""
        k = self._next(1, self.multipliers)
        m = (2 + (k & 1) << (k >> 1 & 63)) >> 1
        return (1, m) if k >> 7 else (m, 1)

    def row(self) -> int:
        """The next row of a sign split."""
        return self._next(3, self.rows)

    def byte(self) -> int:
        """The next byte of data."""
        return self._next(2, self.data)

    def point(self) -> bytes:
        """The next d bytes of data."""
        at = self.at[2]
        if at + self.d > len(self.data):
            raise self.node.reject("data for every leaf", "too little")
        self.at[2] = at + self.d
        return self.data[at : at + self.d]

    def atoms(self) -> list[Atom]:
        """Atoms: their number, then weight (but for the last) and point of each; weights add up to WEIGHT."""
        count, left, found = self.byte(), WEIGHT, []
        for a in range(count):
            weight = left if a == count - 1 else self.byte()
            left -= weight
            if weight <= 0 or left < 0:
                raise self.node.reject(f"weights > 0 that add up to {WEIGHT}")
            found.append((weight, self.point()))
        if left:
            raise self.node.reject(f"weights > 0 that add up to {WEIGHT}")
        return found

    def end(self) -> None:
        """Reject what was not read."""
        if self.at != [len(s) for s in (self.codes, self.multipliers, self.data, self.rows)]:
            raise self.node.reject("streams that are used up", f"{self.at} used")

    def _next(self, s: int, values: Sequence[int]) -> int:
        at = self.at[s]
        if at >= len(values):
            raise self.node.reject("an entry for every node", "too few")
        self.at[s] = at + 1
        return values[at]


class Walk:
    """The walk over the tree of one sign, depth first."""

    def __init__(self, node: Node, d: int, lines: int, faces: Planes) -> None:
        self.node, self.d, self.lines, self.faces = node, d, lines, faces
        self.reader = Reader(node, self.d)
        self.edges = [(i, j) for i in range(self.d) for j in range(i + 1, self.d)]
        self.leaves = Leaves()
        self.ids: dict[Row, int] = {}
        self.middles: dict[tuple[int, int, int, int], int] = {}
        self.ones = bytes([1]) * self.d

    def run(self, roots: Iterable[Sequence[Row]]) -> Leaves:
        """All root cones, one after the other; the streams must be used up."""
        for root in roots:
            stack: list[Part] = [(tuple(map(self.number, root)), ())]
            while stack:
                part = stack.pop()
                code = self.reader.code()
                if code < len(self.edges) or code in (SIGN, STAR, FACE):
                    stack += self.children(part, code)
                else:
                    self.leaf(part, code)
        self.reader.end()
        return self.leaves

    def number(self, g: Row) -> int:
        """The number of a vertex."""
        if g not in self.ids:
            self.ids[g] = len(self.leaves.vertices)
            self.leaves.vertices.append(g)
        return self.ids[g]

    def children(self, part: Part, code: int) -> list[Part]:
        """The parts of an inner node; the last one comes first."""
        cone, signs = part
        if code == SIGN:
            row = self.reader.row()
            if row >= self.lines or any(row == other for other, _ in signs):
                raise self.node.reject("a convex line that was not split before", f"number {row}")
            return [(cone, (*signs, (row, side))) for side in (1, 0)]
        new, places = self.star(cone, code) if code in (STAR, FACE) else self.bisection(cone, code)
        return [((*cone[:i], new, *cone[i + 1 :]), signs) for i in places]

    def bisection(self, cone: tuple[int, ...], code: int) -> tuple[int, tuple[int, ...]]:
        """The new generator of an edge, and whose place it takes."""
        i, j = self.edges[code]
        key = (cone[i], cone[j], *self.reader.multiplier())
        if key not in self.middles:
            a, b = (self.leaves.vertices[g] for g in key[:2])
            self.middles[key] = self.number(middle(a, b, *key[2:]))
        return self.middles[key], (i, j)

    def star(self, cone: tuple[int, ...], code: int) -> tuple[int, tuple[int, ...]]:
        """The centre of a star, and whose place it takes."""
        tie = self.reader.byte()
        chosen = self.reader.byte() | self.reader.byte() << 8 | self.reader.byte() << 16
        if tie not in self.faces:
            raise self.node.reject("a face of this sign", f"number {tie}")
        u, face = self.faces[tie]
        generators = [self.leaves.vertices[g] for g in cone]
        if code == FACE:
            u = meeting(generators, face, self.reader.byte(), self.node)
        check_star(generators, u, chosen, self.node)
        return self.number(u), tuple(i for i in range(self.d) if chosen >> i & 1)

    def leaf(self, part: Part, code: int) -> None:
        """Keep a leaf, with its data."""
        (cone, signs), leaves, reader = part, self.leaves, self.reader
        if code in (NEURON, RAY):
            number = reader.byte()
            leaves.special.append(Special(cone, signs, code, number, tuple(reader.atoms()) if code == RAY else ()))
            return
        if code not in (RULE, TURNED, ATOMS):
            raise self.node.reject("a code of a node", str(code))
        for weight, point in reader.atoms() if code == ATOMS else ((WEIGHT, self.ones),):
            leaves.atom_leaf.append(len(leaves.cones))
            leaves.atom_weight.append(weight)
            leaves.atom_point.append(point)
        if signs:
            leaves.signs[len(leaves.cones)] = signs
        leaves.turns.append(self.ones if code == RULE else reader.point())
        leaves.cones.append(cone)


def walk(node: Node, basis: Sequence[Row], lines: int, faces: Planes, height: int | None = None) -> Leaves:
    """All leaves of one sign; `lines` is the number of convex lines, `faces` are those of this sign, `height` that of
    prisms, where biases are free."""
    roots = sign_cones(basis) if height is None else prisms(basis, height)
    return Walk(node, len(basis), lines, faces).run(roots)


def sign_cones(basis: Sequence[Row]) -> Iterator[tuple[Row, ...]]:
    """All sum tau_i (+-b_i), tau >= 0, one choice of signs after the other."""
    for mask in range(1 << len(basis)):
        yield tuple(g if mask >> i & 1 else tuple(-x for x in g) for i, g in enumerate(basis))


def prisms(basis: Sequence[Row], height: int) -> Iterator[tuple[Row, ...]]:
    """For each sign cone of the basis without its last vector e, all sum tau_i g_i + x e with |x| <= height sum tau_i:
    cone j has g_i - height e for i <= j and g_i + height e for i >= j, the point x of the prism being where
    tau_1, ..., tau_j are below and the others above."""
    *weights, e = basis
    for cone in sign_cones(weights):
        low, high = ([tuple(x + s * height * y for x, y in zip(g, e, strict=True)) for g in cone] for s in (-1, 1))
        for j in range(len(cone)):
            yield (*low[: j + 1], *high[j:])


def middle(a: Row, b: Row, p: int, q: int) -> Row:
    """p a + q b, primitive: not zero, because all generators of one root lie in its cone, which holds no line."""
    g = [p * x + q * y for x, y in zip(a, b, strict=True)]
    divisor = gcd(*g)
    return tuple(x // divisor for x in g)


def meeting(generators: Sequence[Row], face: Sequence[Row], facet: int, node: Node) -> Row:
    """A vector of the plane without a part of generator `facet`; of the two the one with a part >= 0 of the others."""
    if len(face) != 2 or facet >= len(generators):
        raise node.reject("a plane and a facet")
    G = fmpq_mat(fmpz_mat([list(g) for g in generators]))
    try:
        X = (G * G.transpose()).solve(G * fmpq_mat(fmpz_mat([list(f) for f in face])).transpose())
    except ZeroDivisionError:
        raise node.reject("independent generators at a star") from None
    a, b = X[facet, 1], -X[facet, 0]
    if any(a * X[i, 0] + b * X[i, 1] < 0 for i in range(len(generators))):
        a, b = -a, -b
    q = a.q * b.q
    v = [int(a * q) * x + int(b * q) * y for x, y in zip(*face, strict=True)]
    divisor = gcd(*v)
    if not divisor:
        raise node.reject("a plane that is not in the facet")
    return tuple(x // divisor for x in v)


def check_star(generators: Sequence[Row], u: Row, chosen: int, node: Node) -> None:
    """Reject unless u = sum x_i g_i != 0 with x >= 0, and every i with x_i > 0 is chosen; u is in the span of the rows,
    which is that of the generators."""
    G = fmpq_mat(fmpz_mat([list(g) for g in generators]))
    goal = fmpq_mat(fmpz_mat([list(u)])).transpose()
    try:
        x = (G * G.transpose()).solve(G * goal)
    except ZeroDivisionError:
        raise node.reject("independent generators at a star") from None
    weights = x.entries()
    if any(w < 0 or (w > 0 and not chosen >> i & 1) for i, w in enumerate(weights)):
        raise node.reject("a vector inside the cone, and a child for every generator that it uses")
