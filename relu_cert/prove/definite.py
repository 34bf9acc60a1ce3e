"""Lower bounds on singular values, proved by an inverse that floats propose."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb_mat, ctx, fmpq_mat
from numpy.typing import NDArray

from relu_cert.rationals import middle

SPARE = Fraction(15, 16)  # the checker looks for an inverse of its own
_BITS = 64


def floats(A: fmpq_mat | arb_mat) -> NDArray[np.float64]:
    """The matrix in float64, up to the last bit."""
    entries = (arb_mat(A) if isinstance(A, fmpq_mat) else A).entries()
    return np.array([float(x) for x in entries], dtype=np.float64).reshape(A.nrows(), A.ncols())


def stretch(A: fmpq_mat) -> Fraction:
    """Some sigma with |A x| >= sigma |x| for all x; 0 if no other is found.

    With N = W A - I: |x| = |W A x - N x| <= |W| |A x| + |N| |x|, whatever W is. Products are taken in balls.
    """
    n, k = A.nrows(), A.ncols()
    if k == 0:
        return Fraction(1)
    with ctx.workprec(_BITS):
        balls = arb_mat(A)
        try:
            near = np.linalg.pinv(floats(balls), rcond=0.0)
        except np.linalg.LinAlgError:
            return Fraction(0)
        if not np.isfinite(near).all():
            return Fraction(0)
        W = arb_mat(k, n, near.ravel().tolist())
        missed = upper_length(W * balls - arb_mat(k, k, [int(i == j) for i in range(k) for j in range(k)]))
        return SPARE * (1 - missed) / upper_length(W) if missed < 1 else Fraction(0)


def upper_length(A: arb_mat) -> Fraction:
    """An upper bound on the Frobenius norm."""
    with ctx.workprec(_BITS):
        row = arb_mat(1, A.nrows() * A.ncols(), A.entries())
        return middle((row * row.transpose())[0, 0].upper().sqrt().upper())
