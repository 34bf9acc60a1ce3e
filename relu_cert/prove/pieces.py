"""Concave pieces of a ReLU problem, and exact multipliers on them.

For xi = +-1 let t = xi theta and P = {k : t_k > 0}. Dual feasibility is t.(Zu)_+ <= lambda |u| for all u. Where the
sign of z_k.u is fixed for k in P the left side is concave; such a *piece* is the restriction to P of an open cell's
pattern, and

    sup {t.(Zu)_+ : u in the piece, |u| <= 1} = min {|Z'm| : m in the box}
    box:  m_k >= t_k (k in P, on),   m_k <= 0 (k in P, off),   t_k <= m_k <= 0 (k not in P).

One multiplier m bounds all patterns of its piece at once (there are about 2^(d-1) fewer pieces than patterns).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from relu_cert.exact import Matrix, Vector
from relu_cert.patterns.pattern_set import Bits, bit_string
from relu_cert.prove.algebraic.linear import Exact
from relu_cert.prove.facts import PieceMultiplier
from relu_cert.prove.projection import Bounds, ShortestVector, shortest

Parts = tuple[str, tuple[int, ...], Exact]  # of a multiplier: base, rows and values


def restrict(cells: NDArray[np.uint8], positive: Bits) -> NDArray[np.uint8]:
    """The pieces: distinct restrictions to P of the packed patterns of the open cells, packed."""
    masked = cells & np.packbits(positive)
    return unique_rows(masked)


def unique_rows(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Distinct rows of a packed array."""
    width = packed.shape[1]
    padded = np.zeros((len(packed), -(-width // 8) * 8), dtype=np.uint8)
    padded[:, :width] = packed
    words = padded.view(np.uint64)
    if words.shape[1] == 1:
        return np.unique(words[:, 0]).view(np.uint8).reshape(-1, 8)[:, :width].copy()
    return np.ascontiguousarray(np.unique(words, axis=0)).view(np.uint8).reshape(-1, padded.shape[1])[:, :width].copy()


def solve_piece(
    Z: Matrix, t: Exact, base: Sequence[bool] | Bits, fixed: Sequence[bool] | Bits, free: Sequence[int] = ()
) -> ShortestVector:
    """The shortest Z'm, exactly, over the box of the piece on which the rows `fixed` have the sides of the base: of P,
    or, for a fine piece, of more rows. Numbers are Fractions, or those of a field."""
    zero = t[0] * 0
    box = [
        (Bounds(t_k, None) if on else Bounds(None, zero)) if fixed_k else Bounds(t_k, zero)
        for t_k, on, fixed_k in zip(t, base, fixed, strict=True)
    ]
    return shortest(Z, box, _start(t, base), free)


def parts_of(t: Exact, base: Sequence[bool] | Bits, best: ShortestVector) -> Parts:
    """The minimiser as a multiplier has it."""
    rows = tuple(k for k, (a, b) in enumerate(zip(best.m, _start(t, base), strict=True)) if a != b)
    return bit_string(base), rows, tuple(best.m[k] for k in rows)


def _start(t: Exact, base: Sequence[bool] | Bits) -> Exact:
    return tuple(t_k if on else t_k * 0 for t_k, on in zip(t, base, strict=True))


def exact_multiplier(
    Z: Matrix, t: Vector, base: Sequence[bool] | Bits, free: Sequence[int]
) -> tuple[PieceMultiplier, Vector]:
    """The best multiplier of one piece, and v = Z'm (the canonical dual vector of the piece at t)."""
    best = solve_piece(Z, t, base, [x > 0 for x in t], free)
    return PieceMultiplier(*parts_of(t, base, best)), best.v


def clip(value: int, t_k: int, on: bool) -> int:
    """The nearest grid value inside the box of one row (everything in units of the grid)."""
    if t_k > 0:
        return max(value, t_k) if on else min(value, 0)
    return min(max(value, t_k), 0)


def lengths_squared(
    N: Sequence[Sequence[int]],
    t: Sequence[int],
    base: Bits,
    rows: Sequence[Sequence[int]],
    values: Sequence[Sequence[int]],
) -> list[int]:
    """|N'm|^2 for every piece, in integers: N the scaled rows of Z, t and values in units of one grid."""
    weighted = fmpz_mat([[t_k * x for x in row] for t_k, row in zip(t, N, strict=True)])
    sums = (fmpz_mat(len(base), len(t), base.astype(np.int8).ravel().tolist()) * weighted).tolist()
    result = []
    for start, on, ks, ms in zip(sums, base, rows, values, strict=True):
        v = start
        for k, m_k in zip(ks, ms, strict=True):
            change = m_k - t[k] if on[k] else m_k
            if change:
                v = [a + change * x for a, x in zip(v, N[k], strict=True)]
        result.append(int(sum(a * a for a in v)))
    return result
