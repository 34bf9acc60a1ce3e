"""Theta is dual feasible: |Theta'(Zu)_+| <= lambda |u| for all u, by a tree of cones with quadratic leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from verify.cover.lines import Lines, Row, lines_of
from verify.cover.tree import sign_cones
from verify.numbers.integers import cleared
from verify.outputs.descent import LONGEST_SHARES, Cone, Table, leaf_of, leaves, on_at_middle
from verify.outputs.forms import PAIRS, Crossing, form, integers, length_above, nonnegative, semidefinite
from verify.outputs.rounded import Weights, rounded
from verify.outputs.tree import TIE, WHOLE, Leaf, Streams
from verify.problem.problem import Problem
from verify.text import Node, Vector

MOST_DIRECTIONS, MOST_TIES = 12, 255
MOST_KEPT = 2**22  # heights of all lines at all generators of all leaves


@dataclass(frozen=True)
class Values:
    """F(u) = M0'u + sum_c W_c (p_c.u)_+, times `unit`; F(u) = Theta'(Zu)_+."""

    lines: Lines
    W: list[list[int]]
    M0: list[list[int]]
    unit: int


@dataclass(frozen=True)
class Tie:
    """Shares of lines, in parts of `whole`."""

    shares: dict[int, int]
    whole: int


def values_of(lines: Lines, theta: Vector, targets: int) -> Values:
    """Rows on one line are merged: s_c+ and s_c- are the sums of a_k Theta_k over a_k > 0 and a_k < 0, W_c = s_c+ -
    s_c-, and M0 = sum_c p_c s_c-'. Theta has a row for each row of Z: with bags it is T = P'Theta."""
    T, q = cleared(theta)
    W = [[0] * targets for _ in lines.rows]
    M0 = [[0] * targets for _ in range(lines.d)]
    for k, (c, a) in enumerate(zip(lines.line, lines.multiple, strict=True)):
        if c >= 0:
            t = T[targets * k : targets * (k + 1)]
            W[c] = [w + abs(a) * x for w, x in zip(W[c], t, strict=True)]
            if a < 0:
                M0 = [
                    [m + a * p * x for m, x in zip(row, t, strict=True)]
                    for row, p in zip(M0, lines.rows[c], strict=True)
                ]
    return Values(lines, W, M0, lines.scale * q)


def weights(problem: Problem, theta: Vector) -> Vector:
    """T = P'Theta, row by row: Theta'P(Zu)_+ = T'(Zu)_+."""
    C = problem.targets
    columns = [problem.spread(theta[c::C]) for c in range(C)]
    return tuple(t for row in zip(*columns, strict=True) for t in row)


@dataclass(frozen=True)
class Form:
    """Of a leaf: 2 whole^2 |unit F(u)|^2 <= 2 whole^2 level |u|^2 - c'Qc for u = sum c_i g_i, c >= 0; `below` is
    nowhere more than Q, if it was worked out; and N, if any."""

    cone: list[Row]
    gram: list[list[int]]
    whole: int
    N: tuple[list[int], int] | None
    below: list[list[int]] | None
    exactly: Callable[[], list[list[int]]]

    @cached_property
    def Q(self) -> list[list[int]]:
        """The form, exactly."""
        return self.exactly()

    def bounds(self) -> Iterator[list[list[int]]]:
        """`below`, if there is one, and Q: each is enough."""
        if self.below is not None:
            yield self.below
        yield self.Q


@dataclass(frozen=True)
class Proof:
    """A tree whose leaves hold below its roots. Where there are many they are not kept, but worked out again when asked
    for. With free `biases` no length sees the last entry of u."""

    values: Values
    basis: list[Row]
    ties: list[Tie]
    level: int
    node: Node
    kept: tuple[Form, ...] = ()
    height: int | None = None

    def forms(self) -> Iterator[Form]:
        """Of all leaves."""
        if self.kept:
            yield from self.kept
            return
        streams = Streams(self.node)
        if self.basis:
            yield from forms(self.values, self.level, self.roots(), self.ties, streams, self.height is not None)
        else:  # no rows but zeros
            leaf_of(streams.byte("codes"), streams, len(self.ties))
            self.node.require(streams.entries(0) is None, "no N without generators")
        streams.end()

    def roots(self) -> Iterator[tuple[Row, ...]]:
        """Sign cones of the basis; where biases are free prisms of this height."""
        if self.height is None:
            return sign_cones(self.basis)
        from verify.cover.prisms import prisms

        return prisms(self.basis, self.height)


def check_outputs(problem: Problem, theta: Vector, squared: Fraction, node: Node) -> Proof:
    """The proof; rejected unless |Theta'P(Zu)_+|^2 <= squared |u|^2 for all u."""
    fields = node.record("basis", "ties", "tree")
    lines = lines_of(problem)
    basis = [tuple(row.integers(problem.d)) for row in fields["basis"].array()]
    fields["basis"].require(len(basis) <= MOST_DIRECTIONS, f"at most {MOST_DIRECTIONS} vectors", str(len(basis)))
    if any(fmpz_mat([list(u) for u in rows]).rank() != len(basis) for rows in (basis, [*basis, *lines.rows]) if rows):
        raise fields["basis"].reject("independent vectors that span the rows")
    height = None
    if problem.biases:
        from verify.cover.prisms import prism_height

        height = prism_height(problem, basis, fields["basis"])
    ties = [read_tie(entry, len(lines.rows)) for entry in fields["ties"].array()]
    fields["ties"].require(len(ties) <= MOST_TIES, f"at most {MOST_TIES}", str(len(ties)))
    values = values_of(lines, weights(problem, theta), problem.targets)
    level = int(squared * values.unit**2)  # rounded down
    proof = Proof(values, basis, ties, level, fields["tree"], height=height)
    kept, most = list[Form](), MOST_KEPT // (1 + problem.d * len(lines.rows))
    for number, leaf in enumerate(proof.forms()):
        holds = any(copositive(Q, leaf) for Q in leaf.bounds())
        proof.node.require(holds, "lambda^2 GG' - B = N + a semidefinite matrix at every leaf", f"no at leaf {number}")
        if number <= most:
            kept.append(leaf)
    return replace(proof, kept=tuple(kept)) if len(kept) <= most else proof


