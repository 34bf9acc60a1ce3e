"""Several outputs once more from the page of the format alone, in Fractions: trees, shares, forms, classes, weights.

What the checker computes on the way is compared number by number, on drawn trees and on files of the corpus.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction as F
from itertools import combinations, product
from math import ceil, gcd, isqrt, lcm
from typing import Any

import pytest
from flint import fmpq, fmpq_mat

from tests.verify.build.bags import stream
from tests.verify.oracle.brute import Mat, kernel, mat, rank, solve, vec
from tests.verify.outputs.planted import changed, square, tree
from tests.verify.score import CORPUS
from verify import Rejected, check
from verify.certificate import read
from verify.cover.lines import lines_of
from verify.cover.tree import sign_cones
from verify.facts import DUAL, FORMS, VALUE, Facts
from verify.outputs import check as outputs_check
from verify.outputs import softmax
from verify.outputs.check import Form, Proof, Tie, check_outputs, copositive, forms, less, read_tie, size, values_of
from verify.outputs.classes import Around, OneDirection, check_kinks, linear, omega, one_at_most, read_class
from verify.outputs.forms import Crossing, definite, form, semidefinite
from verify.outputs.tree import Streams
from verify.problem.input import Input
from verify.problem.outputs import centered, read_columns, read_targets
from verify.problem.problem import Problem
from verify.rules import check_facts, load
from verify.rules.logistic.value import ONE
from verify.rules.outputs.cover_set import alone, near, out, weighed
from verify.rules.outputs.cover_set import check as check_set
from verify.rules.value import Value
from verify.sets.superclasses import stretch
from verify.text import Node

Vec = tuple[F, ...]
Row = tuple[int, ...]
UNIQUE = [path.stem for path in sorted((CORPUS / "accepted").glob("unique-*.json"))]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a.b"""
    return sum(x * y for x, y in zip(a, b, strict=True))


@dataclass
class Drawn:
    """Lines, W and M0 with their unit, ties, the four streams, and what their leaves are."""

    problem: Problem
    theta: Vec
    ties: list[Tie]
    streams: dict[str, bytes]
    leaves: list[tuple[list[Row], dict[int, F] | list[int], int, tuple[list[int], int] | None]]


