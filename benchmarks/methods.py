"""The methods that people use to train such networks, many starts at once: L-BFGS and Adam, and the convex program
over random patterns. What they find is judged elsewhere, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from relu_cert.data.dataset import Dataset
from relu_cert.driver.variant import sample_gates
from relu_cert.exact import Vector
from relu_cert.problem.networks import over_patterns
from relu_cert.solve import prepare, solve

Floats = NDArray[np.float64]
Neurons = list[tuple[int, Vector]]
LBFGS_STEPS, ADAM_STEPS, RATE, MEMORY = 500, 1000, 1e-2, 10
GRID = 2**40  # weights are rounded to multiples of 1/GRID before they are judged


@dataclass(frozen=True)
class Training:
    """1/2 |f(Z) - y|^2 + lambda/2 (|W|^2 + |v|^2), f(Z) = (Z W')_+ v, for several networks of one width at once: the
    weights of a network are a row."""

    Z: Floats
    y: Floats
    lam: float
    width: int = 50

    def starts(self, count: int) -> Floats:
        """Gaussian weights, scaled by the number of inputs of a layer; start k is the same whatever the count is."""
        d, rows = self.Z.shape[1], []
        for seed in range(count):
            rng = np.random.default_rng(seed)
            W = rng.standard_normal(self.width * d) * np.sqrt(2 / d)
            rows.append(np.concatenate([W, rng.standard_normal(self.width) * np.sqrt(2 / self.width)]))
        return np.array(rows)

    def __call__(self, X: Floats) -> tuple[Floats, Floats]:
        """The objectives and their gradients."""
        count, (n, d), m = len(X), self.Z.shape, self.width
        W, v = X[:, : m * d].reshape(count, m, d), X[:, m * d :]
        H = (W.reshape(count * m, d) @ self.Z.T).reshape(count, m, n)
        np.maximum(H, 0, out=H)
        r = np.matmul(v[:, None, :], H)[:, 0] - self.y
        gradient = np.empty_like(X)
        gradient[:, m * d :] = np.matmul(H, r[:, :, None])[:, :, 0]
        np.sign(H, out=H)
        H *= r[:, None, :]
        G = (H.reshape(count * m, n) @ self.Z).reshape(count, m, d)
        gradient[:, : m * d] = (G * v[:, :, None]).reshape(count, m * d)
        value = 0.5 * (r * r).sum(axis=1) + 0.5 * self.lam * (X * X).sum(axis=1)
        return value, gradient + self.lam * X

    def adam(self, count: int) -> Floats:
        """Where Adam ends from each start, with full batches; its rate falls to zero along a cosine."""
        x = self.starts(count)
        m, s = np.zeros_like(x), np.zeros_like(x)
        for step in range(1, ADAM_STEPS + 1):
            _, g = self(x)
            m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / ADAM_STEPS))
            x = x - rate * (m / (1 - 0.9**step)) / (np.sqrt(s / (1 - 0.999**step)) + 1e-8)
        return x

    def lbfgs(self, count: int) -> Floats:
        """Where L-BFGS ends from each start: each network has its own memory and step, all are evaluated at once."""
        return lbfgs(self, self.starts(count), LBFGS_STEPS)

    def neurons(self, weights: Floats) -> Neurons:
        """sign(v_i) and |v_i| W_i of one network: balanced, which can only help it."""
        d, m = self.Z.shape[1], self.width
        W, v = weights[: m * d].reshape(m, d), weights[m * d :]
        return [(1 if t > 0 else -1, exactly(abs(t) * w)) for w, t in zip(W, v, strict=True)]


def lbfgs(function: Callable[[Floats], tuple[Floats, Floats]], x: Floats, steps: int) -> Floats:
    """L-BFGS on every row of x by itself, with steps halved until the value falls enough."""
    value, g = function(x)
    S, Y, active = [], [], np.ones(len(x), dtype=bool)
    for _ in range(steps):
        p = -_inverse(S, Y, g)
        slope = (p * g).sum(axis=1)
        downhill = slope < 0
        p, slope = np.where(downhill[:, None], p, -g), np.where(downhill, slope, -(g * g).sum(axis=1))
        step = np.where(active, 1.0 if S else np.minimum(1.0, 1.0 / np.maximum(np.abs(g).sum(axis=1), 1e-300)), 0.0)
        for _ in range(20):
            moved = x + step[:, None] * p
            new, new_g = function(moved)
            short = active & ~(new <= value + 1e-4 * step * slope)
            if not short.any():
                break
            step = np.where(short, 0.5 * step, step)
        better = active & (new < value)
        change, bend = np.where(better[:, None], moved - x, 0.0), np.where(better[:, None], new_g - g, 0.0)
        active = better & (value - new > 1e-12 * value)
        x, g = np.where(better[:, None], moved, x), np.where(better[:, None], new_g, g)
        value = np.where(better, new, value)
        if not active.any():
            break
        S, Y = [*S[-MEMORY + 1 :], change], [*Y[-MEMORY + 1 :], bend]
    return x


def _inverse(S: list[Floats], Y: list[Floats], g: Floats) -> Floats:
    """The two loops: the inverse Hessian of the memory times g, row by row; pairs of negative curvature do nothing."""
    q, kept = g.copy(), []
    for s, y in zip(reversed(S), reversed(Y), strict=True):
        curve = (s * y).sum(axis=1)
        rho = np.where(curve > 1e-300, 1.0 / np.maximum(curve, 1e-300), 0.0)
        a = rho * (s * q).sum(axis=1)
        q -= a[:, None] * y
        kept.append((s, y, rho, a))
    if S:
        curve, size = (S[-1] * Y[-1]).sum(axis=1), (Y[-1] ** 2).sum(axis=1)
        q *= np.where((curve > 0) & (size > 0), curve / np.maximum(size, 1e-300), 1.0)[:, None]
    for s, y, rho, a in reversed(kept):
        q += (a - rho * (y * q).sum(axis=1))[:, None] * s
    return q


def exactly(w: Floats) -> Vector:
    """A rational vector near w."""
    return tuple(Fraction(round(float(x) * GRID), GRID) for x in w)


def sampled(data: Dataset, lam: Fraction, count: int) -> Neurons:
    """The optimal network of the convex program over random patterns."""
    gates = sample_gates(data.Z, count, 0)
    problem = over_patterns(data.Z, data.y, tuple(gates), "relu", gates=tuple(gates.values()))
    found = solve(prepare(problem), float(lam))
    sign = problem.patterned.sign if problem.patterned is not None else (lambda _: 1)
    return [(sign(neuron.block or 0), exactly(neuron.w)) for neuron in found.neurons]
