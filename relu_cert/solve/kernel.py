"""Newton's method in kernel form.

On fixed faces a with G_a = B_a B_a' the problem is min over alpha >= 0 of

    phi(alpha) = 1/2 y'M^{-1}y + 1/2 lambda^2 sum_a alpha_a,    M = I + sum_a alpha_a G_a,

convex in alpha. With r = M^{-1}y and q_a = G_a r: grad_a = (lambda^2 - r'q_a)/2 and Hessian = Q'M^{-1}Q, nonsingular
where the outputs q_a are independent. The neuron of a face is w_a = alpha_a B_a'r.

For small lambda M is ill-conditioned and |r| is much smaller than |y|; residuals of M r = y are therefore taken in
extended precision, which makes r as accurate as its own size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from relu_cert.solve.prepare import Floats, ResidualFace

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


@dataclass(frozen=True)
class KernelPoint:
    """alpha >= 0, r = M^{-1}y and v_a = B_a'r."""

    alpha: Floats
    r: Floats
    v: list[Floats]


@dataclass(frozen=True)
class _Faces:
    """All B_a side by side; column j belongs to face owner[j]."""

    B: Floats
    owner: NDArray[np.intp]
    starts: NDArray[np.intp]

    def sums(self, a: Floats) -> Floats:
        """Sums over the columns of each face (the last axis)."""
        return np.add.reduceat(a, self.starts, axis=-1)


@dataclass(frozen=True)
class _State:
    alpha: Floats
    r: Floats
    c: Floats  # all B_a'r, one after the other
    phi: float
    L: Floats  # M = L L'


def newton(
    faces: Sequence[ResidualFace], y: Floats, lam: float, alpha: Floats, accuracy: float = 0.0, steps: int = 30
) -> KernelPoint | None:
    """Minimise phi over alpha >= 0 from the given start, by Newton steps on alpha >= 0 with a line search, until
    |r'q_a - lambda^2| <= 2 accuracy lambda^2 where alpha_a > 0. None if the numbers overflow."""
    sizes = np.array([face.B.shape[1] for face in faces])
    data = _Faces(
        np.concatenate([face.B for face in faces], axis=1),
        np.repeat(np.arange(len(faces)), sizes),
        np.cumsum(sizes) - sizes,
    )
    state = _evaluate(data, y, lam, np.maximum(alpha, 0.0))
    last = np.inf
    for _ in range(steps):
        if state is None:
            return None
        grad = 0.5 * (lam * lam - data.sums(state.c * state.c))
        free = (state.alpha > 0.0) | (grad < 0.0)
        error = float(np.abs(grad[free]).max(initial=0.0)) / (lam * lam)
        if error <= max(accuracy, 4e-16) or (error < 1e-10 and error >= 0.5 * last):
            break
        if error < 1e-8:
            state = _sharpen(data, y, state)
            grad = 0.5 * (lam * lam - data.sums(state.c * state.c))
        last = error
        direction = _model_step(data, state, grad)
        better = _search(data, y, lam, state, direction, grad)
        if better is None:
            break
        state = better
    if state is None:
        return None
    if accuracy == 0.0:
        state = _sharpen(data, y, state)
    # B'r is rounded by as much as X'r; once more through P_F, v is exact on its kinks to the size of v itself
    v = [face.P @ c for face, c in zip(faces, np.split(state.c, data.starts[1:]), strict=True)]
    return KernelPoint(state.alpha, state.r, v)


def _evaluate(data: _Faces, y: Floats, lam: float, alpha: Floats) -> _State | None:
    used = np.flatnonzero(alpha[data.owner] > 0.0)
    B = data.B[:, used]
    M = (B * alpha[data.owner[used]]) @ B.T
    np.fill_diagonal(M, M.diagonal() + 1.0)
    L, info = dpotrf(M, lower=1)
    r = dpotrs(L, y, lower=1)[0]
    if info != 0 or not np.isfinite(r).all():
        return None
    return _State(alpha, r, data.B.T @ r, 0.5 * float(y @ r) + 0.5 * lam * lam * float(alpha.sum()), L)


def _sharpen(data: _Faces, y: Floats, state: _State) -> _State:
    """r and B'r as accurate as their own size: two steps of refinement with residuals in extended precision."""
    used = np.flatnonzero(state.alpha[data.owner] > 0.0)
    B = data.B[:, used].astype(np.longdouble)
    weights = state.alpha[data.owner[used]].astype(np.longdouble)
    r = state.r.astype(np.longdouble)
    for _ in range(2):
        error = y - r - B @ (weights * (B.T @ r))
        r = r + dpotrs(state.L, error.astype(np.float64), lower=1)[0]
    c = data.B.T @ r.astype(np.float64)
    c[used] = (B.T @ r).astype(np.float64)
    return _State(state.alpha, r.astype(np.float64), c, state.phi, state.L)


def _search(data: _Faces, y: Floats, lam: float, state: _State, direction: Floats, grad: Floats) -> _State | None:
    """The first of alpha + 2^-i direction, clipped at 0, with a lower phi; None if there is none."""
    length = 1.0
    for _ in range(12):
        alpha = np.maximum(state.alpha + length * direction, 0.0)
        expected = float(grad @ (alpha - state.alpha))
        trial = _evaluate(data, y, lam, alpha) if expected < 0.0 else None
        if trial is not None and (trial.phi <= state.phi + 1e-4 * expected or -expected <= 1e-12 * state.phi):
            return trial
        length *= 0.5
    return None


def _model_step(data: _Faces, state: _State, grad: Floats) -> Floats:
    """The step to the minimum over alpha >= 0 of the second-order model of phi, whose Hessian is F'F, F = L^{-1}Q."""
    F = dtrtrs(state.L, data.sums(data.B * state.c), lower=1)[0]
    support = np.flatnonzero(state.alpha > 0.0).tolist()
    tol = 1e-16 * float(np.abs(grad).max())
    names, x = nonnegative_lasso(F, F @ state.alpha, grad, support, state.alpha[support], tol)
    alpha = np.zeros(len(grad))
    alpha[names] = x
    return alpha - state.alpha
