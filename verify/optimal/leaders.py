"""Dual feasibility of theta for networks of any width, without patterns: the leaders (FORMAT.md, `leaders`).

    xi sum_k t_k (z_k.u)_+ <= lambda |u|     for all u and xi = +-1, t = P'theta.

With free biases |u| is the norm of the weights alone, and t.1 = 0: then the left side, as a function of the bias,
is piecewise linear and constant at both ends, so that it is enough to look at u with z_j.u = 0 for some row j.

Integers only. Everything is counted in units: Z = rows / q, theta = unit x integers, multipliers likewise
(with bags in unit / scale, P = integers / scale).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, lcm
from operator import mul

from flint import fmpq_mat, fmpz_mat, nmod_mat

from verify.errors import Declined, bounded
from verify.numbers.integers import cleared_rows
from verify.problem.problem import Problem
from verify.text import Matrix, Node, Vector, show

EXTRA_BITS = 64  # of 1/c and 1/|z|, beyond the largest c and z
ROOT_BITS = 192  # of the factor that shows definiteness
MOST_ENTRIES = 2**26
MOST_SIGNS = 512  # of leaders in triangles
PRIME = 2**61 - 1
Integers = list[int]
Led = tuple[Integers, list[Integers]]  # c and v of all leaders
Bent = list[tuple[int, int, Integers]]  # q, the square of a length, and the row of each


@dataclass(frozen=True)
class Rows:
    """The distinct rows of the data as integers over q, in a metric: |u|^2 = u'metric u in the coordinates of u."""

    q: int
    names: dict[int, int]  # the first row of each class of equal rows -> its place
    place: tuple[int, ...]  # of every row
    rows: list[Integers]
    lengths: list[int]  # the square of the largest |row.u| for |u| = 1: |row|^2; free biases: max |row - row_j|^2
    metric: list[Integers]  # the unit matrix, but for free biases, or the Gram matrix
    originals: list[Integers]
    longest: int | None = None  # with free biases: the largest |row|^2, of the weights' columns alone

    @property
    def count(self) -> int:
        """The number of distinct rows; the places after theirs are those of the centres."""
        return len(self.names)

    def normal(self, i: int, k: int) -> Integers:
        """Of centre i, the vector from the centre at place k to it."""
        return [a - b for a, b in zip(self.rows[self.count + i], self.rows[k], strict=True)]

    def between(self, i: int, k: int) -> int:
        """The square of its length."""
        return sum((a - b) ** 2 for a, b in zip(self.originals[self.count + i], self.originals[k], strict=True))


def check_leaders(problem: Problem, node: Node) -> Vector:
    """theta; rejected unless (*) is proved on every cell for both signs."""
    fields = node.record("unit", "theta", "+", "-")
    unit = fields["unit"].number()
    fields["unit"].require(unit > 0, "a number > 0")
    theta = fields["theta"].integers(problem.n)
    if problem.free or problem.logistic:
        from verify.problem.variants import check_point

        check_point(problem, tuple(unit * t for t in theta), fields["theta"])
    scale = lcm(*(bag.scale.denominator for bag in problem.bags))
    t = problem.spread([scale * x for x in theta])
    for sign, xi in (("+", 1), ("-", -1)):
        side = fields[sign].record("centres", "cells")
        centres = [centre.integers(problem.d) for centre in side["centres"].array()]
        if problem.biases and any(centre[-1] for centre in centres):
            raise side["centres"].reject("0 in the place of the free biases")
        cells = side["cells"].array(max(len(centres), 1))
        data = read_rows(problem.seen, problem.biases, centres)
        sums = [0] * len(data.names)
        for k, t_k in enumerate(t):
            sums[data.place[k]] += xi * int(t_k)
        for i, cell in enumerate(cells):
            check_cell(data, sums, problem.lam * data.q * scale / unit, len(centres), i, cell)
    return tuple(unit * t for t in theta)


