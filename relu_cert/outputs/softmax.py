"""The softmax cross-entropy sum_k log sum_c exp(f_kc) - Y_k.f_k of classes: training, many digits, bounds.

Optimal v_j are orthogonal to ones: outputs are coordinates in an orthonormal basis of these (`columns`).
Theta = Y - P with P = softmax(fit), and the dual value is the entropy of Y - Theta, whose rows are probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray
from scipy.special import softmax

from relu_cert.exact import Matrix, middle
from relu_cert.outputs.ascent import Floats
from relu_cert.outputs.faces import Face, Model, firsts, owners
from relu_cert.outputs.train import Net, OutputsTask, balanced, lasso

EXACT_BITS = 480  # with which logarithms and exponentials are enclosed
SPARE_BITS = 300  # what bounds give away, far above the width of the enclosures
MOST_STEPS = 40  # for the free terms
MAJORISED = 30  # steps with squares above the loss


@dataclass(frozen=True)
class Chances(OutputsTask):
    """The problem in floats; `columns` takes coordinates to outputs, `labels` is Y."""

    columns: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    labels: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def coefficients(self, f: Floats) -> Floats:
        """Of the columns Q beside these outputs: those of the least loss, by Newton's method."""
        if self.Q is None:
            return np.zeros((0, 0))
        c, C = np.zeros((self.Q.shape[1], f.shape[1])), f.shape[1]
        for _ in range(MOST_STEPS):
            P = softmax((f + self.Q @ c) @ self.columns.T, axis=1)
            g = (self.Q.T @ ((P - self.labels) @ self.columns)).ravel()
            H = np.einsum("kp,kab,kq->paqb", self.Q, self.bend(P), self.Q).reshape(len(g), -1)
            step = np.linalg.lstsq(H, -g, rcond=None)[0].reshape(-1, C)
            c += step / max(1.0, float(np.abs(self.Q @ step).max()))
            if np.abs(step).max() < 1e-14 * max(float(np.abs(c).max()), 1.0):
                break
        return c

    def completed(self, f: Floats) -> Floats:
        """The outputs with the best free terms."""
        return f if self.Q is None else f + self.Q @ self.coefficients(f)

    def bend(self, P: Floats) -> Floats:
        """The second derivative of the loss of each row."""
        PQ = P[:, :, None] * self.columns[None]
        Pc = P @ self.columns
        found: Floats = np.einsum("ca,kcb->kab", self.columns, PQ) - np.einsum("ka,kb->kab", Pc, Pc)
        return found

    def chances(self, f: Floats) -> Floats:
        """P = softmax, of outputs in coordinates."""
        full = self.completed(f) @ self.columns.T
        found: Floats = softmax(full, axis=1)
        return found

    def slope(self, f: Floats) -> Floats:
        """The gradient of the loss in the outputs, in coordinates: P - Y."""
        found: Floats = (self.chances(f) - self.labels) @ self.columns
        return found

    def residual(self, net: Net) -> Floats:
        """Theta = Y - P, in coordinates."""
        return -self.slope(self.outputs(net.W) @ net.V if len(net.W) else np.zeros_like(self.Y))

    def loss(self, f: Floats) -> float:
        """The loss of outputs, in coordinates."""
        full = self.completed(f) @ self.columns.T
        top = full.max(axis=1)
        return float((np.log(np.exp(full - top[:, None]).sum(axis=1)) + top - (full * self.labels).sum(axis=1)).sum())

    def weighed(self, U: Floats, S: Floats, X: Floats) -> Net:
        """About the best weights of fixed directions with the outputs S: 1/4 |f - t|^2 is above the loss, up to a
        constant, and touches it at f."""
        K = 0.5 * (S.T @ S)
        for _ in range(MAJORISED):
            before = X.copy()
            X = lasso(K, K @ X - S.T @ self.slope(S @ X), self.lam, X, 3)
            if np.abs(X - before).max(initial=0.0) < 1e-3 * np.abs(X).max(initial=1e-300):
                break
        return balanced(U, X)

    def model(self, faces: Sequence[Face]) -> Model:
        """The loss while neurons stay on these faces."""
        moved = [self.pooled((self.Z @ face.basis) * face.on[:, None]) for face in faces]
        return OnPieces(self, moved, owners(faces))

    def equations(
        self, moved: Sequence[Floats], x: Sequence[Floats], V: Floats, shift: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """The gradient of the loss in all (x_j, v_j), at the best coefficients of Q, and its derivative, f = sum_j
        (moved_j x_j) v_j'. With a `shift`, what Q adds to f, those coefficients are variables, too, the last ones."""
        S = np.stack([A @ o for A, o in zip(moved, x, strict=True)], axis=1)
        f = S @ V
        f = self.completed(f) if shift is None else f + shift
        P = softmax(f @ self.columns.T, axis=1)
        E, C = (P - self.labels) @ self.columns, V.shape[1]
        blocks = []
        for j, A in enumerate(moved):
            blocks += [A[:, None, :] * V[j][None, :, None], S[:, j][:, None, None] * np.eye(C)[None]]
        if self.Q is not None:
            blocks += [column[:, None, None] * np.eye(C)[None] for column in self.Q.T]
        J = np.concatenate(blocks, axis=2)
        total = J.shape[2]
        H = J.reshape(-1, total).T @ np.einsum("kab,kbt->kat", self.bend(P), J).reshape(-1, total)
        g = J.reshape(-1, total).T @ E.ravel()
        if self.Q is not None and shift is None:
            total -= C * self.Q.shape[1]
            across = H[:total, total:]
            H = H[:total, :total] - across @ np.linalg.pinv(H[total:, total:]) @ across.T
            g = g[:total]
        at = 0
        for A in moved:
            k = A.shape[1]
            X = A.T @ E
            H[at : at + k, at + k : at + k + C] += X
            H[at + k : at + k + C, at : at + k] += X.T
            at += k + C
        return g, H


@dataclass(frozen=True)
class OnPieces:
    """The loss of outputs sum_j (moved_j x_j) v_j'."""

    task: Chances
    moved: Sequence[Floats]
    own: NDArray[np.int64]

    def equations(self, x: Floats, V: Floats) -> tuple[Floats, Floats]:
        """The gradient in all x and V, and its derivative."""
        g, H = self.task.equations(self.moved, np.split(x, firsts(self.own)[1:]), V)
        C, m = V.shape[1], len(V)
        place = [k + C * int(j) for k, j in enumerate(self.own)]  # x_1, v_1, x_2, v_2, ... there
        ends = np.cumsum(np.bincount(self.own, minlength=m)) + C * np.arange(m)
        order = np.array([*place, *(int(end) + c for end in ends for c in range(C))])
        return g[order], H[np.ix_(order, order)]


def chances_of(fit: Matrix, bits: int) -> Matrix:
    """softmax of every row, to so many bits after the point; rows have the sum 1 exactly, and no entry is below 0."""
    before, ctx.prec = ctx.prec, max(EXACT_BITS, bits + 64)
    one = 1 << bits
    try:
        rows = []
        for f in fit:
            top = max(f)
            powers = [(arb(x.numerator) / x.denominator).exp() for x in (y - top for y in f)]
            total = sum(powers, arb(0))
            p = [max(int(middle(y / total) * one), 0) for y in powers]
            p[f.index(top)] += one - sum(p)
            rows.append(tuple(Fraction(x, one) for x in p))
        return tuple(rows)
    finally:
        ctx.prec = before


def dual_point(Y: Matrix, P: Matrix, tau: Fraction, bits: int) -> Matrix:
    """About tau (Y - P), to so many bits after the point, so that the rows of Y - Theta are probabilities."""
    one = 1 << bits
    rows = []
    for y, p in zip(Y, P, strict=True):
        own = max(range(len(y)), key=y.__getitem__)
        theta = [-Fraction(int(tau * x * one), one) for x in p]
        theta[own] = Fraction(0)
        theta[own] = -sum(theta, Fraction(0))
        rows.append(tuple(theta))
    return tuple(rows)


def centred_logs(P: Matrix) -> tuple[Matrix, Fraction]:
    """About log P_k less its mean, row by row, and what all of them together are off at most."""
    before, ctx.prec = ctx.prec, EXACT_BITS
    one = 1 << SPARE_BITS
    try:
        rows = []
        for p in P:
            logs = [(arb(x.numerator) / x.denominator).log() for x in p]
            mean = sum(logs, arb(0)) / len(logs)
            rows.append(tuple(Fraction(int(middle(x - mean) * one), one) for x in logs))
        return tuple(rows), Fraction(2 * len(P) * len(P[0]), one)
    finally:
        ctx.prec = before
