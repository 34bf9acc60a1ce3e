"""Two different optimal networks, exactly: where all neurons have one pattern, and lambda is a multiple singular value.

There F(u) = M'u and M'M'' = lambda^2 on the neurons, so that v = M'w / lambda for |v| = |w|, and the fit A S M / lambda
(A the rows that are on) knows the neurons by S = sum w w' only. Another way to write S is another network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from relu_cert.evidence import Outputs, Pair, Row, Whole
from relu_cert.exact import (
    Matrix,
    Vector,
    column,
    matrix_of,
    norm_squared,
    primitive,
    scaled_rows,
    to_fraction,
    to_vector,
)
from relu_cert.outputs.ascent import Floats
from relu_cert.outputs.build import Unproved, build
from relu_cert.outputs.exact import pull_of
from relu_cert.problem.problem import Problem

MOST = 10**4  # of denominators that are tried
NEAR = 1e-7
Neuron = tuple[Vector, Vector]


def short(x: Fraction) -> Fraction:
    """A simple number nearby."""
    return x.limit_denominator(MOST)


def simple(A: Matrix) -> Matrix | None:
    """The matrix of simple numbers that it nearly is; None where there is none."""
    found = tuple(tuple(map(short, row)) for row in A)
    far = max((abs(x - y) for rows in zip(A, found, strict=True) for x, y in zip(*rows, strict=True)), default=0)
    return found if far < NEAR / MOST else None


def pattern(Z: Floats, W: Floats) -> list[int] | None:
    """The rows that are on at some neurons; None where they are off at others."""
    heights = Z @ W.T
    least = NEAR * np.abs(heights).max(initial=1e-300)
    rows: list[int] = np.flatnonzero((heights > least).any(axis=1)).tolist()
    return rows if (heights[rows] >= -least).all() and len(W) > 1 else None


def written_as(S: fmpq_mat, targets: Sequence[Vector], M: fmpq_mat, lam: Fraction) -> list[Neuron] | None:
    """Neurons with sum w v' = S M / lambda, w = S_k q_k: S_k is what is left of S, and its rank falls by one."""
    neurons: list[Neuron] = []
    left, scale = S, fmpq(lam.denominator, lam.numerator)
    for target in targets:
        q = column(target)
        w = left * q
        size = (q.transpose() * w)[0, 0]
        if size <= 0:
            return None
        v = w.transpose() * M * scale / size
        neurons.append((to_vector(w), to_vector(v)))
        left = left - w * w.transpose() / size
        if not any(left.entries()):
            return neurons
    return None


def pair(problem: Problem, lam: Fraction, Theta: Matrix, W: Floats) -> tuple[Matrix, Pair] | None:
    """A simple dual point and two networks whose objective is its value, if it is feasible; else None."""
    Z, Y, exact = problem.relu.Z, problem.Y, simple(Theta)
    if exact is None or problem.relu.bags.told:
        return None
    rows = pattern(np.array([[float(x) for x in z] for z in Z]), W)
    if rows is None:
        return None
    A, T = matrix_of([Z[k] for k in rows]), matrix_of([exact[k] for k in rows])
    fit = matrix_of([[y - t for y, t in zip(Y[k], exact[k], strict=True)] for k in rows])
    M = A.transpose() * T
    gram = A.transpose() * A
    if gram.rank() < gram.nrows():
        return None
    N = gram.solve(A.transpose() * fit)
    S = N * M.transpose() * fmpq(lam.denominator, lam.numerator)
    if S.transpose() != S or not all(S[i, i] >= 0 for i in range(S.nrows())):
        return None
    rank = S.rank()
    S_float = np.array([[float(to_fraction(x)) for x in row] for row in S.tolist()])
    near = [np.linalg.lstsq(S_float, w / np.linalg.norm(w), rcond=1e-9)[0] for w in W]
    mixed = np.linalg.lstsq(S_float, W[0] / np.linalg.norm(W[0]) + W[1] / np.linalg.norm(W[1]), rcond=1e-9)[0]
    units = [tuple(Fraction(int(i == j)) for j in range(len(W[0]))) for i in range(len(W[0]))]
    ways = [tuple(Fraction(x).limit_denominator(100) for x in q) for q in (*near, mixed)]
    found: list[tuple[Neuron, ...]] = []
    for first in (*ways, *units):
        neurons = written_as(S, [first, *ways, *units], M, lam)
        if neurons is None or len(neurons) > rank or not optimal(problem, lam, exact, neurons):
            continue
        if all(merged(neurons) != merged(other) for other in found):
            found.append(tuple(neurons))
        if len(found) == 2:
            first_, second = (tuple(Whole(w, v, size(w, v)) for w, v in one) for one in found)
            return exact, Pair(first_, second)
    return None


def merged(neurons: Sequence[Neuron]) -> dict[tuple[Row, Row], Fraction]:
    """|w||v| of all neurons along each w and v together."""
    found: dict[tuple[Row, Row], Fraction] = {}
    for w, v in neurons:
        key = primitive(scaled_rows([w])[0][0]), primitive(scaled_rows([v])[0][0])
        found[key] = found.get(key, Fraction(0)) + size(w, v)
    return found


def size(w: Vector, v: Vector) -> Fraction:
    """|w||v| where it is rational, else a little more."""
    from relu_cert.outputs.optimum import norm

    return norm((w, v))


def optimal(problem: Problem, lam: Fraction, Theta: Matrix, neurons: Sequence[Neuron]) -> bool:
    """Whether the fit is Y - Theta, the norms are rational, and the objective is the dual value."""
    fit = [[Fraction(0)] * len(problem.Y[0]) for _ in problem.Y]
    penalty = Fraction(0)
    for w, v in neurons:
        own = size(w, v)
        if own**2 != norm_squared(w) * norm_squared(v):
            return False
        penalty += own
        for row, z in zip(fit, problem.relu.Z, strict=True):
            h = sum((a * b for a, b in zip(z, w, strict=True)), Fraction(0))
            if h > 0:
                for c, x in enumerate(v):
                    row[c] += h * x
    wanted = [[y - t for y, t in zip(*rows, strict=True)] for rows in zip(problem.Y, Theta, strict=True)]
    pulled = sum((f * t for rows in zip(fit, Theta, strict=True) for f, t in zip(*rows, strict=True)), Fraction(0))
    return fit == wanted and pulled == lam * penalty


def feasible(given: object, Theta: Matrix, lam: Fraction, over: Callable[[], bool]) -> Outputs | None:
    """The evidence that the simple dual point is feasible."""
    from relu_cert.outputs.optimum import OutputsData

    if not isinstance(given, OutputsData):
        return None
    try:
        return build(pull_of(given.lines, Theta, lam**2), given.basis, (), over, most_nodes=MOST, eps=1e-9)
    except Unproved:
        return None
