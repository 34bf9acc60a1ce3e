"""The walk that carries crossing lines down: at each leaf they, their heights and the linear part are those of Python's
integers, worked out from nothing, also where numbers come to the limits of 64 bits."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from tests.verify.outputs.planted import tree
from verify import Rejected
from verify.cover.lines import lines_of
from verify.cover.tree import middle, sign_cones
from verify.outputs.check import Proof, Tie, Values, check_outputs, forms, values_of
from verify.outputs.descent import LARGEST, LONGEST_SHARES, Cone, Table, leaves, on_at_middle
from verify.outputs.tree import Streams
from verify.problem.problem import Problem
from verify.text import Node

Row = tuple[int, ...]


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """a.b"""
    return sum(x * y for x, y in zip(a, b, strict=True))


def value(rows: Sequence[Row], W: Sequence[Sequence[int]], M0: Sequence[Sequence[int]], u: Sequence[int]) -> list[int]:
    """M0'u + sum W_c (p_c.u)_+"""
    F = [dot(column, u) for column in zip(*M0, strict=True)]
    for p, w in zip(rows, W, strict=True):
        F = [f + max(dot(p, u), 0) * x for f, x in zip(F, w, strict=True)]
    return F


def streams_of(codes: Sequence[int], multipliers: Sequence[int] = (), shares: bytes = b"", N: bytes = b"") -> Streams:
    """To be walked."""
    return Streams(Node(tree(bytes(codes), bytes(multipliers), shares, N)))


def split(r: random.Random, depth: int, edges: int, most: int) -> tuple[list[int], list[int]]:
    """Codes and multipliers of a drawn tree, multipliers up to 2^most."""
    if not depth:
        return [200], []
    codes, multipliers = [r.randrange(edges)], [r.randint(0, 1) | r.randint(0, most) << 1 | r.randint(0, 1) << 7]
    for _ in range(2):
        found = split(r, r.choice([0, depth - 1, depth - 1]), edges, most)
        codes, multipliers = codes + found[0], multipliers + found[1]
    return codes, multipliers


@pytest.mark.parametrize(
    ("line", "weight", "most"), [(3, 4, 3), (20, 30, 40), (54, 2, 63), (53, 400, 20), (60, 3, 5), (70, 60, 9)]
)
def test_a_leaf_has_the_lines_the_heights_and_the_values_that_it_has_by_itself(
    line: int, weight: int, most: int
) -> None:
    """Nothing is lost, and nothing said to be resolved, on the way down, whatever the length of the numbers."""
    seen = 0
    for seed in range(12):
        r = random.Random(seed)
        d, C = r.choice([1, 2, 3]), r.choice([1, 2])
        rows = [tuple(r.randint(-(2**line), 2**line) for _ in range(d)) for _ in range(12)]
        rows += [tuple(r.randint(-2, 2) or 1 for _ in range(d)) for _ in range(6)]  # some of which go through edges
        W = [[r.randint(-(2**weight), 2**weight) for _ in range(C)] for _ in rows]
        M0 = [[r.randint(-(2**weight), 2**weight) for _ in range(C)] for _ in range(d)]
        basis = [tuple(int(i == j) for j in range(d)) for i in range(d)]
        codes, multipliers, edges = [], [], d * (d - 1) // 2
        for _ in range(2**d):
            found = split(r, 3 if edges else 0, edges, most)
            codes, multipliers = codes + found[0], multipliers + found[1]
        streams = streams_of(codes, multipliers)
        cones = [cone for cone, _ in leaves(Table.of(rows, W, M0), streams, sign_cones(basis), 0)]
        streams.end()
        assert len(cones) == codes.count(200)
        for cone in cones:
            heights = {c: [dot(p, g) for g in cone.generators] for c, p in enumerate(rows)}
            crossing = [c for c, h in heights.items() if min(h) < 0 < max(h)]
            assert cone.lines.tolist() == crossing
            assert cone.heights.T.tolist() == [heights[c] for c in crossing]
            size = [max(map(abs, g)).bit_length() for g in cone.generators]
            at = [sum(h << max(size) - b for h, b in zip(heights[c], size, strict=True)) for c in crossing]
            assert on_at_middle(cone).tolist() == [h > 0 for h in at]
            c = [r.randint(0, 9) for _ in range(d)]
            u = [dot(c, column) for column in zip(*cone.generators, strict=True)]
            own = [rows[k] for k in crossing], [W[k] for k in crossing]
            assert value(*own, cone.linear.tolist(), u) == value(rows, W, M0, u)
            seen += 1
    assert seen > 30


def test_codes_and_order_of_children() -> None:
    """A split replaces the one generator, then the other; the cone in which the second was replaced comes first."""
    table = Table.of([(1, -1)], [[1]], [[0], [0]])
    found = [*leaves(table, streams_of([0, 200, 203, 1], [2]), [((1, 0), (0, 1))], 2)]
    assert [(cone.generators, leaf.code, leaf.tie) for cone, leaf in found] == [
        (((1, 0), (2, 1)), 200, 0),
        (((2, 1), (0, 1)), 203, 1),
    ]
    assert [cone.lines.tolist() for cone, _ in found] == [[], [0]]
    assert middle((1, 0), (0, 1), 2, 1) == (2, 1)


