"""All vertices by pivots: from one basis to every basis that a pivot leads to (the graph of a polytope is connected).

Where F and g are exact the polytope may be degenerate: g is disturbed by eps f_1 + eps^2 f_2 + ..., f the columns of
the first basis, so that ties are broken lexicographically; every vertex keeps a basis, and every edge a pivot. Where
they are enclosed, each basis has positive weights and each pivot one leaving neuron, for all F and g within the errors:

    x = F_B^-1 g,  T_j = F_B^-1 F_j,  h = max_i sum_l |F_B^-1|_il F_error_l,  b = #rows,
    |x* - x|     <= (max_i sum_l |F_B^-1|_il g_error_l + h |x|_1) / (1 - b h)
    |T_j* - T_j| <= h (1 + |T_j|_1) / (1 - b h)

so that the vertices are exactly the bases found, each with b positive weights: the polytope is nondegenerate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog

from relu_cert.prove.candidates import Unsettled
from relu_cert.prove.classes import to_fmpq, to_fraction
from relu_cert.prove.definite import floats
from relu_cert.prove.polytope.system import System

Basis = tuple[int, ...]
Row = list[fmpq]


class TooManyBases(Unsettled):
    """The polytope is too large to be listed."""


@dataclass(frozen=True)
class Walk:
    """The bases (columns of F) in the order found, the supports with their weights, and the edges between supports."""

    bases: tuple[Basis, ...]
    points: dict[Basis, dict[int, Fraction]]
    edges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Tableau:
    """F_B^-1 [g | F] and F_B^-1."""

    rows: list[Row]
    inverse: list[Row]


def walk(system: System, start: Basis, most: int) -> Walk:
    """Every basis that pivots lead to. Unsettled if the errors are too wide, TooManyBases if there are more."""
    queue = [start]
    known = {start}
    points: dict[Basis, dict[int, Fraction]] = {}
    number: dict[Basis, int] = {}
    numbers: dict[Basis, int] = {}
    pivots: list[tuple[Basis, Basis]] = []
    for basis in queue:
        table = _tableau(system, basis)
        support = tuple(a for a, row in zip(basis, table.rows, strict=True) if not system.exact or row[0] != 0)
        numbers[basis] = number.setdefault(support, len(number))
        points.setdefault(support, {a: to_fraction(row[0]) for a, row in zip(basis, table.rows, strict=True)})
        steps = _lexicographic(system, table, basis, start) if system.exact else _strict(system, table, basis)
        for entering, leaving in steps:
            other = tuple(sorted({*basis, entering} - {leaving}))
            pivots.append((basis, other))
            if other not in known:
                known.add(other)
                queue.append(other)
        if len(queue) > most:
            raise TooManyBases(f"the polytope of optimal weights has more than {most} bases")
    pairs = {tuple(sorted((numbers[a], numbers[b]))) for a, b in pivots if numbers[a] != numbers[b]}
    return Walk(tuple(queue), points, tuple(sorted((i, j) for i, j in pairs)))


def exact_start(system: System, support: Basis) -> Basis:
    """A basis that holds the support of a vertex."""
    chosen = list(support)
    for a in range(len(system.names)):
        if len(chosen) == system.rows:
            break
        if a not in chosen and system.on([*chosen, a]).rank() > len(chosen):
            chosen.append(a)
    return tuple(sorted(chosen))


def enclosed_start(system: System) -> Basis:
    """The support of a vertex that a linear program finds."""
    k = len(system.names)
    if k == system.rows:
        return tuple(range(k))
    F, g = floats(system.F), np.array([float(x) for x in system.g])
    scale = np.maximum(np.abs(F).max(axis=1), 1e-300)
    found = linprog(
        np.random.default_rng(0).standard_normal(k), A_eq=F / scale[:, None], b_eq=g / scale, bounds=(0, None)
    )
    if found.x is None:
        raise Unsettled("no vertex of the polytope of optimal weights was found")
    return tuple(sorted(int(a) for a in np.argsort(-found.x)[: system.rows]))


def _tableau(system: System, basis: Basis) -> _Tableau:
    if not system.rows:
        return _Tableau([], [])
    try:
        inverse = system.on(basis).inv()
    except ZeroDivisionError:
        raise Unsettled("the polytope of optimal weights seems to be degenerate") from None
    g = fmpq_mat(system.rows, 1, [to_fmpq(x) for x in system.g])
    heads, rest = (inverse * g).tolist(), (inverse * system.F).tolist()
    return _Tableau([[*x, *row] for x, row in zip(heads, rest, strict=True)], inverse.tolist())


def _lexicographic(system: System, table: _Tableau, basis: Basis, first: Basis) -> Iterator[tuple[int, int]]:
    """(entering, leaving) for every column outside the basis."""
    heads = [[row[0], *(row[1 + a] for a in first)] for row in table.rows]
    for entering in range(len(system.names)):
        if entering not in basis:
            ratios = [
                ([x / row[1 + entering] for x in head], a)
                for a, head, row in zip(basis, heads, table.rows, strict=True)
                if row[1 + entering] > 0
            ]
            yield entering, min(ratios)[1]


def _strict(system: System, table: _Tableau, basis: Basis) -> Iterator[tuple[int, int]]:
    """The same for every F and g within the errors, or Unsettled."""
    rows, zero, size = table.rows, fmpq(0), len(basis)
    h = max((_weighted(row, system.F_error) for row in table.inverse), default=zero)
    left = 1 - size * h
    if left <= 0:
        raise Unsettled("the ball is too wide to list the vertices of the polytope of optimal weights")
    x = [row[0] for row in rows]
    move = max((_weighted(row, system.g_error) for row in table.inverse), default=zero)
    dx = (move + h * sum(map(abs, x), zero)) / left
    if any(x_i <= dx for x_i in x):
        raise Unsettled("a vertex of the polytope of optimal weights may have a weight zero")
    for entering in range(len(system.names)):
        if entering in basis:
            continue
        T = [row[1 + entering] for row in rows]
        dT = h * (1 + sum(map(abs, T), zero)) / left
        up = [i for i in range(size) if T[i] > dT]
        if not up:
            raise Unsettled("the ball is too wide to list the vertices of the polytope of optimal weights")
        i = min(up, key=lambda i: x[i] / T[i])
        if any((x[l] - dx) * (T[i] - dT) <= (T[l] + dT) * (x[i] + dx) for l in range(size) if l != i):
            raise Unsettled("a vertex of the polytope of optimal weights may have a weight zero")
        yield entering, basis[i]


def _weighted(row: Row, errors: tuple[Fraction, ...]) -> fmpq:
    return sum((abs(m) * to_fmpq(e) for m, e in zip(row, errors, strict=True)), fmpq(0))
