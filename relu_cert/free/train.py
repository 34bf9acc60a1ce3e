"""A network with free terms in floats, without a list of patterns: column generation, as in relu_cert.cover.train.

The free outputs B are projected away: what is minimised is 1/2 |P(f - y)|^2 + lambda sum |v|, P = I - QQ' with the
orthonormal columns Q of B, and P(y - f) is the residual with their best coefficients. Biases that the norm does not see
are chosen best for given weights: theta.1 = 0, so that theta.(Xw + b)_+ is piecewise linear in b and constant at both
ends, and its maximum is where a row is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relu_cert.cover.train import Trained, ascend, weigh
from relu_cert.leaders.cells import Floats

STARTS = 100
COARSE, FINE = (1e-2, 1e-3, 1e-4), (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
NEAR = 1e-7  # neurons with such a difference of directions are one


@dataclass(frozen=True)
class Task:
    """Z, y, lambda, an orthonormal basis Q of the free outputs, and whether the last weight of a neuron is free."""

    Z: Floats
    y: Floats
    lam: float
    Q: Floats
    biases: bool

    def project(self, A: Floats) -> Floats:
        """P A"""
        projected: Floats = A - self.Q @ (self.Q.T @ A)
        return projected

    @property
    def seen(self) -> Floats:
        """1 for the weights that are in the norm, else 0."""
        mask = np.ones(self.Z.shape[1])
        mask[-1] = not self.biases
        return mask

    def sizes(self, V: Floats) -> Floats:
        """|v| of every neuron."""
        sizes: Floats = np.linalg.norm(V * self.seen, axis=1)
        return sizes


def orthonormal(B: Floats) -> Floats:
    """An orthonormal basis of the range of B."""
    if not B.shape[1]:
        return B
    U, s, _ = np.linalg.svd(B, full_matrices=False)
    basis: Floats = U[:, s > 1e-10 * s[0]]
    return basis


def objective(task: Task, V: Floats, xi: Floats) -> tuple[float, Floats]:
    """1/2 |P(fit - y)|^2 + lambda sum |v|, and the residual."""
    r = task.project(task.y - np.maximum(task.Z @ V.T, 0.0) @ xi)
    return 0.5 * float(r @ r) + task.lam * float(task.sizes(V).sum()), r


def climb(task: Task, t: Floats, U: Floats, steps: int = 60) -> tuple[Floats, Floats]:
    """Local maxima of t.(Zu)_+ / |u| from every row of U."""
    if not task.biases:
        return ascend(task.Z, t, U, steps)
    X = task.Z[:, :-1]
    W = U[:, :-1] / np.linalg.norm(U[:, :-1], axis=1, keepdims=True)
    best, at, pull = np.full(len(W), -np.inf), U.copy(), W.copy()
    step = np.ones(len(W))
    for _ in range(steps):
        heights = W @ X.T
        order = np.argsort(-heights, axis=1, kind="stable")
        h = np.take_along_axis(heights, order, 1)
        mass = np.cumsum(t[order], axis=1)
        values = np.cumsum(t[order] * h, axis=1) - h * mass
        i = np.argmax(values, axis=1)
        each = np.arange(len(W))
        better = values[each, i] > best
        k = order[each, i]
        on = (heights > h[each, i][:, None]) * t
        gradient = on @ X - on.sum(axis=1)[:, None] * X[k]
        at[better] = np.column_stack([W, -h[each, i]])[better]
        pull[better] = gradient[better] / np.maximum(np.linalg.norm(gradient[better], axis=1, keepdims=True), 1e-300)
        best[better] = values[each, i][better]
        step *= np.where(better, 1.1, 0.6)
        W = at[:, :-1] + step[:, None] * pull
        W /= np.linalg.norm(W, axis=1, keepdims=True)
    return at, best


def largest(task: Task, rng: np.random.Generator) -> tuple[float, int, Floats]:
    """About the least lambda for which the free terms alone are optimal; the sign and direction that says so."""
    r = task.project(task.y)
    n, d = task.Z.shape
    U = np.vstack([rng.standard_normal((STARTS, d)), task.Z[rng.permutation(n)[:STARTS]]])
    U = U[task.sizes(U) > 1e-12]
    found = []
    for xi in (1, -1):
        at, best = climb(task, xi * r, U)
        found.append((float(best.max()), xi, at[int(best.argmax())]))
    return max(found, key=lambda one: one[0])


def train(task: Task, rounds: int = 20, told: Callable[[int, float], None] = lambda neurons, value: None) -> Trained:
    """A network that no local ascent improves."""
    rng = np.random.default_rng(1)
    V, xi = np.zeros((0, task.Z.shape[1])), np.zeros(0)
    best: Trained | None = None
    for number in range(rounds):
        value, r = objective(task, V, xi)
        told(len(V), value)
        if best is None or value < best.objective:
            best = Trained(V, xi, r, value)
        U, signs, worst = _violators(task, r, V, xi, rng)
        if not len(U) or worst < 1e-9:
            break
        directions = np.vstack([V / task.sizes(V)[:, None], U])
        signs = np.concatenate([xi, signs])
        columns = task.project(np.maximum(task.Z @ directions.T, 0.0) * signs)
        alpha = weigh(columns, task.project(task.y), task.lam)
        used = alpha > 1e-10 * max(float(alpha.max(initial=0.0)), 1e-300)
        if not used.any():
            break
        V, xi = directions[used] * alpha[used, None], signs[used]
        V, xi = _moved(task, V, xi, COARSE if worst > 1e-2 and number < rounds // 2 else FINE)
        V, xi = _merged(task, V, xi)
    if best is None or objective(task, V, xi)[0] <= best.objective:
        best = Trained(V, xi, objective(task, V, xi)[1], objective(task, V, xi)[0])
    if len(best.V):
        V, xi = _moved(task, best.V, best.xi, tuple(10.0**-e for e in range(6, 12)))
        best = Trained(V, xi, objective(task, V, xi)[1], objective(task, V, xi)[0])
    return best


def _violators(task: Task, r: Floats, V: Floats, xi: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, float]:
    """Local maxima above lambda, and by how much, relatively."""
    found, signs, worst = [], [], 0.0
    n, d = task.Z.shape
    for sign in (1.0, -1.0):
        rows = (sign * r[:, None] * task.Z)[rng.permutation(n)[:STARTS]]
        U = np.vstack([rng.standard_normal((STARTS, d)), V[xi == sign], rows])
        at, best = climb(task, sign * r, U[task.sizes(U) > 1e-12])
        worst = max(worst, float(best.max()) / task.lam - 1.0)
        chosen: list[Floats] = []
        for i in np.argsort(-best):
            if best[i] <= task.lam * (1.0 + 1e-9) or len(chosen) >= 15:
                break
            if all(np.abs(at[i] - u).max() > 1e-2 for u in chosen):
                chosen.append(at[i])
        found += chosen
        signs += [sign] * len(chosen)
    return np.array(found).reshape(-1, d), np.array(signs), worst


def _merged(task: Task, V: Floats, xi: Floats) -> tuple[Floats, Floats]:
    """Neurons of one direction and sign are one."""
    V, kept = V.copy(), np.ones(len(V), dtype=bool)
    U = V / task.sizes(V)[:, None]
    for i in range(len(V)):
        for j in range(i + 1, len(V)):
            if kept[i] and kept[j] and xi[i] == xi[j] and np.abs(U[i] - U[j]).max() < NEAR:
                V[i] += V[j]
                kept[j] = False
    return V[kept], xi[kept]


def _moved(task: Task, V: Floats, xi: Floats, ladder: tuple[float, ...]) -> tuple[Floats, Floats]:
    """The neurons after Newton's method on a smoothed network, (s)_+ as (s + sqrt(s^2 + mu^2)) / 2, if that helps."""
    size = float(task.sizes(V).max())
    before = objective(task, V, xi)[0]
    for first in range(len(ladder)):
        W, signs = V, xi
        for mu in ladder[first:]:
            W, signs = _newton(task, W, signs, mu * size, 25)
        if len(W) and objective(task, W, signs)[0] < before:
            return W, signs
    return V, xi


