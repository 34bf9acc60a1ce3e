"""Pruning past independence: each step costs fit. Floats; whatever is claimed about the result is proved afterwards.

With independent outputs q_i, removing neuron j costs least if the others take over what they can of it: beta is the
least-squares solution of sum_{i != j} beta_i q_i = q_j, beta_j = -1, and the weights become (1 - t beta_i) w_i with
t = 1/beta_i for the i of largest |beta_i|, with its sign (alg:pruning-solutions-nn, corrected). All factors are >= 0,
neuron i is gone, and the fit moves by |t| |sum beta_i q_i| <= the residual of the least squares, because |beta_i| >= 1.

The neuron j is the one of smallest

    residual    min_beta |sum_{i != j} beta_i q_i - q_j|, the paper's Optimal/LS
    magnitude   |W1_j w2_j| = |w_j|
    gradient    |W1_j . G_j w2_j g_j|, G_j and g_j the loss's derivatives in W1_j and w2_j (. entry by entry)
    random      a draw
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from relu_cert.bags import EACH, Each
from relu_cert.exact import Matrix, Vector
from relu_cert.network.objective import ConvexNeuron

Floats = NDArray[np.float64]


class Strategy(StrEnum):
    """How the next neuron is chosen."""

    RESIDUAL = "residual"
    MAGNITUDE = "magnitude"
    GRADIENT = "gradient"
    RANDOM = "random"


@dataclass(frozen=True)
class PruningStep:
    """A network on the way: its neurons (numbers, signs, weights), P and 1/2|f - y|^2 in floats."""

    numbers: tuple[int, ...]
    signs: Floats
    w: Floats
    objective: float
    loss: float

    @property
    def width(self) -> int:
        """How many neurons are left."""
        return len(self.numbers)

    def neurons(self) -> tuple[ConvexNeuron, ...]:
        """The same network with its floats taken as exact rationals."""
        rows = zip(self.signs, self.w, strict=True)
        return tuple(ConvexNeuron(int(xi), tuple(Fraction(float(x)) for x in w)) for xi, w in rows if w.any())


def pruning_path(
    neurons: Sequence[ConvexNeuron],
    Z: Matrix,
    y: Vector,
    lam: Fraction,
    strategy: Strategy = Strategy.RESIDUAL,
    *,
    correct: bool = True,
    seed: int = 0,
    bags: Each = EACH,
) -> Iterator[PruningStep]:
    """The network itself, then one with a neuron less, and so on to the zero network.

    Without `correct` the chosen neuron is dropped and the others stay as they are: the baselines of the paper. Start
    from the neurons that `prune` leaves to go on from a minimal network.
    """
    data, target = np.array(Z, dtype=np.float64), np.array(y, dtype=np.float64)
    signs = np.array([neuron.sign for neuron in neurons], dtype=np.float64)
    w = np.array([neuron.w for neuron in neurons], dtype=np.float64).reshape(len(neurons), data.shape[1])
    numbers = np.arange(len(neurons))
    rng = np.random.default_rng(seed)
    while True:
        Q = bags.pooled_floats(np.maximum(data @ w.T, 0.0)) * signs
        r = target - Q.sum(axis=1)
        loss = 0.5 * float(r @ r)
        value = loss + float(lam) * float(np.linalg.norm(w, axis=1).sum())
        yield PruningStep(tuple(int(i) for i in numbers), signs, w, value, loss)
        if not len(numbers):
            return
        j = _choose(strategy, data, signs, w, Q, bags.spread_floats(r), rng)
        factors = _corrected(Q, j) if correct else _dropped(len(numbers), j)
        left = factors > 0.0
        numbers, signs, w = numbers[left], signs[left], (w * factors[:, None])[left]


def _choose(
    strategy: Strategy, Z: Floats, signs: Floats, w: Floats, Q: Floats, t: Floats, rng: np.random.Generator
) -> int:
    """The number of the next neuron; t are the weights of the rows."""
    match strategy:
        case Strategy.RESIDUAL:
            return int(np.argmin([_least_squares(Q, j)[1] for j in range(Q.shape[1])]))
        case Strategy.MAGNITUDE:
            return int(np.argmin(np.linalg.norm(w, axis=1)))
        case Strategy.GRADIENT:
            return int(np.argmin(_gradient_scores(Z, signs, w, t)))
        case Strategy.RANDOM:
            return int(rng.integers(len(w)))


def _gradient_scores(Z: Floats, signs: Floats, w: Floats, t: Floats) -> Floats:
    """|W1_j . G_j w2_j g_j| with balanced weights W1 = w / sqrt(|w|), w2 = xi sqrt(|w|)."""
    size = np.sqrt(np.linalg.norm(w, axis=1))
    first = w / np.where(size > 0.0, size, 1.0)[:, None]
    second = signs * size
    inner = Z @ first.T
    G = -second[:, None] * ((inner > 0.0) * t[:, None]).T @ Z
    g = -(np.maximum(inner, 0.0).T @ t)
    scores: Floats = np.linalg.norm(first * G, axis=1) * np.abs(second * g)
    return scores


def _least_squares(Q: Floats, j: int) -> tuple[Floats, float]:
    """beta with beta_j = -1, and |sum_i beta_i q_i|."""
    others = np.delete(Q, j, axis=1)
    beta = np.insert(np.linalg.lstsq(others, Q[:, j], rcond=None)[0], j, -1.0)
    return beta, float(np.linalg.norm(Q @ beta))


def _corrected(Q: Floats, j: int) -> Floats:
    """The factors 1 - t beta_i, t = 1/beta_i for the largest |beta_i|."""
    beta, _ = _least_squares(Q, j)
    i = int(np.argmax(np.abs(beta)))
    factors: Floats = np.maximum(0.0, 1.0 - beta / beta[i])
    factors[i] = 0.0
    return factors


def _dropped(width: int, j: int) -> Floats:
    factors = np.ones(width)
    factors[j] = 0.0
    return factors