def read_rows(Z: Matrix, biases: bool, centres: Sequence[Integers]) -> Rows:
    """Equal rows are one row. If there are more columns than rows and centres, u is a combination of independent ones
    that span them all (only its projection on their span matters), and coordinates are its coefficients: row k becomes
    its products with these, whose Gram matrix is the metric."""
    d = len(Z[0])
    integral, q = cleared_rows(Z)
    classes: dict[tuple[int, ...], int] = {}
    names: dict[int, int] = {}
    place = []
    for k, row in enumerate(map(tuple, integral)):
        if row not in classes:
            classes[row] = names[k] = len(classes)
        place.append(classes[row])
    rows = [*map(list, classes), *map(list, centres)]
    lengths = [sum(map(mul, row, row)) for row in rows]
    metric = [[int(i == j) for j in range(d)] for i in range(d)]
    if not biases and (d <= len(rows) or not any(lengths)):
        return Rows(q, names, tuple(place), rows, lengths, metric, rows)
    bounded(len(rows) ** 2, MOST_ENTRIES, "entries of a matrix", "certificate.facts.leaders")
    A = fmpz_mat(rows)
    chosen = range(len(rows)) if biases else spanning(rows)
    products = [[int(x) for x in row] for row in (A * fmpz_mat([rows[k] for k in chosen]).transpose()).tolist()]
    if not biases:
        return Rows(q, names, tuple(place), products, lengths, [products[k] for k in chosen], rows)
    metric[-1][-1] = 0
    far = [[a + b - 2 * x for b, x in zip(lengths, row, strict=True)] for a, row in zip(lengths, products, strict=True)]
    reach = [max(row[: len(classes)]) for row in far]  # the centres are no rows
    longest = max(length - row[-1] ** 2 for length, row in zip(lengths[: len(classes)], rows, strict=False))
    return Rows(q, names, tuple(place), rows, reach, metric, rows, longest)


def spanning(rows: list[Integers]) -> Integers:
    """Independent rows that span all of them, not all zero. A prime finds them, and what is independent modulo a prime
    is; the others are shown to be combinations."""
    flat = [x % PRIME for column in zip(*rows, strict=True) for x in column]
    reduced, rank = nmod_mat(len(rows[0]), len(rows), flat, PRIME).rref()
    chosen = [next(k for k in range(len(rows)) if reduced[i, k]) for i in range(rank)]
    others = [row for k, row in enumerate(rows) if k not in set(chosen)]
    if others:
        A, B = fmpz_mat([rows[k] for k in chosen]), fmpz_mat(others)
        weights = fmpq_mat(A * A.transpose()).solve(fmpq_mat(A * B.transpose()))
        if fmpq_mat(A).transpose() * weights != fmpq_mat(B).transpose():
            raise Declined("certificate.facts.leaders", f"rows whose rank modulo {PRIME} is their rank", "others")
    return chosen


def check_cell(data: Rows, theta: Integers, lam: Fraction, centres: int, i: int, node: Node) -> None:
    """Reject unless xi sum theta_k (z_k.u)_+ <= lambda |u| wherever c_i.u >= c_j.u for all centres c_j.

    `theta` is xi theta, summed over equal rows; lambda and all numbers are in units of unit / q.
    """
    free = () if data.longest is None else ("kappa",)
    keys = ("nu", "rows", "p", "q", "normals", "excess", "squares", "leaders", *free)
    fields = node.record(*keys, optional=("triangles",))
    (nu,) = fields["nu"].integers(1)
    kappa = nonnegative(fields["kappa"], 1)[0] if free else 0
    load = [0] * data.count
    rows = named(data, fields["rows"])
    p, q = fields["p"].integers(len(rows)), nonnegative(fields["q"], len(rows))
    beta = theta.copy()
    for k, p_k, q_k in zip(rows, p, q, strict=True):
        load[k] += abs(p_k) + q_k
        beta[k] -= p_k
    normals = other_centres(data, centres, i, fields["normals"])
    squares = dict(zip(normals, nonnegative(fields["squares"], len(normals)), strict=True))
    linear = {k: b for k, b in enumerate(beta) if b}
    for k, x in zip(normals, nonnegative(fields["excess"], len(normals)), strict=True):
        linear[k] = x + squares[k]
    entries: dict[int, Leader] = {}
    last = -1
    for entry in fields["leaders"].array():
        l, leader = read_leader(data, centres, i, entry)
        entry.require(l > last, "rows in ascending order")
        last = l
        entries[l] = leader
        for k, w in leader.weights.items():
            if k < data.count:
                load[k] += abs(w)
            else:
                linear[k] = linear.get(k, 0) + abs(w)
    c, v = [], []
    for k in range(data.count):
        a = max(0, theta[k] + load[k])
        known = entries.get(k)
        if known is None:
            if a and any(data.rows[k]):
                raise fields["leaders"].reject(f"an entry for row {[*data.names][k]}, where {show(a)} is left", "none")
            continue
        c.append(known.c)
        v.append(combined(data, i, {k: a} | {n: -w for n, w in known.weights.items()}))
    ties = read_triangles(fields["triangles"], len(entries)) if "triangles" in fields else NO_TIES
    bent = [(q_k, data.lengths[k], data.rows[k]) for k, q_k in zip(rows, q, strict=True)]
    bent += [(r, data.between(i, k), data.normal(i, k)) for k, r in squares.items()]
    check_definite(data, (c, v), combined(data, i, linear), bent, lam, (nu, kappa), ties, node)


