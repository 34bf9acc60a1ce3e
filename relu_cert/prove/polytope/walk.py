"""All vertices by pivots: from one basis to every basis that a pivot leads to (the graph of a polytope is connected).

At a degenerate vertex some weights x_i are exactly 0: seen at once if F and g are exact, else
by as many silent rows that are void on the other neurons. g is tilted by eps sum_b c_b F_b over the first basis, with
generic c > 0, so that for small eps > 0 no two ratios tie: every vertex keeps a basis, and every edge a pivot.

The equations of the optimal weights: F alpha = g, over the rationals or a field, exactly or with errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz
from numpy.typing import NDArray

from relu_cert.clock import require_time
from relu_cert.errors import Unsettled
from relu_cert.exact import Vector, column, dot, norm_squared, sqrt_upper, to_fmpq, to_fraction
from relu_cert.prove.classes import class_map
from relu_cert.prove.facts import BallSet, Exactly, Facts, UnknownSet
from relu_cert.prove.field import Exact, Number, matrix, reduced_rows
from relu_cert.prove.optimal_set import largest_squared
from relu_cert.prove.projection import floats
from relu_cert.prove.split import columns, split_map

Scalar = Any  # fmpq, or a Number of a field: exact numbers that mix with rationals
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Basic:
    """A basis B of b columns: T = F_B^-1 F by its rows and x = F_B^-1 g, with the errors

        |x* - x| <= dx = (max_i sum_l |F_B^-1|_il g_error_l + h |x|_1) / left
        |T_j* - T_j| <= h (1 + |T_j|_1) / left

    of the true ones, h = max_i sum_l |F_B^-1|_il F_error_l and left = 1 - b h. If left <= 0 nothing is known of them.
    """

    rows: list[list[Scalar]]
    x: list[Scalar]
    dx: Scalar
    h: Scalar
    left: Scalar


@dataclass(frozen=True)
class System:
    """{alpha >= 0 : F alpha = g}; column a belongs to the neuron names[a] of `total`.

    Entries of row l of F are within F_error[l], g[l] within g_error[l] of the truth. `silent` are rows in which g is
    exactly 0, with the columns where F is: a target 0 that is fitted exactly, and the gates that are closed there.
    """

    F: Any  # a matrix of flint, or over a field
    g: Exact
    F_error: Vector
    g_error: Vector
    names: tuple[int, ...]
    total: int
    bits: int
    silent: dict[int, frozenset[int]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The rank of F."""
        return len(self.g)

    @property
    def exact(self) -> bool:
        """Whether nothing is rounded."""
        return self.bits == 0

    @property
    def rational(self) -> bool:
        """Whether F and g are, and not of a field."""
        return isinstance(self.F, fmpq_mat)

    def equations(self) -> list[list[Scalar]]:
        """The rows of [F | g]."""
        right = [to_fmpq(x) for x in self.g] if self.rational else self.g
        return [[*row, x] for row, x in zip(self.F.tolist(), right, strict=True)]

    def floats(self) -> tuple[Floats, Floats, Floats]:
        """F and g in floats, each row divided by its largest entry of F, and these."""
        F, g = floats(self.F), np.array([float(x) for x in self.g])
        scale = np.maximum(np.abs(F).max(axis=1), 1e-300)
        return F / scale[:, None], g / scale, scale

    def on(self, chosen: Sequence[int]) -> fmpq_mat:
        """The given columns of F."""
        return columns(self.F, chosen) if chosen and self.rows else fmpq_mat(self.rows, len(chosen))

    def basic(self, basis: Sequence[int]) -> Basic:
        """What is known of a basis; ZeroDivisionError if its columns are dependent."""
        size, k, zero = len(basis), len(self.names), fmpq(0)
        units = [[fmpq(int(i == l)) for l in range(0 if self.exact else size)] for i in range(size)]
        rows = [[*(row[a] for a in basis), *row, *unit] for row, unit in zip(self.equations(), units, strict=True)]
        found, pivots = reduced_rows(rows)
        if pivots != list(range(size)):
            raise ZeroDivisionError
        T, x = [row[size : size + k] for row in found], [row[size + k] for row in found]
        if self.exact:
            return Basic(T, x, zero, zero, fmpq(1))
        inverse = [row[size + k + 1 :] for row in found]
        h, moved = (_largest(inverse, errors) for errors in (self.F_error, self.g_error))
        left = 1 - size * h
        return Basic(T, x, (moved + h * sum(map(abs, x), zero)) / left if left > 0 else zero, h, left)

    def restricted(self, chosen: tuple[int, ...]) -> System:
        """An exact system in the weights of some neurons, where all others are known to be 0."""
        rows = [[*(row[a] for a in chosen), row[-1]] for row in self.equations()]
        return replace(_reduced_system(rows, len(chosen)), names=chosen, total=self.total)

    def rank(self, chosen: Sequence[int]) -> int:
        """The rank of the given columns of F."""
        return len(reduced_rows([[row[a] for a in chosen] for row in self.F.tolist()])[1])


