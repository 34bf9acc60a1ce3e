"""Projections onto the cones of all blocks of a ReLU program over patterns, each from where it stood the last time.

v_b = Proj_{C_b}(c_b) = c_b + sum_k x_k g_k with x >= 0, g_k = (2D - I)_kk z_k. For any x >= 0 the length of that sum
bounds the price from above, so last time's x often shows at once that a block is not violated.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from relu_cert.solve.pieces import lengths
from relu_cert.solve.prepare import Floats, Numbers, PatternedArrays
from relu_cert.solve.shortest import shortest

_VIOLATED = 1e-13  # rows with g_k.v above -_VIOLATED |g_k| |c| are inside: a little above rounding
_LARGE = 200_000  # patterns x n x d from which on compiled code pays


@dataclass(frozen=True)
class Projected:
    """For some blocks: v (p x d), |v|, the kinks (p x d, -1: none) and their x."""

    blocks: Numbers
    v: Floats
    norm: Floats
    kinks: Numbers
    x: Floats

    def some(self, which: Numbers) -> Projected:
        """Some of them."""
        return Projected(*(getattr(self, name)[which] for name in Projected.__dataclass_fields__))


class Cones:
    """The cones of all blocks, with the multipliers of the last projection."""

    def __init__(self, arrays: PatternedArrays) -> None:
        self.arrays = arrays
        size = lengths(arrays.Z)
        self._scale = np.append(np.where(size > 0.0, size, 1.0), 1.0)  # the last one is for kinks that are none
        self._sign = np.where(arrays.on, 1.0, -1.0)
        self._pattern = arrays.pattern(np.arange(len(arrays)))
        self.large = arrays.on.size * arrays.Z.shape[1] >= _LARGE
        if self.large:
            self._unit = np.ascontiguousarray((arrays.Z / self._scale[:-1, None]).T)
            self._kinks = np.full((len(arrays), arrays.Z.shape[1]), -1)
            self._x = np.zeros((len(arrays), arrays.Z.shape[1]))

    def correlations(self, r: Floats, blocks: Numbers | None = None) -> Floats:
        """X_b'r of some blocks, or of all."""
        if blocks is None:
            half = (self.arrays.on * r) @ self.arrays.Z
            return np.stack([half, -half], axis=1).reshape(-1, half.shape[1])
        on, xi = self.arrays.on[self.arrays.pattern(blocks)], self.arrays.xi(blocks)
        return np.asarray(((xi[:, None] * on) * r) @ self.arrays.Z, dtype=np.float64)

    def project(self, blocks: Numbers, c: Floats, enough: float, *, remember: bool = True) -> Projected:
        """Proj_{C_b}(c_b), or any c_b + sum x_k g_k of length at most `enough`. Starts from the last answer, which is
        replaced (unless c is no correlation, and not worth to remember)."""
        if not self.large:
            sign = self._sign[self._pattern[blocks]]
            found = shortest(c, self.arrays.Z, sign, np.full(sign.shape, np.inf), enough)
            return Projected(blocks, found.v, lengths(found.v), found.kinks, found.x)
        v, exact = np.empty_like(c), np.zeros(len(c), dtype=bool)
        kinks, x = (self._kinks[blocks], self._x[blocks]) if remember else (np.full(c.shape, -1), np.zeros(c.shape))
        pattern = self._pattern[blocks]
        _compiled().project(c, pattern, self._unit, self._sign, enough, _VIOLATED, v, kinks, x, exact)
        if remember:
            self._kinks[blocks], self._x[blocks] = kinks, x
        return Projected(blocks, v, lengths(v), kinks, x / self._scale[kinks])

    def bases(self, found: Projected) -> tuple[Floats, Numbers]:
        """For each of them the dimension of the span of its kinks (p), and an orthonormal basis (p x d x d): its first
        rows span the kinks; where they are at least half of all rows, the others span the complement."""
        if self.large:
            basis, span = _compiled().bases(self._unit, found.kinks)
            return basis, span
        unit = self.arrays.Z / self._scale[:-1, None]
        G = np.where((found.kinks >= 0)[:, :, None], unit[found.kinks], 0.0)
        _, s, basis = np.linalg.svd(G)
        return basis, (s > 1e-11).sum(axis=1)

    def tangent(self, found: Projected) -> Floats:
        """P_b (p x d x d): the projection onto the space on which the kinks vanish."""
        basis, span = self.bases(found)
        d = basis.shape[1]
        few, first = 2 * span < d, np.arange(d) < span[:, None]
        chosen = np.where((first == few[:, None])[:, :, None], basis, 0.0)
        P = chosen.transpose(0, 2, 1) @ chosen
        return np.asarray(np.where(few[:, None, None], np.eye(d) - P, P), dtype=np.float64)


def _compiled() -> Any:
    """The compiled loops; compiling takes some seconds the first time (the result is kept in __pycache__)."""
    return import_module("relu_cert.solve.compiled_cones")
