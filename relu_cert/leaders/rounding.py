"""From float multipliers to evidence in integers, proved here before it is returned.

Everything is counted in units as in verify/FORMAT.md: Z = rows / q, theta and the multipliers are multiples of `unit`,
and bounds (c, nu, sigma, lambda) multiples of unit / q; with bags, of unit / s and unit / (q s), s P integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, isqrt, lcm
from typing import Any

import numpy as np
from flint import fmpq_mat, fmpz_mat, nmod_mat
from numpy.typing import NDArray

from relu_cert.bags import EACH
from relu_cert.evidence import CellProof, Leader, Leaders, Side, Triangles
from relu_cert.exact import Vector, first_independent, matrix_of
from relu_cert.leaders.bound import LeadersLoss, Multipliers, TriangleTies, smallest, with_free_bias
from relu_cert.leaders.cells import Cell, Floats, Indices
from relu_cert.leaders.interior import Centres, LeadersProof
from relu_cert.serialize import Integers

THETA_BITS = 44
EXTRA_BITS = 64
FACTOR_BITS = 50
PRIME = 2**61 - 1
SLACKS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)  # what is given away so that rounding cannot spoil the proof
Objects = NDArray[np.object_]


@dataclass(frozen=True)
class IntegerData:
    """The distinct rows as integers over q, y and lambda; `firsts` are the rows that name the classes of equal rows.

    `norm` is 0 for the columns that |u| does not see; `outputs` are free outputs, to which theta is orthogonal.
    """

    rows: tuple[Integers, ...]
    q: int
    firsts: Indices
    y: Vector
    lam: Fraction
    norm: Integers
    outputs: tuple[Vector, ...] = ()

    @cached_property
    def objects(self) -> Objects:
        """The rows as an array of Python integers."""
        return np.array(self.rows, dtype=object).reshape(len(self.rows), -1)


@dataclass(frozen=True)
class Geometry:
    """Rows and centres in the coordinates in which definiteness is tested: the columns of Z, or, if there are more of
    them than rows and centres, the coefficients of u in independent ones of these (`metric` is their Gram matrix)."""

    places: Objects
    metric: list[list[int]]
    originals: Objects
    norm: Integers

    @cached_property
    def lengths(self) -> list[int]:
        """The squares of the largest |z_k.u| for |u| = 1 that count, of every place: those of the rows, or, with free
        biases, of the largest differences of rows."""
        own = [int(row @ row) for row in self.originals]
        if all(self.norm):
            return own
        A = fmpz_mat(self.originals.tolist())
        gram = (A * A.transpose()).tolist()
        return [
            max(a + b - 2 * int(x) for b, x in zip(own, row, strict=True)) for a, row in zip(own, gram, strict=True)
        ]


def geometry(exact: IntegerData, centres: Sequence[Integers]) -> Geometry:
    """The coordinates for one sign."""
    rows = exact.objects
    if centres:
        rows = np.concatenate([rows, np.array(centres, dtype=object)])
    d = rows.shape[1]
    if not all(exact.norm) or d <= len(rows) or not rows.any():
        metric = [[x if i == j else 0 for j in range(d)] for i, x in enumerate(exact.norm)]
        return Geometry(rows, metric, rows, exact.norm)
    chosen = _independent_rows(rows)
    across = fmpz_mat(rows[chosen].tolist()).transpose()
    products = [[int(x) for x in row] for row in (fmpz_mat(rows.tolist()) * across).tolist()]
    return Geometry(np.array(products, dtype=object), [products[k] for k in chosen], rows, exact.norm)


def _independent_rows(rows: Objects) -> list[int]:
    """Independent rows that span all of them, found modulo a prime."""
    flat = [int(x) % PRIME for x in rows.T.ravel()]
    reduced, rank = nmod_mat(rows.shape[1], rows.shape[0], flat, PRIME).rref()
    return [next(k for k in range(len(rows)) if reduced[i, k]) for i in range(rank)]


def evidence(exact: IntegerData, loss: LeadersLoss, proof: LeadersProof, centres: Centres) -> Leaders | None:
    """The evidence in integers with its lower bound; None if rounding leaves no proof (never seen beyond tiny data)."""
    by_sign = {1: centres.plus, -1: centres.minus}
    spaces = {xi: geometry(exact, own) for xi, own in by_sign.items()}
    for slack in SLACKS:
        coarse, fine, theta = _theta(exact, loss, (1 - slack) * proof.theta)
        pairs = [(c, b.scaled(1 - slack)) for c, b in zip(proof.cells, proof.multipliers, strict=True)]
        sides = proved_sides(exact, loss, theta, (coarse, fine), spaces, by_sign, pairs)
        if sides is not None:
            unit = coarse / fine
            return Leaders(unit, tuple(theta), *sides, loss.exact.dual_value(exact.y, tuple(unit * t for t in theta)))
    return None


def proved_sides(
    exact: IntegerData,
    loss: LeadersLoss,
    theta: Sequence[int],
    units: tuple[Fraction, int],
    spaces: Mapping[int, Geometry],
    by_sign: Mapping[int, tuple[Integers, ...]],
    pairs: Sequence[tuple[Cell, Multipliers]],
) -> tuple[Side, Side] | None:
    """The cells of both signs for theta in a coarse unit / fine; None if one of them is not proved."""
    coarse, fine = units
    totals = _totals(exact, loss, theta)
    lam = exact.lam * exact.q * loss.bags.unit * fine / coarse
    sides = []
    for xi in (1, -1):
        own = [pair for pair in pairs if pair[0].xi == xi]
        cells = [
            _cell(exact, spaces[xi], totals, (coarse, fine * loss.bags.unit), lam, i, c, b)
            for i, (c, b) in enumerate(own)
        ]
        sides.append(Side(by_sign[xi], tuple(cell for cell in cells if cell is not None)))
        if None in cells:
            return None
    return sides[0], sides[1]


def _totals(exact: IntegerData, loss: LeadersLoss, theta: Sequence[int]) -> list[int]:
    """What (*) sees: theta summed over equal rows, or t = P'theta, in parts of the unit that P needs."""
    if loss.bags is not EACH:
        return [int(t) for t in loss.bags.shares(np.array(theta, dtype=object))]
    totals = [0] * len(exact.rows)
    for k, t in enumerate(theta):
        totals[loss.rows[k]] += t
    return totals