@dataclass(frozen=True)
class Ties:
    """s'C s <= price for all signs s with s_0 = 1; the places of the symmetric C are 0 and the leaders, from 1."""

    C: dict[tuple[int, int], int]
    price: int


NO_TIES = Ties({}, 0)


def read_triangles(node: Node, leaders: int) -> Ties:
    """`{"corners", "signs", "weights"}`: 1 + x s_i s_j + y s_j s_k + x y s_i s_k >= 0 for signs, with weights."""
    fields = node.record("corners", "signs", "weights")
    weights = nonnegative(fields["weights"], None)
    corners, signs = fields["corners"].integers(3 * len(weights)), fields["signs"].integers(2 * len(weights))
    fields["corners"].require(all(0 <= i <= leaders for i in corners), f"integers from 0 to {leaders}")
    fields["signs"].require(all(x in (1, -1) for x in signs), "1 or -1")
    bounded(len({*corners}), MOST_SIGNS, "leaders in triangles", node.place)
    C: dict[tuple[int, int], int] = {}
    for n, r in enumerate(weights):
        (i, j, k), (x, y) = corners[3 * n : 3 * n + 3], signs[2 * n : 2 * n + 2]
        for a, b, sign in ((i, j, x), (j, k, y), (i, k, x * y)):
            C[a, b] = C.get((a, b), 0) - r * sign
            C[b, a] = C.get((b, a), 0) - r * sign
    return Ties(C, 2 * sum(weights))


@dataclass(frozen=True)
class Leader:
    """c > 0 and the signed weights of its neighbours; beyond the rows the places are those of the centres."""

    c: int
    weights: dict[int, int]


def read_leader(data: Rows, centres: int, i: int, node: Node) -> tuple[int, Leader]:
    """`{"row", "c", "near", "weights", "normals", "normal_weights"}`"""
    fields = node.record("row", "c", "near", "weights", "normals", "normal_weights")
    l = fields["row"].index(len(data.place))
    fields["row"].require(l in data.names, "the first of its equal rows")
    (c,) = fields["c"].integers(1)
    fields["c"].require(c > 0, "an integer > 0")
    near = named(data, fields["near"])
    weights = dict(zip(near, fields["weights"].integers(len(near)), strict=True))
    fields["near"].require(data.names[l] not in weights, "other rows than the leader's own")
    normals = other_centres(data, centres, i, fields["normals"])
    weights |= dict(zip(normals, fields["normal_weights"].integers(len(normals)), strict=True))
    return data.names[l], Leader(c, weights)


def other_centres(data: Rows, centres: int, i: int, node: Node) -> Integers:
    """Places of centres other than that of the cell, ascending."""
    found = node.ascending(centres)
    node.require(i not in found, f"other centres than {i}, the cell's own")
    return [data.count + j for j in found]


def combined(data: Rows, i: int, factors: dict[int, int]) -> Integers:
    """sum factor_k row_k, where a place beyond the rows is that of a normal: row_k is centre_i - centre_j."""
    total = [0] * len(data.rows[0])
    for k, x in factors.items():
        total = [t + x * z for t, z in zip(total, data.rows[k] if k < data.count else data.normal(i, k), strict=True)]
    return total


