"""The leaf in 64-bit integers, as the checker has it: B from above, entry by entry, so that a form from below.

c'Bc <= c'B'c for c >= 0 and B <= B', so that B may be rounded up entry by entry. With a = |p_k.g_i|, b_i, l_i, w, x_i
powers of two by which numbers are shortened, and all that is cut off added again:

    D_ki <= 2^b_i D', W_k = 2^w (W' + e), L_i = 2^l_i (L' + f) with 0 <= e, f < 1 entry by entry, so that
    W_k.L_j <= 2^(w + l_j) (W'.L' + sum (W')_+ + sum (L')_+ + C),     |W_k| <= 2^w lengths'_k,
    T_kj <= 2^(w + l_j) T', T' = 2 (W'.L' + ...) + lengths'_k R'_j,   2^l_j R'_j >= 2^(w + b_j) sum_k lengths'_k D'_kj.

The terms with kappa, which only help, are left out; the norms are taken for any number of lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from relu_cert.outputs.exact import Form, integers

WEIGHT_BITS, HEIGHT_BITS, LINEAR_BITS, POSITIVE_BITS, SUM_BITS = 24, 20, 26, 24, 36
MOST_LINES, MOST_OUTPUTS = 2**17, 2**8
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Weights:
    """W', lengths' and sum (W')_+ of all lines, and w."""

    short: Integers
    lengths: Integers
    positive: Integers
    shift: int

    @classmethod
    def of(cls, W: Integers, lengths: Sequence[int]) -> Weights:
        """Of weights of 64 bits, or of Python; `lengths` are at least theirs."""
        shift = max(0, max(lengths, default=0).bit_length() - WEIGHT_BITS)
        short = (W >> shift).astype(np.int64)
        above = np.array([(x >> shift) + 1 if x else 0 for x in lengths], dtype=np.int64)
        return cls(short, above, np.maximum(short, 0).sum(axis=1), shift)


def rounded(
    level: int,
    gram: Sequence[Sequence[int]],
    L: Sequence[Sequence[int]],
    V: Integers,
    weights: Weights,
    lines: Integers,
    shares: Integers,
    whole: int,
) -> Form | None:
    """At most 2 whole^2 (level GG' - B), `L` the values of whole L at the generators, `V` the heights of the crossing
    lines; None where numbers are too long."""
    d, C, w = len(gram), len(L[0]), weights.shift
    if len(lines) > MOST_LINES or C > MOST_OUTPUTS:
        return None
    sizes = np.abs(V)
    b = [max(0, int(row.max(initial=0)).bit_length() - HEIGHT_BITS) for row in sizes]
    times = np.where(V > 0, whole - shares, shares)
    above = (sizes >> np.array(b, dtype=np.int64)[:, None]) + 1
    D = np.where(V != 0, (times * above + (whole - 1)) // whole, 0)
    l = [max(0, (max(map(abs, row)) // whole).bit_length() - LINEAR_BITS) for row in L]
    low = np.array([[x // (whole << k) for x in row] for row, k in zip(L, l, strict=True)], dtype=np.int64)
    W, lengths = weights.short[lines], weights.lengths[lines]
    T = 2 * (W @ low.T + np.maximum(low, 0).sum(axis=1) + weights.positive[lines][:, None] + C)
    sums = [int(x) for x in D @ lengths]
    R = [-(-(x << w + i) >> k) for x, i, k in zip(sums, b, l, strict=True)]
    if max(R) >> SUM_BITS:
        return None
    T = np.maximum(T + lengths[:, None] * np.array(R, dtype=np.int64), 0)
    x = [max(0, int(column.max(initial=0)).bit_length() - POSITIVE_BITS) for column in T.T]
    shift = np.array(x, dtype=np.int64)
    K = (D @ ((T + (1 << shift) - 1) >> shift)).tolist()
    rows = fmpz_mat([list(row) for row in L])
    squares = integers(rows * rows.transpose())
    return [
        [
            2 * whole * whole * level * gram[i][j]
            - 2 * squares[i][j]
            - whole * whole * ((K[i][j] << b[i] + w + l[j] + x[j]) + (K[j][i] << b[j] + w + l[i] + x[i]))
            for j in range(d)
        ]
        for i in range(d)
    ]