def copositive(Q: list[list[int]], leaf: Form) -> bool:
    """Whether c'Qc >= 0 for c >= 0: by its entries, or because Q - N is semidefinite, N that of the leaf."""
    return nonnegative(Q) if leaf.N is None else semidefinite(less(Q, leaf.N, leaf.cone))


def read_tie(node: Node, lines: int) -> Tie:
    """`{"lines", "shares"}`: numbers from 0 to 1 for some lines."""
    fields = node.record("lines", "shares")
    rows = fields["lines"].ascending(lines)
    shares = fields["shares"].vector(len(rows))
    fields["shares"].require(all(0 <= s <= 1 for s in shares), "numbers from 0 to 1")
    parts, whole = cleared(shares)
    return Tie(dict(zip(rows, parts, strict=True)), whole)


def forms(
    values: Values,
    level: int,
    roots: Iterable[Sequence[Row]],
    ties: Sequence[Tie],
    streams: Streams,
    biases: bool = False,
) -> Iterator[Form]:
    """Of the leaves below these cones, in their order; with free `biases` GG' is that of the generators without."""
    table = Table.of(values.lines.rows, values.W, values.M0)
    lengths = [length_above(w) for w in values.W]
    short = Weights.of(table.W, lengths)
    for cone, leaf in leaves(table, streams, roots, len(ties)):
        generators = [*cone.generators]
        seen = [g[:-1] for g in generators] if biases else generators
        gram = [[sum(a * b for a, b in zip(g, h, strict=True)) for h in seen] for g in seen]
        shares, whole = shares_of(cone, leaf, ties, streams)
        N, below = streams.entries(len(gram) * (len(gram) - 1) // 2), None
        if whole <= LONGEST_SHARES and len(cone.lines) > PAIRS and cone.heights.dtype != object:
            below = shortened(table, short, (level, gram), cone, np.array(shares, dtype=np.int64), whole)
        yield Form(
            generators, gram, whole, N, below, partial(exactly, table, lengths, level, gram, cone, shares, whole)
        )


def shortened(
    table: Table, short: Weights, level: tuple[int, list[list[int]]], cone: Cone, shares: NDArray[np.int64], whole: int
) -> list[list[int]] | None:
    """The form from below, in 64-bit integers."""
    M = whole * cone.linear + table.shared(cone.lines, shares)
    L = integers(fmpz_mat([list(g) for g in cone.generators]) * fmpz_mat(M.tolist()))
    return rounded(*level, L, cone.heights, short, cone.lines, shares, whole)


def exactly(
    table: Table, lengths: list[int], level: int, gram: list[list[int]], cone: Cone, shares: list[int], whole: int
) -> list[list[int]]:
    """The form of a leaf."""
    W, V = table.W[cone.lines].tolist(), cone.heights.T.tolist()
    values = fmpz_mat([list(g) for g in cone.generators]) * fmpz_mat(cone.linear.tolist())
    if W:
        values += fmpz_mat([[max(x, 0) for x in row] for row in V]).transpose() * fmpz_mat(W)
    lines = Crossing(W, [lengths[c] for c in cone.lines.tolist()], V, shares, whole)
    return form(level, gram, integers(values), lines)


def shares_of(cone: Cone, leaf: Leaf, ties: Sequence[Tie], streams: Streams) -> tuple[list[int], int]:
    """The shares of the lines that cross a cone, and the whole. A share is as far as its byte says from 1, or from 0,
    which is what the line is at the middle of the cone; in a tie's leaf, what the tie says, if anything."""
    on = on_at_middle(cone).tolist()
    if leaf.code == TIE:
        tie = ties[leaf.tie]
        return [tie.shares.get(c, tie.whole * o) for c, o in zip(cone.lines.tolist(), on, strict=True)], tie.whole
    whole, moved = WHOLE[leaf.code], streams.shares(leaf.code, len(on))
    return [whole - b if o else b for b, o in zip(moved, on, strict=True)], whole


def less(Q: list[list[int]], N: tuple[list[int], int], cone: Sequence[Row]) -> list[list[int]]:
    """At most Q - N, times 2^-power where the power of two of N is negative: N_ij is its entry times 2^(power + bits of
    g_i + bits of g_j)."""
    entries, power = N
    bits = [size(g) for g in cone]
    lift = max(0, *(-(power + a + b) for a in bits for b in bits))
    found = [[x << lift for x in row] for row in Q]
    for (i, j), x in zip(combinations(range(len(Q)), 2), entries, strict=True):
        N_ij = x << power + bits[i] + bits[j] + lift
        found[i][j] -= N_ij
        found[j][i] -= N_ij
    return found


def size(g: Row) -> int:
    """The bits of the largest entry."""
    return max(map(abs, g)).bit_length()
