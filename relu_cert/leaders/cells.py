"""The data of the relaxation on one cell {u : A u >= 0} of R^d and for one sign xi: leaders, followers, neighbours.

A point of the relaxation on a cell, its slacks, and the scaling of slacks and multipliers of Nesterov and Todd.

phi_k >= |z_k.u|, phi_k >= z_k'U z_k / |z_k|      (followers that are rows)
psi_a <= a.u,     psi_a >= a'U a / |a|            (followers that are normals of the cell)
phi_k >= s_kl z_k.m_l                             (neighbours of leader l)
[[tau, u'], [u, U]] >= 0,  [[tau, m_l'], [m_l, U]] >= 0,   tau = sum of U_ii over the coordinates of the norm
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
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
    `along` is the number of the direction of the outputs that it is about, if there are several.
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
    along: int = 0

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
    """The cell with the nearest followers, by angle, as each leader's neighbours; rows of zeros are neither."""
    d = Z.shape[1]
    A = np.zeros((0, d)) if A is None else A
    seen = Z.any(axis=1)
    L, N = np.flatnonzero(seen & (xi * theta > 0)), np.flatnonzero(seen & (xi * theta <= 0))
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


EVEN = 0.3  # how even the first U is, where rows have a direction in common
LINEAR = ("plus", "minus", "inside", "square", "cut")


@dataclass(frozen=True)
class CellPoint:
    """The unknowns of a cell: U (d x d), u, phi (one for each follower) and m (one row for each leader)."""

    U: Floats
    u: Floats
    phi: Floats
    m: Floats

    def moved(self, step: float, by: CellPoint) -> CellPoint:
        """The point + step times `by`."""
        return CellPoint(*(getattr(self, f.name) + step * getattr(by, f.name) for f in fields(self)))


@dataclass(frozen=True)
class Slacks:
    """One entry for each constraint: semidefinite blocks (those of the leaders, then that of u) and five linear kinds.

    Multipliers have the same shape. Entries of `cut` that are not used are 1 in slacks and 0 in multipliers.
    """

    blocks: Floats
    plus: Floats
    minus: Floats
    inside: Floats
    square: Floats
    cut: Floats

    def map(self, change: Callable[..., Floats], *others: Slacks) -> dict[str, Floats]:
        """change(entry, others' entries) for the linear kinds."""
        return {k: change(getattr(self, k), *(getattr(o, k) for o in others)) for k in LINEAR}


def inner(one: Slacks, other: Slacks) -> float:
    """The inner product of slacks and multipliers."""
    linear = sum(float(np.vdot(getattr(one, k), getattr(other, k))) for k in LINEAR)
    return float(np.vdot(one.blocks, other.blocks)) + linear


def slacks(cell: Cell, point: CellPoint) -> Slacks:
    """The slacks: linear in the point (but for the entries of `cut` that are not used)."""
    rows = len(cell.N)
    along, phi = cell.F @ point.u, point.phi
    i, j, _ = cell.triangle
    cut = phi[cell.near] - cell.side * np.einsum("lkd,ld->lk", cell.F[cell.near], point.m)
    return Slacks(
        blocks=blocks(cell, point),
        plus=phi[:rows] - along[:rows],
        minus=phi[:rows] + along[:rows],
        inside=along[rows:] - phi[rows:],
        square=phi - cell.squares @ point.U[i, j],
        cut=np.where(cell.used, cut, 1.0),
    )


def blocks(cell: Cell, point: CellPoint) -> Floats:
    """[[tau, m'], [m, U]] for every leader, and the same with u."""
    d = len(point.u)
    tops = np.concatenate([point.m, point.u[None]])
    X = np.empty((len(tops), d + 1, d + 1))
    X[:, 0, 0] = tau(cell, point)
    X[:, 0, 1:] = X[:, 1:, 0] = tops
    X[:, 1:, 1:] = point.U
    return X


def tau(cell: Cell, point: CellPoint) -> float:
    """The mass: the trace of U over the coordinates of the norm."""
    return float(cell.norm @ np.diag(point.U))