def exact_system(outputs: Sequence[Exact], fit: Exact) -> System:
    """The reduced echelon form of [Q | fit]: Fractions, or numbers of a field."""
    rows = [[to_fmpq(x) if isinstance(x, Fraction) else x for x in row] for row in zip(*outputs, fit, strict=True)]
    return _reduced_system(rows, len(outputs))


def _reduced_system(rows: list[list[Scalar]], k: int) -> System:
    """The same from the rows of [Q | fit]."""
    kept, _ = reduced_rows(rows)
    F = matrix([row[:k] for row in kept], k)
    g = tuple(to_fraction(row[k]) if isinstance(F, fmpq_mat) else row[k] for row in kept)
    zero = (Fraction(0),) * len(kept)
    return System(F, g, zero, zero, tuple(range(k)), k, 0)


def _largest(rows: Sequence[Sequence[fmpq]], errors: Vector) -> fmpq:
    """The largest of the sums sum_l |M_il| error_l over the rows i."""
    weights = [to_fmpq(e) for e in errors]
    return max((sum((abs(m) * e for m, e in zip(row, weights, strict=True)), fmpq(0)) for row in rows), default=fmpq(0))


SPARE_BITS = 8
EXACT_BITS = 128
MOST_BITS = 4096


def weight_system(facts: Facts, bits: int = MOST_BITS) -> System:
    """The equations of the optimal set that the facts know, rounded to at most so many bits where they are enclosed."""
    if isinstance(exact := facts.optimal_set, Exactly):
        residual: Exact = exact.residual
        fit = tuple(y - r for y, r in zip(facts.problem.y, residual, strict=True))
        return exact_system([one.q for one in exact.tied], fit)
    if isinstance(exact, UnknownSet):
        raise ValueError("the optimal set is not known")
    return _enclosed_system(facts, exact, bits)


def _enclosed_system(facts: Facts, found: BallSet, bits: int) -> System:
    """F and g of the split, or the masses alone, rounded down to a grid, finer than their errors if it may be."""
    k = len(found.classes)
    zero = Fraction(0)
    if not found.split:
        S = len(found.groups)
        shares = fmpq_mat(S, k, [int(a in group) for group in found.groups for a in range(k)])
        return _round_system(shares, found.masses, (zero,) * S, (found.mass_error,) * S, tuple(range(k)), k, bits)
    theta = column(facts.dual.theta)
    maps = [class_map(facts.problem, neuron) for neuron in found.classes]
    outputs = [one.output(theta).entries() for one in maps]
    lift = found.equations
    Q = fmpq_mat([list(row) for row in zip(*outputs, strict=True)])
    F = columns(split_map(lift, found.groups, Q, found.mixed), found.active)
    moved = largest_squared(facts.problem) * sqrt_upper(facts.fit.radius_squared, 64)
    masses, rows = len(found.masses), len(lift)
    silent = {
        masses + l: frozenset(
            i for i, a in enumerate(found.active) if not any((maps[a].B().transpose() * column(row)).entries())
        )
        for l, row in enumerate(lift)
        if not dot(row, facts.problem.y)
    }
    rounded = _round_system(
        F,
        (*found.masses, *(dot(row, facts.problem.y) for row in lift)),
        (*(zero,) * masses, *(sqrt_upper(norm_squared(row), 64) * moved for row in lift)),
        (*(found.mass_error,) * masses, *(zero,) * rows),
        found.active,
        k,
        bits,
    )
    return replace(rounded, silent=silent)


