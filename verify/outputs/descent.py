"""The tree walked depth first, with the lines that cross each cone: memory is that of one path.

A line that crosses a cone crosses those above it. One that is nowhere negative on a cone is linear there and goes into
`linear`, one that is nowhere positive goes away: F(u) = linear'u + sum_k W_k (p_k.u)_+ over the lines that cross.
Numbers are 64-bit where all that is done with them stays below 2^62, else those of Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.cover.lines import Row
from verify.cover.tree import middle
from verify.outputs.tree import FINE, PLAIN, SHARES, TIE, Leaf, Streams
from verify.text import Node

Whole = NDArray[Any]  # integers of 64 bits, or of Python
LARGEST = 2**62
LONGEST_SHARES = 255  # whole, times which sums of W still have 64 bits


@dataclass(frozen=True)
class Table:
    """The lines and their weights: 64-bit where |p|, and the sum of all |p||W|, are below 2^62 / LONGEST_SHARES."""

    P: Whole
    W: Whole
    M0: Whole
    widest: int

    @classmethod
    def of(cls, rows: Sequence[Row], W: Sequence[Sequence[int]], M0: Sequence[Sequence[int]]) -> Table:
        """Of these lines."""
        sizes = [sum(map(abs, p)) for p in rows]
        total = sum(a * sum(map(abs, w)) for a, w in zip(sizes, W, strict=True))
        total += sum(abs(x) for row in M0 for x in row)
        widest = max(sizes, default=0)
        d, C = len(M0), len(M0[0]) if M0 else 0
        kind = np.int64 if LONGEST_SHARES * widest < LARGEST else object
        P = np.array(rows, dtype=kind).reshape(len(rows), d)
        whole = np.int64 if LONGEST_SHARES * max(widest, total) < LARGEST else object
        return cls(P, np.array(W, dtype=whole).reshape(len(rows), C), np.array(M0, dtype=whole), widest)

    def shared(self, lines: NDArray[np.int64], shares: NDArray[np.int64]) -> Whole:
        """The sum of shares_k p_k W_k' over these lines; no share is more than LONGEST_SHARES."""
        return np.asarray((self.P[lines] * shares[:, None]).T.astype(self.W.dtype) @ self.W[lines])

    def heights(self, lines: NDArray[np.int64], g: Row) -> Whole:
        """p_c.g of these lines."""
        if self.widest * max(map(abs, g)) < LARGEST:
            return np.asarray(self.P[lines] @ np.array(g, dtype=np.int64))
        return np.asarray(self.P[lines].astype(object) @ np.array(g, dtype=object))


@dataclass(frozen=True)
class Cone:
    """Generators, the lines that cross, their heights (one row for each generator), and the linear part."""

    generators: tuple[Row, ...]
    lines: NDArray[np.int64]
    heights: Whole
    linear: Whole


def narrowed(table: Table, generators: tuple[Row, ...], lines: NDArray[np.int64], H: Whole, linear: Whole) -> Cone:
    """The cone with these generators, which only these lines may cross."""
    low, high = H.min(axis=0), H.max(axis=0)
    crossing = np.asarray((low < 0) & (high > 0), dtype=bool)
    on = lines[np.asarray((low >= 0) & (high > 0), dtype=bool)]
    if len(on):
        linear = linear + table.P[on].T.astype(table.W.dtype) @ table.W[on]
    return Cone(generators, lines[crossing], H[:, crossing], linear)


def child(table: Table, cone: Cone, place: int, g: Row, heights: Whole) -> Cone:
    """The cone with g, which has these heights, in one place."""
    generators = (*cone.generators[:place], g, *cone.generators[place + 1 :])
    H = np.stack([heights if k == place else row for k, row in enumerate(cone.heights)])
    return narrowed(table, generators, cone.lines, H, cone.linear)


def leaves(table: Table, streams: Streams, roots: Iterable[Sequence[Row]], ties: int) -> Iterator[tuple[Cone, Leaf]]:
    """All leaves, in the order in which their shares and forms are written."""
    for root in roots:
        edges = [*combinations(range(len(root)), 2)]
        every = np.arange(len(table.P))
        H = np.stack([table.heights(every, g) for g in root])
        stack = [partial(narrowed, table, tuple(root), every, H, table.M0)]
        while stack:
            cone = stack.pop()()
            code = streams.byte("codes")
            if code < len(edges):
                i, j = edges[code]
                new = middle(cone.generators[i], cone.generators[j], *streams.multiplier())
                heights = table.heights(cone.lines, new)
                stack += [partial(child, table, cone, k, new, heights) for k in (i, j)]
                continue
            yield cone, leaf_of(code, streams, ties)


def leaf_of(code: int, streams: Streams, ties: int) -> Leaf:
    """What a leaf says of its shares."""
    node: Node = streams.node
    node.require(code in (PLAIN, SHARES, FINE, TIE), "a code of a node", str(code))
    tie = streams.byte("codes") if code == TIE else 0
    node.require(code != TIE or tie < ties, f"a tie below {ties}", str(tie))
    return Leaf(code, tie)


def on_at_middle(cone: Cone) -> NDArray[np.bool_]:
    """Whether the crossing lines are positive at the sum of the generators, each times a power of two."""
    if not len(cone.lines):
        return np.zeros(0, dtype=bool)
    bits = [max(map(abs, g)).bit_length() for g in cone.generators]
    H, total = cone.heights, np.zeros(len(cone.lines), dtype=cone.heights.dtype)
    lift = [max(bits) - b for b in bits]
    longest = max(int(np.abs(row).max()).bit_length() + k for row, k in zip(H, lift, strict=True))
    if longest + len(bits) >= 62:
        H, total = H.astype(object), total.astype(object)
    for row, k in zip(H, lift, strict=True):
        total = total + row * (1 << k)
    return np.asarray(total > 0, dtype=bool)