def fit(cell: Cell, point: CellPoint) -> Floats:
    """xi (Z u + phi) / 2, with phi_l = z_l.m_l for the leaders."""
    total = cell.Z @ point.u
    total[cell.L] += np.einsum("ld,ld->l", cell.Z[cell.L], point.m)
    total[cell.N] += point.phi[: len(cell.N)]
    result: Floats = 0.5 * cell.xi * total
    return result


def start(cell: Cell, scale: float) -> CellPoint:
    """A strictly feasible point of mass about `scale`."""
    d, rows = cell.Z.shape[1], len(cell.N)
    gram = cell.Z.T @ cell.Z
    K = np.asarray(np.linalg.inv(EVEN * np.eye(d) + gram / max(float(np.trace(gram)), 1e-300)), dtype=np.float64)
    U, u = K * (scale / float(np.trace(K))), np.zeros(d)  # less where all rows are long
    angle = 0.5
    while len(cell.A):  # directions at this angle from the centre, and a little less than their mean for u
        inner_share, outer = np.cos(angle) ** 2, np.sin(angle) ** 2 / (d - 1)
        c = np.outer(cell.centre, cell.centre)
        U = scale * (inner_share * c + outer * (np.eye(d) - c))
        u = scale * np.cos(angle) * (1 - angle**2 / 8) * cell.centre
        low, high = np.einsum("ij,jk,ik->i", cell.A, U, cell.A) / cell.lengths[rows:], cell.A @ u
        if (low < high).all():
            break
        angle /= 2
        if angle < 1e-5:
            raise np.linalg.LinAlgError("the centre of a cell lies on its boundary")
    square = np.einsum("ij,jk,ik->i", cell.F, U, cell.F) / cell.lengths
    phi = np.maximum(1.5 * square, 1.2 * np.abs(cell.F @ u)) + 1e-3 * scale * np.linalg.norm(cell.F, axis=1)
    phi = np.maximum(phi, 0.5 * np.sqrt(square * np.minimum(cell.lengths, 1e300) * scale))
    if len(cell.A):
        phi[rows:] = (low + high) / 2
    return CellPoint(U, u, np.maximum(phi, 1e-9 * scale), np.zeros((len(cell.L), d)))


@dataclass(frozen=True)
class Scaling:
    """X = S in the coordinates of `root`: root X root' = root^-T S root^-1 = diag(sigma); G = root'root, G X G = S."""

    root: Floats
    sigma: Floats

    def inwards(self, X: Floats) -> Floats:
        """A change of the slacks in scaled coordinates."""
        return self.root @ X @ self.root.transpose(0, 2, 1)

    def outwards(self, S: Floats) -> Floats:
        """Multipliers from scaled coordinates."""
        return self.root.transpose(0, 2, 1) @ S @ self.root

    def step(self, change: Floats) -> float:
        """The largest step for which diag(sigma) + step change stays semidefinite."""
        r = 1 / np.sqrt(self.sigma)
        least = float(np.linalg.eigvalsh(change * r[:, :, None] * r[:, None, :])[:, 0].min())
        return np.inf if least >= 0 else -1 / least

    def divided(self, A: Floats) -> Floats:
        """The symmetric D with (diag(sigma) D + D diag(sigma)) / 2 = A."""
        quotient: Floats = 2 * A / (self.sigma[:, :, None] + self.sigma[:, None, :])
        return quotient


def scaling(X: Floats, S: Floats) -> Scaling:
    """The scaling of positive definite blocks."""
    L = np.linalg.cholesky(X)
    Lt = L.transpose(0, 2, 1)
    squares, V = np.linalg.eigh(Lt @ S @ L)
    sigma = np.sqrt(np.maximum(squares, 1e-300))
    root = np.sqrt(sigma)[:, :, None] * np.linalg.solve(Lt, V).transpose(0, 2, 1)
    return Scaling(root, sigma)


def linear_step(value: Floats, change: Floats) -> float:
    """The largest step for which the entries stay >= 0."""
    falling = change < 0
    return float((-value[falling] / change[falling]).min(initial=np.inf))
