"""The data of the relaxation on one cell {u : A u >= 0} of R^d and for one sign xi: leaders, followers, neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Cell:
    """Leaders L = {xi theta > 0} and followers F: the other rows N of Z, then the normals A of the cell.

    Leader l has the neighbours F[near[l]] with signs `side[l]`; where `used[l]` is False there is none. `centre` is a
    point inside the cell (zero if there are no normals), `norm` the weights of the coordinates in |u|^2, 1 or 0.
    """

    Z: Floats
    xi: int
    L: Indices
    N: Indices
    A: Floats
    centre: Floats
    norm: Floats
    near: Indices
    side: Floats
    used: NDArray[np.bool_]

    @cached_property
    def F(self) -> Floats:
        """The followers' rows."""
        return np.concatenate([self.Z[self.N], self.A])

    @cached_property
    def lengths(self) -> Floats:
        """The largest |F_k.u| for |u| = 1, which is |F_k|; infinite for zero rows, which no square bounds. With free
        biases some row z_j.u is 0 where it counts, so that it is the largest |z_k - z_j|."""
        lengths: Floats = np.linalg.norm(self.F, axis=1)
        if not self.norm.all() and len(self.N):
            lengths[: len(self.N)] = cdist(self.Z[self.N], self.Z).max(axis=1)
        lengths[lengths == 0] = np.inf
        return lengths

    @property
    def reach(self) -> float:
        """With free biases: the largest |b| for |w| = 1 where some row is 0."""
        return float(np.linalg.norm(self.Z[:, self.norm > 0], axis=1).max(initial=0.0))

    @cached_property
    def triangle(self) -> tuple[Indices, Indices, Floats]:
        """Rows and columns of the upper triangle of a d x d matrix, and 1/2 on the diagonal, 1 off it."""
        i, j = np.triu_indices(self.Z.shape[1])
        return i, j, np.where(i == j, 0.5, 1.0)

    @cached_property
    def squares(self) -> Floats:
        """Row k: the coordinates of U -> F_k'U F_k / |F_k|."""
        i, j, half = self.triangle
        return self.F[:, i] * self.F[:, j] * (2 * half) / self.lengths[:, None]

    @property
    def size(self) -> int:
        """The number of unknowns that are left when the leaders are eliminated."""
        return len(self.triangle[0]) + int(self.Z.shape[1]) + len(self.F)

    @property
    def barrier(self) -> int:
        """The degree of the barrier: rows of the semidefinite blocks and linear inequalities."""
        blocks = (len(self.L) + 1) * (int(self.Z.shape[1]) + 1)
        return blocks + 3 * len(self.N) + 2 * len(self.A) + int(self.used.sum())


def make_cell(
    Z: Floats,
    theta: Floats,
    xi: int,
    neighbours: int,
    norm: Floats,
    A: Floats | None = None,
    centre: Floats | None = None,
) -> Cell:
    """The cell with the nearest followers, by angle, as each leader's neighbours."""
    d = Z.shape[1]
    A = np.zeros((0, d)) if A is None else A
    L, N = np.flatnonzero(xi * theta > 0), np.flatnonzero(xi * theta <= 0)
    F = np.concatenate([Z[N], A])
    count = min(neighbours, len(F))
    cosine = _unit(Z[L]) @ _unit(F).T if count else np.zeros((len(L), 0))
    near = np.argsort(-np.abs(cosine), axis=1, kind="stable")[:, :count]
    side = np.where(np.take_along_axis(cosine, near, 1) < 0, -1.0, 1.0)
    used = np.ones(near.shape, dtype=np.bool_)
    return Cell(Z, xi, L, N, A, np.zeros(d) if centre is None else centre, norm, near, side, used)


def inherited(cell: Cell, parent: Cell, w: Floats, m: Floats, phi: Floats, more: int, most: int) -> Cell:
    """The cell with neighbours of a larger one, of the same leaders: those whose weights are not negligible, and `more`
    that were violated; and the nearest normals."""
    grown, width = with_neighbours(parent, m, phi, more), w.shape[1]
    kept = grown.used & (grown.near < len(parent.N))
    kept[:, :width] &= w > 1e-3 * w.sum(axis=1, keepdims=True)
    order = np.argsort(~kept, axis=1, kind="stable")[:, : min(most, int(kept.sum(axis=1).max(initial=0)))]
    used = np.take_along_axis(kept, order, 1)
    near = np.where(used, np.take_along_axis(grown.near, order, 1), 0)
    side = np.take_along_axis(grown.side, order, 1)
    cosine = _unit(cell.Z[cell.L]) @ _unit(cell.A).T
    normals = np.argsort(-np.abs(cosine), axis=1, kind="stable")[:, :more]
    return replace(
        cell,
        near=np.concatenate([near, len(cell.N) + normals], axis=1),
        side=np.concatenate([side, np.where(np.take_along_axis(cosine, normals, 1) < 0, -1.0, 1.0)], axis=1),
        used=np.concatenate([used, np.ones(normals.shape, dtype=np.bool_)], axis=1),
    )


def with_neighbours(cell: Cell, m: Floats, phi: Floats, most: int) -> Cell:
    """The cell with up to `most` new neighbours for each leader, appended: those with the largest |F_k.m_l| > phi_k.
    (m may have the first coordinates only.)"""
    over = m @ cell.F[:, : m.shape[1]].T
    excess = np.abs(over) / phi - 1
    rows = np.broadcast_to(np.arange(len(cell.L))[:, None], cell.near.shape)
    excess[rows[cell.used], cell.near[cell.used]] = -1.0
    near = np.argsort(-excess, axis=1, kind="stable")[:, :most]
    used = np.take_along_axis(excess, near, 1) > 1e-3
    width = int(used.sum(axis=1).max(initial=0))
    near, used = near[:, :width], used[:, :width]
    side = np.where(np.take_along_axis(over, near, 1) < 0, -1.0, 1.0)
    return replace(
        cell,
        near=np.concatenate([cell.near, near], axis=1),
        side=np.concatenate([cell.side, side], axis=1),
        used=np.concatenate([cell.used, used], axis=1),
    )


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = rows / np.maximum(lengths, 1e-300)
    return unit