def check_definite(
    data: Rows, leaders: Led, beta: Integers, bent: Bent, lam: Fraction, by: tuple[int, int], ties: Ties, node: Node
) -> None:
    """Reject unless [[sigma, -beta'/2], [-beta/2, nu I - Q]] >= 0, sigma = lambda - nu - 1/4 sum c. Times 4 2^bits.

    Leaders that are tied are not in Q: they have rows of their own, -v/4 and (C + diag c)/4.
    With free biases kappa (b^2 - longest |w|^2) is added, which is at most 0 at the u with z_j.u = 0 for some row j.
    """
    (c, v), (nu, kappa), tied = leaders, by, sorted({a for a, _ in ties.C} - {0})
    bits = EXTRA_BITS + max([x.bit_length() for x in c] + [z.bit_length() for _, z, _ in bent], default=0)
    sigma = 4 * (lam - nu) - sum(c) - ties.price
    if sigma < 0:
        raise node.reject("nu + 1/4 sum c <= lambda", f"{show(-sigma / 4)} more")
    signs = [[ties.C.get((a, b), 0) + (c[a - 1] if 0 < a == b else 0) for b in (0, *tied)] for a in (0, *tied)]
    sides = [v[a - 1] for a in tied]
    loose = [l for l in range(len(c)) if l + 1 not in {*tied}]
    c, v = [c[l] for l in loose], [v[l] for l in loose]
    lower = [[(4 * nu * x) << bits for x in row] for row in data.metric]
    if data.longest is not None:
        for i in range(len(lower) - 1):
            lower[i][i] += (-4 * kappa * data.longest << bits) // data.q**2
        lower[-1][-1] += 4 * kappa << bits
    scale = [-(-(1 << bits) // x) for x in c]
    for q, length, row in bent:
        if q and length:
            v = [*v, row]
            scale.append(-2 * q * isqrt((1 << 2 * bits) // length))
    if v:
        V = fmpz_mat(v)
        scaled = fmpz_mat([[s * x for x in row] for s, row in zip(scale, v, strict=True)])
        product = (V.transpose() * scaled).tolist()
        lower = [[m - int(x) for m, x in zip(*rows, strict=True)] for rows in zip(lower, product, strict=True)]
    first = ((sigma.numerator << bits) // sigma.denominator) + (signs[0][0] << bits)
    top = [first, *(-(b << bits) for b in beta)]
    matrix = [top, *([top[i + 1], *row] for i, row in enumerate(lower))]
    below = [[s[0] << bits, *(-(x << bits) for x in side)] for s, side in zip(signs[1:], sides, strict=True)]
    matrix = [[*row, *(line[i] for line in below)] for i, row in enumerate(matrix)]
    matrix += [[*line, *(x << bits for x in s[1:])] for line, s in zip(below, signs[1:], strict=True)]
    if not semidefinite(matrix):
        raise node.reject("[[sigma, -beta'/2], [-beta/2, nu I - Q]] positive semidefinite", "not shown to be")


def semidefinite(M: list[Integers]) -> bool:
    """Whether M is shown to be positive semidefinite. Zero rows are left out; rows and columns times powers of two make
    the diagonal about 4^ROOT_BITS. Then M = L L' + E, L the rounded Cholesky factor of M less a little on the diagonal,
    and E has a dominant diagonal."""
    keep = [i for i, row in enumerate(M) if any(row)]
    if not keep:
        return True
    shift = [ROOT_BITS - M[i][i].bit_length() // 2 for i in keep]
    least = min(0, *shift)  # a negative shift is taken from L only
    rise = [s - least for s in shift]
    scaled = [[M[i][j] << rise[a] + rise[b] for b, j in enumerate(keep)] for a, i in enumerate(keep)]
    near = [[x >> -2 * least for x in row] for row in scaled]
    for i, row in enumerate(near):
        row[i] -= (len(near) + 1) << ROOT_BITS + 2
    factor = cholesky(near)
    if factor is None:
        return False
    L = fmpz_mat([[x << -least for x in row] for row in factor])
    E = (fmpz_mat(scaled) - L * L.transpose()).tolist()
    return all(2 * row[i] >= sum(map(abs, row)) for i, row in enumerate(E))


def cholesky(M: list[Integers]) -> list[Integers] | None:
    """A lower triangular integer L with L L' near M, by rounding down; None if a pivot is not positive."""
    L: list[Integers] = []
    for i, row in enumerate(M):
        new: Integers = []
        for j in range(i):
            new.append((row[j] - sum(map(mul, new, L[j]))) // L[j][j])
        rest = row[i] - sum(map(mul, new, new))
        if rest <= 0:
            return None
        L.append([*new, isqrt(rest)])
    return [[*row, *[0] * (len(M) - len(row))] for row in L]


def nonnegative(node: Node, length: int | None) -> Integers:
    """A vector of integers >= 0."""
    numbers = node.integers(length)
    node.require(all(x >= 0 for x in numbers), "integers >= 0")
    return numbers


def named(data: Rows, node: Node) -> Integers:
    """Places of rows that are the first of their equal rows, ascending."""
    rows = node.ascending(len(data.place))
    for k in rows:
        node.require(k in data.names, "the first of equal rows", str(k))
    return [data.names[k] for k in rows]