@pytest.mark.parametrize("codes", [[1], [199], [204], [255], [203, 2], [203], [], [0, 200]])
def test_other_codes_are_rejected(codes: list[int]) -> None:
    """An edge that there is not, a code of nothing, a tie beyond the last, and a tree that ends too early."""
    table = Table.of([(1, -1)], [[1]], [[0], [0]])
    with pytest.raises(Rejected):
        [*leaves(table, streams_of(codes, [2]), [((1, 0), (0, 1))], 2)]


def test_numbers_have_64_bits_up_to_their_limits_and_no_further() -> None:
    """Lines, weights and heights one below and one at 2^62, and what the shares make of them."""
    most = (LARGEST - 1) // LONGEST_SHARES
    for p, kind in ((most, np.int64), (most + 1, object)):
        for sign in (-1, 1):
            assert Table.of([(sign * (p - 3), 3)], [[0]], [[0], [0]]).P.dtype == kind
    for total, kind in ((most, np.int64), (most + 1, object)):
        for rows, W, M0 in (
            ([(1, 2)], [[1, -1]], [[0, 0], [6 - total, 0]]),
            ([(-1, 1), (1, 0)], [[-1, 0], [0, 2 - total]], [[0, 0], [0, 0]]),
        ):
            assert Table.of(rows, W, M0).W.dtype == Table.of(rows, W, M0).M0.dtype == kind
    long = Table.of([(most + 1, 0)], [[0]], [[1], [1]])
    assert long.P.dtype == long.W.dtype == object, "a line without weight that is long"
    assert Table.of([], [], []).W.shape == (0, 0) and Table.of([], [], [[1], [2]]).P.shape == (0, 2)
    table, line = Table.of([(1, -1), (3, 1)], [[1], [1]], [[0], [0]]), np.array([0], dtype=np.int64)
    assert table.widest == 4
    for g, kind in (((LARGEST // 4 - 1, 5), np.int64), ((LARGEST // 4, 5), object), ((7, -LARGEST), object)):
        heights = table.heights(line, g)
        assert heights.dtype == kind and heights.tolist() == [g[0] - g[1]]


@pytest.mark.parametrize("total", [(LARGEST - 1) // LONGEST_SHARES, 2**62, 2**100])
def test_shares_of_long_lines(total: int) -> None:
    """The sum of shares p W' is that of Python's integers, with shares of 255 and everything of one sign."""
    for rows, W in (([(total // 2, 0)], [[2]]), ([(1, 0)], [[total]]), ([(total, 1), (2, 1)], [[0], [-total // 4]])):
        table = Table.of(rows, W, [[0], [0]])
        found = table.shared(np.arange(len(rows)), np.array([255] * len(rows), dtype=np.int64))
        assert found.tolist() == [[255 * sum(p[l] * w[0] for p, w in zip(rows, W, strict=True))] for l in range(2)]


def test_the_middle_of_long_heights() -> None:
    """Sums and shifts that would not fit have Python's integers; heights that cancel are not positive."""
    lines = np.arange(3)
    for k in range(50, 62):
        for generators in (((1, 0), (0, 1), (1, 1)), ((1, 0), (0, 2**7), (1, 1)), ((2**10, 1), (1, 1), (0, 2**3))):
            size = [max(g).bit_length() for g in generators]
            H = [[2**k - 1, 2**k - 1, -(2**k) + 1], [2**k - 1, -(2**k) + 1, 1], [2**k - 1, 0, 2**k - 2]]
            cone = Cone(generators, lines, np.array(H, dtype=np.int64), np.zeros((2, 1), dtype=np.int64))
            at = [sum(row[c] << max(size) - b for row, b in zip(H, size, strict=True)) for c in range(3)]
            assert on_at_middle(cone).tolist() == [h > 0 for h in at], (k, generators)


def values(seed: int, n: int = 120, rows: Sequence[Row] = ()) -> Values:
    """Of these lines in the plane, or of drawn ones."""
    r = random.Random(seed)
    chosen = rows or [tuple(r.randint(-(2**24), 2**24) for _ in range(2)) for _ in range(n)]
    Z = tuple(tuple(Fraction(x) for x in z) for z in chosen)
    theta = tuple(Fraction(r.randint(-(2**40), 2**40), 2**30) for _ in range(2 * len(Z)))
    return values_of(lines_of(Problem("relu", Fraction(1), Z, theta, targets=2)), theta, 2)


def test_a_line_more_or_less_at_a_leaf_is_seen() -> None:
    """Shares are those of the lines that cross, one byte each: with one dropped or one added, streams do not end."""
    found = values(1)
    roots = [*sign_cones([(1, 0), (0, 1)])]
    table = Table.of(found.lines.rows, found.W, found.M0)
    counts = [len(cone.lines) for cone, _ in leaves(table, streams_of([200] * 4), roots, 0)]
    assert min(counts) > 24
    for extra, accepted in ((-1, False), (0, True), (1, False)):
        streams = streams_of([201] * 4, (), bytes(sum(counts) + extra), bytes(4))
        try:
            assert len([*forms(found, 1, roots, [], streams)]) == 4
            streams.end()
        except Rejected:
            assert not accepted
        else:
            assert accepted


@pytest.mark.parametrize("share", [0, 1])
def test_the_short_form_is_below_the_exact_one_at_every_leaf(share: int) -> None:
    """Entry by entry where kappa is nothing, and near: for shares 0 and 1, codes with one byte, and with none."""
    found, roots = values(2), [*sign_cones([(1, 0), (0, 1)])]
    table = Table.of(found.lines.rows, found.W, found.M0)
    lines = sum(len(cone.lines) for cone, _ in leaves(table, streams_of([200] * 4), roots, 0))
    given = (
        streams_of([201] * 4, (), bytes([255 * share]) * lines, bytes(4))
        if share
        else streams_of([200] * 4, N=bytes(4))
    )
    told = [*forms(found, 2**130, roots, [], given)]
    assert len(told) == 4
    for leaf in told:
        assert leaf.below is not None and [*leaf.bounds()] == [leaf.below, leaf.Q]
        for i, j in [(0, 0), (0, 1), (1, 1)]:
            below, Q = leaf.below[i][j], leaf.Q[i][j]
            assert below <= Q <= below + abs(2 * leaf.whole**2 * 2**130 - Q) // 2**12


@pytest.mark.parametrize("code", [202, 203])
def test_long_shares_have_the_exact_form_alone(code: int) -> None:
    """Shares of two bytes, and ties of more than 255 parts."""
    found, roots = values(3), [*sign_cones([(1, 0), (0, 1)])]
    table = Table.of(found.lines.rows, found.W, found.M0)
    lines = sum(len(cone.lines) for cone, _ in leaves(table, streams_of([200] * 4), roots, 0))
    for whole in (255, 256):
        codes = [code] * 4 if code == 202 else [203, 0] * 4
        given = streams_of(codes, (), bytes(2 * lines) if code == 202 else b"", bytes(4))
        short = [leaf.below is not None for leaf in forms(found, 1, roots, [Tie({0: 1}, whole)], given)]
        assert short == [code == 203 and whole == 255] * 4


@pytest.mark.parametrize("n", [24, 25])
def test_few_lines_have_the_exact_form_alone(n: int) -> None:
    """24 lines that cross, whose products of all pairs count; with 25 the other form is tried first."""
    few = values(5, rows=[(k + 300, 211) for k in range(1, n + 1)])
    leaf = next(forms(few, 1, [((1, 0), (1, -2))], [], streams_of([200], N=bytes(1))))
    assert (leaf.below is not None) == (n == 25)


@pytest.mark.parametrize("seed", range(4))
def test_a_network_that_is_larger_than_lambda_is_rejected_however_little(seed: int) -> None:
    """The least lambda^2 that is accepted, to a millionth, with long and short forms, is one that |F(u)| keeps to; one
    below what was seen is rejected."""
    r = random.Random(seed)
    Z = tuple(tuple(Fraction(r.randint(-(2**22), 2**22)) for _ in range(2)) for _ in range(60))
    theta = tuple(Fraction(r.randint(-(2**40), 2**40), 2**30) for _ in range(120))
    problem = Problem("relu", Fraction(1), Z, theta, targets=2)
    found = values_of(lines_of(problem), theta, 2)
    codes, splits = split(r, 3, 1, 1)
    codes, splits = codes * 4, splits * 4
    forms_ = bytes([1, 0, 128, 0]) * codes.count(200)  # N = 0
    node = Node({"basis": ["1 0", "0 1"], "ties": [], "tree": tree(bytes(codes), bytes(splits), b"", forms_)})

    def accepted(squared: int) -> bool:
        try:
            check_outputs(problem, theta, Fraction(squared), node)
        except Rejected:
            return False
        return True

    seen = Fraction(0)
    for _ in range(200):
        u = [r.randint(-(2**20), 2**20) for _ in range(2)]
        F = value(found.lines.rows, found.W, found.M0, u)
        seen = max(seen, Fraction(dot(F, F), found.unit**2 * dot(u, u)))
    low, high = 0, 1
    while not accepted(high):
        low, high = high, 2 * high
    while high - low > 1 + high // 10**6:
        half = (low + high) // 2
        low, high = (low, half) if accepted(half) else (half, high)
    assert seen <= high <= 3 * seen
    assert not accepted(int(seen) - 1)


def test_kept_forms_are_those_that_are_worked_out_again() -> None:
    """A proof that keeps its leaves tells them as one that does not."""
    found = values(4)
    node = Node(tree(bytes([200] * 4), b"", b"", bytes(4)))
    proof = Proof(found, [(1, 0), (0, 1)], [], 2**90, node)
    first = [*proof.forms()]
    kept = Proof(found, [(1, 0), (0, 1)], [], 2**90, Node(None), tuple(first))
    assert [*kept.forms()] == first and len(first) == 4
    assert [(a.Q, a.N, a.cone) for a in proof.forms()] == [(a.Q, a.N, a.cone) for a in first]
