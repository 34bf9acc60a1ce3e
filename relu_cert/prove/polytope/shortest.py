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

from relu_cert.exact import Vector, norm_squared
from relu_cert.prove.algebraic.linear import Rows, eliminate, product
from relu_cert.prove.deepest import deepest
from relu_cert.prove.definite import floats
from relu_cert.prove.grid import binary_grid, from_grid, to_grid
from relu_cert.prove.polytope.polytope import MinNorm, ShortestWeights
from relu_cert.prove.polytope.system import Scalar, System
from relu_cert.rationals import column, to_fmpq, to_fraction, to_vector

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
    F, g = system.equations()
    mu = None if support is None else _slopes(F, g, support)
    if mu is None:
        return None
    zero = g[0] * 0
    alpha = [height if (height := product(mu, column)) > 0 else zero for column in zip(*F, strict=True)]
    if any(product(alpha, row) != x for row, x in zip(F, g, strict=True)):
        return None
    if isinstance(zero, fmpq):
        weights = _embedded(system.names, tuple(map(to_fraction, alpha)), system.total)
        return ShortestWeights(0, weights, ZERO, tuple(map(to_fraction, mu)))
    unit = Fraction(1, 1 << TOLD_BITS)
    rounded = tuple(max(x.rounded(TOLD_BITS), unit) if x else ZERO for x in alpha)
    return ShortestWeights(0, _embedded(system.names, rounded, system.total), 2 * unit, tuple(mu))


def _slopes(F: Rows, g: Sequence[Scalar], support: Sequence[int]) -> list[Scalar] | None:
    """mu with F_T F_T'mu = g, T the support: all of them give the same F_T'mu; floats choose one with F_a.mu < 0 off
    T. None where there is none."""
    size, zero = len(g), g[0] * 0
    on = [[row[a] for a in support] for row in F]
    rows = [[*(product(p, q) for q in on), x] for p, x in zip(on, g, strict=True)]
    pivots = eliminate(rows, size + 1)
    if size in pivots:
        return None
    free = [j for j in range(size) if j not in pivots]
    off = [a for a in range(len(F[0])) if a not in support]
    chosen = _chosen_slopes(np.array([[float(row[a]) for row in F] for a in off]).reshape(len(off), size), rows, free)
    if chosen is None:
        return None
    mu = [zero] * size
    for j, x in zip(free, chosen, strict=True):
        mu[j] = zero + to_fmpq(x)
    for row, pivot in zip(rows, pivots, strict=False):
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
    for row, pivot in zip(rows, (j for j in range(size) if j not in free), strict=False):
        start[pivot] = float(row[size])
        step[pivot] = [-float(row[j]) for j in free]
    found = deepest(F @ step, -(F @ start), [(None, None)] * len(free), most=1.0)
    return None if found is None else tuple(Fraction(float(x)).limit_denominator(SHORT) for x in found[0])


def proposed_support(system: System) -> list[int] | None:
    """Where the shortest alpha seems to be positive: alpha = a + N z, N a basis of the null space, N z >= -a."""
    F, g = floats(system.F), np.array([float(x) for x in system.g])
    scale = np.maximum(np.abs(F).max(axis=1), 1e-300)
    F, g = F / scale[:, None], g / scale
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
    """alpha_T = F_T'(F_T F_T')^-1 g on independent rows of F_T, if it is in the polytope and the shortest."""
    k = len(support)
    augmented = fmpq_mat(
        [[*row, x] for row, x in zip(system.on(support).tolist(), column(system.g).entries(), strict=True)]
    )
    reduced, rank = augmented.rref()
    rows = reduced.tolist()[:rank]
    A = fmpq_mat(rank, k, [x for row in rows for x in row[:k]])
    try:
        solution = to_vector(A.transpose() * (A * A.transpose()).solve(fmpq_mat(rank, 1, [row[k] for row in rows])))
    except ZeroDivisionError:  # g is not in the range of F_T
        return None
    alpha = _embedded(support, solution, len(system.names))
    squared = norm_squared(alpha)
    solves = to_vector(system.F * column(alpha)) == system.g
    if not solves or min(alpha) < 0 or any(sum(alpha[a] * x for a, x in p.items()) < squared for p in vertices):
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
