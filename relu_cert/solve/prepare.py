"""Float arrays of a problem, made once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import Matrix
from relu_cert.problem.problem import Gates, Problem
from relu_cert.solve.solution import Bits, Floats

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
