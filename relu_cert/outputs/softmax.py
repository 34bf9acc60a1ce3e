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
from scipy.optimize import minimize

from relu_cert.exact import Matrix, middle
from relu_cert.outputs.ascent import Floats
from relu_cert.outputs.train import Net, OutputsTask, balanced, held, lasso

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
        """The loss."""
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

    def newton(self, net: Net, mu: float, steps: int) -> Net:
        """L-BFGS for all neurons, with (a + sqrt(a^2 + mu^2)) / 2 for (a)_+."""
        (m, d), C = net.W.shape, net.V.shape[1]

        def value(x: Floats) -> tuple[float, Floats]:
            W, V = x[: m * d].reshape(m, d), x[m * d :].reshape(m, C)
            A = self.Z @ W.T
            R = np.sqrt(A * A + mu * mu)
            S = self.pooled(0.5 * (A + R))
            E = self.slope(S @ V)
            gW = (self.spread(E) @ V.T * (0.5 * (1 + A / R))).T @ self.Z + self.lam * W
            total = self.loss(S @ V) + 0.5 * self.lam * float(x @ x)
            return total, np.concatenate([gW.ravel(), (S.T @ E + self.lam * V).ravel()])

        begin = np.concatenate([net.W.ravel(), net.V.ravel()])
        options = {"maxiter": 20 * steps, "maxfun": 40 * steps, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 40}
        x = minimize(value, begin, jac=True, method="L-BFGS-B", options=options).x
        return Net(x[: m * d].reshape(m, d), x[m * d :].reshape(m, C))

    def polished(self, net: Net, width: float, steps: int = 30) -> Net | None:
        """Newton with the rows at which a neuron is nearly zero held there; None where that leaves a neuron nothing."""
        found = held(self, net, width)
        if found is None:
            return None
        bases, moved = found
        x, V = [b.T @ w for b, w in zip(bases, net.W, strict=True)], net.V.copy()
        C, sizes = V.shape[1], [len(o) for o in x]
        for _ in range(steps):
            g, H = self.equations(moved, x, V)
            H[np.diag_indices(len(H))] += self.lam
            flat = np.concatenate([part for o, v in zip(x, V, strict=True) for part in (o, v)])
            g += self.lam * flat
            p = -np.linalg.lstsq(H, g, rcond=1e-13)[0]
            if not np.isfinite(p).all():
                return None
            flat = flat + min(1.0, 0.3 * float(np.linalg.norm(flat)) / max(float(np.linalg.norm(p)), 1e-300)) * p
            at = 0
            for i, k in enumerate(sizes):
                x[i], V[i] = flat[at : at + k], flat[at + k : at + k + C]
                at += k + C
            if np.linalg.norm(p) < 1e-15 * np.linalg.norm(flat):
                break
        return Net(np.stack([b @ o for b, o in zip(bases, x, strict=True)]), V)

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
