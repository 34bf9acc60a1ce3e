"""Dual feasibility of theta for networks of any width, without patterns: the leaders (FORMAT.md, `leaders`).

    xi sum_k theta_k (z_k.u)_+ <= lambda |u|     for all u and xi = +-1.

Integers only. Everything is counted in units: Z = rows / q, theta = unit x integers, multipliers likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from operator import mul

from flint import fmpq_mat, fmpz_mat, nmod_mat

from verify.errors import Declined, bounded
from verify.problem import cleared
from verify.rules.logistic.value import ONE, entropy_of
from verify.text import Matrix, Node, Vector, show

EXTRA_BITS = 64  # of 1/c and 1/|z|, beyond the largest c and z
ROOT_BITS = 192  # of the factor that shows definiteness
MOST_ENTRIES = 2**26
PRIME = 2**61 - 1
Integers = list[int]


@dataclass(frozen=True)
class Free:
    """Terms of the network without penalty: columns B of outputs with free coefficients (B'theta = 0), and the columns
    of Z whose weights are not in the norm."""

    outputs: Matrix = ()
    columns: tuple[int, ...] = ()


@dataclass(frozen=True)
class Rows:
    """The distinct rows of the data as integers over q, in a metric: |u|^2 = u'metric u in the coordinates of u."""

    q: int
    names: dict[int, int]  # the first row of each class of equal rows -> its place
    place: tuple[int, ...]  # of every row
    rows: list[Integers]
    lengths: list[int | None]  # |row|^2, None if the norm does not see all of the row
    metric: list[Integers] | None  # None: the unit matrix, without the columns that the norm does not see
    norm: tuple[int, ...]
    originals: list[Integers]

    def between(self, i: int, j: int) -> int | None:
        """|row_i - row_j|^2; None if the norm does not see all of it."""
        difference = [a - b for a, b in zip(self.originals[i], self.originals[j], strict=True)]
        if self.metric is None and any(x and not seen for x, seen in zip(difference, self.norm, strict=True)):
            return None
        return sum(x * x for x in difference)


def check_leaders(
    Z: Matrix, y: Vector, lam: Fraction, logistic: bool, node: Node, free: Free | None = None
) -> tuple[Vector, Fraction]:
    """theta and the lower bound of p* that it proves; rejected unless (*) is proved on every cell for both signs."""
    free = free or Free()
    fields = node.record("unit", "theta", "+", "-")
    unit = fields["unit"].number()
    if unit <= 0:
        raise fields["unit"].reject("a number > 0")
    theta = integers(fields["theta"], len(y))
    for j, column in enumerate(free.outputs):
        if total := sum((b * t for b, t in zip(column, theta, strict=True)), Fraction(0)):
            raise fields["theta"].reject(f"theta orthogonal to the free output {j}", show(total))
    for sign, xi in (("+", 1), ("-", -1)):
        side = fields[sign].record("centres", "cells")
        centres = [integers(centre, len(Z[0])) for centre in side["centres"].array()]
        cells = side["cells"].array(max(len(centres), 1))
        data = read_rows(Z, free.columns, centres)
        sums = [0] * len(data.names)
        for k, t in enumerate(theta):
            sums[data.place[k]] += xi * t
        for i, cell in enumerate(cells):
            check_cell(data, sums, lam * data.q / unit, len(centres), i, cell)
    exact = tuple(unit * t for t in theta)
    return exact, dual_value(y, exact, logistic, fields["theta"])


def dual_value(y: Vector, theta: Vector, logistic: bool, node: Node) -> Fraction:
    """y.theta - 1/2|theta|^2, or a lower bound of sum H(y_k theta_k)."""
    if not logistic:
        return sum((y_k * t - t * t / 2 for y_k, t in zip(y, theta, strict=True)), Fraction(0))
    chances = [y_k * t for y_k, t in zip(y, theta, strict=True)]
    for k, a in enumerate(chances):
        if not 0 <= a <= 1:
            raise node.reject(f"0 <= y_k theta_k <= 1 at row {k}", show(a))
    return Fraction(sum(entropy_of(a)[0] for a in chances), ONE)


def read_rows(Z: Matrix, free: Sequence[int], centres: Sequence[Integers]) -> Rows:
    """Equal rows are one row. If there are more columns than rows and centres, u is a combination of independent ones
    that span them all (only its projection on their span matters), and coordinates are its coefficients: row k becomes
    its products with these, whose Gram matrix is the metric."""
    d = len(Z[0])
    flat, q = cleared(x for row in Z for x in row)
    classes: dict[tuple[int, ...], int] = {}
    names: dict[int, int] = {}
    place = []
    for k in range(len(Z)):
        row = tuple(flat[k * d : (k + 1) * d])
        if row not in classes:
            classes[row] = names[k] = len(classes)
        place.append(classes[row])
    rows = [*map(list, classes), *map(list, centres)]
    norm = tuple(0 if j in free else 1 for j in range(d))
    seen = [None if any(row[j] for j in free) else sum(map(mul, row, row)) for row in rows]
    if free or d <= len(rows) or not any(map(any, rows)):
        return Rows(q, names, tuple(place), rows, seen, None, norm, rows)
    bounded(len(rows) ** 2, MOST_ENTRIES, "entries of a matrix", "certificate.facts.leaders")
    chosen = spanning(rows)
    across = fmpz_mat([rows[k] for k in chosen]).transpose()
    products = [[int(x) for x in row] for row in (fmpz_mat(rows) * across).tolist()]
    return Rows(q, names, tuple(place), products, seen, [products[k] for k in chosen], (), rows)


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
    fields = node.record("nu", "rows", "p", "q", "normals", "excess", "squares", "leaders")
    (nu,) = integers(fields["nu"], 1)
    count = len(theta)
    load = [0] * count
    rows = named(data, fields["rows"])
    p, q = integers(fields["p"], len(rows)), nonnegative(fields["q"], len(rows))
    beta = theta.copy()
    for k, p_k, q_k in zip(rows, p, q, strict=True):
        load[k] += abs(p_k) + q_k
        beta[k] -= p_k
    normals = fields["normals"].ascending(centres)
    if i in normals:
        raise fields["normals"].reject(f"other centres than {i}, the cell's own")
    excess = dict(zip(normals, nonnegative(fields["excess"], len(normals)), strict=True))
    squares = dict(zip(normals, nonnegative(fields["squares"], len(normals)), strict=True))
    for j, r in squares.items():
        excess[j] += r
    entries: dict[int, Leader] = {}
    last = -1
    for entry in fields["leaders"].array():
        l, leader = read_leader(data, centres, i, entry)
        if l <= last:
            raise entry.reject("rows in ascending order")
        last = l
        entries[l] = leader
        for k, w in leader.weights.items():
            if k < count:
                load[k] += abs(w)
            else:
                excess[k - count] = excess.get(k - count, 0) + abs(w)
    c, v = [], []
    for k in range(count):
        a = max(0, theta[k] + load[k])
        known = entries.get(k)
        if known is None:
            if a and any(data.rows[k]):
                raise fields["leaders"].reject(f"an entry for row {[*data.names][k]}, where {show(a)} is left", "none")
            continue
        c.append(known.c)
        v.append(combined(data, count, i, {k: a}, known.weights))
    linear = {k: b for k, b in enumerate(beta) if b}
    bent = [(q_k, data.lengths[k], data.rows[k]) for k, q_k in zip(rows, q, strict=True)]
    for j, r in squares.items():
        normal = combined(data, count, i, {}, {}, {j: 1})
        bent.append((r, data.between(count + i, count + j), normal))
    check_definite(data, (c, v), combined(data, count, i, linear, {}, excess), bent, lam, nu, node)


@dataclass(frozen=True)
class Leader:
    """c > 0 and the signed weights of its neighbours; beyond the rows the places are those of the centres."""

    c: int
    weights: dict[int, int]


def read_leader(data: Rows, centres: int, i: int, node: Node) -> tuple[int, Leader]:
    """`{"row", "c", "near", "weights", "normals", "normal_weights"}`"""
    fields = node.record("row", "c", "near", "weights", "normals", "normal_weights")
    l = fields["row"].index(len(data.place))
    if l not in data.names:
        raise fields["row"].reject("the first of its equal rows")
    (c,) = integers(fields["c"], 1)
    if c <= 0:
        raise fields["c"].reject("an integer > 0")
    near = named(data, fields["near"])
    weights = dict(zip(near, integers(fields["weights"], len(near)), strict=True))
    normals = fields["normals"].ascending(centres)
    if i in normals:
        raise fields["normals"].reject(f"other centres than {i}, the cell's own")
    count = len(data.names)
    if data.names[l] in weights:
        raise fields["near"].reject("other rows than the leader's own")
    for j, w in zip(normals, integers(fields["normal_weights"], len(normals)), strict=True):
        weights[count + j] = w
    return data.names[l], Leader(c, weights)


def combined(
    data: Rows, count: int, i: int, plus: dict[int, int], minus: dict[int, int], normals: dict[int, int] | None = None
) -> Integers:
    """sum plus_k row_k - sum minus_k row_k + sum normals_j (centre_i - centre_j); a place beyond the rows is a normal
    in `minus` too."""
    scales: dict[int, int] = {}
    for k, x in plus.items():
        scales[k] = scales.get(k, 0) + x
    signed = [(k, -x) for k, x in minus.items()] + [(count + j, x) for j, x in (normals or {}).items()]
    for k, x in signed:
        if k < count:
            scales[k] = scales.get(k, 0) + x
        else:
            scales[count + i] = scales.get(count + i, 0) + x
            scales[k] = scales.get(k, 0) - x
    total = [0] * len(data.rows[0])
    for k, x in scales.items():
        if x:
            total = [t + x * z for t, z in zip(total, data.rows[k], strict=True)]
    return total


def check_definite(
    data: Rows,
    leaders: tuple[Integers, list[Integers]],
    beta: Integers,
    bent: list[tuple[int, int | None, Integers]],
    lam: Fraction,
    nu: int,
    node: Node,
) -> None:
    """Reject unless [[sigma, -beta'/2], [-beta/2, nu I - Q]] >= 0, sigma = lambda - nu - 1/4 sum c. Times 4 2^bits."""
    c, v = leaders
    size = len(beta)
    bits = EXTRA_BITS + max([x.bit_length() for x in c] + [(z or 0).bit_length() for _, z, _ in bent], default=0)
    sigma = 4 * (lam - nu) - sum(c)
    if sigma < 0:
        raise node.reject("nu + 1/4 sum c <= lambda", f"{show(-sigma / 4)} more")
    metric = data.metric or [[x if i == j else 0 for j, x in enumerate(data.norm)] for i in range(size)]
    lower = [[(4 * nu * x) << bits for x in row] for row in metric]
    scale = [-(-(1 << bits) // x) for x in c]
    for q, length, row in bent:
        if q and length is None:
            raise node.reject("q = 0 and no squares where the norm does not bound a row or a normal")
        if q and length:
            v = [*v, row]
            scale.append(-2 * q * isqrt((1 << 2 * bits) // length))
    if v:
        V = fmpz_mat(v)
        scaled = fmpz_mat([[s * x for x in row] for s, row in zip(scale, v, strict=True)])
        product = (V.transpose() * scaled).tolist()
        lower = [[m - int(x) for m, x in zip(*rows, strict=True)] for rows in zip(lower, product, strict=True)]
    top = [(sigma.numerator << bits) // sigma.denominator, *(-(b << bits) for b in beta)]
    matrix = [top, *([top[i + 1], *row] for i, row in enumerate(lower))]
    if not semidefinite(matrix):
        raise node.reject("[[sigma, -beta'/2], [-beta/2, nu I - Q]] positive semidefinite", "not shown to be")


def semidefinite(M: list[Integers]) -> bool:
    """Whether M is shown to be positive semidefinite. Zero rows are left out; rows and columns times powers of two make
    the diagonal about 4^ROOT_BITS. Then M = L L' + E, L the rounded Cholesky factor of M less a little on the diagonal,
    and E has a dominant diagonal."""
    keep = [i for i, row in enumerate(M) if any(row)]
    if any(M[i][i] <= 0 for i in keep):
        return False
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
    return all(row[i] >= 0 and 2 * row[i] >= sum(map(abs, row)) for i, row in enumerate(E))


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


def integers(node: Node, length: int) -> Integers:
    """A vector of integers."""
    numbers = node.vector(length)
    for x in numbers:
        if x.denominator != 1:
            raise node.reject("integers", show(x))
    return [x.numerator for x in numbers]


def nonnegative(node: Node, length: int) -> Integers:
    """A vector of integers >= 0."""
    numbers = integers(node, length)
    if any(x < 0 for x in numbers):
        raise node.reject("integers >= 0")
    return numbers


def named(data: Rows, node: Node) -> Integers:
    """Places of rows that are the first of their equal rows, ascending."""
    rows = node.ascending(len(data.place))
    for k in rows:
        if k not in data.names:
            raise node.reject("the first of equal rows", str(k))
    return [data.names[k] for k in rows]
