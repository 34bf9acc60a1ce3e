"""Compiled functions that all kernels share: the two ways of compiling, and bit masks in 64-bit words.

Compiled code is kept in __pycache__. Numba renews it when the file of the function itself changes, not when a function
that it calls does: after a change in this file, in `tableau.py` or in `points.py`, remove `__pycache__/*.nbi`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

compile_ = njit(cache=True, nogil=True, error_model="numpy")
"""Strict floating point: for whatever decides or proves a sign."""

propose_ = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz", "nnan"})
"""Sums in any order: for points that are only proposed."""


@compile_
def set_bit(mask, j):  # type: ignore[no-untyped-def]
    """Put hyperplane j into a mask."""
    mask[j >> 6] |= np.uint64(1) << np.uint64(j & 63)


@compile_
def get_bit(mask, j):  # type: ignore[no-untyped-def]
    """Whether hyperplane j is in a mask."""
    return (mask[j >> 6] >> np.uint64(j & 63)) & np.uint64(1) != 0


@compile_
def copy_bits(source, target):  # type: ignore[no-untyped-def]
    """target = source"""
    for w in range(len(target)):
        target[w] = source[w]


@compile_
def clear_bits(target):  # type: ignore[no-untyped-def]
    """target = empty"""
    for w in range(len(target)):
        target[w] = np.uint64(0)
