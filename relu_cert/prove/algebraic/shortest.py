"""The shortest optimal weights over a field of algebraic numbers: alpha = (F'mu)_+ with F alpha = g, exactly.

Floats propose the support T. All mu with F_T F_T'mu = g give the same alpha on T; where there are many, a linear
program chooses one with F_a.mu < 0 off T.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from relu_cert.prove.algebraic.field import Number, product
from relu_cert.prove.algebraic.linear import Rows, eliminate
from relu_cert.prove.algebraic.system import FieldSystem
from relu_cert.prove.polytope.model import MinNorm, ShortestWeights
from relu_cert.prove.polytope.shortest import chosen_slopes, proposed_support

TOLD_BITS = 64


def field_shortest(system: FieldSystem) -> ShortestWeights | None:
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
    return ShortestWeights(0, MinNorm(weights, 2 * unit), tuple(mu))


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
    off = [a for a in range(len(system.names)) if a not in support]
    F = np.array([[float(row[a]) for row in system.left] for a in off]).reshape(len(off), size)
    chosen = chosen_slopes(F, rows, pivots, free)
    if chosen is None:
        return None
    mu = [zero] * size
    for j, x in zip(free, chosen, strict=True):
        mu[j] = zero + x
    for row, pivot in zip(rows, pivots, strict=False):
        mu[pivot] = row[size] - product([row[j] for j in free], [mu[j] for j in free], zero)
    return mu
