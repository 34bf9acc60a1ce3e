"""Compiled functions that all kernels share: the ways of compiling, and bit masks in 64-bit words.

Compiled code is kept in __pycache__. Numba renews it when the file of the function itself changes, not when a function
that it calls does: after a change in this file, in `tableau.py` or in `points.py`, remove `__pycache__/*.nbi`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import options


def uncounted(options: object = options) -> dict[str, Any]:
    """The option that takes the counting of references out of functions that allocate nothing, where numba has it.

    It is not a public one. Without it views of arrays are counted, which takes time; nothing else changes.
    """
    return {"_nrt": False} if hasattr(getattr(options, "DefaultOptions", None), "_nrt") else {}


_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
_CALLED: dict[str, Any] = {**_OPTIONS, **uncounted()}
_BARE: dict[str, Any] = {**_CALLED, "forceinline": True}  # passing arrays costs more than most of these functions do

compile_ = njit(**_BARE)
"""Strict floating point: for whatever decides or proves a sign."""

compile_call = njit(**_CALLED)
"""The same for functions that are long, or called from Python."""

compile_fused = njit(**_BARE, fastmath={"contract"})
"""Strict, but a product and a sum may be rounded once instead of twice."""

propose_ = njit(**_BARE, fastmath={"reassoc", "contract", "arcp", "nsz", "nnan"})
"""Sums in any order: for points that are only proposed."""

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_POSITION = np.zeros(64, dtype=np.int64)
for _i in range(64):
    _POSITION[(0x03F79D71B4CB0A89 << _i & 2**64 - 1) >> 58] = _i


@compile_
def lowest(word):  # type: ignore[no-untyped-def]
    """The position of the lowest one in a word that is not zero."""
    return _POSITION[((word & (~word + np.uint64(1))) * _DE_BRUIJN) >> np.uint64(58)]


@compile_
def set_bit(mask, j):  # type: ignore[no-untyped-def]
    """Put hyperplane j into a mask."""
    mask[j >> 6] |= np.uint64(1) << np.uint64(j & 63)


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
