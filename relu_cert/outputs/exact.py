"""The quadratic leaf in integers: what the engine proposes is decided here.

    F(u) = T'(Zu)_+ = M0'u + sum_c W_c (p_c.u)_+

over the lines p_c of the data. In units of 1 / unit all of it is integral.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, isqrt

import numpy as np
from flint import fmpz_mat

from relu_cert.cover.lines import Lines
from relu_cert.evidence import Row
from relu_cert.exact import Matrix, scaled_rows
from relu_cert.outputs.ascent import Floats
from relu_cert.outputs.bound import PAIRS

Form = list[list[int]]


@dataclass(frozen=True)
class Pull:
    """F at Theta, in integers; `level` is lambda^2 unit^2, rounded down."""

    lines: Lines
    W: tuple[Row, ...]
    M0: tuple[Row, ...]
    unit: int
    level: int

    @property
    def C(self) -> int:
        """The number of outputs."""
        return len(self.M0[0])

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Integers >= |W_c|."""
        squares = [sum(x * x for x in w) for w in self.W]
        return tuple(isqrt(q - 1) + 1 if q else 0 for q in squares)

    @cached_property
    def floats(self) -> tuple[Floats, Floats, Floats]:
        """Unit lines, their weights and M0, for lambda = 1."""
        root = isqrt(self.level << 60) or 1  # lambda unit 2^30; Theta = 0 may have no level
        P = np.array([[float(x) for x in p] for p in self.lines.rows]).reshape(len(self.W), -1)
        size = np.linalg.norm(P, axis=1)
        W = np.array([[(x << 30) / root for x in w] for w in self.W]).reshape(len(self.W), -1)
        M0 = np.array([[(x << 30) / root for x in row] for row in self.M0])
        return np.ascontiguousarray(P / size[:, None]), np.ascontiguousarray(W * size[:, None]), M0


def pull_of(lines: Lines, Theta: Matrix, squared: Fraction) -> Pull:
    """F of a dual point (n x C), for lambda^2 = squared; T = P'Theta where rows are in bags, over its least common
    denominator, as the checker has it: leaves are rounded in these units."""
    whole, q = scaled_rows(Theta)
    columns = [lines.bags.shares(column) for column in np.array(whole, dtype=object).T]
    q *= lines.bags.unit
    common = gcd(q, *(int(x) for column in columns for x in column))
    T, q = [[int(x) // common for x in t] for t in zip(*columns, strict=True)], q // common
    C = len(T[0])
    W = [[0] * C for _ in lines.rows]
    M0 = [[0] * C for _ in range(lines.D)]
    for c, a, t in zip(lines.line, lines.multiple, T, strict=True):
        if c < 0:
            continue
        for i, x in enumerate(t):
            W[c][i] += abs(a) * x
        if a < 0:
            for l, p in enumerate(lines.rows[c]):
                for i, x in enumerate(t):
                    M0[l][i] += a * p * x
    unit = lines.scale * q
    level = squared * unit * unit
    return Pull(lines, tuple(map(tuple, W)), tuple(map(tuple, M0)), unit, level.numerator // level.denominator)


def leaf_form(
    level: int,
    gram: Form,
    linear: fmpz_mat,
    V: Sequence[Sequence[int]],
    weights: tuple[Sequence[Sequence[int]], Sequence[int]],
    shares: Sequence[int],
    whole: int,
) -> Form:
    """2 whole^2 (level GG' - B), from below: no entry is more. `linear` are the values of the linear part at the
    generators, V the heights of the crossing lines there, `weights` theirs, and numbers not below |W_c|."""
    Q, L = 2 * whole * whole * level * fmpz_mat(gram), whole * linear
    if not V:
        return integers(Q - 2 * L * L.transpose())
    D = fmpz_mat([[whole * max(x, 0) - s * x for x in row] for row, s in zip(V, shares, strict=True)])
    W = fmpz_mat([list(w) for w in weights[0]])
    L += fmpz_mat([[s * x for x in row] for row, s in zip(V, shares, strict=True)]).transpose() * W
    Q -= 2 * L * L.transpose()
    T = 2 * W * L.transpose()
    if len(V) <= PAIRS:
        T += fmpz_mat([[max(x, 0) for x in row] for row in integers(W * W.transpose())]) * D
    else:
        w = fmpz_mat([[x] for x in weights[1]])
        T += w * (w.transpose() * D)
    above, kept = [], []
    for row, t, s in zip(V, integers(T), shares, strict=True):
        positive = [max(x, 0) for x in t]
        above.append(positive)
        least = min(s, whole - s)
        if least and not any(positive):
            kappa = min(-y * least // abs(x) for x, y in zip(row, t, strict=True) if x)
            kept.append((row, [kappa * x for x in row]))
    half = D.transpose() * fmpz_mat(above)
    Q -= half + half.transpose()
    if kept:
        Q += 2 * fmpz_mat([list(a) for a, _ in kept]).transpose() * fmpz_mat([b for _, b in kept])
    return integers(Q)


def definite(Q: Form) -> bool:
    """Whether Q is positive definite."""
    S, last = [list(row) for row in Q], 1
    for k, pivots in enumerate(S):
        if pivots[k] <= 0:
            return False
        for i in range(k + 1, len(S)):
            for j in range(k + 1, len(S)):
                S[i][j] = (S[i][j] * pivots[k] - S[i][k] * pivots[j]) // last
        last = pivots[k]
    return True


def semidefinite(Q: Form) -> bool:
    """Whether x'Qx >= 0 for all x: a pivot 0 has a row of zeros, and is left out."""
    S, last = [list(row) for row in Q], 1
    for k, pivots in enumerate(S):
        if pivots[k] < 0 or (not pivots[k] and any(pivots[k:])):
            return False
        if not pivots[k]:
            continue
        for i in range(k + 1, len(S)):
            for j in range(k + 1, len(S)):
                S[i][j] = (S[i][j] * pivots[k] - S[i][k] * pivots[j]) // last
        last = pivots[k]
    return True


def integers(A: fmpz_mat) -> Form:
    """The entries as Python integers."""
    return [[int(x) for x in row] for row in A.tolist()]
