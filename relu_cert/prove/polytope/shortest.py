"""The shortest weights of the polytope: the min-norm network (prop:min-norm-program), exactly or enclosed.

Floats propose the support T (least distance programming, Lawson and Hanson, by non-negative least squares). Exact case:
the shortest solution of F_T alpha = g, right iff alpha.p >= |alpha|^2 for all vertices p. Enclosed case: with
N = F_T F_T' and mu = N^-1 g, alpha = (F'mu)_+ is the shortest if F_a.mu > 0 on T and < 0 off T, for all F and g within
the errors.

From facts to the listed polytope: equations, a first basis, the walk, the shortest point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import mul

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from relu_cert.errors import Unsettled
from relu_cert.exact import Vector, column, nearest_solution, norm_squared, to_fmpq, to_fraction
from relu_cert.prove.classes import class_map
from relu_cert.prove.facts import BallSet, Exactly, Facts
from relu_cert.prove.field import Rows, product, reduced_rows
from relu_cert.prove.multipliers import binary_grid, from_grid, to_grid
from relu_cert.prove.polytope.polytope import MinNorm, Polytope, ShortestWeights, Unlisted
from relu_cert.prove.polytope.walk import (
    MOST_BITS,
    Scalar,
    System,
    TooManyBases,
    enclosed_start,
    exact_start,
    seems_larger,
    walk,
    weight_system,
)
from relu_cert.prove.projection import deepest

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
    return _exact(system, support, vertices) if system.exact else _enclosed_shortest(system, support)


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
        weights = _embed(system.names, tuple(map(to_fraction, alpha)), system.total)
        return ShortestWeights(0, weights, ZERO, tuple(map(to_fraction, mu)))
    unit = Fraction(1, 1 << TOLD_BITS)
    rounded = tuple(max(x.rounded(TOLD_BITS), unit) if x else ZERO for x in alpha)
    return ShortestWeights(0, _embed(system.names, rounded, system.total), 2 * unit, tuple(mu))


def _slopes(equations: Rows, support: Sequence[int]) -> list[Scalar] | None:
    """mu with F_T F_T'mu = g, T the support: all of them give the same F_T'mu; floats choose one with F_a.mu < 0 off
    T. None where there is none."""
    size, zero = len(equations), equations[0][-1] * 0
    on = [[row[a] for a in support] for row in equations]
    rows, pivots = reduced_rows([[*(product(p, q) for q in on), row[-1]] for p, row in zip(on, equations, strict=True)])
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
    alpha = _embed(support, found, len(system.names))
    squared = norm_squared(alpha)
    if min(alpha) < 0 or any(sum(alpha[a] * x for a, x in p.items()) < squared for p in vertices):
        return None
    return MinNorm(_embed(system.names, alpha, system.total), ZERO)


def _enclosed_shortest(system: System, support: Sequence[int]) -> MinNorm | None:
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


def _embed(support: Sequence[int], entries: Vector, size: int) -> Vector:
    alpha = [ZERO] * size
    for a, x in zip(support, entries, strict=True):
        alpha[a] = x
    return tuple(alpha)


def _sum(entries: Iterable[fmpq]) -> fmpq:
    return sum(entries, fmpq(0))


MOST_BASES = 5000
MOST_WORK = 120_000  # bases times entries of F: a bound on the time, here and in the checker
MOST_EXACT_WORK = 300_000  # the same for rationals without errors
MOST_FIELD_WORK = 240_000  # the same for algebraic numbers, times their degree and length
WORD = 64
FEW_BITS = 64


def list_polytope(facts: Facts, most: int = MOST_BASES) -> Polytope | Unlisted:
    """All vertices and edges of the optimal set of the facts, with proof; or why not."""
    if not facts.known:
        return Unlisted(facts.unsettled or "the optimal set is not known", final=True)
    if _in_several_blocks(facts):
        return Unlisted("a neuron lies in several blocks of the patterns given", final=True)
    reason = ""
    # few are fast, and nearly always enough
    lengths = (FEW_BITS, MOST_BITS) if isinstance(facts.optimal_set, BallSet) else (MOST_BITS,)
    for bits in lengths:
        try:
            return _list_polytope(facts, weight_system(facts, bits), most)
        except TooManyBases as why:
            return Unlisted(str(why), final=True)
        except Unsettled as why:
            reason = str(why)
    return Unlisted(reason, final=False)


def with_vertices(facts: Facts) -> tuple[Facts, bool]:
    """The facts with the vertices of the optimal set, and whether more digits would not tell more about these."""
    found = list_polytope(facts)
    if isinstance(found, Polytope):
        return replace(facts, vertices=found), True
    return replace(facts, vertices=found, shortest=shortest_weights(facts)), found.final


def shortest_weights(facts: Facts) -> ShortestWeights | None:
    """The shortest optimal weights without a list of vertices, or None where that is not proved."""
    if not facts.known or _in_several_blocks(facts):
        return None
    return shortest_alone(weight_system(facts))


def _most_work(system: System) -> int:
    """Errors cost more, and so do long numbers of large degree."""
    if system.rational:
        return MOST_EXACT_WORK if system.exact else MOST_WORK
    entries = [c for x in system.F.entries() for c in x.coefficients()]
    longest = max((max(c.numerator.bit_length(), c.denominator.bit_length()) for c in entries), default=0)
    degree: int = system.g[0].field.degree
    return MOST_FIELD_WORK * WORD // (degree * max(WORD, longest))


def _short(x: Fraction, system: System) -> Fraction:
    """A weight as it is told: as it is, or to the bits that it was computed with."""
    return x if system.exact else from_grid(to_grid(x, 1 << system.bits), 1 << system.bits)


def _in_several_blocks(facts: Facts) -> bool:
    """Whether two active blocks of a ReLU network over some patterns carry one neuron (v = B'r with the same B)."""
    patterned, found = facts.problem.patterned, facts.optimal_set
    if patterned is None or patterned.model != "relu" or not isinstance(found, BallSet):
        return False
    kernels = [tuple(class_map(facts.problem, found.classes[a]).B().entries()) for a in found.active]
    return len(set(kernels)) < len(kernels)


def _list_polytope(facts: Facts, system: System, most: int) -> Polytope:
    exact = facts.optimal_set
    if isinstance(exact, Exactly):
        support = tuple(a for a, x in enumerate(exact.solutions[0]) if x)
        alone = len(exact.solutions) == 1  # then the other tied neurons, many perhaps, only make its bases many
        system = system.restricted(support) if alone else system
        start = tuple(range(len(support))) if alone else exact_start(system, support)
    else:
        start = enclosed_start(system)
    most = min(most, _most_work(system) // max(1, system.rows * len(system.names)))
    if isinstance(exact, BallSet) and start and seems_larger(system, start, most):
        raise TooManyBases(f"the polytope of optimal weights seems to have more than {most} bases")
    found = walk(system, start, most)
    names = system.names
    used = sorted({a for support in found.points for a in support})
    named = [{names[a]: _short(x, system) for a, x in point.items()} for point in found.points.values()]
    return Polytope(
        bits=system.bits,
        tilt=found.tilt,
        bases=tuple(tuple(names[a] for a in basis) for basis in found.bases),
        vertices=tuple(tuple(names[a] for a in support) for support in found.points),
        points=tuple(tuple(point.get(a, Fraction(0)) for a in range(system.total)) for point in named),
        edges=found.edges,
        min_norm=shortest(system, list(found.points.values())) if system.rational else None,
        tied=system.total,
        rank=system.rank(used) if system.exact and used else system.rows,
    )
