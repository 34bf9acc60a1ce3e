"""The Newton equations of the interior point method on one cell, with the leaders eliminated one by one.

A block's scaling matrix is G = g00 (1, -a)(1, -a)' + Pi. With e = dm - dU a its quadratic form is

    tr(dX G dX G) = g00^2 (omega - 2 a.e)^2 + 2 g00 e'Pi e + tr(Pi dU Pi dU),    omega = tr_norm(dU) - a'dU a,

so e is eliminated leader by leader (d x d systems), and what is left sees dU through dU a, omega and Pi only: no matrix
is larger than d(d+1)/2 + d + the number of followers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from relu_cert.bags import EACH, Each
from relu_cert.leaders.cells import Cell, CellPoint, Floats, Scaling, Slacks


@dataclass(frozen=True)
class Eliminated:
    """What is left of a cell's equations: R (factored, with its diagonal scaled to 1), the Jacobian of the fit, and
    what recovers the leaders: their a, omega, the inverse of H and C (columns: dU a, omega, neighbours' phi)."""

    factor: Floats
    scale: Floats
    solved: Floats  # factor^-1 scale J'P'
    own: Floats  # z_l'H_l^-1 z_l / 4, the leaders' own part of J Hess^-1 J'
    bags: Each  # P
    a: Floats
    omega: Floats
    H_inverse: Floats
    C: Floats


def eliminate(cell: Cell, scaling: Scaling, slack: Slacks, dual: Slacks, bags: Each = EACH) -> Eliminated:
    """Assemble and factor the reduced equations."""
    d, leaders, K = cell.Z.shape[1], len(cell.L), cell.near.shape[1]
    i, j, half = cell.triangle
    G = scaling.root.transpose(0, 2, 1) @ scaling.root
    g = G[:leaders, 0, 0]
    a_all = -G[:, 1:, 0] / G[:, 0, 0][:, None]
    Pi = G[:, 1:, 1:] - G[:, 0, 0][:, None, None] * _outer(a_all)
    a = a_all[:leaders]
    weight = np.where(cell.used, dual.cut / slack.cut, 0.0)
    near = cell.F[cell.near]
    heavy = weight[:, :, None] * near
    W = near.transpose(0, 2, 1) @ heavy
    H = W + (4 * g**2)[:, None, None] * _outer(a) + (2 * g)[:, None, None] * Pi[:leaders]
    H_inverse = np.asarray(np.linalg.inv(H), dtype=np.float64)
    pulls = -(cell.side[:, :, None] * heavy)
    C = np.concatenate([W, -(2 * g**2)[:, None, None] * a[:, :, None], pulls.transpose(0, 2, 1)], axis=2)
    HC = H_inverse @ C
    T = -(C.transpose(0, 2, 1) @ HC)
    T[:, :d, :d] += W
    T[:, d, d] += g**2
    T[:, :d, d + 1 :] += pulls.transpose(0, 2, 1)
    T[:, d + 1 :, :d] += pulls
    diagonal = np.arange(d + 1, d + 1 + K)
    T[:, diagonal, diagonal] += weight
    omega = -a[:, i] * a[:, j] * (2 * half)
    omega[:, i == j] += cell.norm
    R = np.zeros((cell.size, cell.size))
    _add_U(R, cell, T, a, omega, Pi)
    _add_u(R, cell, a_all[-1], G[-1, 0, 0], Pi[-1])
    _add_linear(R, cell, slack, dual)
    _add_followers(R, cell, T, a, omega)
    J = bags.pooled_floats(_jacobian(cell, HC, a, omega))
    if not np.diag(R).min() > 0:
        raise np.linalg.LinAlgError("the equations have no positive diagonal any more")
    scale = 1 / np.sqrt(np.diag(R))
    factor = _factor(R * scale[:, None] * scale[None, :])
    solved = sl.solve_triangular(factor, (J * scale).T, lower=True, check_finite=False)
    ZL = cell.Z[cell.L]
    own = np.zeros(len(cell.Z))
    own[cell.L] = 0.25 * np.einsum("ld,lde,le->l", ZL, H_inverse, ZL)
    return Eliminated(factor, scale, solved, own, bags, a, omega, H_inverse, C)


@dataclass(frozen=True)
class Right:
    """A right-hand side: reduced and half solved (`solved`), the leaders' part, and P J Hess^-1 of it."""

    solved: Floats
    leaders: Floats
    fit: Floats


def right_side(cell: Cell, left: Eliminated, target: Slacks, lam: float) -> Right:
    """-lambda grad tau + the adjoint of the slacks at `target`, reduced."""
    d, rows = cell.Z.shape[1], len(cell.N)
    i, j, half = cell.triangle
    size = len(i)
    cut = np.where(cell.used, target.cut, 0.0)
    gm = 2 * target.blocks[:-1, 0, 1:] - np.einsum("lk,lkd->ld", cell.side * cut, cell.F[cell.near])
    gU = target.blocks[:, 1:, 1:].sum(axis=0) + np.diag(cell.norm * (target.blocks[:, 0, 0].sum() - lam))
    solved_m = np.einsum("lde,le->ld", left.H_inverse, gm)
    back = np.einsum("ldc,ld->lc", left.C, solved_m)
    r = np.zeros(cell.size)
    gy = gm - back[:, :d]
    r[:size] = 2 * half * gU[i, j] - cell.squares.T @ target.square
    r[:size] += (_pair(gy, left.a, cell)).sum(axis=0) - left.omega.T @ back[:, d]
    r[size : size + d] = 2 * target.blocks[-1, 0, 1:] + cell.F[:rows].T @ (target.minus - target.plus)
    r[size : size + d] += cell.A.T @ target.inside
    phi = r[size + d :]
    phi += target.square
    phi[:rows] += target.plus + target.minus
    phi[rows:] -= target.inside
    phi += np.bincount(cell.near.ravel(), (cut - back[:, d + 1 :]).ravel(), minlength=len(cell.F))[: len(cell.F)]
    solved = sl.solve_triangular(left.factor, r * left.scale, lower=True, check_finite=False)
    own = np.zeros(len(cell.Z))
    own[cell.L] = 0.5 * cell.xi * np.einsum("ld,ld->l", cell.Z[cell.L], solved_m)
    return Right(solved, gm, left.solved.T @ solved + left.bags.pooled_floats(own))


def recover(cell: Cell, left: Eliminated, right: Right, theta: Floats) -> CellPoint:
    """The step of all unknowns, once the new theta is known."""
    d = cell.Z.shape[1]
    i, j, _ = cell.triangle
    size = len(i)
    x, t = left.solved @ theta + right.solved, left.bags.spread_floats(theta)
    x = left.scale * sl.solve_triangular(left.factor, x, lower=True, trans=1, check_finite=False)
    U = np.zeros((d, d))
    U[i, j] = U[j, i] = x[:size]
    phi = x[size + d :]
    y = left.a @ U
    seen = np.concatenate([y, (left.omega @ x[:size])[:, None], phi[cell.near]], axis=1)
    pull = right.leaders + 0.5 * cell.xi * t[cell.L][:, None] * cell.Z[cell.L]
    e = np.einsum("lde,le->ld", left.H_inverse, pull - np.einsum("ldc,lc->ld", left.C, seen))
    return CellPoint(U, x[size : size + d], phi, e + y)


def _outer(a: Floats) -> Floats:
    product: Floats = a[:, :, None] * a[:, None, :]
    return product


def _pair(r: Floats, a: Floats, cell: Cell) -> Floats:
    """The coordinates of dU -> r.(dU a), row by row."""
    i, j, half = cell.triangle
    coordinates: Floats = (r[:, i] * a[:, j] + r[:, j] * a[:, i]) * half
    return coordinates


def _add_U(R: Floats, cell: Cell, T: Floats, a: Floats, omega: Floats, Pi: Floats) -> None:
    """The part of dU alone: (dU a)'T(dU a), 2 omega t.(dU a), t omega^2 and tr(Pi dU Pi dU)."""
    d, leaders = cell.Z.shape[1], len(a)
    i, j, half = cell.triangle
    outer = _outer(a).reshape(leaders, d * d).T @ np.ascontiguousarray(T[:, :d, :d]).reshape(leaders, d * d)
    flat = Pi.reshape(len(Pi), d * d)
    X = (outer + flat.T @ flat).reshape(d, d, d, d).transpose(2, 0, 3, 1)
    X = (X + X.transpose(1, 0, 2, 3))[i, j]
    X = (X + X.transpose(0, 2, 1))[:, i, j] * (half[:, None] * half[None, :])
    mixed = _pair(T[:, :d, d], a, cell).T @ omega
    size = len(i)
    R[:size, :size] += X + mixed + mixed.T + omega.T @ (T[:, d, d][:, None] * omega)


def _add_u(R: Floats, cell: Cell, a: Floats, g: float, Pi: Floats) -> None:
    """The block of u, which is not eliminated."""
    d = cell.Z.shape[1]
    i, j, half = cell.triangle
    size = len(i)
    e = np.zeros((d, size + d))
    columns = np.arange(size)
    np.add.at(e, (i, columns), -a[j] * half)
    np.add.at(e, (j, columns), -a[i] * half)
    e[:, size:] = np.eye(d)
    s = -2 * (a @ e)
    s[:size] -= a[i] * a[j] * (2 * half)
    s[:size][i == j] += cell.norm
    R[: size + d, : size + d] += e.T @ ((2 * g) * Pi @ e) + g**2 * np.outer(s, s)


def _add_linear(R: Floats, cell: Cell, slack: Slacks, dual: Slacks) -> None:
    """The linear inequalities that do not touch leaders."""
    d, rows, size = cell.Z.shape[1], len(cell.N), len(cell.triangle[0])
    plus, minus = dual.plus / slack.plus, dual.minus / slack.minus
    inside, square = dual.inside / slack.inside, dual.square / slack.square
    U, u, phi = slice(0, size), slice(size, size + d), slice(size + d, None)
    N = cell.F[:rows]
    R[U, U] += cell.squares.T @ (cell.squares * square[:, None])
    R[u, u] += (N * (plus + minus)[:, None]).T @ N + (cell.A * inside[:, None]).T @ cell.A
    both = np.concatenate([(minus - plus)[:, None] * N, -inside[:, None] * cell.A])
    R[phi, u] += both
    R[u, phi] += both.T
    down = -cell.squares * square[:, None]
    R[phi, U] += down
    R[U, phi] += down.T
    diagonal = square.copy()
    diagonal[:rows] += plus + minus
    diagonal[rows:] += inside
    at = np.arange(size + d, cell.size)
    R[at, at] += diagonal


def _add_followers(R: Floats, cell: Cell, T: Floats, a: Floats, omega: Floats) -> None:
    """What the eliminated leaders leave between their neighbours, and between those and dU."""
    d, K, size, count = cell.Z.shape[1], cell.near.shape[1], len(cell.triangle[0]), len(cell.F)
    total = np.zeros((count, size))
    each = np.arange(len(a))
    for k in range(K):  # one neighbour of every leader at a time: all at once would not fit for many rows and columns
        down = _pair(T[:, d + 1 + k, :d], a, cell) + T[:, d + 1 + k, d][:, None] * omega
        total += sp.csr_matrix((np.ones(len(a)), (cell.near[:, k], each)), shape=(count, len(a))) @ down
    phi = slice(size + d, None)
    R[phi, :size] += total
    R[:size, phi] += total.T
    at = (cell.near[:, :, None] * count + cell.near[:, None, :]).ravel()
    R[phi, phi] += np.bincount(at, T[:, d + 1 :, d + 1 :].ravel(), minlength=count * count).reshape(count, count)


def _jacobian(cell: Cell, HC: Floats, a: Floats, omega: Floats) -> Floats:
    """The derivative of the fit, with the leaders eliminated."""
    d, K, size, rows = cell.Z.shape[1], cell.near.shape[1], len(cell.triangle[0]), len(cell.N)
    ZL = cell.Z[cell.L]
    back = -np.einsum("ld,ldc->lc", ZL, HC)
    J = np.zeros((len(cell.Z), cell.size))
    J[cell.L, :size] = _pair(ZL + back[:, :d], a, cell) + back[:, d][:, None] * omega
    np.add.at(J, (np.repeat(cell.L, K), size + d + cell.near.ravel()), back[:, d + 1 :].ravel())
    J[cell.N, size + d + np.arange(rows)] = 1.0
    J[:, size : size + d] += cell.Z
    J *= 0.5 * cell.xi
    return J


def _factor(R: Floats) -> Floats:
    """The Cholesky factor of R, whose diagonal is 1, with as little added to the diagonal as is needed."""
    at = np.arange(len(R))
    more = 1e-14
    while True:
        R[at, at] = 1 + more
        try:
            factor = np.asarray(np.linalg.cholesky(R), dtype=np.float64)
        except np.linalg.LinAlgError:
            more *= 100
            if more > 1:
                raise
        else:
            return factor
