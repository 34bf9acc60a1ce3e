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

from relu_cert.solve.lasso import nonnegative_lasso
from relu_cert.solve.solution import Face, Floats


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
    faces: Sequence[Face], y: Floats, lam: float, alpha: Floats, accuracy: float = 0.0, steps: int = 30
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
