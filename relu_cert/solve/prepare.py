"""Float arrays of a problem, made once; solutions; and one thread for small matrices."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import Matrix
from relu_cert.problem.problem import Gates, Problem

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
class ResidualFace:
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
class FloatMultipliers:
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


Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class NetworkArrays:
    """Z (n x d) and the packed patterns: of the open cells for ReLU (they cover all directions), all for gated."""

    Z: Floats
    bits: NDArray[np.uint8]
    gated: bool

    @property
    def n(self) -> int:
        """The number of data points."""
        return len(self.Z)


@dataclass(frozen=True)
class PatternedArrays:
    """ReLU blocks with their cones over some patterns: Z (n x d) and the patterns (k x n), true where a row is on.

    Block 2i is X = D_i Z, block 2i + 1 is X = -D_i Z, both with the cone {u : (2 D_i - I) Z u >= 0}.
    """

    Z: Floats
    on: Bits

    def __len__(self) -> int:
        return 2 * len(self.on)

    def pattern(self, b: Numbers) -> Numbers:
        """The blocks' patterns."""
        return b // 2

    def xi(self, b: Numbers) -> Floats:
        """The blocks' signs."""
        return np.asarray(1.0 - 2.0 * (b % 2), dtype=np.float64)


@dataclass(frozen=True)
class BlockArrays:
    """X_b and the rows of K_b' (a x |b|; no rows where there is no cone) of a direct problem."""

    X: tuple[Floats, ...]
    K: tuple[Floats, ...]


@dataclass(frozen=True)
class FloatProblem:
    """A problem in float64, as the solver wants it."""

    y: Floats
    arrays: NetworkArrays | PatternedArrays | BlockArrays


def prepare(problem: Problem | FloatProblem) -> FloatProblem:
    """Float arrays of the problem; a prepared problem is returned as it is."""
    if isinstance(problem, FloatProblem):
        return problem
    y = np.array([float(x) for x in problem.y])
    if problem.network is not None:
        patterns = problem.network.patterns
        bits = np.ascontiguousarray(patterns.groups[0].bits)
        return FloatProblem(y, NetworkArrays(floats(problem.network.Z, patterns.d), bits, False))
    if isinstance(problem.blocks, Gates):
        Z, patterns = problem.blocks.Z, problem.blocks.patterns
        return FloatProblem(y, NetworkArrays(floats(Z, patterns.d), np.ascontiguousarray(patterns.bits()), True))
    patterned = problem.patterned
    if patterned is not None and patterned.model == "relu":
        on = np.array([[bit == "1" for bit in pattern] for pattern in patterned.patterns], dtype=np.bool_)
        return FloatProblem(y, PatternedArrays(floats(patterned.Z, 0), on.reshape(len(patterned.patterns), len(y))))
    X, K = [], []
    for block in problem.blocks:
        X.append(block.floats)
        width = block.floats.shape[1]
        K.append(np.zeros((0, width)) if block.K is None else floats(block.K, 0).T.reshape(-1, width).copy())
    return FloatProblem(y, BlockArrays(tuple(X), tuple(K)))


def floats(A: Matrix, columns: int) -> Floats:
    """The matrix in float64, each entry correctly rounded; `columns` is its width if it has no rows."""
    width = len(A[0]) if A else columns
    return np.array([[float(x) for x in row] for row in A], dtype=np.float64).reshape(len(A), width)


def one_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS uses one thread (where threadpoolctl is installed; else nothing changes)."""
    controller = _controller()
    return nullcontext() if controller is None else controller.limit(limits=1)


@cache
def _controller() -> Any | None:
    if find_spec("threadpoolctl") is None:
        return None
    return import_module("threadpoolctl").ThreadpoolController()