def _round_system(
    F: fmpq_mat, g: Vector, F_error: Vector, g_error: Vector, names: tuple[int, ...], total: int, most: int
) -> System:
    """The same on a grid of 2^-bits, which is added to the errors."""
    errors = [e for e in (*F_error, *g_error) if e]
    bits = min(most, EXACT_BITS if not errors else SPARE_BITS + ceil(1 / min(errors)).bit_length())
    unit, scale = Fraction(1, 1 << bits), fmpz(1) << bits
    entries = [fmpq((x.p << bits) // x.q, scale) for x in F.entries()]
    return System(
        fmpq_mat(F.nrows(), F.ncols(), entries),
        tuple(Fraction((x.numerator << bits) // x.denominator, 1 << bits) for x in g),
        tuple(e + unit for e in F_error),
        tuple(e + unit for e in g_error),
        names,
        total,
        bits,
    )


Basis = tuple[int, ...]
Row = list[Scalar]
MOST_TILT = 2**20
NEAR, WORST = 1e-7, 1e8  # floats are not asked about nearer ties, nor about worse conditions,
SMALL = Fraction(1, 10**18)  # nor where larger errors may hide a tie
PLACES = 1024  # as in the checker: bits behind the point where ratios are compared
WIDE = "the ball is too wide to list the vertices of the polytope of optimal weights"
WEIGHT = "a vertex of the polytope of optimal weights may have a weight zero"


class TooManyBases(Unsettled):
    """The polytope is too large to be listed."""


@dataclass(frozen=True)
class Walk:
    """The tilt, the bases (columns of F) in the order found, the supports with their weights, the edges of supports."""

    tilt: Vector
    bases: tuple[Basis, ...]
    points: dict[Basis, dict[int, Fraction]]
    edges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Corner:
    """One basis: what is known of it, and z = F_B^-1 (tilt) with its error; x is exactly 0 on `zeros`, and `void` are
    the rows that are silent elsewhere."""

    basis: Basis
    known: Basic
    zeros: frozenset[int]
    void: tuple[int, ...]
    z: Row
    dz: Scalar

    def column(self, a: int) -> tuple[Row, Scalar]:
        """F_B^-1 F_a and its error."""
        T, h = [row[a] for row in self.known.rows], self.known.h
        return T, fmpq(0) if a in self.basis or not h else h * (1 + sum(map(abs, T), fmpq(0))) / self.known.left


def walk(system: System, start: Basis, most: int) -> Walk:
    """Every basis that pivots lead to. Unsettled if the errors are too wide, TooManyBases if there are more."""
    tilt = tuple(Fraction(int(c)) for c in np.random.default_rng(0).integers(1, MOST_TILT, system.rows))
    queue = [start]
    known = {start}
    points: dict[Basis, dict[int, Fraction]] = {}
    number: dict[Basis, int] = {}
    numbers: dict[Basis, int] = {}
    pivots: list[tuple[Basis, Basis]] = []
    meetings: list[Basis] = []
    for basis in queue:
        require_time()
        corner = _corner(system, basis, dict(zip(start, tilt, strict=True)))
        point = {a: _weight_text(corner.known.x[i]) for i, a in enumerate(basis) if i not in corner.zeros}
        points.setdefault(tuple(point), point)
        numbers[basis] = number.setdefault(tuple(point), len(number))
        for entering in range(len(system.names)):
            if entering in basis:
                continue
            gone, meeting = _leaving(corner, entering, _at_rest(system, corner, entering))
            meetings += [] if meeting is None else [meeting]
            other = tuple(sorted({*basis, entering} - {gone}))
            pivots.append((basis, other))
            if other not in known:
                known.add(other)
                queue.append(other)
        if len(queue) > most:
            raise TooManyBases(f"the polytope of optimal weights has more than {most} bases")
    if any(meeting not in points for meeting in meetings):
        raise Unsettled(WIDE)
    pairs = {tuple(sorted((numbers[a], numbers[b]))) for a, b in pivots if numbers[a] != numbers[b]}
    return Walk(tilt, tuple(queue), points, tuple(sorted((i, j) for i, j in pairs)))


def seems_larger(system: System, start: Basis, most: int) -> bool:
    """Whether pivots in floats, where no weight and no ratio is near a tie, lead to more bases than that."""
    if max((*system.F_error, *system.g_error), default=Fraction(0)) > SMALL:
        return False
    F, g, _ = system.floats()
    known, queue = {start}, [start]
    for basis in queue:
        columns = F[:, list(basis)]
        if np.linalg.cond(columns) > WORST:
            return False
        T, x = np.linalg.solve(columns, F), np.linalg.solve(columns, g)
        if x.min() < NEAR * x.max():
            return False
        for entering in {*range(F.shape[1])} - set(basis):
            up = T[:, entering]
            ratios = np.where(up > NEAR, x / np.where(up > NEAR, up, 1.0), np.inf)
            first, second = np.partition(ratios, 1)[:2] if len(ratios) > 1 else (ratios[0], np.inf)
            if first < (1.0 - NEAR) * second:
                other = tuple(sorted({*basis, entering} - {basis[int(ratios.argmin())]}))
                if other not in known:
                    known.add(other)
                    queue.append(other)
        if len(known) > most:
            return True
    return False


def exact_start(system: System, support: Basis) -> Basis:
    """A basis that holds the support of a vertex."""
    chosen = list(support)
    for a in range(len(system.names)):
        if len(chosen) == system.rows:
            break
        if a not in chosen and system.rank([*chosen, a]) > len(chosen):
            chosen.append(a)
    return tuple(sorted(chosen))


def enclosed_start(system: System) -> Basis:
    """The support of a vertex that a linear program finds."""
    k = len(system.names)
    if k == system.rows:
        return tuple(range(k))
    from scipy.optimize import linprog

    F, g, _ = system.floats()
    found = linprog(np.random.default_rng(0).standard_normal(k), A_eq=F, b_eq=g, bounds=(0, None))
    if found.x is None:
        raise Unsettled("no vertex of the polytope of optimal weights was found")
    return tuple(sorted(int(a) for a in np.argsort(-found.x)[: system.rows]))


def _corner(system: System, basis: Basis, tilt: dict[int, Fraction]) -> _Corner:
    """The basis with all its errors; Unsettled if a weight that is not proved zero may be zero."""
    zero, size = fmpq(0), len(basis)
    try:
        known = system.basic(basis)
    except ZeroDivisionError:
        raise Unsettled(WEIGHT) from None
    if known.left <= 0:
        raise Unsettled(WIDE)
    x, dx = known.x, known.dx
    zeros = frozenset(i for i in range(size) if abs(x[i]) <= dx)
    rest = {a for i, a in enumerate(basis) if i not in zeros}
    void = tuple(l for l, columns in system.silent.items() if rest <= columns)
    if any(x_i < -dx for x_i in x) or (not system.exact and len(void) < len(zeros)):
        raise Unsettled(WEIGHT)
    corner = _Corner(basis, known, zeros, void, [], zero)
    parts = [(corner.column(b), to_fmpq(c)) for b, c in tilt.items()]
    z = [sum((T[i] * c for (T, _), c in parts), zero) for i in range(size)]
    dz = sum((dT * c for (_, dT), c in parts), zero)
    if any(z[i] <= dz for i in zeros):
        raise Unsettled(WIDE)
    return replace(corner, z=z, dz=dz)


def _at_rest(system: System, corner: _Corner, entering: int) -> frozenset[int]:
    """Zeros where F_B^-1 F_entering is exactly 0 too: all, if the void rows are silent on the column that enters; else
    one after the other, by a row that is silent on it and on all zeros that are left but one."""
    if system.exact:
        return frozenset()
    quiet = [l for l in corner.void if entering in system.silent[l]]
    if len(quiet) == len(corner.void):
        return corner.zeros
    rest: set[int] = set()
    while True:
        before = len(rest)
        for l in quiet:
            open_ = [i for i in corner.zeros - rest if corner.basis[i] not in system.silent[l]]
            if len(open_) == 1 and abs(system.F[l, corner.basis[open_[0]]]) > to_fmpq(system.F_error[l]):
                rest.add(open_[0])
        if len(rest) == before:
            return frozenset(rest)


def _leaving(corner: _Corner, entering: int, still: frozenset[int]) -> tuple[int, Basis | None]:
    """The column that leaves. Where x / T may be least at several, also the support of the point where all these are 0:
    if it turns out to be a vertex, the ratios are equal, and the tilt decides."""
    T, dT = corner.column(entering)
    zeros = corner.zeros - still
    positive = [i for i in range(len(T)) if i not in corner.zeros]
    rising = [i for i in zeros if T[i] + dT > 0]
    if rising:
        if not any(T[i] > dT for i in rising):
            raise Unsettled(WIDE)
        return corner.basis[_least(corner, T, dT, rising)], None
    up = [i for i in positive if T[i] > dT]
    if not up:
        raise Unsettled(WIDE)
    x, dx = corner.known.x, corner.known.dx
    i = min(up, key=lambda i: x[i] / T[i])
    near = [l for l in positive if l == i or not _less(x, dx, T, dT, i, l)]
    if len(near) == 1:
        return corner.basis[i], None
    kept = [l for l in positive if l not in near] + [l for l in zeros if T[l] < 0]
    support = tuple(sorted([*(corner.basis[l] for l in kept), entering]))
    return corner.basis[_least(corner, T, dT, near)], support


def _least(corner: _Corner, T: Row, dT: Scalar, places: Sequence[int]) -> int:
    """Where z / T is certainly least."""
    i = min((l for l in places if T[l] > dT), key=lambda l: corner.z[l] / T[l])
    if not all(l == i or _less(corner.z, corner.dz, T, dT, i, l) for l in places):
        raise Unsettled(WIDE)
    return i


def _less(x: Row, dx: Scalar, T: Row, dT: Scalar, i: int, l: int) -> bool:
    """x_i T_l < x_l T_i for all x and T within the errors."""
    if not (dx or dT):
        return bool(x[i] * T[l] < x[l] * T[i])
    lower, upper = _ends(x[i], dx), _ends(T[l], dT)
    highest = max(s * t for s in lower for t in upper)
    return highest < min(s * t for s in _ends(x[l], dx) for t in _ends(T[i], dT))


def _ends(a: fmpq, error: fmpq) -> tuple[int, int]:
    """An interval around 2^PLACES (a - error, a + error), in integers that are not long."""
    middle, reach = int((a.p << PLACES) // a.q), int(-((-error.p << PLACES) // error.q))
    return middle - reach, middle + 1 + reach


def _weight_text(x: fmpq | Number) -> Fraction:
    """The weight, or a rational near to it if it is irrational."""
    return to_fraction(x) if isinstance(x, fmpq) else x.near()