def lines(Z: Sequence[Vec]) -> tuple[list[Row], list[tuple[int, int]], int]:
    """p_c, the line and multiple of each row, the scale."""
    scale = lcm(*(x.denominator for z in Z for x in z))
    found: list[Row] = []
    of = []
    for z in Z:
        row = [int(x * scale) for x in z]
        g = gcd(*row)
        if not g:
            of.append((-1, 0))
            continue
        p = tuple(x // g for x in row)
        if tuple(-x for x in p) in found:
            p, g = tuple(-x for x in p), -g
        if p not in found:
            found.append(p)
        of.append((found.index(p), g))
    return found, of, scale


def value(Z: Sequence[Vec], theta: Vec, C: int, u: Sequence[Any]) -> list[F]:
    """F(u)"""
    return [sum((theta[C * k + c] * max(dot(z, u), F(0)) for k, z in enumerate(Z)), F(0)) for c in range(C)]


def bits(g: Row) -> int:
    """Of the largest entry."""
    return max(abs(x) for x in g).bit_length()


def draw(seed: int, n: int, d: int, C: int) -> Drawn:
    """Rows, theta, and a tree with all its codes, of few levels."""
    r = random.Random(seed)
    Z = [tuple(F(r.randint(-4, 4), r.choice([1, 1, 3])) for _ in range(d)) for _ in range(n)]
    Z += [tuple(-x for x in Z[0]), tuple(2 * x for x in Z[0])]
    theta = tuple(F(r.randint(-9, 9), r.choice([1, 2])) for _ in range(C * len(Z)))
    rows, _, _ = lines(Z)
    whole = r.choice([1, 6, 10])
    ties = [Tie({c: r.randint(0, whole) for c in range(len(rows)) if r.random() < 0.7}, whole) for _ in range(3)]
    streams = {name: bytearray() for name in ("codes", "multipliers", "shares", "forms")}
    leaves: list[Any] = []
    edges = [*combinations(range(d), 2)]

    def visit(cone: list[Row], depth: int) -> None:
        if edges and depth and r.random() < 0.7:
            e, s, half, second = r.randrange(len(edges)), r.randint(0, 6), r.randint(0, 1), r.randint(0, 1)
            streams["codes"].append(e)
            streams["multipliers"].append(half | s << 1 | second << 7)
            m = 3 * 2**s // 2 if half else 2**s
            i, j = edges[e]
            a, b = (1, m) if second else (m, 1)
            p = [a * x + b * y for x, y in zip(cone[i], cone[j], strict=True)]
            g = tuple(x // gcd(*p) for x in p)
            for k in (j, i):
                visit([g if l == k else x for l, x in enumerate(cone)], depth - 1)
            return
        code = r.choice([200, 201, 202, 203])
        streams["codes"].append(code)
        crossing = [c for c, p in enumerate(rows) if min(dot(p, g) for g in cone) < 0 < max(dot(p, g) for g in cone)]
        shares: Any = []
        tie = 0
        if code == 203:
            tie = r.randrange(3)
            streams["codes"].append(tie)
        elif code != 200:
            width = code - 200
            shares = [r.randint(0, 256**width - 1) for _ in crossing]
            streams["shares"] += b"".join(x.to_bytes(width, "little") for x in shares)
        N = None
        width = r.choice([0, 1, 2, 32])
        streams["forms"].append(width)
        if width:
            power = r.randint(-40, 20)
            entries = [r.randint(0, 256 ** min(width, 3) - 1) for _ in edges]
            streams["forms"] += (power + 2**15).to_bytes(2, "little")
            streams["forms"] += b"".join(x.to_bytes(width, "little") for x in entries)
            N = entries, power
        leaves.append((cone, shares, (code, tie), N))

    for m in range(2**d):
        visit([tuple((1 if m >> i & 1 else -1) * (l == i) for l in range(d)) for i in range(d)], 3)
    problem = Problem("relu", F(1), tuple(Z), theta, targets=C)
    return Drawn(problem, theta, ties, {k: bytes(v) for k, v in streams.items()}, leaves)


def expected(drawn: Drawn, level: int) -> Iterator[tuple[list[Row], int, list[list[int]], Any]]:
    """Cone, S, Q and N of all leaves, by the formulas of the page."""
    Z, theta, C = drawn.problem.seen, drawn.theta, drawn.problem.targets
    rows, of, scale = lines(Z)
    q = lcm(*(x.denominator for x in theta))
    unit = scale * q
    W = [
        [sum(abs(a) * int(theta[C * k + c] * q) for k, (l, a) in enumerate(of) if l == line) for c in range(C)]
        for line in range(len(rows))
    ]
    for cone, bytes_, (code, tie), N in drawn.leaves:
        S = {200: 1, 201: 255, 202: 65535}.get(code, drawn.ties[tie].whole)
        top = max(map(bits, cone))
        crossing = [c for c, p in enumerate(rows) if min(dot(p, g) for g in cone) < 0 < max(dot(p, g) for g in cone)]
        V = {c: [dot(rows[c], g) for g in cone] for c in crossing}
        on = {c: sum(h * 2 ** (top - bits(g)) for h, g in zip(V[c], cone, strict=True)) > 0 for c in crossing}
        sigma = {c: S if on[c] else 0 for c in crossing}
        if code == 203:
            sigma |= {c: s for c, s in drawn.ties[tie].shares.items() if c in crossing}
        elif code != 200:
            sigma = {c: S - b if on[c] else b for c, b in zip(crossing, bytes_, strict=True)}
        D = {c: [S * max(h, 0) - sigma[c] * h for h in V[c]] for c in crossing}
        L = [
            [S * unit * f - sum(D[c][i] * W[c][o] for c in crossing) for o, f in enumerate(value(Z, theta, C, g))]
            for i, g in enumerate(cone)
        ]
        above = {c: isqrt(dot(W[c], W[c]) - 1) + 1 if any(W[c]) else 0 for c in crossing}
        few = len(crossing) <= 24
        T = {
            k: [
                2 * dot(W[k], L[i])
                + sum((max(dot(W[k], W[l]), 0) if few else above[k] * above[l]) * D[l][i] for l in crossing)
                for i in range(len(cone))
            ]
            for k in crossing
        }
        kappa = {
            k: min(min(sigma[k], S - sigma[k]) * int(abs(t)) // abs(h) for t, h in zip(T[k], V[k], strict=True) if h)
            if all(t <= 0 for t in T[k])
            else 0
            for k in crossing
        }
        Q = [
            [
                2 * S * S * level * dot(g, h)
                - 2 * dot(L[i], L[j])
                - sum(D[k][i] * max(T[k][j], 0) + D[k][j] * max(T[k][i], 0) for k in crossing)
                + 2 * sum(kappa[k] * V[k][i] * V[k][j] for k in crossing)
                for j, h in enumerate(cone)
            ]
            for i, g in enumerate(cone)
        ]
        yield cone, S, [[int(x) for x in row] for row in Q], N


SHAPES = [(3, 1, 2), (4, 2, 2), (5, 3, 2), (4, 2, 3), (6, 3, 4), (60, 2, 2), (40, 3, 3)]


@pytest.mark.parametrize(("n", "d", "C"), SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_every_leaf_of_a_drawn_tree_has_the_form_of_the_page(seed: int, n: int, d: int, C: int) -> None:
    """Cones, shares, wholes, forms and N, number by number; all streams are used up."""
    drawn = draw(seed + 100 * n, n, d, C)
    found_lines = lines_of(drawn.problem)
    values = values_of(found_lines, drawn.theta, C)
    node = Node(tree(**drawn.streams))
    streams = Streams(node)
    basis = [tuple(int(i == j) for j in range(d)) for i in range(d)]
    level = random.Random(seed).choice([0, 1, 10**6])
    found = [*forms(values, level, sign_cones(basis), drawn.ties, streams)]
    streams.end()
    wanted = [*expected(drawn, level)]
    assert len(found) == len(wanted)
    for one, (cone, S, Q, N) in zip(found, wanted, strict=True):
        assert [*one.cone] == cone and one.whole == S and one.Q == Q and one.N == N
        assert one.gram == [[dot(g, h) for h in cone] for g in cone]
        if N is not None:
            entries, power = N
            full = {}
            for x, (i, j) in zip(entries, combinations(range(d), 2), strict=True):
                full[i, j] = full[j, i] = x * F(2) ** (power + bits(cone[i]) + bits(cone[j]))
            low = max([0, *(-(power + bits(g) + bits(h)) for g in cone for h in cone)])
            exact = [[2**low * (Q[i][j] - full.get((i, j), 0)) for j in range(d)] for i in range(d)]
            assert less(Q, N, cone) == exact
            assert copositive(Q, one) == nowhere_negative(exact)
        else:
            assert copositive(Q, one) == all(x >= 0 for row in Q for x in row)


def positive(Q: Sequence[Sequence[Any]]) -> bool:
    """All leading minors are positive, by the pivots of Gauss."""
    A = [[F(x) for x in row] for row in Q]
    for k, row in enumerate(A):
        if row[k] <= 0:
            return False
        for other in A[k + 1 :]:
            ratio = other[k] / row[k]
            other[:] = [x - ratio * y for x, y in zip(other, row, strict=True)]
    return True


def nowhere_negative(Q: Sequence[Sequence[Any]]) -> bool:
    """The same for a form that may be 0: a pivot 0 has a row of zeros."""
    A = [[F(x) for x in row] for row in Q]
    for k, row in enumerate(A):
        if row[k] < 0 or (not row[k] and any(row[k:])):
            return False
        for other in A[k + 1 :] if row[k] else ():
            ratio = other[k] / row[k]
            other[:] = [x - ratio * y for x, y in zip(other, row, strict=True)]
    return True


@pytest.mark.parametrize("seed", range(60))
def test_definite_forms(seed: int) -> None:
    """Elimination without fractions and with them say the same, also of forms that are only just definite."""
    r = random.Random(seed)
    d = r.randint(1, 5)
    A = [[r.randint(-3, 3) for _ in range(d)] for _ in range(d + r.randint(-1, 1))]
    Q = [[sum(row[i] * row[j] for row in A) for j in range(d)] for i in range(d)]
    assert definite(Q) == positive(Q) and semidefinite(Q) and nowhere_negative(Q)
    for i, j, x in ((-1, -1, r.choice([-1, 0, 1])), (0, 0, r.choice([-1, 0, 1])), (0, -1, r.choice([-1, 0, 1]))):
        Q[i][j] += x
        Q[j][i] += x * (i % d != j % d)
        assert definite(Q) == positive(Q) and semidefinite(Q) == nowhere_negative(Q)
    least = min(dot(x, [dot(row, x) for row in Q]) for x in product((-2, -1, 0, 1, 2), repeat=d))
    assert least >= 0 or not semidefinite(Q)


def test_sizes() -> None:
    """The bits of the largest entry, whatever its sign."""
    assert [size(g) for g in ((0, 1), (-8, 7), (3, -3), (0, 255), (256, 0))] == [1, 4, 2, 8, 9]


def test_shares_of_a_tie_are_from_0_to_1() -> None:
    """The ends are shares, too, and their whole is the common denominator."""
    assert read_tie(Node({"lines": [0, 2], "shares": "0 1"}), 3) == Tie({0: 0, 2: 1}, 1)
    assert read_tie(Node({"lines": [1], "shares": "2/3"}), 3) == Tie({1: 2}, 3)
    for lines_, shares in (([0], "-1/9"), ([0], "10/9"), ([0, 1], "1"), ([3], "1"), ([1, 1], "1 1")):
        with pytest.raises(Rejected):
            read_tie(Node({"lines": lines_, "shares": shares}), 3)


@dataclass
class Opened:
    """A file of the corpus whose network is unique, with what its class test rests on."""

    tree: dict[str, Any]
    around: Around
    facts: Facts
    classes: list[dict[str, Any]]


def opened(name: str) -> Opened:
    """The file."""
    text = (CORPUS / "accepted" / f"{name}.json").read_bytes()
    content = json.loads(text)
    problem = read(text).problem
    assert problem is not None
    held = {key: one for key, one in content["facts"].items() if key not in ("cover_set", "polytope")}
    facts = check_facts(problem, Node(held))
    value_ = facts[VALUE]
    around = Around.of(problem, facts[FORMS], facts[DUAL].theta, 2 * (value_.upper - value_.lower))
    return Opened(content, around, facts, content["facts"]["cover_set"]["classes"])


def above(x: F, root: F) -> bool:
    """Whether `root` is the root of x, or above it by a relative 2^-100 at most."""
    return root >= 0 and root**2 >= x and root**2 <= x * (1 + F(1, 2**100))


def matrix_of(problem: Problem) -> list[list[F]]:
    """P, row by row; without bags the unit matrix."""
    P = [[F(i == k and not problem.bags) for k in range(problem.N)] for i in range(problem.n)]
    for row, bag in zip(P, problem.bags, strict=False):
        for k, times in zip(bag.rows, bag.times, strict=True):
            row[k] = bag.scale * times
    return P


@pytest.mark.parametrize("name", UNIQUE)
def test_the_ball_and_its_constants(name: str) -> None:
    """R, rho, zeta and Lambda, and the largest integer below (lambda - rho)^2 unit^2."""
    one = opened(name)
    around, problem = one.around, one.around.problem
    P = matrix_of(problem)
    sizes = [dot(z, z) for z in problem.seen]
    zeta_squared = sum((sum(row) * dot(row, sizes) for row in P), F(0))
    if not problem.bags:
        assert zeta_squared == sum(sizes)
    R_squared = 2 * (one.facts[VALUE].upper - one.facts[VALUE].lower)
    theta = one.facts[DUAL].theta
    assert above(R_squared, around.R) and above(zeta_squared, around.zeta)
    assert above(zeta_squared * R_squared, around.rho) and above(zeta_squared * dot(theta, theta), around.Lambda)
    exact = (problem.lam - around.rho) ** 2 * around.proof.values.unit**2
    assert around.low < exact <= around.low + 1


def weights(problem: Problem, theta: Vec) -> Vec:
    """T = P'Theta"""
    C = problem.targets
    P = matrix_of(problem)
    return tuple(
        sum((p[k] * theta[C * i + c] for i, p in enumerate(P)), F(0)) for k in range(problem.N) for c in range(C)
    )


@pytest.mark.parametrize("name", UNIQUE)
def test_every_class_has_the_numbers_of_the_page(name: str) -> None:
    """L, v^, delta, eps, the margins of kinks, what columns move by, the units of the leaves near it."""
    one = opened(name)
    around, problem = one.around, one.around.problem
    lam, rho, unit, C = problem.lam, around.rho, around.proof.values.unit, problem.targets
    T = weights(problem, one.facts[DUAL].theta)
    rows, of, scale = lines(problem.seen)
    for entry in one.classes:
        found = read_class(around, Node(entry))
        u = tuple(map(int, entry["u"].split()))
        margin, big = F(entry["margin"]), dot(u, u)
        assert found.u == u and found.size == big
        assert found.times == ceil(margin * unit**2 / big)
        heights = [dot(p, u) for p in rows]
        on = [of_k >= 0 and (heights[of_k] * a > 0 or (not heights[of_k] and a < 0)) for of_k, a in of]
        L = [
            [sum((T[C * k + c] * z[l] for k, z in enumerate(problem.seen) if on[k]), F(0)) for c in range(C)]
            for l in range(problem.d)
        ]
        assert [[*row] for row in linear(around, heights)] == L
        root = F(isqrt((big << 256) - 1) + 1, 2**128) if isqrt(big) ** 2 != big else F(isqrt(big))
        short = [F(x) / root for x in u]
        assert [*found.v] == [sum((L[l][c] * short[l] for l in range(problem.d)), F(0)) / lam for c in range(C)]
        delta = (lam**2 - (lam - rho) ** 2) / margin
        off = 1 - big / root**2
        moved_dir = F(3, 2) * (root_of(delta)) + off
        eps = (rho + around.Lambda * moved_dir) / lam
        outputs = problem.output(tuple(short))
        if problem.free:
            mean = sum(outputs) / len(outputs)
            outputs = tuple(x - mean for x in outputs)
        assert [F(int(x.p), int(x.q)) for x in found.outputs.entries()] == [*outputs]
        assert found.moved == around.zeta * moved_dir + root_of(dot(outputs, outputs)) * eps
        tight = [c for c, h in enumerate(heights) if not h]
        for c in tight:
            a = [F(abs(x), scale) * (l == c) for l, x in of]
            pooled = [sum((abs(p) * x for p, x in zip(row, a, strict=True)), F(0)) for row in matrix_of(problem)]
            assert omega(around, c) == root_of(dot(pooled, pooled))


def root_of(x: F) -> F:
    """The root, as the checker rounds it up."""
    scaled = x.numerator * x.denominator << 256
    root = isqrt(scaled)
    return F(root + (root * root != scaled), x.denominator << 128)


def on_face(around: Around, u: Row, tight: Sequence[int]) -> Mat:
    """A basis of the vectors of the span of the basis that are orthogonal to u and the lines."""
    E = [vec(*b) for b in around.proof.basis]
    A = [vec(*u), *(vec(*around.proof.values.lines.rows[c]) for c in tight)]
    return tuple(combine(x, E, len(u)) for x in kernel([[dot(a, e) for e in E] for a in A], len(E)))


def combine(x: Sequence[F], E: Sequence[Vec], d: int) -> Vec:
    """sum x_i E_i"""
    return tuple(sum((a * e[l] for a, e in zip(x, E, strict=True)), F(0)) for l in range(d))


def one_zero(around: Around, L: Sequence[Sequence[F]], u: Row, tight: Sequence[int]) -> bool:
    """(lambda - rho)^2 |x|^2 - |L'x|^2 is definite there."""
    X = on_face(around, u, tight)
    level = (around.problem.lam - around.rho) ** 2
    M = [[sum((x[l] * L[l][c] for l in range(len(x))), F(0)) for c in range(len(L[0]))] for x in X]
    return positive(
        [[level * dot(a, b) - dot(p, q) for b, q in zip(X, M, strict=True)] for a, p in zip(X, M, strict=True)]
    )


def kinks_hold(
    around: Around, L: Sequence[Sequence[F]], v: Vec, eps: F, tight: Sequence[int], entry: dict[str, Any]
) -> bool:
    """The inequalities of the page for the lines through u."""
    rows, unit = around.proof.values.lines.rows, around.proof.values.unit
    basis = entry["basis"]
    rest = [c for c in tight if c not in basis]
    fixed = [F(x) for x in entry["fixed"].split()]
    if len(fixed) != len(rest) or not {*basis} <= {*tight} or any(not 0 <= s <= 1 for s in fixed):
        return False
    if rank([vec(*rows[c]) for c in tight]) != len(basis) or rank([vec(*rows[c]) for c in basis]) != len(basis):
        return False
    W = {c: [F(x, unit) for x in around.proof.values.W[c]] for c in tight}
    w = {c: dot(W[c], v) for c in tight}
    e = {c: omega(around, c) * around.R + root_of(dot(W[c], W[c])) * eps for c in tight}
    g, moved = [dot(row, v) for row in L], around.rho + around.Lambda * eps
    for b, s in zip(rest, fixed, strict=True):
        if w[b] + e[b] > 0:
            return False
        g = [x + s * w[b] * p for x, p in zip(g, rows[b], strict=True)]
        moved += s * e[b] * root_of(F(dot(rows[b], rows[b])))
    gram = [[F(dot(rows[a], rows[b])) for b in basis] for a in basis]
    for i, c in enumerate(basis):
        x = solve(gram, [F(int(i == j)) for j in range(len(basis))])
        dual = combine(x, [vec(*rows[b]) for b in basis], len(g))
        m, f = -dot(dual, g), root_of(dot(dual, dual)) * moved
        if not w[c] + e[c] + f <= m <= -f:
            return False
    return True


def class_holds(around: Around, entry: dict[str, Any]) -> bool:
    """All that the page asks of a class."""
    problem, lam, rho = around.problem, around.problem.lam, around.rho
    u, margin = tuple(map(int, entry["u"].split())), F(entry["margin"])
    E = [vec(*b) for b in around.proof.basis]
    if not any(u) or rank([*E, vec(*u)]) > len(E) or margin <= 0:
        return False
    delta_squared = (lam**2 - (lam - rho) ** 2) / margin
    delta, big = root_of(delta_squared), dot(u, u)
    rows = around.proof.values.lines.rows
    heights = [dot(p, u) for p in rows]
    far = all(
        not h or h * h * (1 - delta_squared) > delta_squared * dot(p, p) * big
        for h, p in zip(heights, rows, strict=True)
    )
    L = linear(around, heights)
    short = [x / root_of(F(big)) for x in u]
    v = tuple(sum((L[l][c] * short[l] for l in range(problem.d)), F(0)) / lam for c in range(problem.targets))
    eps = (rho + around.Lambda * (F(3, 2) * delta + 1 - big / root_of(F(big)) ** 2)) / lam
    tight = [c for c, h in enumerate(heights) if not h]
    held = kinks_hold(around, L, v, eps, tight, entry) if tight else not entry["basis"] and not entry["fixed"]
    return delta < F(1, 2) and far and held and one_zero(around, L, u, tight)


def is_class(around: Around, entry: dict[str, Any]) -> bool:
    """What the checker says."""
    try:
        read_class(around, Node(entry))
    except Rejected:
        return False
    return True


@pytest.mark.parametrize("name", UNIQUE)
def test_a_class_is_accepted_exactly_where_the_page_says(name: str) -> None:
    """With larger and smaller margins, balls, other directions, lines and shares."""
    one = opened(name)
    around = one.around
    verdicts = {True: 0, False: 0}
    for entry in one.classes:
        u = [int(x) for x in entry["u"].split()]
        others: list[dict[str, Any]] = [{}, {"basis": []}, {"fixed": "1"}, {"u": words(-x for x in u)}]
        others += [{"basis": [c]} for c in range(3)] + [{"basis": [0, 1]}, {"basis": [0], "fixed": "1/2"}]
        others += [{"u": words((u[0] + 1, *u[1:]))}, {"u": words(x >> 60 for x in u)}, {"u": words(0 for _ in u)}]
        others += [{"margin": str(F(entry["margin"]) / 10**k)} for k in (1, 4, 8, 12, 16, 20, 30)]
        others += [{"margin": "0"}, {"margin": "-1"}]
        for other in others:
            for grown in (1, 10**3, 10**6, 10**8, 10**10, 10**20):
                wide = replace(around, R=around.R * grown, rho=around.rho * grown)
                if wide.rho < around.problem.lam:
                    said = class_holds(wide, entry | other)
                    assert is_class(wide, entry | other) == said
                    verdicts[said] += 1
    assert all(verdicts.values())


@pytest.mark.parametrize("name", UNIQUE)
def test_kinks_hold_up_to_their_last_error(name: str) -> None:
    """At the largest eps for which the page's inequalities hold, exactly, and not beyond."""
    one = opened(name)
    around = replace(one.around, R=F(0), rho=F(0))
    rows, unit = around.proof.values.lines.rows, around.proof.values.unit
    for entry in (one_ for one_ in one.classes if one_["basis"]):
        u = tuple(map(int, entry["u"].split()))
        tight = [c for c, p in enumerate(rows) if not dot(p, u)]
        assert tight == entry["basis"] and len(tight) == 1  # so that there is one dual vector
        (c,) = tight
        L = linear(around, [dot(p, u) for p in rows])
        v = read_class(one.around, Node(entry)).v
        W = [F(x, unit) for x in around.proof.values.W[c]]
        p = rows[c]
        m, w = -dot(p, [dot(row, v) for row in L]) / dot(p, p), dot(W, v)
        slope_f, slope_e = root_of(F(1, dot(p, p))) * around.Lambda, root_of(dot(W, W))
        last = min((m - w) / (slope_f + slope_e), -m / slope_f)
        fields = {key: Node(entry[key]) for key in ("basis", "fixed")}
        check_kinks(around, L, v, last, tight, fields)
        with pytest.raises(Rejected, match="w \\+ e \\+ f <= m <= -f"):
            check_kinks(around, L, v, last * (1 + F(1, 10**12)), tight, fields)


@pytest.mark.parametrize("name", UNIQUE)
def test_one_direction_on_a_face(name: str) -> None:
    """For balls of all sizes; where nothing is orthogonal to u and its lines there is nothing to show."""
    one = opened(name)
    around = one.around
    for entry in one.classes:
        u = tuple(map(int, entry["u"].split()))
        heights = [dot(p, u) for p in around.proof.values.lines.rows]
        tight = [c for c, h in enumerate(heights) if not h]
        L = linear(around, heights)
        for lines_ in (tight, []):
            for part in (F(0), F(1, 10), F(1, 2), F(9, 10), F(999, 1000), F(1)):
                wide = replace(around, rho=part * around.problem.lam)
                assert one_at_most(wide, L, [u, *(wide.proof.values.lines.rows[c] for c in lines_)]) == one_zero(
                    wide, L, u, lines_
                )


@pytest.mark.parametrize("name", UNIQUE)
def test_leaves_are_out_or_near_exactly_where_the_page_says(name: str) -> None:
    """For all leaves and classes of the file, and for more or less than the file needs."""
    one = opened(name)
    proof = one.facts[FORMS]
    assert proof.level == one.around.problem.lam**2 * proof.values.unit**2 // 1
    classes = [read_class(one.around, Node(entry)) for entry in one.classes]
    verdicts = {True: 0, False: 0}
    for leaf in proof.forms():
        part = 2 * leaf.whole**2
        for slack in (0, 1, proof.level - one.around.low, proof.level // 1000, proof.level // 10, proof.level):
            gram = [[part * slack * g for g in row] for row in leaf.gram]
            said = out(leaf, slack)
            assert said == held(leaf, gram)
            verdicts[said] += 1
        for found in classes:
            h = [dot(g, found.u) for g in leaf.cone]
            for times in (found.times, 1, found.times * 10, found.times * 10**6):
                bend = [
                    [part * times * (found.size * leaf.gram[i][j] - h[i] * h[j]) for j in range(len(h))]
                    for i in range(len(h))
                ]
                said = near(leaf, replace(found, times=times))
                assert said == (min(h) >= 0 and held(leaf, bend))
                verdicts[said] += 1
    assert all(verdicts.values())


@pytest.mark.parametrize("name", UNIQUE)
def test_leaves_are_kept_up_to_a_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them or none, and those that are worked out again are the same."""
    proof = opened(name).facts[FORMS]
    again = replace(proof, kept=())
    leaves = [(leaf.cone, leaf.Q, leaf.N, leaf.whole) for leaf in again.forms()]
    assert [(leaf.cone, leaf.Q, leaf.N, leaf.whole) for leaf in proof.kept] == leaves
    each = 1 + len(proof.basis[0]) * len(proof.values.lines.rows)
    for most, kept in ((len(leaves) * each, len(leaves)), (len(leaves) * each - 1, 0), (0, 0)):
        monkeypatch.setattr(outputs_check, "MOST_KEPT", most)
        assert len(opened(name).facts[FORMS].kept) == kept


def held(leaf: Form, less_: Sequence[Sequence[int]]) -> bool:
    """Whether Q less this is proved as Q is."""
    Q = [[q - x for q, x in zip(*rows, strict=True)] for rows in zip(leaf.Q, less_, strict=True)]
    if leaf.N is None:
        return all(x >= 0 for row in Q for x in row)
    entries, power = leaf.N
    full: dict[tuple[int, int], F] = {}
    for x, (i, j) in zip(entries, combinations(range(len(Q)), 2), strict=True):
        full[i, j] = full[j, i] = x * F(2) ** (power + bits(leaf.cone[i]) + bits(leaf.cone[j]))
    return nowhere_negative([[q - full.get((i, j), F(0)) for j, q in enumerate(row)] for i, row in enumerate(Q)])


@pytest.mark.parametrize("name", UNIQUE)
def test_weights_and_their_error(name: str) -> None:
    """The columns are P(Zu)_+ v', the error is that of the lemma, and it is the ball and kappa that decide."""
    one = opened(name)
    around, problem, theta = one.around, one.around.problem, one.facts[DUAL].theta
    C, n = problem.targets, problem.n
    classes = [read_class(around, Node(entry)) for entry in one.classes]
    text = one.tree["facts"]["cover_set"]["masses"]
    columns = [[x * v for x in outputs(found) for v in found.v] for found in classes]
    A = fmpq_mat(n * C, len(columns), [fmpq(c[i].numerator, c[i].denominator) for i in range(n * C) for c in columns])
    sigma = stretch(A)
    rest = [y - t for y, t in zip(problem.y, theta, strict=True)]
    if problem.free:
        means = [sum(rest[c::C], F(0)) / n for c in range(C)]
        rest = [x - means[i % C] for i, x in enumerate(rest)]
    kappa = root_of(sum((found.moved**2 for found in classes), F(0)))
    for masses in (text, words(0 for _ in classes), words(2 * F(x) for x in text.split())):
        m = [F(x) for x in masses.split()]
        found_set = weighed(around, classes, theta, Node(masses))
        missed = [
            sum((a * x for a, x in zip(row, m, strict=True)), F(0)) - y
            for row, y in zip(zip(*columns, strict=True), rest, strict=True)
        ]
        error = (root_of(dot(missed, missed)) + around.R + kappa * root_of(dot(m, m))) / (sigma - kappa)
        assert found_set.weight_error == error and found_set.dimension == found_set.level == found_set.kinked == 0
        assert [one_.active for one_ in found_set.neurons] == [True if x > error else None for x in m]
        assert [one_.weight for one_ in found_set.neurons] == m and found_set.classes == len(m)
        assert found_set.system.g == tuple(m) and found_set.system.g_error == (error,) * len(m)
        assert not any(found_set.system.F_error) and not found_set.bends
    tie = [replace(found, moved=F(0)) for found in classes[1:]]
    with pytest.raises(Rejected, match="what the ball can change"):
        weighed(around, [replace(classes[0], moved=sigma), *tie], theta, Node(text))
    assert weighed(around, [replace(classes[0], moved=sigma * F(999, 1000)), *tie], theta, Node(text))


def outputs(found: OneDirection) -> list[F]:
    """As Fractions."""
    return [F(int(x.p), int(x.q)) for x in found.outputs.entries()]


def test_no_class_has_no_weight() -> None:
    """Then nothing is active, and nothing is missed that counts."""
    one = opened(UNIQUE[0])
    found = weighed(one.around, [], one.facts[DUAL].theta, Node(""))
    assert (found.classes, found.dimension, found.neurons) == (0, 0, ())


def test_where_networks_of_several_outputs_are_said_to_be_one() -> None:
    """With nothing free but an output bias, and with the softmax nothing."""
    several = Problem("relu", F(1), ((F(1),),), (F(1), F(2)), targets=2)
    assert alone(several) and alone(replace(several, free=("output-bias",)))
    assert not alone(replace(several, targets=1)) and not alone(replace(several, free=("skip",)))
    assert not alone(replace(several, free=("output-bias", "skip")))
    assert not alone(replace(several, roots=(F(1),))) and alone(replace(several, logistic=True))
    assert not alone(replace(several, logistic=True, free=("output-bias",)))
    assert load("cover_set", several).applies is alone


CLASSES: list[tuple[str, Any]] = [
    ("facts.cover_set.classes", []),
    ("facts.cover_set.masses", "1"),
    ("facts.cover_set.classes.0.margin", "1000000"),
    ("facts.cover_set.classes.0.margin", "0"),
    ("facts.cover_set.classes.1.u", "1 1"),
    ("facts.cover_set.classes.1.u", "0 0"),
    ("facts.cover_set.classes.1.basis", []),
    ("facts.cover_set.classes.1.basis", [0]),
    ("facts.cover_set.classes.1.fixed", "1"),
    ("facts.cover_set.classes.0.basis", [0]),
    ("facts.cover_set.masses", "0 0 0"),
    ("problem.lambda", "99/100"),
    ("facts.value.lower", "0"),
]


@pytest.mark.parametrize(("place", "wrong"), CLASSES, ids=lambda part: str(part)[:40])
def test_a_forged_set_is_rejected(place: str, wrong: Any) -> None:
    """A class left out, moved, let loose, or weights that are none."""
    content = json.loads((CORPUS / "accepted" / "unique-skew.json").read_bytes())
    with pytest.raises(Rejected):
        check(json.dumps(changed(content, place, wrong)).encode())


def words(numbers: Iterable[Any]) -> str:
    """A vector."""
    return " ".join(map(str, numbers))


@dataclass
class Through:
    """Lines of R^3, some of them through u = e3, with weights that slope down along v, and L v in their span."""

    around: Around
    L: list[list[F]]
    v: Vec
    tight: list[int]
    entry: dict[str, Any]


def through(seed: int) -> Through:
    """As many lines as there are, two of them in the basis."""
    r = random.Random(seed)
    count, C = r.randint(2, 5), 2
    Z = (*mat_of("1 0 0", "1 2 0", "1 -1 0", "0 3 0", "2 1 0")[:count], vec(1, 1, 1))
    theta = tuple(F(r.randint(-9, 9), r.choice([1, 2])) for _ in range(C * len(Z)))
    problem = Problem("relu", F(5), Z, theta, targets=C)
    values = values_of(lines_of(problem), theta, C)
    v = tuple(-F(sum(w[c] for w in values.W[:count]), values.unit) / r.randint(1, 30) for c in range(C))
    proof = Proof(values, [(1, 0, 0), (0, 1, 0), (0, 0, 1)], [], 0, NODE)
    R, rho, Lambda = (F(r.choice([0, 1, 3]), 10 ** r.randint(0, 9)) for _ in range(3))
    around = Around(problem, proof, R, rho, F(1), Lambda)
    basis = sorted(r.sample(range(count), 2))
    rest = [c for c in range(count) if c not in basis]
    fixed = [r.choice([F(0), F(1), F(1, 2), F(1, 2), F(r.randint(-3, 13), 10)]) for _ in rest]
    pull = [F(0)] * 3
    for c in range(count):
        w, p = dot([F(x, values.unit) for x in values.W[c]], v), values.lines.rows[c]
        share = fixed[rest.index(c)] if c in rest else F(r.randint(1, 9), 10)
        pull = [x - share * w * y for x, y in zip(pull, p, strict=True)]
    length = dot(v, v) or F(1)
    L = [[x * y / length for y in v] for x in pull]
    return Through(around, L, v, [*range(count)], {"basis": basis, "fixed": words(fixed)})


NODE = Node(None)


def test_kinks_beside_those_of_the_basis() -> None:
    """Lines that the basis spans, with shares: accepted exactly where the page says, for errors of all sizes."""
    verdicts = {True: 0, False: 0}
    for seed in range(400):
        one = through(seed)
        fields = {key: Node(value_) for key, value_ in one.entry.items()}
        for eps in (F(0), F(1, 10**9), F(1, 1000), F(1, 100), F(1, 10)):
            said = kinks_hold(one.around, one.L, one.v, eps, one.tight, one.entry)
            try:
                check_kinks(one.around, one.L, one.v, eps, one.tight, fields)
                accepted = True
            except Rejected:
                accepted = False
            assert accepted == said, (seed, eps)
            verdicts[said] += len(one.tight) > 2
    assert min(verdicts.values()) > 30


def test_the_share_of_a_kink_is_from_0_to_1_and_its_weight_not_above_0() -> None:
    """At the ends, and at w + e = 0, exactly; a little further is too far."""
    verdicts = []
    for w, eps, share in (
        (-1, F(3, 5), "1"),
        (-1, F(3, 5), "0"),
        (-1, F(3, 5) * (1 + F(1, 10**20)), "1/2"),
        (-1, F(1, 2), "11/10"),
        (-1, F(1, 2), "-1/10"),
        (-1, F(0), "1"),
    ):
        problem = Problem("relu", F(1), mat_of("1 0 0", "0 1 0", "1 1 0"), vec(0, 0, 0, 0, 1, 0), targets=2)
        values = values_of(lines_of(problem), problem.y, 2)
        values.W[0], values.W[1], values.W[2] = [-100, 0], [-100, 0], [3 * int(w), 4]
        proof = Proof(values, [(1, 0, 0), (0, 1, 0), (0, 0, 1)], [], 0, NODE)
        around = Around(problem, proof, F(0), F(0), F(1), F(0))
        pull = [20 + 3 * F(share), 20 + 3 * F(share), F(0)]
        L = [[x, F(0)] for x in pull]
        fields = {"basis": Node([0, 1]), "fixed": Node(share)}
        try:
            check_kinks(around, L, vec(1, 0), eps, [0, 1, 2], fields)
            verdicts.append(True)
        except Rejected:
            verdicts.append(False)
    assert verdicts == [True, True, False, False, False, True]


@pytest.mark.parametrize(("basis", "fixed"), [([0, 1, 2], ""), ([0], "1/2 1/2"), ([], "1/2 1/2 1/2")])
def test_the_basis_of_kinks_spans_them_and_is_independent(basis: list[int], fixed: str) -> None:
    """Lines 1 0, 0 1 and their sum, without weights: two of them are a basis, three or one are none."""
    problem = Problem("relu", F(1), mat_of("1 0 0", "0 1 0", "1 1 0"), vec(0, 0, 0, 0, 0, 0), targets=2)
    values = values_of(lines_of(problem), problem.y, 2)
    around = Around(problem, Proof(values, [(1, 0, 0), (0, 1, 0), (0, 0, 1)], [], 0, NODE), F(0), F(0), F(1), F(0))
    L = [[F(0)] * 2] * 3
    check_kinks(around, L, vec(1, 0), F(0), [0, 1, 2], {"basis": Node([0, 2]), "fixed": Node("1/2")})
    with pytest.raises(Rejected, match="independent lines that span all lines through u"):
        check_kinks(around, L, vec(1, 0), F(0), [0, 1, 2], {"basis": Node(basis), "fixed": Node(fixed)})


def mat_of(*rows: str) -> Mat:
    """Rows of integers."""
    return tuple(vec(*map(int, row.split())) for row in rows)


@pytest.mark.parametrize("name", UNIQUE)
def test_the_nearest_margin_and_the_row_space(name: str) -> None:
    """delta = 1/2 is too much, a little less is not what is wrong; a direction outside of the row space is no class."""
    one = opened(name)
    entry, lam = one.classes[0], one.around.problem.lam
    wide = replace(one.around, rho=lam / 10)
    gap = lam**2 - (lam - wide.rho) ** 2
    with pytest.raises(Rejected, match="delta < 1/2"):
        read_class(wide, Node(entry | {"margin": str(4 * gap)}))
    with pytest.raises(Rejected) as caught:
        read_class(wide, Node(entry | {"margin": str(4 * gap * (1 + F(1, 10**6)))}))
    assert "delta < 1/2" not in str(caught.value)
    proof = replace(one.around.proof, basis=one.around.proof.basis[:1])
    with pytest.raises(Rejected, match="row space"):
        read_class(replace(one.around, proof=proof), Node(entry))
    with pytest.raises(Rejected, match="row space"):
        read_class(one.around, Node(entry | {"u": words(0 for _ in entry["u"].split())}))


def test_as_many_ties_as_the_page_says() -> None:
    """255, and no more; 12 vectors of a basis."""
    ties = [{"lines": [], "shares": ""}] * 255
    assert check(json.dumps(changed(square(), "facts.cover.proof.ties", ties)).encode())
    with pytest.raises(Rejected, match="at most 255"):
        check(json.dumps(changed(square(), "facts.cover.proof.ties", [*ties, ties[0]])).encode())


COLUMNS = Input("", "csv", targets=(0, 2))


def test_columns_of_targets_at_the_edges() -> None:
    """A target beyond the last column, no feature but a bias, and where a number is that is none."""
    rows_ = [["1", "5", "2"], ["3", "6", "4"]]
    Z, Y = read_columns(rows_, COLUMNS, 1)
    assert (mat_of("5", "6"), mat_of("1 2", "3 4")) == (Z, Y)
    assert read_columns(rows_, replace(COLUMNS, bias=True), 1)[0] == mat_of("5 1", "6 1")
    two = [row[:2] for row in rows_]
    assert read_columns(two, replace(COLUMNS, targets=(0, 1), bias=True), 1)[0] == mat_of("1", "1")
    for asked in (replace(COLUMNS, targets=(0, 3)), replace(COLUMNS, targets=(0, 1, 2))):
        with pytest.raises(Rejected, match="target columns"):
            read_columns(rows_, asked, 1)
    with pytest.raises(Rejected, match="data record 3 field 2"):
        read_columns([["1", "5", "2"], ["3", "x", "4"]], COLUMNS, 2)
    labels = replace(COLUMNS, targets=(2,), labels=("2", "4"))
    assert read_columns(rows_, labels, 1) == (mat_of("1 5", "3 6"), mat_of("1 0", "0 1"))
    for wrong in (("2",), ("2", "4", "4"), ("2", "5"), ("4", "2", "6")):
        with pytest.raises(Rejected, match="the 2 classes of the data given"):
            read_columns(rows_, replace(labels, labels=wrong), 1)


def test_targets_of_the_problem() -> None:
    """At least two in a row, as many rows as there are, or as many as there may be with bags."""
    assert read_targets(Node(["1 2", "3 4"]), 2) == read_targets(Node(["1 2", "3 4"]), None) == (vec(1, 2, 3, 4), 2)
    for text, count in ((["1 2"], 2), ([], None), ([], 0), (["1"], 1), (["1 2", "3"], 2), (["1 2"] * 3, 2)):
        with pytest.raises(Rejected):
            read_targets(Node(text), count)
    with pytest.raises(Rejected, match="2 rows of at least two numbers"):
        read_targets(Node(["1 2"]), 2)
    with pytest.raises(Rejected, match="expected rows of at least two numbers"):
        read_targets(Node(["1"]), None)


def test_targets_less_their_means() -> None:
    """Column by column, where it is asked for."""
    Y = mat_of("1 0", "3 0", "5 3")
    assert centered(COLUMNS, Y) == Y and centered(replace(COLUMNS, center=True), Y) == mat_of("-2 -1", "0 -1", "2 2")


def facts_of(one: Opened, gap: F) -> Facts:
    """The same facts with an upper bound that is so much above the lower one."""
    low = one.facts[VALUE].lower
    return Facts({**one.facts.proved, VALUE: Value(low, low + gap, F(0))})


def test_a_ball_that_is_too_large_and_too_many_classes() -> None:
    """Where zeta R reaches lambda nothing is said; 255 classes are read, and no more."""
    one = opened("unique-skew")
    problem = one.around.problem
    none = Node({"classes": [], "masses": ""})
    gap = problem.lam**2 / problem.zeta_squared / 2
    with pytest.raises(Rejected, match="zeta R < lambda"):
        check_set(problem, facts_of(one, gap), none)
    with pytest.raises(Rejected, match="every leaf out"):
        check_set(problem, facts_of(one, gap * F(99, 100)), none)
    for count, message in ((256, "at most 255 classes"), (255, "an object")):
        with pytest.raises(Rejected, match=message):
            check_set(problem, one.facts, Node({"classes": [0] * count, "masses": ""}))


@pytest.mark.parametrize("code", [1, 2, 100, 199, 204, 255])
def test_a_code_that_is_no_node_is_rejected(code: int) -> None:
    """Beyond the edges of the cone, and beyond the leaves: not an error of the checker."""
    wrong = tree(bytes([code, 200, 200, 200]), forms=bytes(4))
    with pytest.raises(Rejected, match="a code of a node"):
        check(json.dumps(changed(square(), "facts.cover.proof.tree", wrong)).encode())


def test_a_sum_of_weights_that_is_zero_bends_nothing() -> None:
    """T_k = 0 at every generator counts as not above 0: kappa is 0 there, and the form is that of the page."""
    lines_ = Crossing([[3, 4]], [5], [[1, -1]], [1], 2)
    assert form(10, [[1, 0], [0, 1]], [[0, 0], [0, 0]], lines_) == form_by_hand(10, [[1, -1]], [[3, 4]], [1], 2)


def form_by_hand(level: int, V: list[list[int]], W: list[list[int]], sigma: list[int], S: int) -> list[list[int]]:
    """Q for a unit Gram matrix and F(g) = 0."""
    D = [[S * max(h, 0) - s * h for h in row] for row, s in zip(V, sigma, strict=True)]
    size_ = len(V[0])
    L = [[-sum(d[i] * w[c] for d, w in zip(D, W, strict=True)) for c in range(2)] for i in range(size_)]
    T = [
        [2 * dot(w, L[i]) + sum(max(dot(w, x), 0) * d[i] for x, d in zip(W, D, strict=True)) for i in range(size_)]
        for w in W
    ]
    kappa = [
        min(min(s, S - s) * -t // abs(h) for t, h in zip(ts, hs, strict=True) if h) if max(ts) <= 0 else 0
        for ts, hs, s in zip(T, V, sigma, strict=True)
    ]
    return [
        [
            2 * S * S * level * (i == j)
            - 2 * dot(L[i], L[j])
            - sum(d[i] * max(t[j], 0) + d[j] * max(t[i], 0) for d, t in zip(D, T, strict=True))
            + 2 * sum(k * h[i] * h[j] for k, h in zip(kappa, V, strict=True))
            for j in range(size_)
        ]
        for i in range(size_)
    ]


def exactly(x: F) -> Decimal:
    """To 120 digits."""
    return Decimal(x.numerator) / Decimal(x.denominator)


@pytest.mark.parametrize("seed", range(20))
def test_the_softmax_is_enclosed(seed: int) -> None:
    """Entropies from below, losses from above, both to 10^-100; and the logarithms of the chances, less their means."""
    r = random.Random(seed)
    C, n = r.randint(2, 4), 3
    with localcontext() as context:
        context.prec = 140
        parts = [[F(r.choice([0, 1, 1, r.randint(1, 99), 10 ** r.randint(0, 12)])) for _ in range(C)] for _ in range(n)]
        parts = [[*row[:-1], row[-1] + (not any(row))] for row in parts]
        P = [[x / sum(row) for x in row] for row in parts]
        f = [F(r.randint(-(10**6), 10**6), r.choice([1, 10, 10**5])) for _ in range(C)]
        y = [F(int(c == seed % C)) for c in range(C)]
        for row in P:
            true = -sum((exactly(x) * exactly(x).ln() for x in row if x), Decimal(0))
            found = exactly(F(softmax.entropy_below(row), ONE))
            assert true - Decimal(10) ** -100 < found <= true + Decimal(10) ** -130
        top = max(f)
        true = sum((exactly(x - top).exp() for x in f), Decimal(0)).ln() + exactly(top - dot(f, y))
        assert true - Decimal(10) ** -120 <= exactly(F(softmax.loss_between(f, y)[1], ONE)) < true + Decimal(10) ** -100
        flat = [x for row in P for x in row]
        problem = Problem("relu", F(1), mat_of("1", "2", "3"), tuple(flat), targets=C)
        if not min(flat):
            with pytest.raises(Rejected, match="chances that are more than 0"):
                softmax.logarithms(problem, flat, F(0), NODE)
            return
        R = min(flat) / 3
        logs, far = softmax.logarithms(problem, flat, R, NODE)
        for k, row in enumerate(P):
            true_logs = [exactly(x).ln() for x in row]
            mean = sum(true_logs, Decimal(0)) / C
            for c, x in enumerate(true_logs):
                assert abs(exactly(logs[C * k + c]) - x + mean) < Decimal(10) ** -100
        assert F(1, 2) < far < F(1, 2) + F(1, 10**100)  # R / (least - R)
        with pytest.raises(Rejected, match="chances that are more than"):
            softmax.logarithms(problem, flat, min(flat), NODE)


def test_the_chances_of_the_softmax() -> None:
    """Y - Theta >= 0 with the sum 1 in every row, and one 1 in every row of Y."""
    problem = Problem("relu", F(1), mat_of("1", "2"), vec(1, 0, 0, 1), targets=2)
    assert softmax.with_classes(problem, NODE).logistic
    for good in ((0, 0, 0, 0), (1, -1, 0, 0), (F(1, 2), F(-1, 2), F(-1, 3), F(1, 3))):
        softmax.check_chances(problem, vec(*good), NODE)
    for bad in ((1, 0, 0, 0), (F(11, 10), F(-11, 10), 0, 0), (0, 0, F(1, 10), F(-1, 10)), (0, 0, 0, F(1, 2))):
        with pytest.raises(Rejected, match="with the sum 1 at row"):
            softmax.check_chances(problem, vec(*bad), NODE)
    for Y in ((1, 1, 0, 1), (0, 0, 0, 1), (F(1, 2), F(1, 2), 0, 1), (2, -1, 0, 1)):
        with pytest.raises(Rejected, match="a single 1"):
            softmax.with_classes(replace(problem, y=vec(*Y)), NODE)


def test_the_bounds_of_the_softmax() -> None:
    """Half of the chances everywhere: log 2 for each row; the number stated may be no better than that."""
    problem = Problem("relu", F(2), mat_of("1", "2"), vec(1, 0, 0, 1), targets=2, logistic=True)
    theta, zero = vec(F(1, 2), F(-1, 2), F(-1, 2), F(1, 2)), vec(0, 0, 0, 0)
    low, high = softmax.bounds(problem, theta, zero, F(3))
    assert low < high - 6 < low + F(1, 10**100) and abs(low - 2 * F(6931471805599453, 10**16)) < F(1, 10**14)
    text = [Node(str(x)) for x in (low, high)]
    softmax.check_bounds(problem, theta, zero, F(3), *text)
    tiny = F(1, 2**500)
    for pair in ((low + tiny, high), (low, high - tiny)):
        with pytest.raises(Rejected):
            softmax.check_bounds(problem, theta, zero, F(3), *(Node(str(x)) for x in pair))


def pair() -> dict[str, Any]:
    """Two networks of the continuum that S = [[2, 1], [1, 2]] has, with p* = 5."""
    other = [{"w": "1 1/2", "v": "2 1", "norm": "5/2"}, {"w": "0 1", "v": "0 3/2", "norm": "3/2"}]
    found = square()
    found["facts"]["pair"] = {"first": found["facts"]["primal"]["neurons"], "second": other}
    found["claims"] += [{"claim": "p-unique", "verdict": "REFUTED"}]
    return found


SPLIT = [("3/5 3/5", "3/5 3/5", "18/25"), ("4/5 4/5", "4/5 4/5", "32/25"), ("0 2", "0 1/2", "1"), ("1 0", "1 0", "1")]
PAIRS: dict[str, tuple[str, Any]] = {
    "the same twice": ("facts.pair.second", square()["facts"]["primal"]["neurons"]),
    "the same in another order": ("facts.pair.second", square()["facts"]["primal"]["neurons"][::-1]),
    "split and scaled": ("facts.pair.second", [{"w": w, "v": v, "norm": n} for w, v, n in SPLIT]),
    "a norm that is larger": ("facts.pair.second.0.norm", "3"),
    "a norm that is smaller": ("facts.pair.second.0.norm", "2"),
    "a norm below 0": ("facts.pair.second.0.norm", "-5/2"),
    "not optimal": ("facts.pair.second", []),
    "a neuron too many": ("facts.pair.second.1.v", "0 2"),
    "proved": ("claims.2.verdict", "PROVED"),
}


def test_two_networks_that_differ() -> None:
    """p-unique is refuted, on the ground of `value`."""
    said = check(json.dumps(pair()).encode())[2]
    assert said.verdict == "REFUTED" and "with 3 and 2 neurons" in said.proved


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_that_does_not_differ_or_is_not_optimal(name: str) -> None:
    """Splitting, permuting and scaling are no difference; both are optimal, exactly."""
    with pytest.raises(Rejected):
        check(json.dumps(changed(pair(), *PAIRS[name])).encode())


def test_a_pair_of_one_output_or_beside_free_terms_is_unknown() -> None:
    """It is said of squares with nothing free."""
    for place, value_ in (("problem.free", ["output-bias"]), ("problem.decayed", {"rho": "1", "roots": ["1"]})):
        with pytest.raises(Rejected, match="such a problem can have"):
            check(json.dumps(changed(pair(), place, value_)).encode())


def of_basis(Z: Mat, basis: Sequence[str]) -> Proof:
    """The proof of Theta = 0 by this basis: one plain leaf for each of its sign cones, with nothing else."""
    problem = Problem("relu", F(1), Z, (F(0),) * (2 * len(Z)), targets=2)
    leaves_ = 1 << len(basis) if len(basis) < 13 else 1
    parts = {"codes": bytes([200]) * leaves_, "multipliers": b"", "shares": b"", "forms": bytes(leaves_)}
    tree = {key: stream(part) for key, part in parts.items()}
    theta = (F(0),) * (2 * len(Z))
    return check_outputs(problem, theta, F(1), Node({"basis": [*basis], "ties": [], "tree": tree}))


def axes(count: int) -> list[str]:
    """Unit vectors."""
    return [" ".join(str(int(i == j)) for j in range(count)) for i in range(count)]


def test_the_basis_spans_the_rows_and_is_not_too_long() -> None:
    """At most twelve independent vectors, whose span holds the rows; none where these are zero."""
    assert len([*of_basis(mat([[1, 2]]), ["1 2"]).forms()]) == 2 and not of_basis(mat([[0, 0]]), []).kept
    assert len([*of_basis(mat([[1, 2]]), axes(2)).forms()]) == 4
    for Z, basis in (([[1, 2]], ["1 0"]), ([[1, 2]], ["1 2", "2 4"]), ([[1, 2], [1, 0]], ["1 2"]), ([[1, 2]], [])):
        with pytest.raises(Rejected, match="independent vectors that span the rows"):
            of_basis(mat(Z), basis)
    assert len([*of_basis(mat([[1] * 12]), axes(12)).forms()]) == 4096
    with pytest.raises(Rejected, match="at most 12 vectors"):
        of_basis(mat([[1] * 13]), axes(13))
