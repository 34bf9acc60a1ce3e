"""A point of the relaxation on a cell, its slacks, and the scaling of slacks and multipliers of Nesterov and Todd.

phi_k >= |z_k.u|, phi_k >= z_k'U z_k / |z_k|      (followers that are rows)
psi_a <= a.u,     psi_a >= a'U a / |a|            (followers that are normals of the cell)
phi_k >= s_kl z_k.m_l                             (neighbours of leader l)
[[tau, u'], [u, U]] >= 0,  [[tau, m_l'], [m_l, U]] >= 0,   tau = sum of U_ii over the coordinates of the norm
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from relu_cert.leaders.cells import Cell, Floats

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
