"""The quadratic lemma: |F(u)|^2 <= c'Bc for u = sum c_i g_i, c >= 0, and lambda^2 GG' - B = N + a definite matrix.

F(u) = M0'u + sum_k W_k (p_k.u)_+ in R^C, all in integers. FORMAT.md has the lemma and its proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

from flint import fmpz_mat

Rows = Sequence[Sequence[int]]
BITS = 64  # with which a form is tried first
PAIRS = 24  # crossing lines up to which the products of all pairs count; beyond, those of their lengths


@dataclass(frozen=True)
class Crossing:
    """The lines that cross a cone: weights W_k, lengths >= |W_k|, heights p_k.g_i, and shares sigma_k of `whole`."""

    weights: Rows
    lengths: Sequence[int]
    heights: Rows
    shares: Sequence[int]
    whole: int


def form(level: int, gram: Rows, values: Rows, crossing: Crossing) -> list[list[int]]:
    """2 whole^2 (level GG' - B), at most; `gram` is GG', `values` are F(g_i), `level` at most lambda^2."""
    d, S = len(gram), crossing.whole
    total = 2 * S * S * level * fmpz_mat([list(row) for row in gram])
    if not crossing.weights:
        F = fmpz_mat([list(f) for f in values])
        return integers(total - 2 * S * S * F * F.transpose())
    W, V = fmpz_mat([list(w) for w in crossing.weights]), crossing.heights
    above = [
        [S * x - s * x if x > 0 else -s * x for x in row] for row, s in zip(V, crossing.shares, strict=True)
    ]  # whole delta_k(g_i) >= 0
    D = fmpz_mat(above)
    L = S * fmpz_mat([list(f) for f in values]) - D.transpose() * W
    total -= 2 * L * L.transpose()
    T = integers(2 * W * L.transpose() + weighted(W, crossing.lengths, D))
    zeros, positive, kept, factors = [0] * d, [], [], []
    for row, t, s in zip(V, T, crossing.shares, strict=True):
        if any(x > 0 for x in t):
            positive.append([max(x, 0) for x in t])
            continue
        positive.append(zeros)
        if least := min(s, S - s):
            kept.append(list(row))
            factors.append(min(-t_i * least // abs(x) for t_i, x in zip(t, row, strict=True) if x))
    half = D.transpose() * fmpz_mat(positive)
    total -= half + half.transpose()
    if kept:
        scaled = fmpz_mat([[kappa * x for x in row] for row, kappa in zip(kept, factors, strict=True)])
        total += 2 * fmpz_mat(kept).transpose() * scaled
    return integers(total)


def weighted(W: fmpz_mat, lengths: Sequence[int], D: fmpz_mat) -> fmpz_mat:
    """sum_l (W_k.W_l)_+ D_l, or |W_k| sum_l |W_l| D_l where there are many lines: not less."""
    if len(lengths) <= PAIRS:
        return fmpz_mat([[max(x, 0) for x in row] for row in integers(W * W.transpose())]) * D
    column = fmpz_mat([[x] for x in lengths])
    return column * (column.transpose() * D)


def length_above(w: Sequence[int]) -> int:
    """The least integer >= |w|."""
    square = sum(x * x for x in w)
    return isqrt(square - 1) + 1 if square else 0


def nonnegative(Q: Rows) -> bool:
    """Whether no entry is negative: then c'Qc >= 0 for c >= 0."""
    return all(x >= 0 for row in Q for x in row)


def semidefinite(Q: Rows) -> bool:
    """Whether x'Qx >= 0 for all x; long numbers are tried with less bits first."""
    short = coarse(Q)
    return (short is not None and eliminated(short)) or eliminated(Q)


def coarse(Q: Rows) -> list[list[int]] | None:
    """F - dI with Q = 2^k F + E, 0 <= E < 2^k entry by entry, so that x'Ex >= -d 2^k |x|^2: Q is semidefinite if this
    is. None where the least entry of the diagonal has no more than BITS bits."""
    k = min((row[i] for i, row in enumerate(Q)), default=0).bit_length() - BITS
    if k <= 0:
        return None
    return [[(x >> k) - len(Q) * (i == j) for j, x in enumerate(row)] for i, row in enumerate(Q)]


def eliminated(Q: Rows) -> bool:
    """Whether x'Qx >= 0 for all x, by elimination without fractions: a pivot 0 has a row of zeros, and is left out."""
    S, last = [list(row) for row in Q], 1
    for k in range(len(S)):
        pivot = S[k][k]
        if pivot < 0 or (not pivot and any(S[k][k:])):
            return False
        if pivot:
            for i in range(k + 1, len(S)):
                for j in range(i, len(S)):
                    S[i][j] = (S[i][j] * pivot - S[k][i] * S[k][j]) // last
            last = pivot
    return True


def definite(Q: Rows) -> bool:
    """Whether all leading minors are positive, by elimination without fractions."""
    S, last = [list(row) for row in Q], 1
    for k in range(len(S)):
        pivot = S[k][k]
        if pivot <= 0:
            return False
        for i in range(k + 1, len(S)):
            for j in range(i, len(S)):
                S[i][j] = (S[i][j] * pivot - S[k][i] * S[k][j]) // last
        last = pivot
    return True


def integers(A: fmpz_mat) -> list[list[int]]:
    """The entries as Python integers."""
    return [[int(x) for x in row] for row in A.tolist()]
