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

from relu_cert.solve.solution import Floats

_TINY = 1e-14
_DEPENDENT = 1e-7  # a pivot of the Cholesky factor of unit columns below this is rounding


def nonnegative_lasso(
    A: Floats, y: Floats, f: Floats, support: list[int], x: Floats, tol: float
) -> tuple[list[int], Floats]:
    """Improve (support, x) until no atom has a_j.r > f_j + tol; x lists the weights of the support."""
    size = np.sqrt(np.einsum("ij,ij->j", A, A))
    size[size <= 0.0] = 1.0
    U, cost = A / size, f / size  # unit atoms
    least = tol / size + _TINY * float(np.sqrt(y @ y))
    support, x = _on_support(U, y, cost, list(support), x * size[support])
    banned: list[int] = []
    for _ in range(20 * A.shape[0] + 200):
        S = U[:, support]
        gain = U.T @ (y - S @ x) - cost - least
        gain[support] = -np.inf
        gain[banned] = -np.inf
        j = int(gain.argmax()) if len(gain) else -1
        if j < 0 or gain[j] <= 0.0:
            break
        before = support
        support, x, moved, whole = enter(U, support, x, j, float(gain[j] + least[j]))
        if not moved:
            banned.append(j)
        elif not whole:
            support, x = _on_support(U, y, cost, support, x)
        elif len(support) > len(before):
            banned = []
    support, x = _on_support(U, y, cost, support, x)
    return support, x / size[support]


def independent(A: Floats) -> bool:
    """Whether the columns are independent by a margin that floats can tell."""
    return _Gram(A / np.sqrt(np.maximum(np.einsum("ij,ij->j", A, A), 1e-300))).regular


def enter(A: Floats, support: list[int], x: Floats, j: int, gain: float) -> tuple[list[int], Floats, bool, bool]:
    """Give atom j weight along (-c, 1): support and weights, whether they moved, and whether by the whole step that
    minimises over the support with j."""
    a, S = A[:, j], A[:, support]
    c = _least_squares(S, a)
    e = a - S @ c
    curvature, limit, block = float(e @ e), np.inf, -1
    falling = np.flatnonzero(c > 0.0)
    if len(falling):
        room = x[falling] / c[falling]
        least = int(room.argmin())
        limit, block = float(room[least]), int(falling[least])
    best = gain / curvature if curvature > _TINY * float(a @ a) else np.inf
    step = min(best, limit)
    if not 0.0 < step < np.inf:
        return support, x, False, False
    weights = np.append(np.maximum(x - step * c, 0.0), step)
    names = [*support, j]
    if step < limit:
        return names, weights, True, True
    keep = [i for i in range(len(names)) if i != block]
    return [names[i] for i in keep], weights[keep], True, False


def _on_support(A: Floats, y: Floats, f: Floats, support: list[int], x: Floats) -> tuple[list[int], Floats]:
    """Minimise over the support, dropping atoms that lose their weight."""
    while support:
        S = A[:, support]
        step = _Gram(S).solve(S.T @ (y - S @ x) - f[support])
        target = x + step
        falling = np.flatnonzero(target <= 0.0)
        if not len(falling):
            return support, target
        room = x[falling] / np.maximum(-step[falling], 1e-300)
        least = int(room.argmin())
        x = np.maximum(x + min(1.0, float(room[least])) * step, 0.0)
        keep = [i for i in range(len(support)) if i != falling[least]]
        support, x = [support[i] for i in keep], x[keep]
    return support, x


class _Gram:
    """Solves with S'S for unit columns S, by Cholesky where S is independent, else by least squares."""

    def __init__(self, S: Floats) -> None:
        self.H = S.T @ S
        self.L, info = dpotrf(self.H, lower=1)
        self.regular = bool(info == 0 and float(self.L.diagonal().min(initial=1.0)) > _DEPENDENT)

    def solve(self, b: Floats) -> Floats:
        """(S'S)^{-1} b, or the shortest least-squares solution."""
        if not len(b):
            return np.zeros(0)
        solved = dpotrs(self.L, b, lower=1)[0] if self.regular else np.linalg.lstsq(self.H, b, rcond=1e-14)[0]
        return np.asarray(solved, dtype=np.float64)


def _least_squares(S: Floats, a: Floats) -> Floats:
    """argmin |S c - a|, refined once."""
    if not S.shape[1]:
        return np.zeros(0)
    gram = _Gram(S)
    c = gram.solve(S.T @ a)
    return c + gram.solve(S.T @ (a - S @ c))
