"""The dual constraint of one sign in integers: rows on one line are merged.

    xi t.(Zu)_+  =  c0.u + sum_c w_c (p_c.u)_+,    t = P'theta

Lines (hyperplanes of parallel rows, both orientations) are in the order of their smallest rows; p_c is the primitive
integer vector along that row, z_k = a_k p_c. With the slopes s_c+ = sum of a_k xi t_k over a_k > 0 and s_c- over
a_k < 0: w_c = s_c+ - s_c- and c0 = sum_c s_c- p_c. A line is convex if w_c > 0, concave if w_c < 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, gcd, isqrt

import numpy as np
from numpy.typing import NDArray

from relu_cert.bags import EACH, Each
from relu_cert.cover.stack import Floats, Integers, SignedProblem
from relu_cert.evidence import Row
from relu_cert.exact import Matrix, Vector, scaled_rows

MOST_COARSE_BITS = 44
UNSEEN = 1e-2  # how much of a bias the projections see, relative to the longest row
LEAST_DELTA, MOST_DELTA = 1e-10, 4e-8  # leaves hold by so much, in floats: what these may be off
DENSE_DELTA = 2e-5  # the same in floats of 32 bits
TURN_BITS = 13  # the checker shortens what |c| may be to a multiple of 2^13
DOUBT, DENORMAL = 1e-13, 1e-200  # floats of heights that tell no sign, relative to the sum of the products
Signs = NDArray[np.int8]
LIGHT_BITS = 29  # of the concave rows in which signs at atoms are taken; points have 28, sums of up to 32 terms 62


@dataclass(frozen=True)
class Lines:
    """The lines of the data: z_k = (multiple_k / scale) p of its line; line -1 for a row of zeros. With free `biases`
    the last column is ones, and the norm does not see it."""

    rows: tuple[Row, ...]
    line: tuple[int, ...]
    multiple: tuple[int, ...]
    scale: int
    biases: bool = False
    bags: Each = EACH

    @property
    def D(self) -> int:
        """The number of columns."""
        return len(self.rows[0]) if self.rows else 0

    @cached_property
    def matrix(self) -> Integers:
        """The lines as an array (of Python integers where they are long)."""
        longest = max((abs(x) for p in self.rows for x in p), default=0)
        return np.array(self.rows, dtype=np.int64 if longest < 2**62 else object).reshape(len(self.rows), self.D)

    @cached_property
    def floats(self) -> Floats:
        """The lines in floats."""
        return np.array(self.rows, dtype=np.float64).reshape(len(self.rows), self.D)

    @cached_property
    def units(self) -> Floats:
        """The lines as unit vectors."""
        return np.asarray(self.floats / np.linalg.norm(self.floats, axis=1, keepdims=True))

    def heights(self, u: Sequence[int]) -> tuple[Floats, NDArray[np.bool_]]:
        """p_c.u for every line in floats, times a positive number, and where these may be too far off for a sign."""
        size = max(map(abs, u), default=0) or 1
        v = np.array([x / size for x in u])
        found: Floats = self.floats @ v
        return found, np.abs(found) <= DOUBT * (np.abs(self.floats) @ np.abs(v)) + DENORMAL

    def signs(self, u: Sequence[int]) -> Signs:
        """The sign of p_c.u for every line, exactly."""
        found, doubts = self.heights(u)
        signs = np.sign(found).astype(np.int8)
        for c in np.flatnonzero(doubts).tolist():
            height = sum(a * b for a, b in zip(self.rows[c], u, strict=True))
            signs[c] = (height > 0) - (height < 0)
        return signs

    @cached_property
    def on_rows(self) -> tuple[NDArray[np.int64], Signs]:
        """The line of every row, and on which side of it the row is on; 0 for a row of zeros."""
        sides = [(a > 0) - (a < 0) if c >= 0 else 0 for c, a in zip(self.line, self.multiple, strict=True)]
        return np.array(self.line, dtype=np.int64), np.array(sides, dtype=np.int8)

    def seen(self, u: Sequence[int]) -> Row:
        """What the norm sees of u."""
        return (*u[:-1], 0) if self.biases else tuple(u)

    @cached_property
    def longest(self) -> Fraction:
        """The largest |x_k|^2, x_k the part of a row that the norm sees."""
        squares = (a * a * sum(x * x for x in self.seen(self.rows[c])) for c, a in self._used)
        return Fraction(max(squares, default=0), self.scale**2)

    def height(self, basis: Sequence[Row]) -> int:
        """At least |x_k.b_i| for the weights of all rows and all vectors of the basis but the last."""
        pairs = ((self.rows[c], a, b) for c, a in self._used for b in basis[:-1])
        heights = (abs(a * sum(x * y for x, y in zip(p, self.seen(b), strict=True))) for p, a, b in pairs)
        return ceil(Fraction(max(heights, default=0), self.scale))

    @cached_property
    def moved_squared(self) -> list[int]:
        """|P |a||^2 over the rows of every line, in their units: what w_c changes by with theta at most, squared."""
        return self.bags.lengths_squared(self.line, [abs(a) for a in self.multiple], len(self.rows))

    @property
    def _used(self) -> set[tuple[int, int]]:
        return {(c, a) for c, a in zip(self.line, self.multiple, strict=True) if c >= 0}

    @cached_property
    def widest(self) -> int:
        """At least sum_l |u_l| for the u of length 1 that count: a rounded row is off by less."""
        if not self.biases:
            return root_above(self.D)
        return root_above(self.D - 1) + root_above(ceil(self.longest))


def root_above(n: int) -> int:
    """The least integer >= sqrt(n)."""
    return isqrt(n - 1) + 1 if n else 0


def lines_of(Z: Matrix, biases: bool = False, bags: Each = EACH) -> Lines:
    """The lines of the rows of Z."""
    N, scale = scaled_rows(Z)
    names: dict[Row, int] = {}
    rows: list[Row] = []
    line, multiple = [], []
    for z in N:
        g = gcd(*z)
        if not g:
            line.append(-1)
            multiple.append(0)
            continue
        p = tuple(x // g for x in z)
        opposite = tuple(-x for x in p)
        if opposite in names:
            p, g = opposite, -g
        elif p not in names:
            names[p] = len(rows)
            rows.append(p)
        line.append(names[p])
        multiple.append(g)
    return Lines(tuple(rows), tuple(line), tuple(multiple), scale, biases, bags)


@dataclass(frozen=True)
class SignedLines:
    """w and c0 of one sign, in units of 1 / unit; `left` are the slopes s_c-."""

    lines: Lines
    w: tuple[int, ...]
    left: tuple[int, ...]
    unit: int

    @cached_property
    def c0(self) -> Row:
        """sum_c s_c- p_c"""
        if not self.left:
            return (0,) * self.lines.D
        return tuple((np.array(self.left, dtype=object) @ self.lines.matrix.astype(object)).tolist())

    @property
    def total(self) -> int:
        """The sum of all |w_c p_cl|."""
        sizes = np.abs(self.lines.matrix.astype(object)).sum(axis=1).tolist()
        return sum(abs(w) * size for w, size in zip(self.w, sizes, strict=True))

    @cached_property
    def convex(self) -> tuple[int, ...]:
        """The convex lines."""
        return tuple(c for c, w in enumerate(self.w) if w > 0)

    @cached_property
    def concave(self) -> tuple[int, ...]:
        """The concave lines."""
        return tuple(c for c, w in enumerate(self.w) if w < 0)


def weights_of(lines: Lines, theta: Vector, xi: int) -> SignedLines:
    """The weights of the lines at theta, for one sign."""
    (T,), q = scaled_rows([theta])
    shares = lines.bags.shares(np.array(T, dtype=object)).tolist()
    w, left = [0] * len(lines.rows), [0] * len(lines.rows)
    for c, a, t in zip(lines.line, lines.multiple, shares, strict=True):
        if c >= 0:
            w[c] += abs(a) * xi * t
            if a < 0:
                left[c] += a * xi * t
    return SignedLines(lines, tuple(w), tuple(left), lines.scale * q * lines.bags.unit)


@dataclass(frozen=True)
class Coarse:
    """The same in short integers, in units of lambda / 2^bits: rows W_c = floor(w_c p_c), and what |c| may be.

    Every row is off by less than `widest`; `bound` = 2^bits - (rows + 1) widest - margin makes up for it.
    """

    P: Integers
    N: Integers
    c0: Row
    bits: int
    bound: int
    margin: int


def coarse_bits(weights: SignedLines, lam: Fraction) -> int:
    """At most MOST_COARSE_BITS, and so few that the sum of all entries stays below 2^53."""
    total = weights.total + sum(map(abs, weights.c0))
    return min(MOST_COARSE_BITS, 53 - (total * lam.denominator // (weights.unit * lam.numerator) + 1).bit_length())


def coarse(weights: SignedLines, lam: Fraction, margin: int) -> Coarse:
    """The coarse rows for lambda."""
    bits = coarse_bits(weights, lam)
    D = weights.lines.D
    times, over = lam.denominator << bits, weights.unit * lam.numerator

    def floored(chosen: Sequence[int], sign: int) -> Integers:
        w = np.array([sign * weights.w[c] * times for c in chosen], dtype=object)
        found = np.empty((len(chosen), D), dtype=np.int64)
        rows = weights.lines.matrix[list(chosen)]
        for l in range(D):  # a column at a time: these numbers are long
            found[:, l] = w * rows[:, l].astype(object) // over
        return found

    P, N = floored(weights.convex, 1), floored(weights.concave, -1)
    bound = (1 << bits) - (len(P) + len(N) + 1) * weights.lines.widest - margin
    return Coarse(P, N, tuple(x * times // over for x in weights.c0), bits, bound, margin)


def margin_for(size_squared: Fraction, lam: Fraction, radius_squared: Fraction, bits: int) -> int:
    """More than 2^bits zeta R / lambda: with it strict leaves hold for every residual within R of theta."""
    x = size_squared * radius_squared / (lam * lam) * 4**bits
    return isqrt(x.numerator // x.denominator + 1) + 1


def light(N: Integers) -> Integers:
    """Each row shifted down until its entries are below 2^LIGHT_BITS."""
    longest = np.abs(N).max(axis=1, initial=0).tolist()
    shifts = np.array([max(x.bit_length() - LIGHT_BITS, 0) for x in longest], dtype=np.int64)
    return N >> shifts[:, None]


def lower_root(squared: Fraction) -> Fraction:
    """A rational at most sqrt(squared), by the checker's own rule; exact where that is rational."""
    p, q = squared.numerator, squared.denominator
    return Fraction(isqrt(p * q << 192), q << 96)


