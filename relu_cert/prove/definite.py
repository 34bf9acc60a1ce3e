"""Lower bounds on singular values, proved by an inverse that floats propose."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb_mat, fmpq, fmpq_mat
from numpy.typing import NDArray

from relu_cert.exact import norm_squared, sqrt_upper
from relu_cert.rationals import to_fmpq, to_fraction

SPARE = Fraction(15, 16)  # the checker looks for an inverse of its own


def floats(A: fmpq_mat) -> NDArray[np.float64]:
    """The matrix in float64, up to the last bit."""
    return np.array([float(x) for x in arb_mat(A).entries()], dtype=np.float64).reshape(A.nrows(), A.ncols())


def stretch(A: fmpq_mat) -> Fraction:
    """Some sigma with |A x| >= sigma |x| for all x; 0 if no other is found.

    With N = W A - I: |x| = |W A x - N x| <= |W| |A x| + |N| |x|, whatever W is.
    """
    n, k = A.nrows(), A.ncols()
    if k == 0:
        return Fraction(1)
    try:
        near = np.linalg.pinv(floats(A), rcond=0.0)
    except np.linalg.LinAlgError:
        return Fraction(0)
    if not np.isfinite(near).all():
        return Fraction(0)
    W = fmpq_mat(k, n, [to_fmpq(Fraction(x)) for x in near.ravel().tolist()])
    missed = _length(W * A - fmpq_mat(k, k, [fmpq(int(i == j)) for i in range(k) for j in range(k)]))
    return SPARE * (1 - missed) / _length(W) if missed < 1 else Fraction(0)


def _length(A: fmpq_mat) -> Fraction:
    """An upper bound on the Frobenius norm."""
    return sqrt_upper(norm_squared([to_fraction(x) for x in A.entries()]), 64)
