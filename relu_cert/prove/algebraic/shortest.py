"""The shortest optimal weights over a field of algebraic numbers: alpha = (F'mu)_+ with F alpha = g, exactly.

Floats propose the support T. All mu with F_T F_T'mu = g give the same alpha on T; where there are many, a linear
program chooses one with F_a.mu < 0 off T.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from relu_cert.prove.algebraic.field import Number, product
from relu_cert.prove.algebraic.linear import Rows, eliminate
from relu_cert.prove.algebraic.system import FieldSystem
from relu_cert.prove.polytope.model import MinNorm, Shortest
from relu_cert.prove.polytope.shortest import proposed_support

TOLD_BITS = 64
SHORT = 10**12


def field_shortest(system: FieldSystem) -> Shortest | None:
    """The shortest weights, rounded, with the exact mu that proves them; None if the proposed support is not theirs."""
    support = proposed_support(system)
    if support is None:
        return None
    mu = _slopes(system, support)
    if mu is None:
        return None
    zero = mu[0] * 0
    heights = [product(mu, column, zero) for column in zip(*system.left, strict=True)]
    alpha = [height if height > 0 else zero for height in heights]
    if any(product(alpha, row, zero) != g for row, g in zip(system.left, system.right, strict=True)):
        return None
    unit = Fraction(1, 1 << TOLD_BITS)
    weights = tuple(max(x.rounded(TOLD_BITS), unit) if x else Fraction(0) for x in alpha)
    return Shortest(0, MinNorm(weights, 2 * unit), tuple(mu))


def _slopes(system: FieldSystem, support: Sequence[int]) -> list[Number] | None:
    """mu with F_T F_T'mu = g."""
    zero = system.right[0] * 0
    on = [[row[a] for a in support] for row in system.left]
    rows: Rows = [[*(product(p, q, zero) for q in on), g] for p, g in zip(on, system.right, strict=True)]
    size = system.rows
    pivots = eliminate(rows, size + 1)
    if size in pivots:
        return None
    free = [j for j in range(size) if j not in pivots]
    chosen = _chosen(system, rows, pivots, free, [a for a in range(len(system.names)) if a not in support])
    if chosen is None:
        return None
    mu = [zero] * size
    for j, x in zip(free, chosen, strict=True):
        mu[j] = zero + x
    for row, pivot in zip(rows, pivots, strict=False):
        mu[pivot] = row[size] - product([row[j] for j in free], [mu[j] for j in free], zero)
    return mu


def _chosen(
    system: FieldSystem, rows: Rows, pivots: list[int], free: list[int], off: list[int]
) -> tuple[Fraction, ...] | None:
    """The entries of mu that are free, so that F_a.mu is as far below 0 as it can be off the support."""
    if not free:
        return ()
    size = system.rows
    start, step = np.zeros(size), np.zeros((size, len(free)))
    for i, j in enumerate(free):
        step[j, i] = 1.0
    for row, pivot in zip(rows, pivots, strict=False):
        start[pivot] = float(row[size])
        step[pivot] = [-float(row[j]) for j in free]
    F = np.array([[float(row[a]) for row in system.left] for a in off]).reshape(len(off), size)
    found = linprog(
        np.r_[np.zeros(len(free)), -1.0],
        A_ub=np.c_[F @ step, np.ones(len(off))],
        b_ub=-(F @ start),
        bounds=[(None, None)] * len(free) + [(None, 1.0)],
    )
    return None if found.x is None else tuple(Fraction(float(x)).limit_denominator(SHORT) for x in found.x[:-1])