def _theta(exact: IntegerData, loss: LeadersLoss, theta: Floats) -> tuple[Fraction, int, list[int]]:
    """A coarse unit, how much finer the unit is, and integers for every row: the best theta_k with these sums over
    equal rows, rounded. The other multipliers are multiples of the coarse unit."""
    share = (theta - loss.sums) / loss.count
    values = loss.y + share[loss.rows]
    if loss.logistic:
        chance = (theta + loss.count - loss.positive) / loss.count
        labelled = np.where(loss.y > 0, chance[loss.rows], chance[loss.rows] - 1)
        values = np.where(loss.y, labelled, theta[loss.rows])
    if not exact.outputs:  # (*) does not see rows that are zero
        silent = loss.bags.pooled_floats(np.array([float(any(row)) for row in exact.rows]))[loss.rows] == 0
        values = np.where(silent, loss.y / 2 if loss.logistic else loss.y, values)
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    unit = Fraction(2) ** (ceil(np.log2(largest)) - THETA_BITS)
    integers = [round(Fraction(float(x)) / unit) for x in values]
    if loss.logistic:
        least = 16 if exact.outputs else 0  # room for the projection
        most = floor(1 / unit) - least
        pairs = zip(integers, exact.y, strict=True)
        integers = [int(y) * min(max(int(y) * t, least), most) if y else t for t, y in pairs]
    fine, moved = _orthogonal(exact, integers)
    if loss.logistic and not all(0 <= int(y) * t * unit <= fine for t, y in zip(moved, exact.y, strict=True)):
        return unit, 1, [0] * len(moved)  # free outputs divide the labels: p* = 0
    return unit, fine, moved