def _newton(task: Task, V: Floats, xi: Floats, mu: float, most: int) -> tuple[Floats, Floats]:
    """Damped steps on the smoothed objective; neurons that vanish are left out."""
    Z, lam, seen = task.Z, task.lam, task.seen
    d = Z.shape[1]
    damping = 1e-10

    def value(W: Floats) -> float:
        s = Z @ W.T
        r = task.project(task.y - 0.5 * (s + np.sqrt(s * s + mu * mu)) @ xi)
        return 0.5 * float(r @ r) + lam * float(task.sizes(W).sum())

    for _ in range(most):
        s = Z @ V.T
        root = np.sqrt(s * s + mu * mu)
        slope, bend = 0.5 * (1.0 + s / root), 0.5 * mu * mu / root**3
        r = task.project(task.y - 0.5 * (s + root) @ xi)
        size = task.sizes(V) + 1e-300
        now = 0.5 * float(r @ r) + lam * float(size.sum())
        J = ((slope * xi)[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)
        gradient = -(J.T @ r) + lam * (V * seen / size[:, None]).ravel()
        J = task.project(J)
        H = J.T @ J
        for i in range(len(V)):
            u = V[i] * seen / size[i]
            weight = np.maximum(-r * xi[i] * bend[:, i], 0.0)
            block = (Z * weight[:, None]).T @ Z + lam / size[i] * (np.diag(seen) - np.outer(u, u))
            H[i * d : (i + 1) * d, i * d : (i + 1) * d] += block
        trace = float(np.trace(H)) / len(H)
        moved, decrease = V, 0.0
        for _ in range(12):
            step = -np.linalg.solve(H + damping * trace * np.eye(len(H)), gradient)
            part = 1.0
            while part > 1e-3:
                tried = V + part * step.reshape(V.shape)
                if value(tried) <= now + 1e-4 * part * float(gradient @ step) + 1e-15 * abs(now):
                    moved, decrease = tried, -float(gradient @ step)
                    break
                part *= 0.5
            if moved is not V:
                damping = max(damping * 0.3, 1e-13)
                break
            damping = max(damping * 10.0, 1e-8)
        if moved is V:
            break
        V = moved
        lengths = task.sizes(V)
        kept = lengths >= 1e-7 * lengths.max()
        V, xi = V[kept], xi[kept]
        if decrease < 1e-16 * now and kept.all():
            break
    return V, xi
