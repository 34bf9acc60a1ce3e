"""Small data with several outputs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from relu_cert.exact import Matrix
from relu_cert.problem import unlisted_relu
from relu_cert.problem.problem import Problem


def drawn(seed: int, n: int, d: int, C: int) -> tuple[Matrix, Matrix]:
    """Gaussian data, two digits a number."""
    rng = np.random.default_rng(seed)

    def exact(A: np.ndarray) -> Matrix:
        return tuple(tuple(Fraction(round(100 * x), 100) for x in row) for row in A.tolist())

    return exact(rng.standard_normal((n, d))), exact(rng.standard_normal((n, C)))


def problem_of(Z: Matrix, Y: Matrix) -> Problem:
    """The problem of networks with several outputs."""
    return unlisted_relu(Z, tuple(x for row in Y for x in row), targets=len(Y[0]))


def ratio(given: object, part: float) -> Fraction:
    """About this part of lambda_max."""
    from relu_cert.outputs.facts import reached

    return Fraction(round(float(reached(given)) ** 0.5 * part * 10**6), 10**6)  # type: ignore[arg-type]
