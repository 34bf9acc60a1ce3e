"""Problems for the tests of the solver."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from relu_cert.exact import Matrix, matrix, vector
from relu_cert.patterns import enumerate_patterns
from relu_cert.problem import gated, relu
from relu_cert.problem.problem import Block, Problem


def network(Z: Sequence[Sequence[int]], y: Sequence[int | Fraction], model: str = "relu") -> Problem:
    """A network problem over all patterns of Z."""
    rows = matrix([int(x) for x in row] for row in Z)
    build = relu if model == "relu" else gated
    return build(rows, vector(Fraction(x) for x in y), enumerate_patterns(rows))


def direct(X: Sequence[Matrix], K: Sequence[Matrix | None], y: Sequence[int | Fraction]) -> Problem:
    """A problem given block by block."""
    blocks = tuple(Block(X_b, K_b) for X_b, K_b in zip(X, K, strict=True))
    return Problem("cgl", vector(Fraction(v) for v in y), blocks)


def random_network(seed: int, model: str) -> Problem:
    """Small integers: general position, a bias column, signs only, repeated rows, a zero row, a repeated column."""
    g = np.random.default_rng(seed)
    d = int(g.integers(2, 5))
    n = int(g.integers(d + 1, {2: 16, 3: 13, 4: 10}[d]))
    Z, y = g.integers(-9, 10, (n, d)), g.integers(-20, 21, n)
    kind = seed % 6
    if kind == 1:
        Z[:, -1] = 1
    elif kind == 2:
        Z = np.sign(Z)
    elif kind == 3:
        Z[1], Z[-1] = Z[0], -2 * Z[0]
    elif kind == 4:
        Z[n // 2] = 0
    elif kind == 5:
        Z[:, -1] = 2 * Z[:, 0]
    y[0] = y[0] or 1
    return network(Z.tolist(), y.tolist(), model)


def random_direct(seed: int) -> Problem:
    """Blocks of one to three columns, some free, some with up to five constraints (repeated ones among them)."""
    g = np.random.default_rng(seed)
    n = int(g.integers(3, 8))
    X, K = [], []
    for b in range(int(g.integers(2, 9))):
        width = int(g.integers(1, 4))
        X.append(matrix(g.integers(-4, 5, (n, width)).tolist()))
        columns = g.integers(-3, 4, (width, int(g.integers(1, 6)))).tolist()
        K.append(None if b % 3 == 0 else matrix(row + row[:1] for row in columns))
    return direct(X, K, g.integers(-9, 10, n).tolist())
