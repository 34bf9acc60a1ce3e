"""Patterns as packed bits: row 0 is the highest bit of byte 0, as `numpy.packbits` has it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from relu_cert.patterns.arrangement import Hyperplanes

Packed = NDArray[np.uint8]

_REVERSED = np.packbits(np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little"), axis=1)[:, 0]


def pack_masks(masks: Sequence[int], n: int) -> Packed:
    """Row masks (bit k is row k), one packed pattern each."""
    width = (n + 7) // 8
    raw = np.frombuffer(b"".join(mask.to_bytes(width, "little") for mask in masks), dtype=np.uint8)
    packed: Packed = _REVERSED[raw.reshape(len(masks), width)]
    return packed


def rows_of(mask: int) -> tuple[int, ...]:
    """The rows of a mask, ascending."""
    return tuple(k for k, bit in enumerate(reversed(f"{mask:b}")) if bit == "1")


def both_halves(half: Packed, planes: Hyperplanes, n: int) -> Packed:
    """Packed patterns of all rows from the bits of half the cells: these, then their negatives.

    Each hyperplane on whose positive side a cell lies toggles its rows in the pattern that is on no positive side;
    eight hyperplanes at a time, by table.
    """
    toggles = pack_masks([a | b for a, b in zip(planes.same, planes.opposite, strict=True)], n)
    out = np.repeat(pack_masks([_negative(planes)], n), len(half), axis=0)
    for byte in range(half.shape[1]):
        table = np.zeros((256, out.shape[1]), dtype=np.uint8)
        for i, toggle in enumerate(toggles[8 * byte : 8 * byte + 8]):
            table[1 << i : 2 << i] = table[: 1 << i] ^ toggle
        out ^= table[half[:, byte]]
    return np.concatenate([out, out ^ pack_masks([((1 << n) - 1) & ~planes.zero], n)])


def both_halves_of_masks(masks: Sequence[int], planes: Hyperplanes, n: int) -> Packed:
    """The same for few cells, given as masks of the hyperplanes on whose positive side they lie."""
    toggles = [a | b for a, b in zip(planes.same, planes.opposite, strict=True)]
    start = _negative(planes)
    patterns = []
    for mask in masks:
        pattern = start
        for j, toggle in enumerate(toggles):
            if mask >> j & 1:
                pattern ^= toggle
        patterns.append(pattern)
    nonzero = ((1 << n) - 1) & ~planes.zero
    return pack_masks([*patterns, *(pattern ^ nonzero for pattern in patterns)], n)


def _negative(planes: Hyperplanes) -> int:
    """The pattern on the negative side of every hyperplane."""
    start = planes.zero
    for mask in planes.opposite:
        start |= mask
    return start
