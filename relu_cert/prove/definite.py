"""Lower bounds on singular values, proved in integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb_mat, fmpq, fmpq_mat, fmpz, fmpz_mat
from numpy.typing import NDArray

from relu_cert.prove.grid import binary_grid, from_grid, to_grid


def smallest_singular_above(A: fmpq_mat, sigma: Fraction) -> bool:
    """Whether |A x| >= sigma |x| for all x, proved: N'N - s^2 I is positive definite.

    N is A rounded to a grid so fine that all rounding errors together are below sigma / 2^20; by that much and more
    s is above sigma. False means not proved.
    """
    n, k = A.nrows(), A.ncols()
    if k == 0:
        return True
    if sigma <= 0:
        return False
    grain = 1 << (21 + (n * k).bit_length() // 2)  # sqrt(n k) 2^20 < grain
    scale, half = fmpq(sigma.denominator, sigma.numerator) * grain, fmpq(1, 2)
    N = fmpz_mat(n, k, [(x * scale + half).floor() for x in A.entries()])
    s = grain + (grain >> 20)
    C = N.transpose() * N - s * s * _identity(k)
    return _near_square(C, s * s) or positive_definite(C)


def _near_square(C: fmpz_mat, size: int) -> bool:
    """Whether C = L L' + delta I + E with |E|_F < delta, so that C is positive definite: L is what Cholesky's method
    finds in floats, rounded, E is computed from it. Fast; False where floats do not do, or C is not definite."""
    k, delta = C.ncols(), max(1, size // 10)
    unit = float(size)
    entries = np.array([int(x) / size for x in C.entries()]).reshape(k, k)
    try:
        L = np.linalg.cholesky(entries - 0.1 * np.eye(k))
    except np.linalg.LinAlgError:
        return False
    rounded = fmpz_mat(k, k, [int(x) for x in np.rint(L * np.sqrt(unit)).ravel().tolist()])
    E = C - rounded * rounded.transpose() - delta * _identity(k)
    return bool(sum(x * x for x in E.entries()) < delta * delta)


def _identity(k: int) -> fmpz_mat:
    return fmpz_mat(k, k, [int(i == j) for i in range(k) for j in range(k)])


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
    """The matrix in float64, up to the last bit."""
    return np.array([float(x) for x in arb_mat(A).entries()], dtype=np.float64).reshape(A.nrows(), A.ncols())


def singular_guess(A: fmpq_mat) -> Fraction:
    """A guess at nine tenths of the smallest singular value, to be proved by `smallest_singular_above`; 0 if none."""
    values = np.linalg.svd(floats(A), compute_uv=False)
    if A.ncols() > A.nrows() or len(values) == 0 or values[-1] <= 0:
        return Fraction(0)
    guess = float(values[-1]) * 0.9
    q = binary_grid([guess], 24)
    return from_grid(to_grid(guess, q), q)
