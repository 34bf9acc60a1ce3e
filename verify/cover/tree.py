"""The tree of cones, read and walked: every point of the row space lies in a leaf.

The roots are the 2^d sign cones of a basis; with free biases others (`prisms`), which hold all points that count. A
bisection replaces g_i, then g_j, by p = m g_i + g_j; a star (`faces`) replaces, one at a time, each g_i with x_i > 0 by
some u = sum x_i g_i, x >= 0: cone(g) is the union of such children, because a point sum tau_i g_i loses the generator
with the least tau_i / x_i. A sign split has both closed sides of a line.
"""

from __future__ import annotations

import base64
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import combinations
from math import gcd
from typing import TYPE_CHECKING

from verify.cover.lines import Row
from verify.errors import bounded
from verify.text import Node

if TYPE_CHECKING:
    from verify.cover.ties import Tie

STREAMS = ("codes", "multipliers", "data", "rows")
RULE, TURNED, ATOMS, NEURON, RAY, SIGN, STAR, FACE = 200, 201, 202, 203, 204, 210, 211, 212
WEIGHT = 256
MOST_BYTES = 2**28
Signs = tuple[tuple[int, int], ...]  # (a convex line, by its number among these; 1: p.u >= 0, 0: p.u <= 0)
Atom = tuple[int, bytes]
Part = tuple[tuple[int, ...], Signs]  # the generators of a cone, and its sides


@dataclass(frozen=True)
class Special:
    """A leaf that rests on a listed neuron or face: its generators, its sides, the number; atoms only for a face."""

    cone: tuple[Row, ...]
    signs: Signs
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
    except (ValueError, lzma.LZMAError) as error:
        raise node.reject("base64 of an xz stream", str(error)) from None
    bounded(len(raw), MOST_BYTES, "bytes", node.place)
    node.require(reader.eof and not reader.unused_data, "one whole xz stream", "more, or less")
    return raw


class Reader:
    """The four streams of one sign, read from their beginnings; they must be used up."""

    def __init__(self, node: Node, d: int) -> None:
        self.node, self.d = node, d
        self.streams = {name: BytesIO(stream(part)) for name, part in node.record(*STREAMS).items()}

    def take(self, name: str, count: int = 1) -> bytes:
        """The next bytes of a stream."""
        found = self.streams[name].read(count)
        if len(found) < count:
            raise self.node.reject("an entry for every node", "too few")
        return found

    def multiplier(self) -> tuple[int, int]:
        """(m, 1) or (1, m), m = 2^s or 3 2^s."""
        k = self.take("multipliers")[0]
        m = (2 + (k & 1) << (k >> 1 & 63)) >> 1
        return (1, m) if k >> 7 else (m, 1)

    def byte(self) -> int:
        """The next byte of data."""
        return self.take("data")[0]

    def point(self) -> bytes:
        """The next d bytes of data."""
        return self.take("data", self.d)

    def atoms(self) -> list[Atom]:
        """Atoms: their number, then weight (but for the last) and point of each; weights add up to WEIGHT."""
        count, left, found = self.byte(), WEIGHT, []
        for a in range(count):
            weight = left if a == count - 1 else self.byte()
            left -= weight
            found.append((weight, self.point()))
        self.node.require(not left and all(weight > 0 for weight, _ in found), f"weights > 0 that add up to {WEIGHT}")
        return found

    def end(self) -> None:
        """Reject what was not read."""
        left = [name for name, source in self.streams.items() if source.read(1)]
        self.node.require(not left, "streams that are used up", f"more in {', '.join(left)}")


class Walk:
    """The walk over the tree of one sign, depth first."""

    def __init__(self, node: Node, d: int, lines: int, ties: Mapping[int, Tie]) -> None:
        self.node, self.d, self.lines, self.ties = node, d, lines, ties
        self.reader = Reader(node, self.d)
        self.edges = [*combinations(range(self.d), 2)]
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
                code = self.reader.take("codes")[0]
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
            row = int.from_bytes(self.reader.take("rows", 2 if self.lines <= 2**16 else 4), "little")
            fresh = row < self.lines and all(row != other for other, _ in signs)
            self.node.require(fresh, "a convex line that was not split before", f"number {row}")
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
        from verify.cover.faces import centre

        generators = [self.leaves.vertices[g] for g in cone]
        u, chosen = centre(generators, self.ties, self.reader, on_facet=code == FACE)
        return self.number(u), tuple(i for i in range(self.d) if chosen >> i & 1)

    def leaf(self, part: Part, code: int) -> None:
        """Keep a leaf, with its data."""
        (cone, signs), leaves, reader = part, self.leaves, self.reader
        if code in (NEURON, RAY):
            number, atoms = reader.byte(), tuple(reader.atoms()) if code == RAY else ()
            leaves.special.append(Special(tuple(leaves.vertices[g] for g in cone), signs, number, atoms))
            return
        self.node.require(code in (RULE, TURNED, ATOMS), "a code of a node", str(code))
        for weight, point in reader.atoms() if code == ATOMS else ((WEIGHT, self.ones),):
            leaves.atom_leaf.append(len(leaves.cones))
            leaves.atom_weight.append(weight)
            leaves.atom_point.append(point)
        if signs:
            leaves.signs[len(leaves.cones)] = signs
        leaves.turns.append(self.ones if code == RULE else reader.point())
        leaves.cones.append(cone)


def sign_cones(basis: Sequence[Row]) -> Iterator[tuple[Row, ...]]:
    """All sum tau_i (+-b_i), tau >= 0, one choice of signs after the other."""
    for mask in range(1 << len(basis)):
        yield tuple(g if mask >> i & 1 else tuple(-x for x in g) for i, g in enumerate(basis))


def middle(a: Row, b: Row, p: int, q: int) -> Row:
    """p a + q b, primitive: not zero, because all generators of one root lie in its cone, which holds no line."""
    g = [p * x + q * y for x, y in zip(a, b, strict=True)]
    divisor = gcd(*g)
    return tuple(x // divisor for x in g)
