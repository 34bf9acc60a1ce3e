"""Splitting the masses: weights alpha of all classes that give the masses of the superclasses and the part of y in L.

Weights strictly inside survive the ball. Where some classes are zero in every split, a vector h of L shows it: h.y = 0,
the other classes have h.q = 0 whatever the residual, and h.q > 0 for these. (This happens at points with target 0: a
gate that is open there would add to a fit that is 0.)

Kernel dependences: sum_s kappa_s Pi G_s Pi = 0 with sum kappa_s = 0, an exact identity of rational matrices.

Then sum kappa_s q_s is in L and sum kappa_s |v_s|^2 = 0 for every residual orthogonal to L: outputs are dependent and
ties are exact whatever the residual is (the cube that refutes prop:relu-unique, on an open set of data). Floats choose
superclasses that have positive masses together; the others are mixtures of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from relu_cert.errors import Unsettled
from relu_cert.exact import (
    Matrix,
    Vector,
    column,
    dot,
    matrix_of,
    nearest_solution,
    norm_squared,
    sqrt_upper,
    to_fmpq,
    to_fraction,
    to_vector,
)
from relu_cert.prove.classes import ClassMap, frobenius_squared, independent
from relu_cert.prove.facts import BallSet
from relu_cert.prove.field import Exact, product, reduced_rows, solve
from relu_cert.prove.multipliers import on_grid
from relu_cert.prove.projection import deepest, floats, inside, stretch

SEEMS_POSITIVE = 1e-7  # relative; a wrong proposal costs time, never a verdict


@dataclass(frozen=True)
class SplitOutputs:
    """Outputs at theta (n x classes), and how far each can be from that at r*."""

    Q: fmpq_mat
    error: Fraction


def split_map(
    lift: Matrix, groups: Sequence[Sequence[int]], Q: fmpq_mat, mixed: Sequence[tuple[int, Vector]] = ()
) -> fmpq_mat:
    """alpha -> (sum of alpha over each superclass, and of beta_s alpha over the mixed classes, B_L' Q alpha)."""
    rows = [[fmpq(int(a in set(group))) for a in range(Q.ncols())] for group in groups]
    for a, beta in mixed:
        for row, x in zip(rows, beta, strict=True):
            row[a] = to_fmpq(x)
    if lift:
        rows += (matrix_of(lift) * Q).tolist()
    return fmpq_mat(rows)


def with_split(
    y: Vector, plain: BallSet, maps: Sequence[ClassMap], outputs: SplitOutputs, near: NDArray[np.float64] | None = None
) -> BallSet:
    """The optimal set with a proved split, or Unsettled. Near given weights: a split of some network, and no word of
    the classes that it does not use."""
    rows = plain.equations
    Phi = split_map(rows, plain.groups, outputs.Q, plain.mixed)
    goal = column([*plain.masses, *(dot(row, y) for row in rows)])
    if near is None:
        start, zero = _start(floats(Phi), floats(goal)[:, 0])
    else:
        start, zero = near, [a for a, x in enumerate(near) if x <= SEEMS_POSITIVE * max(near)]
    support = [a for a in range(len(start)) if a not in zero]
    if len(support) == len(start) and near is None:
        return _prove_weights(y, plain, outputs, support, rows, start)
    void = void_part(y, rows, [maps[a] for a in support])
    forced = () if near is not None else forcing(void, outputs, zero)
    kept = independent((*void, *rows))[len(void) :]
    lift = (*plain.lift[: plain.free], *kept, *void)
    found = _prove_weights(y, replace(plain, lift=lift, void=len(void)), outputs, support, kept, start)
    return replace(found, forced=forced)


def _start(F: NDArray[np.float64], g: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[int]]:
    """alpha >= 0 with F alpha near g, far inside, and the places that must be 0. The search sees rows and a goal of
    size 1: near lambda_max masses are tiny."""
    rows, size = np.maximum(np.abs(F).max(axis=1), 1e-300), max(float(np.abs(g).max()), 1e-300)
    found, zero = inside(F / rows[:, None], g / rows / size)
    return size * found, zero


def _prove_weights(
    y: Vector, plain: BallSet, outputs: SplitOutputs, support: Sequence[int], lift: Matrix, start: NDArray[np.float64]
) -> BallSet:
    """Exact weights near the start, positive on the support by more than the ball moves them."""
    Phi = columns(split_map(lift, plain.groups, outputs.Q, plain.mixed), support)
    goal = column([*plain.masses, *(dot(row, y) for row in lift)])
    exact = nearest_solution(Phi, to_vector(goal), [Fraction(float(start[a])) for a in support])
    if exact is None:
        raise Unsettled("the map that splits the masses is not onto")
    alpha = on_grid([exact], 256)[0]
    tau = stretch(Phi.transpose())
    if tau <= 0:
        raise Unsettled("the map that splits the masses is not onto, or too near to it")
    epsilon = outputs.error * sqrt_upper(Fraction(len(support)) * frobenius_squared(lift), 64)
    miss = to_vector(Phi * column(alpha) - goal)
    moved = length(miss) + plain.mass_error + epsilon * length(alpha)
    if tau <= epsilon or not all(x > moved / (tau - epsilon) for x in alpha):
        raise Unsettled("no split of the masses is proved to be strictly inside")
    split = [Fraction(0)] * outputs.Q.ncols()
    for a, x in zip(support, alpha, strict=True):
        split[a] = x
    return replace(plain, split=tuple(split), split_error=moved / (tau - epsilon))


def columns(A: fmpq_mat, chosen: Sequence[int]) -> fmpq_mat:
    """Some columns of a matrix."""
    if list(chosen) == list(range(A.ncols())):
        return A
    return fmpq_mat([[row[a] for a in chosen] for row in A.tolist()])


def length(a: Vector) -> Fraction:
    """An upper bound on |a|."""
    return sqrt_upper(norm_squared(a), 64)


def void_part(y: Vector, lift: Matrix, maps: Sequence[ClassMap]) -> Matrix:
    """A basis of {h in L : h.y = 0, B_a'h = 0 for the given classes}."""
    if not lift:
        return ()
    rows = matrix_of(lift)
    conditions = (rows * column(y)).transpose().tolist()
    for one in maps:
        conditions += (rows * one.B()).transpose().tolist()
    return tuple(to_vector(c.transpose() * rows) for c in null_space(fmpq_mat(conditions)))


def null_space(A: fmpq_mat) -> list[fmpq_mat]:
    """A basis of {x : A x = 0}, as columns."""
    reduced, rank = A.rref()
    rows = reduced.tolist()
    pivots = [next(j for j, x in enumerate(rows[i]) if x != 0) for i in range(rank)]
    basis = []
    for free in (j for j in range(A.ncols()) if j not in pivots):
        x = [fmpq(0)] * A.ncols()
        x[free] = fmpq(1)
        for i, pivot in enumerate(pivots):
            x[pivot] = -rows[i][free]
        basis.append(fmpq_mat([[entry] for entry in x]))
    return basis


def forcing(void: Matrix, outputs: SplitOutputs, zero: Sequence[int]) -> Vector:
    """h in the span of the void part with h.q > 0 over the ball for the classes that are to be zero."""
    if not void:
        raise Unsettled("no split of the masses is strictly inside")
    heights = matrix_of(void) * columns(outputs.Q, zero)
    H = floats(heights)
    size = max(float(np.abs(H).max()), 1e-300)
    found = deepest(-H.T / size, np.zeros(len(zero)), [(-1, 1)] * len(void), most=1)
    if found is None or found[1] <= 0:
        raise Unsettled("no split of the masses is strictly inside")
    weights = [Fraction(float(x)).limit_denominator(10**6) for x in found[0]]
    h = tuple(dot(weights, col) for col in zip(*void, strict=True))
    margin = outputs.error * length(h)
    if not all(x > margin for x in to_vector(column(h).transpose() * columns(outputs.Q, zero))):
        raise Unsettled("no split of the masses is strictly inside")
    return h


RANDOM_COSTS = 8
SHORT = 10**9
SEEMS_DIFFERENT = 1e-6  # relative; a wrong guess costs the fact, never its truth


def vertex(
    outputs: Sequence[Exact], target: Exact, cost: Sequence[float] | None = None, known: Exact | None = None
) -> Exact | None:
    """alpha >= 0 with sum alpha_a q_a = target, its outputs independent; None if none is found, or `known` again."""
    if not outputs:
        return None if any(target) else ()
    from scipy.optimize import linprog

    Q = np.array([[float(x) for x in q] for q in outputs]).T
    b = np.array([float(x) for x in target])
    size = max(float(np.abs(Q).max()), 1e-300)
    k = len(outputs)
    found = linprog(cost or np.zeros(k), A_eq=Q / size, b_eq=b / size, bounds=(0, None), method="highs-ds").x
    if found is None:
        return None
    if known is not None:
        about = np.array([float(x) for x in known])
        if np.abs(found - about).max() <= SEEMS_DIFFERENT * max(found.max(), about.max()):
            return None
    order = [int(a) for a in np.argsort(-found, kind="stable")]
    rows, pivots = reduced_rows([[*(outputs[a][i] for a in order), right] for i, right in enumerate(target)])
    if k in pivots or any(row[k] < 0 for row in rows):
        return None
    weights = {order[j]: row[k] for row, j in zip(rows, pivots, strict=True)}
    zero = target[0] * 0
    return tuple(weights.get(a, zero) for a in range(k))


def one_or_two(outputs: Sequence[Exact], target: Exact, first: Exact) -> tuple[tuple[Exact, ...], Exact] | None:
    """The first solution with h that shows that it is the only one, or another one; None if neither is found."""
    k = len(outputs)
    rng = np.random.default_rng(0)
    costs = [[-1.0 if a == b else 0.0 for b in range(k)] for a in range(k) if not first[a]]
    costs += [list(rng.standard_normal(k)) for _ in range(RANDOM_COSTS)]
    for cost in costs:
        other = vertex(outputs, target, cost, first)
        if other is not None and other != first:
            return (first, other), ()
    h = _farkas(outputs, [a for a in range(k) if first[a]])
    return None if h is None else ((first,), h)


def _farkas(outputs: Sequence[Exact], support: Sequence[int]) -> Exact | None:
    """h with h.q = 0 on the support and h.q > 0 elsewhere: then only the support can be active. None if not found."""
    n, zero = len(outputs[0]), outputs[0][0] * 0
    others = [a for a in range(len(outputs)) if a not in support]
    if not others:
        return (zero,) * n
    Q = np.array([[float(x) for x in q] for q in outputs])
    size = max(float(np.abs(Q).max()), 1e-300)
    equal = Q[list(support)] / size if support else None
    found = deepest(-Q[others] / size, np.zeros(len(others)), [(-1, 1)] * n, 1, equal, np.zeros(len(support)))
    if found is None or found[1] <= 0:
        return None
    near = [zero + to_fmpq(Fraction(float(x)).limit_denominator(SHORT)) for x in found[0]]
    S = [outputs[a] for a in support]
    back = solve([[product(p, q) for q in S] for p in S], [product(p, near) for p in S]) if S else []
    if back is None:
        return None
    h = tuple(x - sum((c * p[i] for c, p in zip(back, S, strict=True)), zero) for i, x in enumerate(near))
    return h if all(product(h, outputs[a]) > 0 for a in others) else None


MOST_ENTRIES = 400_000  # superclasses times entries of a kernel

Groups = tuple[tuple[int, ...], ...]
Mixed = tuple[tuple[int, Vector], ...]


def mixtures(
    maps: Sequence[ClassMap], groups: Groups, Pi: fmpq_mat, Q: fmpq_mat, fit: Sequence[Fraction]
) -> tuple[Groups, Mixed] | None:
    """The superclasses that are left, and the classes of the others as mixtures of them; None without a dependence."""
    n = Pi.nrows()
    if len(groups) * n * n > MOST_ENTRIES:
        return None
    K = _dependences([Pi * maps[group[0]].B() for group in groups])
    if K is None:
        return None
    outputs = floats(Pi) @ floats(Q)[:, [group[0] for group in groups]]
    extra = _idle(outputs, floats(Pi * column(fit))[:, 0], floats(K))
    if extra is None:
        return None
    chosen = fmpq_mat([[K[e, j] for j in range(K.ncols())] for e in extra])
    try:
        shares = (K * chosen.inv()).tolist()  # column i: kappa with kappa = 1 at the i-th extra one, 0 at the others
    except ZeroDivisionError:
        return None
    base = [s for s in range(len(groups)) if s not in extra]
    betas = {e: tuple(to_fraction(-shares[s][i]) for s in base) for i, e in enumerate(extra)}
    mixed = sorted((a, betas[e]) for e in extra for a in groups[e])
    return tuple(groups[s] for s in base), tuple(mixed)


def _dependences(kernels: Sequence[fmpq_mat]) -> fmpq_mat | None:
    """A basis of {kappa : sum_s kappa_s B_s B_s' = 0, sum_s kappa_s = 0} as columns; None if it is empty."""
    rows = [[*(B * B.transpose()).entries(), fmpq(1)] for B in kernels]
    basis = null_space(fmpq_mat(rows).transpose())
    return fmpq_mat([kappa.entries() for kappa in basis]).transpose() if basis else None


def _idle(outputs: NDArray[np.float64], fit: NDArray[np.float64], K: NDArray[np.float64]) -> list[int] | None:
    """Superclasses, as many as there are dependences, that are zero at a vertex of {A >= 0 : outputs A = fit}."""
    from scipy.optimize import linprog

    A = np.linalg.lstsq(outputs, fit, rcond=None)[0]
    size = max(float(np.abs(A).max()), 1e-300)
    count = K.shape[1]
    scale = np.abs(K).max(axis=0)
    direction = np.cos(np.arange(1, count + 1))  # any one that is not orthogonal to an edge
    found = linprog(direction, A_ub=-K / scale, b_ub=A / size, bounds=[(None, None)] * count, method="highs-ds")
    if found.x is None:
        return None
    left = A / size + (K / scale) @ found.x
    return sorted(int(s) for s in np.argsort(left)[:count])
