"""Optimal pruning: fewer neurons, the same fit, an objective that is no higher. Exact.

The neurons' outputs are q_i = xi_i (Z w_i)_+, and the network alpha_i w_i (alpha >= 0) has the fit sum_i alpha_i q_i.
If sum_i beta_i q_i = 0, all networks alpha - t beta have the same fit, and the penalty changes by
-t lambda sum_i beta_i |w_i|. Take the sign of beta that does not raise it, and the first t > 0 at which a neuron is
gone. (alg:pruning-solutions and lemma:one-step-pruning print t = 1/|beta_i|; without its sign the loop need not end.)
Repeat until the outputs are independent. An optimal network stays optimal, and is then minimal
(prop:minimal-solutions); any other network stays as good, or gets better.

Outputs are taken in one after the other, so that the ones kept are always independent: q_j = sum_i gamma_i q_i gives
beta = (gamma, -1), in which the neuron j takes part (alg:pruning-solutions-nn leaves out beta_j = -1). Every weight is
then the only solution of a small linear system, and its digits do not pile up.

`prune` is that walk. `prune_best` asks a float linear program for the cheapest weights with the same fit, and takes the
vertex that it names if exact arithmetic agrees that the fit is the same and the penalty no higher; else it walks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from relu_cert.bags import EACH, Each
from relu_cert.clock import require_time
from relu_cert.exact import Matrix, Vector, express, rank
from relu_cert.network.objective import ConvexNeuron, outputs
from relu_cert.prove.ggp.answers import root_sum_sign as signed_root_sum

_ZERO, _ONE = Fraction(0), Fraction(1)
_NEGLIGIBLE = 1e-9  # weights that the linear program leaves this small are proposed as zero; exact arithmetic decides


@dataclass(frozen=True)
class Pruned:
    """The neurons alpha_i w_i that are left, with their numbers i and factors alpha_i, and whether P fell."""

    neurons: tuple[ConvexNeuron, ...]
    kept: tuple[int, ...]
    factors: tuple[Fraction, ...]
    better: bool


def output_rank(neurons: Sequence[ConvexNeuron], Z: Matrix, bags: Each = EACH) -> int:
    """The dimension of the span of the neurons' outputs; less than their number iff some can be pruned."""
    return rank(outputs(neurons, Z, bags))


def prune(neurons: Sequence[ConvexNeuron], Z: Matrix, bags: Each = EACH) -> Pruned:
    """The neurons pruned until their outputs are independent: the same fit, P no higher."""
    q = outputs(neurons, Z, bags)
    alpha: dict[int, Fraction] = {}
    better = False
    for j, q_j in enumerate(q):
        gamma = express([q[i] for i in alpha], q_j)
        if gamma is None:
            alpha[j] = _ONE
            continue
        beta = {i: -g for i, g in zip(alpha, gamma, strict=True)} | {j: _ONE}
        alpha, fell = _step(neurons, alpha | {j: _ONE}, beta)
        better = better or fell
    return _pruned(neurons, alpha, better)


def prune_best(neurons: Sequence[ConvexNeuron], Z: Matrix, bags: Each = EACH) -> Pruned:
    """The same promise as `prune`, at the lowest penalty that a float linear program can name."""
    q = outputs(neurons, Z, bags)
    support = _cheapest_support(neurons, q)
    chosen = [q[i] for i in support]
    total = tuple(sum((row[k] for row in q), _ZERO) for k in range(len(q[0]) if q else 0))
    if (
        rank(chosen) == len(support)
        and (weights := express(chosen, total)) is not None
        and min(weights, default=_ONE) > 0
    ):
        alpha = dict(zip(support, weights, strict=True))
        change = [(_ONE - alpha.get(i, _ZERO), neuron.norm_squared) for i, neuron in enumerate(neurons)]
        if (sign := root_sum_sign(change)) >= 0:
            return _pruned(neurons, alpha, sign > 0)
    return prune(neurons, Z, bags)


def _cheapest_support(neurons: Sequence[ConvexNeuron], q: Sequence[Vector]) -> list[int]:
    """Where a vertex of min sum alpha_i |w_i| over sum alpha_i q_i = sum q_i, alpha >= 0, is not zero; in floats."""
    from scipy.optimize import linprog

    if not neurons:
        return []
    Q = np.array(q, dtype=np.float64).T
    cost = np.sqrt([float(neuron.norm_squared) for neuron in neurons])
    size = np.abs(Q).max() or 1.0
    found = linprog(cost, A_eq=Q / size, b_eq=Q.sum(axis=1) / size, method="highs-ds")
    if found.x is None:
        return list(range(len(neurons)))
    return [int(i) for i in np.flatnonzero(found.x > _NEGLIGIBLE * found.x.max(initial=0.0))]


def _pruned(neurons: Sequence[ConvexNeuron], alpha: dict[int, Fraction], better: bool) -> Pruned:
    left = tuple(replace(neurons[i], w=tuple(a * x for x in neurons[i].w)) for i, a in alpha.items())
    return Pruned(left, tuple(alpha), tuple(alpha.values()), better)


def _step(
    neurons: Sequence[ConvexNeuron], alpha: dict[int, Fraction], beta: dict[int, Fraction]
) -> tuple[dict[int, Fraction], bool]:
    """alpha - t beta with the sign of beta that does not raise sum alpha_i |w_i|, up to the first zero."""
    slope = root_sum_sign([(b, neurons[i].norm_squared) for i, b in beta.items() if b])
    if slope < 0:
        beta = {i: -b for i, b in beta.items()}
    t = min(alpha[i] / b for i, b in beta.items() if b > 0)
    moved = {i: a - t * beta[i] for i, a in alpha.items()}
    return {i: a for i, a in moved.items() if a}, slope != 0


def root_sum_sign(terms: Sequence[tuple[Fraction, Fraction]]) -> int:
    """The sign of sum c sqrt(a): -1, 0 or 1. Over one denominator L it is that of a sum of roots of integers."""
    squares = [c * c * a for c, a in terms]
    L = lcm(*(x.denominator for x in squares))
    return signed_root_sum([1 if c > 0 else -1 for c, _ in terms], [int(x * L * L) for x in squares])


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
        require_time()
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
