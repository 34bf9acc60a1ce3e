"""The shortest weights of the polytope: the min-norm network (prop:min-norm-program), exactly or enclosed.

Floats propose the support T (least distance programming, Lawson and Hanson, by non-negative least squares). Exact case:
the shortest solution of F_T alpha = g, right iff alpha.p >= |alpha|^2 for all vertices p. Enclosed case: with
N = F_T F_T' and mu = N^-1 g, alpha = (F'mu)_+ is the shortest if F_a.mu > 0 on T and < 0 off T, for all F and g within
the errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import mul

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from relu_cert.exact import Vector, column, nearest_solution, norm_squared, to_fmpq, to_fraction
from relu_cert.prove.algebraic.field import Rows, product, reduced
from relu_cert.prove.multipliers import binary_grid, from_grid, to_grid
from relu_cert.prove.polytope.polytope import MinNorm, ShortestWeights
from relu_cert.prove.polytope.system import Scalar, System
from relu_cert.prove.proposed_faces import deepest

SEEMS_POSITIVE = 1e-9  # relative; a wrong proposal costs the fact, never its truth
SHORT = 10**12  # the largest denominator of what is chosen freely
TOLD_BITS = 64
ZERO = Fraction(0)
Floats = NDArray[np.float64]


def shortest(system: System, vertices: Sequence[dict[int, Fraction]]) -> MinNorm | None:
    """The shortest point, or None if the support that was proposed is not proved."""
    if not system.rows:
        return MinNorm((ZERO,) * system.total, ZERO)
    support = proposed_support(system)
    if support is None:
        return None
    return _exact(system, support, vertices) if system.exact else _enclosed(system, support)


def shortest_alone(system: System) -> ShortestWeights | None:
    """The shortest point with a proof that needs no list of vertices: exactly, alpha = (F'mu)_+ with F alpha = g; in a
    field of algebraic numbers mu proves it, and the weights are told rounded."""
    if not system.exact or not system.rows:
        found = shortest(system, ())
        return None if found is None else ShortestWeights(system.bits, found.weights, found.radius, ())
    support = proposed_support(system)
    rows = system.equations()
    mu = None if support is None else _slopes(rows, support)
    if mu is None:
        return None
    zero = mu[0] * 0
    *F, g = zip(*rows, strict=True)
    alpha = [height if (height := product(mu, column)) > 0 else zero for column in F]
    if any(product(alpha, row[:-1]) != x for row, x in zip(rows, g, strict=True)):
        return None
    if system.rational:
        weights = _embedded(system.names, tuple(map(to_fraction, alpha)), system.total)
        return ShortestWeights(0, weights, ZERO, tuple(map(to_fraction, mu)))
    unit = Fraction(1, 1 << TOLD_BITS)
    rounded = tuple(max(x.rounded(TOLD_BITS), unit) if x else ZERO for x in alpha)
    return ShortestWeights(0, _embedded(system.names, rounded, system.total), 2 * unit, tuple(mu))


def _slopes(equations: Rows, support: Sequence[int]) -> list[Scalar] | None:
    """mu with F_T F_T'mu = g, T the support: all of them give the same F_T'mu; floats choose one with F_a.mu < 0 off
    T. None where there is none."""
    size, zero = len(equations), equations[0][-1] * 0
    on = [[row[a] for a in support] for row in equations]
    rows, pivots = reduced([[*(product(p, q) for q in on), row[-1]] for p, row in zip(on, equations, strict=True)])
    if size in pivots:
        return None
    free = [j for j in range(size) if j not in pivots]
    off = [a for a in range(len(equations[0]) - 1) if a not in support]
    slopes = np.array([[float(row[a]) for row in equations] for a in off]).reshape(len(off), size)
    chosen = _chosen_slopes(slopes, rows, free)
    if chosen is None:
        return None
    mu = [zero] * size
    for j, x in zip(free, chosen, strict=True):
        mu[j] = zero + to_fmpq(x)
    for row, pivot in zip(rows, pivots, strict=True):
        mu[pivot] = row[size] - sum((row[j] * mu[j] for j in free), zero)
    return mu


def _chosen_slopes(F: Floats, rows: Rows, free: Sequence[int]) -> Vector | None:
    """The entries of mu that equations in reduced form (`rows`, with their right sides) leave free, so that F mu is as
    far below 0 as it can be: F has a row for each neuron without weight."""
    if not free:
        return ()
    size = F.shape[1]
    start, step = np.zeros(size), np.zeros((size, len(free)))
    for i, j in enumerate(free):
        step[j, i] = 1.0
    for row, pivot in zip(rows, (j for j in range(size) if j not in free), strict=True):
        start[pivot] = float(row[size])
        step[pivot] = [-float(row[j]) for j in free]
    found = deepest(F @ step, -(F @ start), [(None, None)] * len(free), most=1.0)
    return None if found is None else tuple(Fraction(float(x)).limit_denominator(SHORT) for x in found[0])


def proposed_support(system: System) -> list[int] | None:
    """Where the shortest alpha seems to be positive: alpha = a + N z, N a basis of the null space, N z >= -a."""
    F, g, _ = system.floats()
    a = np.linalg.lstsq(F, g, rcond=None)[0]
    N = np.linalg.svd(F)[2][np.linalg.matrix_rank(F) :].T
    if N.shape[1]:
        from scipy.optimize import nnls

        size = float(np.abs(a).max())
        E = np.vstack([N.T, -a[None, :] / size])
        f = np.r_[np.zeros(N.shape[1]), 1.0]
        try:
            r = E @ nnls(E, f)[0] - f
        except RuntimeError:
            return None
        if r[-1] == 0:
            return None
        a = a + N @ (-r[:-1] / r[-1]) * size
    return [int(i) for i in np.flatnonzero(a > SEEMS_POSITIVE * np.abs(a).max())]


def _exact(system: System, support: Sequence[int], vertices: Sequence[dict[int, Fraction]]) -> MinNorm | None:
    """The shortest weights of the support, if they are in the polytope and the shortest of it."""
    found = nearest_solution(system.on(support), system.g, (ZERO,) * len(support))
    if found is None:
        return None
    alpha = _embedded(support, found, len(system.names))
    squared = norm_squared(alpha)
    if min(alpha) < 0 or any(sum(alpha[a] * x for a, x in p.items()) < squared for p in vertices):
        return None
    return MinNorm(_embedded(system.names, alpha, system.total), ZERO)


def _enclosed(system: System, support: Sequence[int]) -> MinNorm | None:
    """alpha = (F'mu)_+ with its error; None where a sign is not proved.

    With f_l = sum_T |F_l| the entries of F_T F_T' are off by at most D_lm = rho_l f_m + f_l rho_m + |T| rho_l rho_m.
    """
    rho, gamma = [to_fmpq(x) for x in system.F_error], [to_fmpq(x) for x in system.g_error]
    F_T = system.on(support)
    try:
        inverse = (F_T * F_T.transpose()).inv()
    except ZeroDivisionError:
        return None
    mu = (inverse * column(system.g)).entries()
    size = [abs(x) for x in mu]
    f = [_sum(map(abs, row)) for row in F_T.tolist()]

    def through_D(weights: Sequence[fmpq]) -> list[fmpq]:
        ends = _sum(map(mul, f, weights)), _sum(map(mul, rho, weights))
        return [r * (ends[0] + len(support) * ends[1]) + a * ends[1] for r, a in zip(rho, f, strict=True)]

    W = fmpq_mat(len(mu), len(mu), [abs(x) for x in inverse.entries()])
    beta = max((W * _column(through_D([fmpq(1)] * len(mu)))).entries())
    if beta >= 1:
        return None
    moved = max((W * _column([g + x for g, x in zip(gamma, through_D(size), strict=True)])).entries()) / (1 - beta)
    heights = (system.F.transpose() * _column(mu)).entries()
    rest = _sum(r * (x + moved) for r, x in zip(rho, size, strict=True))
    weights, radius = [ZERO] * system.total, ZERO
    for a, entries in enumerate(zip(*system.F.tolist(), strict=True)):
        height, error = heights[a], moved * _sum(map(abs, entries)) + rest
        if height <= error if a in support else height + error > 0:
            return None
        if a in support:
            q = binary_grid([to_fraction(error)], 4)
            weights[system.names[a]] = from_grid(to_grid(to_fraction(height), q), q)
            radius = max(radius, to_fraction(error) + Fraction(1, q))
    q = binary_grid([radius], 16)
    return MinNorm(tuple(weights), Fraction(-((-radius * q) // 1), q))


def _column(entries: Sequence[fmpq]) -> fmpq_mat:
    return fmpq_mat(len(entries), 1, list(entries))


def _embedded(support: Sequence[int], entries: Vector, size: int) -> Vector:
    alpha = [ZERO] * size
    for a, x in zip(support, entries, strict=True):
        alpha[a] = x
    return tuple(alpha)


def _sum(entries: Iterable[fmpq]) -> fmpq:
    return sum(entries, fmpq(0))
