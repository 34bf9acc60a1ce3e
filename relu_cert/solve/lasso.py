"""Nonnegative least squares with linear costs: min 1/2|y - A x|^2 + f'x subject to x >= 0.

With f = lambda it is the restricted master over fixed directions; with f = grad phi, the model of a Newton step.
A primal active-set method. The entering direction is measured against the span of the support, so that dependent
atoms need no special case: with a_j = A_S c + e and g = a_j.r - f_j > 0, the objective falls along (-c, 1) at the
rate g with curvature |e|^2, until it is minimal or an atom of the support has lost its weight.
The support that is returned is independent up to rounding.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from relu_cert.solve.model import Floats

_TINY = 1e-14


def nonnegative_lasso(
    A: Floats, y: Floats, f: Floats, support: list[int], x: Floats, tol: float
) -> tuple[list[int], Floats]:
    """Improve (support, x) until no atom has a_j.r > f_j + tol; x lists the weights of the support."""
    size = np.sqrt(np.einsum("ij,ij->j", A, A))
    least = tol + _TINY * size * np.linalg.norm(y)
    banned = np.zeros(A.shape[1], dtype=bool)
    support, x = _settle(A, y, f, list(support), x.copy())
    for _ in range(20 * A.shape[0] + 200):
        r = y - A[:, support] @ x
        gain = A.T @ r - f - least
        gain[support] = -np.inf
        gain[banned] = -np.inf
        j = int(gain.argmax()) if len(gain) else 0
        if not len(gain) or gain[j] <= 0.0:
            break
        before = len(support)
        support, x, moved = enter(A, support, x, j, float(gain[j] + least[j]))
        if not moved:
            banned[j] = True
            continue
        support, x = _settle(A, y, f, support, x)
        if len(support) > before:
            banned[:] = False
    return support, x


def independent(A: Floats) -> bool:
    """Whether the columns are independent by a margin that floats can tell."""
    return _Gram(A).regular


def enter(A: Floats, support: list[int], x: Floats, j: int, gain: float) -> tuple[list[int], Floats, bool]:
    """Give atom j weight along (-c, 1)."""
    a = A[:, j]
    c = _least_squares(A[:, support], a)
    e = a - A[:, support] @ c
    curvature = float(e @ e)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(c > 0.0, x / c, np.inf)
    block = int(room.argmin()) if len(room) else -1
    limit = float(room[block]) if len(room) else np.inf
    best = gain / curvature if curvature > _TINY * float(a @ a) else np.inf
    step = min(best, limit)
    if not np.isfinite(step) or step <= 0.0:
        return support, x, False
    moved = np.append(np.maximum(x - step * c, 0.0), step)
    names = [*support, j]
    if step == limit:
        moved = np.delete(moved, block)
        del names[block]
    return names, moved, True


def _settle(A: Floats, y: Floats, f: Floats, support: list[int], x: Floats) -> tuple[list[int], Floats]:
    """Minimise over the support, dropping atoms that lose their weight."""
    while support:
        S = A[:, support]
        r = y - S @ x
        step = _Gram(S).solve(S.T @ r - f[support])
        target = x + step
        if (target > 0.0).all():
            return support, target
        falling = target <= 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(falling, x / (x - target), np.inf)
        block = int(room.argmin())
        x = np.maximum(x + min(1.0, float(room[block])) * step, 0.0)
        x = np.delete(x, block)
        del support[block]
    return support, x


class _Gram:
    """Solves with S'S, by Cholesky where S is independent, else by the shortest least-squares solution."""

    def __init__(self, S: Floats) -> None:
        H = S.T @ S
        self.scale = 1.0 / np.sqrt(np.maximum(np.diag(H), 1e-300))
        self.H = H * self.scale[:, None] * self.scale
        self.L, info = dpotrf(self.H, lower=1)
        self.regular = info == 0 and float(np.diag(self.L).min(initial=1.0)) > 1e-7

    def solve(self, b: Floats) -> Floats:
        """(S'S)^{-1} b"""
        if not len(b):
            return np.zeros(0)
        scaled = self.scale * b
        if self.regular:
            solved: Floats = self.scale * dpotrs(self.L, scaled, lower=1)[0]
            return solved
        shortest: Floats = self.scale * np.linalg.lstsq(self.H, scaled, rcond=1e-14)[0]
        return shortest


def _least_squares(S: Floats, a: Floats) -> Floats:
    """argmin |S c - a|, refined once."""
    gram = _Gram(S)
    c = gram.solve(S.T @ a)
    return c + gram.solve(S.T @ (a - S @ c))