def doubtful(weights: SignedLines, radius_squared: Fraction) -> list[int]:
    """The lines that are not convex at theta, but may be for some residual of the ball."""
    lines = weights.lines
    limit = radius_squared * Fraction(weights.unit, lines.scale * lines.bags.unit) ** 2
    p, q = limit.numerator, limit.denominator
    most = isqrt(max(lines.moved_squared, default=0) * p // q + 1) + 1
    return [c for c, w in enumerate(weights.w) if -most <= w <= 0 and w * w * q <= lines.moved_squared[c] * p]


def side_of(weights: SignedLines, rows: Coarse, frame: Floats, doubts: list[int]) -> SignedProblem:
    """One sign for the engine; the sides of the doubtful lines are fixed in concave pieces as those of convex ones."""
    N = np.ascontiguousarray(rows.N / 2.0**rows.bits @ frame.T)
    D = frame.shape[1]
    chosen = [weights.lines.rows[c] for c in (*weights.convex, *doubts)]
    longest = max((abs(x) for p in chosen for x in p), default=0).bit_length()
    exact_bits = 62 - longest - D.bit_length()
    lines = np.array(chosen if exact_bits >= 0 else [[0] * D] * len(chosen), dtype=np.int64).reshape(-1, D)
    normals = np.array(chosen, dtype=np.float64).reshape(-1, D)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    return dense_side(weights, rows, frame)._replace(
        P=np.ascontiguousarray(rows.P / 2.0**rows.bits @ frame.T),
        N=N,
        lines=lines,
        normals=normals,
        light=light(rows.N),
        lengths=np.sqrt((N * N).sum(axis=1)),
        delta=min(max(64.0 / 2.0**rows.bits, LEAST_DELTA), MOST_DELTA),
        exact_bits=exact_bits,
    )


def dense_side(weights: SignedLines, rows: Coarse, frame: Floats) -> SignedProblem:
    """One sign for the walk that looks at all rows."""
    one, D = 2.0**rows.bits, frame.shape[1]
    unseen = UNSEEN / max(1.0, float(weights.lines.longest) ** 0.5) if weights.lines.biases else 0.0
    none = np.zeros((0, D), dtype=np.int64)
    P, N = (np.ascontiguousarray(frame / one @ A.T) for A in (rows.P, rows.N))
    return SignedProblem(
        P=P,
        N=N,
        c0=np.ascontiguousarray(np.array(rows.c0, dtype=np.float64) / one @ frame.T),
        lines=none,
        normals=np.zeros((0, D)),
        light=none,
        lengths=np.sqrt([max((A * A).sum(axis=0).max(initial=0.0) for A in (P, N))]),
        frame=np.ascontiguousarray(frame),
        bound=(rows.bound >> TURN_BITS << TURN_BITS) / one,
        delta=DENSE_DELTA,
        exact_bits=0,
        unseen=unseen,
    )


def row_space(lines: Lines, turned: tuple[int, int] | None = None, even: bool = False) -> tuple[Row, ...]:
    """Short integer vectors that span the lines, near the principal axes of the data where that works; two of the axes
    may be turned by 45 degrees, or all have about the same length. With free biases vectors of weights, and last the
    bias alone."""
    from flint import fmpz_mat

    if lines.biases:
        weights = replace(lines, rows=tuple(map(lines.seen, lines.rows)), biases=False)
        pole = (*(0,) * (lines.D - 1), 1)
        return (*(row_space(weights) if lines.longest else ()), pole)
    reduced, _, rank = fmpz_mat([list(p) for p in lines.rows]).rref()
    basis = [[int(x) for x in row] for row in reduced.tolist()[:rank]]
    basis = [[x // gcd(*row) for x in row] for row in basis]
    E = np.array(basis, dtype=np.float64)
    sizes = np.zeros(len(lines.rows))
    for c, a in zip(lines.line, lines.multiple, strict=True):
        if c >= 0:
            sizes[c] += float(a) ** 2
    axes = np.linalg.svd(np.sqrt(sizes)[:, None] * np.array(lines.rows, dtype=np.float64), full_matrices=False)[2][
        :rank
    ]
    if turned is not None:
        i, j = turned
        axes[i], axes[j] = axes[i] + axes[j], axes[i] - axes[j]
    chosen = []
    for axis in axes @ np.linalg.pinv(E):
        short = np.round(axis / (np.linalg.norm(axis) if even else np.abs(axis).max()) * 31).astype(int).tolist()
        v = [sum(a * row[l] for a, row in zip(short, basis, strict=True)) for l in range(lines.D)]
        g = gcd(*v) or 1
        chosen.append([x // g for x in v])
    if fmpz_mat(chosen).rank() < rank or max(abs(x) for v in chosen for x in v) >= 2**20:
        chosen = basis
    return tuple(tuple(v) for v in chosen)


def frame_of(basis: tuple[Row, ...]) -> Floats:
    """Orthonormal rows that span the row space."""
    q = np.linalg.qr(np.array(basis, dtype=np.float64).T)[0]
    return np.ascontiguousarray(q.T)
