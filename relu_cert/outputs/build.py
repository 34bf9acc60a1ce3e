"""The tree of a certificate: the engine proposes, every leaf is decided in integers, and split again where it fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import gcd, sqrt

import numpy as np

from relu_cert.cover.build import prisms
from relu_cert.evidence import FINE, OFFSET, PLAIN, SHARES, TIE, WHOLE, Outputs, OutputTie, Row, Tree
from relu_cert.exact import scaled_rows
from relu_cert.outputs.ascent import Floats
from relu_cert.outputs.bound import least
from relu_cert.outputs.descent import Cone, Descent, Whole
from relu_cert.outputs.engine import DONE, FULL, VIOLATED, Grown, Integers, grown
from relu_cert.outputs.exact import Form, Pull, definite, semidefinite
from relu_cert.outputs.unique import Around

MOST_NODES = 2_000_000
AT_A_TIME, MOST_TRIED = 20_000, 3  # nodes between looks at the clock; all of them, those thrown away included
MOST_LEFT = 20  # leaves that are neither out nor near a class, after which uniqueness is given up
OFTEN = 64  # leaves between looks at the clock
MOST_REPAIRS = 60  # how often a leaf is split that floats took for one
WIDTHS = (1, 2, 3, 4, 6, 8, 12)  # bytes an entry of N


class Unproved(Exception):
    """The tree did not end; `violators` are directions u with |F(u)| > lambda |u|, if there are any."""

    def __init__(self, why: str, violators: Floats | None = None) -> None:
        super().__init__(why)
        self.violators = np.zeros((0, 0)) if violators is None else violators


@dataclass
class Writer:
    """The streams, as they grow."""

    codes: bytearray = field(default_factory=bytearray)
    multipliers: bytearray = field(default_factory=bytearray)
    shares: bytearray = field(default_factory=bytearray)
    forms: bytearray = field(default_factory=bytearray)
    leaves: int = 0
    nodes: int = 0

    def split(self, edge: int, multiplier: int) -> None:
        """A bisection."""
        self.codes.append(edge)
        self.multipliers.append(multiplier)
        self.nodes += 1

    def leaf(self, code: int, tie: int, shares: bytes, N: bytes) -> None:
        """A leaf."""
        self.codes += bytes([code, tie]) if code == TIE else bytes([code])
        self.shares += shares
        self.forms += N
        self.leaves += 1
        self.nodes += 1

    @property
    def tree(self) -> Tree:
        """All of it."""
        return Tree(*map(bytes, (self.codes, self.multipliers, self.shares, self.forms)))


def sign_cones(basis: Sequence[Row]) -> Integers:
    """The 2^d cones of the vectors +-b_i, in the order of the certificate."""
    d = len(basis)
    cones = [[[x if mask >> i & 1 else -x for x in g] for i, g in enumerate(basis)] for mask in range(1 << d)]
    return np.array(cones, dtype=np.int64).reshape(1 << d, d, -1)


@dataclass
class Builder:
    """One certificate."""

    pull: Pull
    ties: tuple[OutputTie, ...]
    over: Callable[[], bool]
    most_nodes: int = MOST_NODES
    around: Around | None = None
    eps: float = 0.0
    tried: int = 0
    writer: Writer = field(default_factory=Writer)
    descent: Descent = field(init=False)

    def __post_init__(self) -> None:
        self.descent = Descent(self.pull)
        n = len(self.pull.W)
        self.directions = np.array([tie.u for tie in self.ties]).reshape(len(self.ties), self.pull.lines.D)
        self.tied = np.full((len(self.ties), n), np.nan)
        for a, tie in enumerate(self.ties):
            for c, s in zip(tie.lines, tie.shares, strict=True):
                self.tied[a, c] = float(s)

    def proposed(self, roots: Integers) -> Grown | None:
        """The tree below these cones in floats; it must have ended. None: there are too many nodes for one look."""
        if self.over():
            raise Unproved("the time was up")
        (Z, th, L0), biased = self.pull.floats, self.pull.lines.biases
        left = min(self.most_nodes - self.writer.nodes, AT_A_TIME)
        found = grown(Z, th, L0, roots, self.eps, self.directions, self.tied, left, biased=biased)
        self.tried += found.nodes
        if found.status == VIOLATED:
            raise Unproved("the dual constraint is violated", found.violators)
        if found.status == FULL and left == AT_A_TIME and self.tried < MOST_TRIED * self.most_nodes:
            return None
        if found.status != DONE:
            raise Unproved("the tree did not end")
        return found

    def run(self, cones: Sequence[Cone], repairs: int = 0) -> None:
        """Write the tree below these cones, one after the other."""
        for cone in cones:
            self.below(cone, repairs)

    def below(self, root: Cone, repairs: int) -> None:
        """Write the tree below a cone; where that is long, below its halves."""
        found = self.proposed(np.array([root.generators], dtype=np.int64))
        if found is None:
            self.run(self.halves(root), repairs)
            return
        d = len(root.generators)
        edges = [*combinations(range(d), 2)]
        stack: list[tuple[Cone, int, Row, Whole]] = []
        cone, splits, leaf = root, 0, 0
        for number, code in enumerate(found.codes.tolist()):
            if number:
                cone = self.descent.child(*stack.pop())
            if code < PLAIN:
                i, j = edges[code]
                by = int(found.multipliers[splits])
                self.writer.split(code, by)
                g = middle(cone.generators[i], cone.generators[j], by)
                heights = self.descent.heights(cone.lines, g)
                stack += [(cone, k, g, heights) for k in (i, j)]
                splits += 1
                continue
            if leaf % OFTEN == OFTEN - 1 and self.over():
                raise Unproved("the time was up")
            at = slice(int(found.starts[leaf]), int(found.starts[leaf + 1]))
            shares = cone.on.astype(np.float64)
            there = np.isin(found.lines[at], cone.lines)  # floats and integers need not agree on all
            shares[np.searchsorted(cone.lines, found.lines[at][there])] = found.shares[at][there]
            if not self.proved(cone, shares, code - PLAIN - 1):
                if repairs >= MOST_REPAIRS or self.over():
                    raise Unproved("a leaf holds in floats only")
                self.run(self.halves(cone), repairs + 1)
            leaf += 1

    def proved(self, cone: Cone, shares: Floats, tie: int) -> bool:
        """Write the cone as a leaf, if it is one; `shares` are those of its lines, in floats."""
        for code in (TIE,) if tie >= 0 else (PLAIN, SHARES, FINE):
            whole = WHOLE.get(code, 0)
            moved = np.zeros(len(shares), dtype=np.int64)
            if code == TIE:
                parts, whole = self.parts(tie)
                known = zip(cone.lines.tolist(), cone.on.tolist(), strict=True)
                chosen: Whole = np.array([parts.get(c, whole * o) for c, o in known], dtype=object)
            else:
                far = np.where(cone.on, 1 - shares, shares) * whole
                moved = np.clip(np.rint(far), 0, whole).astype(np.int64)
                if code == PLAIN and moved.any():
                    continue
                chosen = np.where(cone.on, whole - moved, moved)
            N = None
            if self.around is None and (Q := self.descent.below(cone, chosen, whole)) is not None:
                N = self.split_off(Q, cone.generators, whole)
            if N is None:
                N = self.best(self.descent.form(cone, chosen, whole), cone.generators, whole, tie)
            if N is not None:
                kind = {SHARES: "u1", FINE: "<u2"}.get(code)
                self.writer.leaf(code, tie, moved.astype(kind).tobytes() if kind else b"", N)
                return True
        return False

    def best(self, Q: Form, cone: Sequence[Row], whole: int, tie: int) -> bytes | None:
        """N as it is written: if possible, one with which the leaf is out, or near a class."""
        if self.around is None or self.around.left > MOST_LEFT:
            return self.split_off(Q, cone, whole)
        nonnegative = all(x >= 0 for row in Q for x in row)
        for weaker, near, margin in self.around.weaker(Q, cone, whole, tie):
            N = self.split_off(weaker, cone, whole)
            if N is not None and (N != b"\0" or nonnegative):
                if near is not None:
                    near.margin = margin
                return N
        if self.around.strict:
            return None
        N = self.split_off(Q, cone, whole)
        self.around.left += N is not None
        return N

    def parts(self, tie: int) -> tuple[dict[int, int], int]:
        """The shares of a tie in integers, and the whole."""
        (parts,), whole = scaled_rows([self.ties[tie].shares])
        return dict(zip(self.ties[tie].lines, parts, strict=True)), whole

    def split_off(self, Q: Form, cone: Sequence[Row], whole: int) -> bytes | None:
        """N as it is written, with Q - N definite; None where none is found."""
        d = len(Q)
        if all(x >= 0 for row in Q for x in row):
            return b"\0"
        count = d * (d - 1) // 2
        if semidefinite(Q):
            return bytes([1, *OFFSET.to_bytes(2, "little"), *[0] * count])
        bits = [max(map(abs, g)).bit_length() for g in cone]
        size = 2 * whole * whole * self.pull.level
        lengths = [sqrt(sum(x * x for x in g)) for g in cone]
        N = nonnegative_part(np.array([[Q[i][j] / size / lengths[i] / lengths[j] for j in range(d)] for i in range(d)]))
        if N is None:
            return None
        pairs = [*combinations(range(d), 2)]
        relative = [N[i, j] * (lengths[i] / 2.0 ** bits[i]) * (lengths[j] / 2.0 ** bits[j]) for i, j in pairs]
        exact = [int(x * 2.0**60) * size for x in relative]  # N_ij 2^(60 - bits)
        largest = max(exact).bit_length()
        for width in WIDTHS:
            power = max(largest - 8 * width, 0)
            entries = [x >> power for x in exact]
            lift = max([0, *(60 - power - bits[i] - bits[j] for i, j in pairs)])
            S = [[x << lift for x in row] for row in Q]
            for (i, j), x in zip(pairs, entries, strict=True):
                S[i][j] -= x << power - 60 + bits[i] + bits[j] + lift
                S[j][i] = S[i][j]
            if definite(S):
                raw = b"".join(x.to_bytes(width, "little") for x in entries)
                return bytes([width, *(power - 60 + OFFSET).to_bytes(2, "little")]) + raw
        return None

    def halves(self, whole: Cone) -> list[Cone]:
        """The two halves of a cone at its longest edge, in the order of the certificate; the split is written."""
        cone = whole.generators
        lengths = [sqrt(sum(x * x for x in g)) for g in cone]
        edges = [*combinations(range(len(cone)), 2)]
        if not edges:
            raise Unproved("the dual constraint is violated", np.array(cone, dtype=np.float64))

        def cosine(edge: tuple[int, int]) -> float:
            i, j = edge
            return sum(a * b for a, b in zip(cone[i], cone[j], strict=True)) / lengths[i] / lengths[j]

        i, j = min(edges, key=cosine)
        up = round(np.log2(lengths[j] / lengths[i]))
        by = 2 * up if up >= 0 else 128 - 2 * up
        new = middle(cone[i], cone[j], by)
        if max(map(abs, new)) >= 2**60:
            raise Unproved("generators are too long")
        self.writer.split(edges.index((i, j)), by)
        heights = self.descent.heights(whole.lines, new)
        return [self.descent.child(whole, k, new, heights) for k in (j, i)]


def middle(a: Row, b: Row, code: int) -> Row:
    """The generator that a bisection with this multiplier makes."""
    m = (2 + (code & 1) << (code >> 1 & 63)) >> 1
    p, q = (1, m) if code >> 7 else (m, 1)
    g = [p * x + q * y for x, y in zip(a, b, strict=True)]
    divisor = gcd(*g)
    return tuple(x // divisor for x in g)


def nonnegative_part(Q: Floats) -> Floats | None:
    """N >= 0 with Q - N positive definite, in floats (unit generators)."""
    d = len(Q)
    room = [np.empty((d, d)) for _ in range(3)]
    t, x, ones = np.empty(d), np.empty(d), np.ones(d)
    free, index = np.empty(d, np.int64), np.empty(d, np.int64)
    value = least(Q, t, *room, x, free, index, ones)
    if value <= 0:
        return None
    convex = room[0].copy()
    for k in range(6):
        lowered = convex - 0.3 * value / 4**k * (1 - np.eye(d))
        least(lowered, t, *room, x, free, index, ones)
        slope = lowered @ t
        y = np.maximum(slope - t @ slope, 0)
        N = np.maximum(Q - lowered + y[:, None] + y[None, :], 0)
        np.fill_diagonal(N, 0.0)
        if np.linalg.eigvalsh(Q - N)[0] > 0:
            found: Floats = N
            return found
    return None


def build(
    pull: Pull,
    basis: tuple[Row, ...],
    ties: tuple[OutputTie, ...],
    over: Callable[[], bool],
    around: Around | None = None,
    most_nodes: int = MOST_NODES,
    eps: float = 0.0,
) -> Outputs:
    """The evidence that |F(u)| <= lambda |u|; Unproved where it was not found. Leaves are out of `around`, or near a
    class, as far as possible."""
    builder = Builder(pull, ties, over, most_nodes, around, eps)
    if basis:
        cones = [*sign_cones(basis)]
        if pull.lines.biases:  # none where nothing but biases is seen: theta.1 = 0 is all that is wanted
            cones = prisms(basis, pull.lines.height(basis)) if len(basis) > 1 else []
        builder.run([builder.descent.root([tuple(g) for g in cone.tolist()]) for cone in cones])
    else:  # no neuron sees anything: one cone, without generators
        builder.proved(builder.descent.root(()), np.zeros(0), -1)
    return Outputs(basis, ties, builder.writer.tree, builder.writer.nodes, builder.writer.leaves)
