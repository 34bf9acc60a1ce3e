"""What the float solver hands on. Nothing here is trusted by a proof: floats only propose.

A *face* is a block b with the active constraints F of its projection: v = Proj_{C_b}(X_b'r) = P_F X_b'r, so that
B = X_b P_F is a fixed matrix while the face stays the same, v = B'r, and the neuron's output is q = B B'r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bits = NDArray[np.bool_]
Key = tuple[int, int | None, bytes, tuple[int, ...]]


@dataclass(frozen=True)
class Neuron:
    """One active block: ReLU xi (Zw)_+ (`block` is None), gated D Z w (`block` is the pattern's number),
    direct X_b w (`block` is b). `sign` is xi for ReLU and +1 otherwise."""

    sign: int
    block: int | None
    w: Floats


@dataclass(frozen=True)
class Face:
    """A block on a face of its cone at some residual: B = X_b P_F (n x |b|), v = B'r, and P_F.

    `kinks` are the rows that vanish on the face: z_k.v = 0 (ReLU; with a row come all that depend on the rows
    found), K_k.v = 0 (direct). `on` are the packed rows that are on (ReLU; kinks are off). Equal keys, equal B.
    """

    sign: int
    block: int | None
    kinks: tuple[int, ...]
    B: Floats
    v: Floats
    P: Floats
    on: bytes = b""

    @property
    def key(self) -> Key:
        """What identifies the face."""
        return (self.sign, self.block, self.on, self.kinks)


def add_blocks(neurons: Sequence[Neuron]) -> list[Neuron]:
    """Sum the weights block by block."""
    total: dict[int | None, Floats] = {}
    for neuron in neurons:
        total[neuron.block] = total[neuron.block] + neuron.w if neuron.block in total else neuron.w
    return [Neuron(1, block, w) for block, w in total.items() if w.any()]


@dataclass(frozen=True)
class Stats:
    """How the solution was found."""

    rounds: int
    seconds: float
    reason: str  # "solved", "trivial" (lambda >= lambda_max), "stalled", "rounds"


@dataclass(frozen=True)
class Solution:
    """A network, its residual r = y - fit, and a dual point theta that is feasible up to rounding.

    primal = 1/2|r|^2 + lambda sum |w_b|, and `gap` = primal - D(theta), computed without cancellation:
    gap = 1/2 |r - theta|^2 + sum_b (lambda |w_b| - theta.X_b w_b).
    """

    lam: float
    neurons: tuple[Neuron, ...]
    residual: Floats
    theta: Floats
    primal: float
    gap: float
    stats: Stats

    @property
    def dual(self) -> float:
        """D(theta) = y.theta - 1/2|theta|^2, as primal - gap."""
        return self.primal - self.gap

    @property
    def relative_gap(self) -> float:
        """gap / primal (0 where the primal value is 0)."""
        return self.gap / self.primal if self.primal > 0.0 else 0.0


@dataclass(frozen=True)
class PieceMultipliers:
    """For one sign xi and t = xi theta: a multiplier m for every concave piece, |Z'm| = norm >= its price.

    `base`    pieces x n: on P = {k : t_k > 0} the restrictions of the open cells' patterns, each once; m_k is t_k where
              base is 1 and 0 elsewhere, but for few rows
    `m`       pieces x n, inside the box of its piece
    `v`       pieces x d: Z'm; where m is the best multiplier, the direction in which the piece has its maximum
    `norm`    |v|
    """

    base: Bits
    m: Floats
    v: Floats
    norm: Floats
