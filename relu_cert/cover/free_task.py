"""A network with free terms in floats, without a list of patterns: column generation, as in relu_cert.cover.train.

The free outputs B are projected away: what is minimised is 1/2 |P(f - y)|^2 + lambda sum |v|, P = I - QQ' with the
orthonormal columns Q of B, and P(y - f) is the residual with their best coefficients. Biases that the norm does not see
are chosen best for given weights: theta.1 = 0, so that theta.(Xw + b)_+ is piecewise linear in b and constant at both
ends, and its maximum is where a row is zero. With the logistic loss the best coefficients are found for every network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from relu_cert.cover import train
from relu_cert.cover.stack import Floats, Integers
from relu_cert.exact import Vector
from relu_cert.problem.loss import LOGISTIC
from relu_cert.problem.problem import Problem

MOST_STEPS = 50
FEW, SORTED = 8, 5  # with so few features biases are chosen again after so many steps: that needs heights in order


@dataclass(frozen=True)
class FreeTask(train.TrainingTask):
    """Z, y and lambda with an orthonormal basis Q of the free outputs; whether the last weight of a neuron is free."""

    Q: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    biases: bool = False

    def loss(self, fit: Floats) -> tuple[float, Floats]:
        """1/2 |P(fit - y)|^2 and the residual; or the logistic loss with the best coefficients."""
        if self.logistic:
            return super().loss(fit + self.Q @ self.coefficients(fit))
        r = self.project(self.y - fit)
        return 0.5 * float(r @ r), r

    def on(self, rows: NDArray[np.intp]) -> Self:
        """The same on these rows alone."""
        return replace(super().on(rows), Q=orthonormal(self.Q[rows]))

    def coefficients(self, fit: Floats) -> Floats:
        """The coefficients of Q with the least logistic loss, by Newton's method."""
        c = np.zeros(self.Q.shape[1])
        now, theta = super().loss(fit)
        for _ in range(MOST_STEPS):
            slope = self.Q.T @ theta
            W = np.sqrt(self.bend(theta))[:, None] * self.Q
            step = np.linalg.lstsq(W.T @ W, slope, rcond=None)[0]
            part = 1.0
            while part > 1e-4:
                value, moved = super().loss(fit + self.Q @ (c + part * step))
                if value < now:
                    break
                part *= 0.5
            else:
                break
            c, fall, now, theta = c + part * step, now - value, value, moved
            if fall <= 1e-16 * now:
                break
        return c

    def weighted(self, A: Floats, bend: Floats) -> Floats:
        """The same, where the free coefficients follow."""
        W = super().weighted(A, bend)
        V = orthonormal(super().weighted(self.Q, bend))
        weighted: Floats = W - V @ (V.T @ W)
        return weighted

    @property
    def seen(self) -> Floats:
        """1 for the weights that are in the norm, else 0."""
        mask = np.ones(self.Z.shape[1])
        mask[-1] = not self.biases
        return mask

    @property
    def dear(self) -> int:
        """About how many times as long a climb takes as one without free biases."""
        return 4 if self.biases else 1

    def sizes(self, V: Floats) -> Floats:
        """|v| of every neuron."""
        sizes: Floats = np.linalg.norm(V * self.seen, axis=1)
        return sizes

    def project(self, A: Floats) -> Floats:
        """P A"""
        projected: Floats = A - self.Q @ (self.Q.T @ A)
        return projected

    def climb(self, t: Floats, U: Floats) -> tuple[Floats, Floats]:
        """Local maxima of t.(Zu)_+ / |u| from every row of U."""
        return climb(self.Z, self.spread(t), U) if self.biases else super().climb(t, U)

    def climb_near(self, t: Floats, U: Floats) -> tuple[Floats, Floats]:
        """The same in small steps."""
        return climb(self.Z, self.spread(t), U, 80, 1e-3) if self.biases else super().climb_near(t, U)


def task_of(problem: Problem, columns: Sequence[Vector], Z: Floats, lam: float) -> train.TrainingTask:
    """The problem in floats, with rows Z in the coordinates in which it is trained."""
    y, logistic = np.array([float(x) for x in problem.y]), problem.loss is LOGISTIC
    bags = problem.relu.bags
    if not columns:
        return train.TrainingTask(Z, y, lam, logistic, bags)
    B = np.array([[float(x) for x in column] for column in columns]).T
    return FreeTask(Z, y, lam, logistic, bags, Q=orthonormal(B), biases="biases" in problem.free)


def orthonormal(B: Floats) -> Floats:
    """An orthonormal basis of the range of B."""
    if not B.shape[1]:
        return B
    U, s, _ = np.linalg.svd(B, full_matrices=False)
    basis: Floats = U[:, s > 1e-10 * s[0]]
    return basis


def climb(Z: Floats, t: Floats, U: Floats, steps: int = 60, first: float = 1.0) -> tuple[Floats, Floats]:
    """Local maxima of t.(Zu)_+ over weights of length 1, with the best bias for them, from every row of U; `first` is
    the first step. With few features the row that is zero is chosen again now and then, and in between the bias follows
    it; with many that finds less."""
    X = Z[:, :-1]
    every = SORTED if X.shape[1] <= FEW else 1
    tX = t[:, None] * X
    W = U[:, :-1] / np.linalg.norm(U[:, :-1], axis=1, keepdims=True)
    best, at, pull = np.full(len(W), -np.inf), U.copy(), W.copy()
    step, each, k = np.full(len(W), first), np.arange(len(W)), np.zeros(len(W), dtype=np.int64)
    for i in range(steps):
        heights = W @ X.T
        if i % every == 0:
            k = _zeros(heights, t)
        zero = heights[each, k]
        on = heights > zero[:, None]
        gradient = on @ tX - (on @ t)[:, None] * X[k]
        value = np.einsum("ij,ij->i", gradient, W)  # t.(Xw + b)_+ with b = -x_k.w
        better = value > best
        at[better], best[better] = np.column_stack([W, -zero])[better], value[better]
        pull[better] = gradient[better] / np.maximum(np.linalg.norm(gradient[better], axis=1, keepdims=True), 1e-300)
        step *= np.where(better, 1.1, 0.6)
        W = at[:, :-1] + step[:, None] * pull
        W /= np.linalg.norm(W, axis=1, keepdims=True)
    return at, best


def _zeros(heights: Floats, t: Floats) -> Integers:
    """For every row of heights h the k with the largest t.(h - h_k)_+."""
    order = np.argsort(-heights, axis=1)
    h, sorted_t = np.take_along_axis(heights, order, 1), t[order]
    values = np.cumsum(sorted_t * h, axis=1) - h * np.cumsum(sorted_t, axis=1)
    found: Integers = order[np.arange(len(h)), values.argmax(axis=1)]
    return found
