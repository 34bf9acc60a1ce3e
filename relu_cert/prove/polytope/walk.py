"""All vertices by pivots: from one basis to every basis that a pivot leads to (the graph of a polytope is connected).

At a degenerate vertex some weights x_i are exactly 0: seen at once if F and g are exact, else
by as many silent rows that are void on the other neurons. g is tilted by eps sum_b c_b F_b over the first basis, with
generic c > 0, so that for small eps > 0 no two ratios tie: every vertex keeps a basis, and every edge a pivot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import fmpq

from relu_cert.clock import require_time
from relu_cert.errors import Unsettled
from relu_cert.exact import Vector, to_fmpq, to_fraction
from relu_cert.prove.field import Number
from relu_cert.prove.polytope.system import Basic, Scalar, System

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
