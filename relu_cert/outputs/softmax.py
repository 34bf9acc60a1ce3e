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

from relu_cert.exact import Matrix, middle
from relu_cert.outputs.ascent import Floats
from relu_cert.outputs.faces import Face, Model, firsts, owners
from relu_cert.outputs.train import Net, OutputsTask, balanced, lasso

EXACT_BITS = 480  # with which logarithms and exponentials are enclosed
SPARE_BITS = 300  # what bounds give away, far above the width of the enclosures
MAJORISED = 30  # steps with squares above the loss


@dataclass(frozen=True)
class Chances(OutputsTask):
    """The problem in floats; `columns` takes coordinates to outputs, `labels` is Y."""

    columns: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    labels: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def chances(self, f: Floats) -> Floats:
        """P = softmax, of outputs in coordinates."""
        full = f @ self.columns.T
        P = np.exp(full - full.max(axis=1, keepdims=True))
        found: Floats = P / P.sum(axis=1, keepdims=True)
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
        full = f @ self.columns.T
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

    def equations(self, moved: Sequence[Floats], x: Sequence[Floats], V: Floats) -> tuple[Floats, Floats]:
        """The gradient of the loss in all (x_j, v_j) and its derivative, f = sum_j (moved_j x_j) v_j'."""
        S = np.stack([A @ o for A, o in zip(moved, x, strict=True)], axis=1)
        P = self.chances(S @ V)
        E = (P - self.labels) @ self.columns
        C = V.shape[1]
        blocks = []
        for j, A in enumerate(moved):
            blocks += [A[:, None, :] * V[j][None, :, None], S[:, j][:, None, None] * np.eye(C)[None]]
        J = np.concatenate(blocks, axis=2)
        PQ = P[:, :, None] * self.columns[None]
        bend = np.einsum("ca,kcb->kab", self.columns, PQ) - np.einsum("ka,kb->kab", P @ self.columns, P @ self.columns)
        total = J.shape[2]
        H = J.reshape(-1, total).T @ np.einsum("kab,kbt->kat", bend, J).reshape(-1, total)
        g = J.reshape(-1, total).T @ E.ravel()
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
