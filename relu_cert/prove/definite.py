"""Lower bounds on singular values, proved in integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat
from numpy.typing import NDArray

from relu_cert.prove.grid import binary_grid, from_grid, to_grid


def smallest_singular_above(A: fmpq_mat, sigma: Fraction) -> bool:
    """Whether |A x| >= sigma |x| for all x, proved: A'A - sigma^2 I is positive definite.

    The Gram matrix is rounded to a grid so fine that all rounding errors together are below sigma^2 / 2^20; that much
    is subtracted from the diagonal. False means not proved.
    """
    k = A.ncols()
    if k == 0:
        return True
    if sigma <= 0:
        return False
    gram = A.transpose() * A
    unit = sigma * sigma / (k << 20)  # half of it bounds the rounding of one entry
    scale = fmpq(unit.denominator, unit.numerator)
    loss = sigma * sigma / unit + k
    half = fmpq(1, 2)
    rows = [[(x * scale + half).floor() for x in row] for row in gram.tolist()]
    for i in range(k):
        rows[i][i] -= -(-loss.numerator // loss.denominator)
    return positive_definite(fmpz_mat(rows))


def positive_definite(M: fmpz_mat) -> bool:
    """Whether the symmetric integer matrix is positive definite: all leading minors are positive (Sylvester).

    Fraction-free elimination (Bareiss): the pivots are the leading minors.
    """
    rows = M.tolist()
    previous = fmpz(1)
    for i in range(len(rows)):
        pivot = rows[i][i]
        if pivot <= 0:
            return False
        for j in range(i + 1, len(rows)):
            factor = rows[j][i]
            rows[j] = [(pivot * x - factor * y) // previous for x, y in zip(rows[j], rows[i], strict=True)]
        previous = pivot
    return True


def floats(A: fmpq_mat) -> NDArray[np.float64]:
    """The matrix in float64."""
    return np.array([[int(x.p) / int(x.q) for x in row] for row in A.tolist()], dtype=np.float64)


def singular_guess(A: fmpq_mat) -> Fraction:
    """A guess at nine tenths of the smallest singular value, to be proved by `smallest_singular_above`; 0 if none."""
    values = np.linalg.svd(floats(A), compute_uv=False)
    if A.ncols() > A.nrows() or len(values) == 0 or values[-1] <= 0:
        return Fraction(0)
    guess = float(values[-1]) * 0.9
    q = binary_grid([guess], 24)
    return from_grid(to_grid(guess, q), q)