def _orthogonal(exact: IntegerData, theta: list[int]) -> tuple[int, list[int]]:
    """theta moved to the complement of the free outputs, exactly, and its denominator."""
    chosen = first_independent(exact.outputs)
    if not chosen:
        return 1, theta
    B = matrix_of([exact.outputs[j] for j in chosen])
    t = fmpq_mat(len(theta), 1, theta)
    moved = (t - B.transpose() * (B * B.transpose()).solve(B * t)).entries()
    common = lcm(*(int(x.q) for x in moved))
    return common, [int(x.p) * (common // int(x.q)) for x in moved]


def _cell(
    exact: IntegerData,
    space: Geometry,
    totals: list[int],
    units: tuple[Fraction, int],
    lam: Fraction,
    i: int,
    cell: Cell,
    by: Multipliers,
) -> CellProof | None:
    """One cell in integers, or None if the bound does not hold."""
    count = len(totals)
    own = [cell.xi * t for t in totals]
    scale, fine = float(1 / units[0]), units[1]
    place = np.concatenate([cell.N, count + _others(len(cell.A), i)])
    least = 2**8
    w: Any = np.where(cell.used, np.floor(by.w * scale), 0)
    w = np.where(w >= least, w, 0)
    weights: list[dict[int, int]] = [{} for _ in range(count)]
    for row, near, line, signs in zip(cell.L, cell.near, w, cell.side, strict=True):
        for k, x, s in zip(near, line, signs, strict=True):
            if x:
                weights[row][int(place[k])] = fine * int(x) * int(s)
    p = {int(k): fine * int(x) for k, x in zip(cell.N, by.p * scale, strict=True) if abs(x) >= least}
    q = {int(place[k]): fine * int(x) for k, x in enumerate(by.q * scale) if x >= least}
    excess = {int(place[len(cell.N) + j]): fine * ceil(x) for j, x in enumerate(by.rho * scale) if x >= least}
    _trim(own, weights, p, q, count)
    load = [0] * count
    for part in (*weights, p, q):
        for k, x in part.items():
            if k < count:
                load[k] += abs(x)
    c_of = dict(zip(cell.L.tolist(), by.c * scale * exact.q, strict=True))
    kept, tied = _ties(by.ties, scale * exact.q)
    needed = {int(cell.L[l - 1]) for l in tied}
    leaders, c, v = [], [], []
    for k in range(count):
        a = max(0, own[k] + load[k])
        if k not in needed and (not any(exact.rows[k]) or not (a or weights[k])):
            continue
        v.append(_combine_rows(space, count, i, {k: a}, weights[k], {}))
        if k in c_of:
            c.append(fine * max(1, ceil(c_of[k])))
        else:
            row = _combined_original(space, count, i, {k: a}, weights[k])
            c.append(1 + isqrt(int(row @ row) // len(exact.norm)))
        leaders.append((k, weights[k]))
    total = {j: excess.get(j, 0) + q.get(j, 0) for j in range(count, len(space.places))}
    for part in weights:
        for j, x in part.items():
            if j >= count:
                total[j] += abs(x)
    linear = {k: t - p.get(k, 0) for k, t in enumerate(own)}
    beta = _combine_rows(space, count, i, linear, {}, total)
    bent = [(x, *_bent(space, count, i, k)) for k, x in q.items()]
    bent = [one for one in bent if one[2]]
    place_of = {k: l for l, (k, _) in enumerate(leaders, 1)}
    triangles = _triangles(kept, {l: place_of[int(cell.L[l - 1])] for l in tied} | {0: 0}, fine)
    chosen = _prove(space, exact.q, c, v, beta, bent, lam, fine, triangles)
    if chosen is None:
        return None
    return _written(exact, count, chosen, p, q, excess, leaders, c, triangles)


Kept = list[tuple[Integers, int]]


def _ties(ties: TriangleTies | None, scale: float) -> tuple[Kept, set[int]]:
    """Triangles with their weights, in integers, and the leaders that they tie."""
    if ties is None:
        return [], set()
    weights = [int(x) for x in np.floor(ties.weights * scale)]
    kept = [(tuple(map(int, one)), r) for one, r in zip(ties.triangles, weights, strict=True) if r > 0]
    return kept, {int(l) for one, _ in kept for l in one[:3] if l}


def _triangles(kept: Kept, places: dict[int, int], fine: int) -> Triangles | None:
    """The triangles between the leaders at these places."""
    if not kept:
        return None
    return Triangles(
        corners=tuple(places[l] for one, _ in kept for l in one[:3]),
        signs=tuple(x for one, _ in kept for x in one[3:]),
        weights=tuple(fine * r for _, r in kept),
    )


def _tied_triangles(triangles: Triangles | None, tied: Sequence[int]) -> Objects:
    """C with s'C s = -2 sum r (x s_i s_j + y s_j s_k + x y s_i s_k), s_0 = 1, for the leaders that are tied."""
    C: Objects = np.zeros((len(tied) + 1, len(tied) + 1), dtype=object)
    if triangles is not None:
        place = {0: 0} | {l: a for a, l in enumerate(tied, 1)}
        corners, signs = (np.array(x).reshape(-1, n) for x, n in ((triangles.corners, 3), (triangles.signs, 2)))
        for (i, j, k), (x, y), r in zip(corners.tolist(), signs.tolist(), triangles.weights, strict=True):
            for one, other, sign in ((i, j, x), (j, k, y), (i, k, x * y)):
                a, b = place[one], place[other]
                C[a, b] -= r * sign
                C[b, a] -= r * sign
    return C


def _others(normals: int, i: int) -> Indices:
    """The centres that the normals of cell i are against."""
    return np.array([j for j in range(normals + 1) if j != i], dtype=np.intp)[:normals]


def _trim(own: list[int], weights: list[dict[int, int]], p: dict[int, int], q: dict[int, int], count: int) -> None:
    """Multipliers shortened until no follower carries more than its theta: nothing is left to pay for there."""
    load: dict[int, int] = {}
    for part in (*weights, p, q):
        for k, x in part.items():
            if k < count:
                load[k] = load.get(k, 0) + abs(x)
    most = {k: max(0, -own[k]) for k, x in load.items() if x > max(0, -own[k])}
    for part in (*weights, p, q):
        for k in [k for k in part if k in most]:
            x = abs(part[k]) * most[k] // load[k]
            part[k] = x if part[k] > 0 else -x
            if not x:
                del part[k]


def _combine_rows(
    space: Geometry, count: int, i: int, plus: dict[int, int], minus: dict[int, int], normals: dict[int, int]
) -> Objects:
    """sum plus_k row_k - sum minus_k row_k + sum normals_j (centre_i - centre_j), in the space's coordinates."""
    return _sum(space.places, _coefficients(count, i, plus, minus, normals))


def _combined_original(space: Geometry, count: int, i: int, plus: dict[int, int], minus: dict[int, int]) -> Objects:
    return _sum(space.originals, _coefficients(count, i, plus, minus, {}))


def _sum(rows: Objects, coefficients: dict[int, int]) -> Objects:
    places = [k for k, x in coefficients.items() if x]
    if not places:
        return np.array([0] * rows.shape[1], dtype=object)
    total: Objects = np.array([coefficients[k] for k in places], dtype=object) @ rows[places]
    return total


def _coefficients(
    count: int, i: int, plus: dict[int, int], minus: dict[int, int], normals: dict[int, int]
) -> dict[int, int]:
    result = dict(plus)
    for k, x in [*((k, -x) for k, x in minus.items()), *normals.items()]:
        result[k] = result.get(k, 0) + (x if k < count else -x)
        if k >= count:
            result[count + i] = result.get(count + i, 0) + x
    return result


def _bent(space: Geometry, count: int, i: int, k: int) -> tuple[Objects, int]:
    """A follower, row or normal, and its length squared."""
    if k < count:
        return space.places[k], space.lengths[k]
    coefficients = {count + i: 1, k: -1}
    row = _sum(space.originals, coefficients)
    return _sum(space.places, coefficients), int(row @ row)


def _prove(
    space: Geometry,
    q_Z: int,
    c: list[int],
    v: list[Objects],
    beta: Objects,
    bent: list[tuple[int, Objects, int]],
    lam: Fraction,
    fine: int,
    triangles: Triangles | None,
) -> tuple[int, int | None] | None:
    """nu with [[sigma, -beta'/2], [-beta/2, nu I - Q]] >= 0, sigma = lambda - nu - 1/4 sum c, proved in integers; and
    kappa where biases are free: kappa (b^2 - |x|^2 |w|^2) is added, |x| the longest row."""
    bits = EXTRA_BITS + max([x.bit_length() for x in c] + [length.bit_length() for _, _, length in bent], default=0)
    paid = sum(c) + (2 * sum(triangles.weights) if triangles is not None else 0)
    tied = [] if triangles is None else sorted({*triangles.corners} - {0})
    C = _tied_triangles(triangles, tied)
    for a, l in enumerate(tied, 1):
        C[a, a] += c[l - 1]
    sides = [v[l - 1] for l in tied]
    among = {*tied}
    loose = [l for l in range(len(c)) if l + 1 not in among]
    scale = [-(-(1 << bits) // c[l]) for l in loose]
    scale += [-2 * q * isqrt((1 << 2 * bits) // length) for q, _, length in bent]
    vectors = [*(v[l] for l in loose), *(row for _, row, _ in bent)]
    size = len(beta)
    product = [[0] * size for _ in range(size)]
    if vectors:
        V = np.array(vectors, dtype=object).reshape(len(vectors), size)
        left = fmpz_mat((V * np.array(scale, dtype=object)[:, None]).tolist())
        product = [[int(x) for x in row] for row in (fmpz_mat(V.T.tolist()) * left).tolist()]
    longest = max((int(row[:-1] @ row[:-1]) for row in space.originals), default=0)
    signs = _eliminate_signs(C, sides, fine)
    if signs is None:
        return None
    sigma, nu, spent = _guess(space, beta, product, bits, fine, longest / q_Z**2, signs)
    kappa = None if all(space.norm) else fine * ceil(spent * q_Z**2 / longest) if longest else 0
    nu += spent
    rest = lam - Fraction(paid, 4)
    room = float(rest / fine) - sigma - nu
    if not room > 0:
        return None
    chosen = fine * ceil(nu + room / 2)
    top = 4 * (rest - chosen)
    first = [(top.numerator << bits) // top.denominator, *(-(int(b) << bits) for b in beta)]
    lower = [
        [((4 * chosen * m) << bits) - x for m, x in zip(*rows, strict=True)]
        for rows in zip(space.metric, product, strict=True)
    ]
    if kappa is not None:
        for i in range(size - 1):
            lower[i][i] -= -((-4 * kappa * longest << bits) // q_Z**2)
        lower[-1][-1] += 4 * kappa << bits
    first[0] += int(C[0, 0]) << bits
    matrix = [first, *([first[i + 1], *row] for i, row in enumerate(lower))]
    below = [[int(x) << bits for x in (C[a, 0], *(-side))] for a, side in enumerate(sides, 1)]
    matrix = [[*row, *(line[i] for line in below)] for i, row in enumerate(matrix)]
    matrix += [[*line, *(int(x) << bits for x in C[a, 1:])] for a, line in enumerate(below, 1)]
    return (chosen, kappa) if positive(matrix) else None


def _eliminate_signs(C: Objects, sides: list[Objects], fine: int) -> tuple[float, Floats, Floats] | None:
    """What the tied signs leave when they are eliminated, over `fine`: a constant, and what is taken from beta and is
    added to Q; None if C is not definite."""
    if not sides:
        return 0.0, np.zeros(1), np.zeros((1, 1))
    V, whole = (np.array([[float(Fraction(int(x), fine)) for x in row] for row in rows]) for rows in (sides, C))
    try:
        L = np.linalg.cholesky(whole[1:, 1:])
    except np.linalg.LinAlgError:
        return None
    V, f = np.linalg.solve(L, V), np.linalg.solve(L, whole[1:, 0])
    return 0.25 * float(f @ f - whole[0, 0]), 0.5 * V.T @ f, 0.25 * V.T @ V


def _guess(
    space: Geometry,
    beta: Objects,
    product: list[list[int]],
    bits: int,
    fine: int,
    squared: float,
    signs: tuple[float, Floats, Floats],
) -> tuple[float, float, float]:
    """sigma, nu and what kappa costs in floats over `fine`, in orthonormal coordinates; `squared` is |x|^2."""
    const, less, more = signs
    Q = np.array([[x / (4 * fine << bits) for x in row] for row in product]) + more
    b = np.array([int(x) / (2 * fine) for x in beta]) - less
    if space.places is not space.originals:
        G = np.array(space.metric, dtype=np.float64)
        values, vectors = np.linalg.eigh(G)
        root = vectors[:, values > 1e-12 * values[-1]] / np.sqrt(values[values > 1e-12 * values[-1]])
        Q, b = root.T @ Q @ root, root.T @ b
    if all(space.norm):
        sigma, nu = smallest(b, Q)
        return sigma + const, nu, 0.0
    sigma, nu, spent = with_free_bias(b, Q, np.array(space.norm, dtype=np.float64), float(np.sqrt(squared)))
    return sigma + const, nu, spent


def positive(M: list[list[int]]) -> bool:
    """Whether M is proved positive semidefinite: L L' for a float factor L, and a rest with a dominant diagonal."""
    keep = [i for i, row in enumerate(M) if any(row)]
    if any(M[i][i] <= 0 for i in keep):
        return False
    if not keep:
        return True
    exponents = [M[i][i].bit_length() // 2 for i in keep]
    near = np.array(
        [[_quotient(M[i][j], exponents[a] + exponents[b]) for b, j in enumerate(keep)] for a, i in enumerate(keep)]
    )
    near[np.arange(len(keep)), np.arange(len(keep))] -= len(keep) * 2.0**-44
    try:
        factor = np.linalg.cholesky(near)
    except np.linalg.LinAlgError:
        return False
    whole = [[int(x) for x in row] for row in np.rint(factor * 2.0**FACTOR_BITS)]
    L = fmpz_mat([[x << exponents[a] for x in row] for a, row in enumerate(whole)])
    E = (fmpz_mat([[M[i][j] << 2 * FACTOR_BITS for j in keep] for i in keep]) - L * L.transpose()).tolist()
    least = [1 << max(exponents) - x for x in exponents]  # dominance after scaling rows and columns by powers of two
    return all(
        2 * row[i] * least[i] >= sum(abs(x) * s for x, s in zip(row, least, strict=True)) and row[i] >= 0
        for i, row in enumerate(E)
    )


def _quotient(x: int, exponent: int) -> float:
    """x / 2^exponent"""
    return float(Fraction(x, 1 << exponent)) if abs(x).bit_length() - exponent > -1000 else 0.0


def _written(
    exact: IntegerData,
    count: int,
    chosen: tuple[int, int | None],
    p: dict[int, int],
    q: dict[int, int],
    excess: dict[int, int],
    leaders: list[tuple[int, dict[int, int]]],
    c: list[int],
    triangles: Triangles | None,
) -> CellProof:
    names = [int(k) for k in exact.firsts]
    rows = sorted({*p, *(k for k in q if k < count)})
    normals = sorted({*(k - count for k in q if k >= count), *(k - count for k in excess)})
    return CellProof(
        nu=chosen[0],
        rows=tuple(names[k] for k in rows),
        p=tuple(p.get(k, 0) for k in rows),
        q=tuple(q.get(k, 0) for k in rows),
        normals=tuple(normals),
        excess=tuple(excess.get(count + j, 0) for j in normals),
        squares=tuple(q.get(count + j, 0) for j in normals),
        leaders=tuple(_leader(names, count, k, own, c_k) for (k, own), c_k in zip(leaders, c, strict=True)),
        kappa=chosen[1],
        triangles=triangles,
    )


def _leader(names: list[int], count: int, k: int, weights: dict[int, int], c: int) -> Leader:
    near = sorted(j for j in weights if j < count)
    normals = sorted(j - count for j in weights if j >= count)
    return Leader(
        row=names[k],
        c=c,
        near=tuple(names[j] for j in near),
        weights=tuple(weights[j] for j in near),
        normals=tuple(normals),
        normal_weights=tuple(weights[count + j] for j in normals),
    )


def exact_data(
    Z: Sequence[Vector], y: Vector, lam: Fraction, firsts: Indices, norm: Integers, outputs: Sequence[Vector] = ()
) -> IntegerData:
    """The exact problem in integers."""
    q = lcm(*(x.denominator for row in Z for x in row))
    rows = tuple(tuple(int(x * q) for x in Z[k]) for k in firsts)
    return IntegerData(rows, q, firsts, y, lam, norm, tuple(outputs))
