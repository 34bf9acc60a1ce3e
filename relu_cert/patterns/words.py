"""Many sets at once: rows of 64-bit words, bit j of word i for element 64 i + j."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Numbers = NDArray[np.intp]
Bytes = NDArray[np.uint8]

ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint8)
"""How many ones a byte has."""


def distinct(masks: Words) -> tuple[Numbers, Numbers]:
    """Which of the different rows each row is, and where each of these is met first. Numbered in that order."""
    order = np.lexsort(masks.T)
    opens = np.ones(len(masks), dtype=np.bool_)
    opens[1:] = (masks[order[1:]] != masks[order[:-1]]).any(axis=1)
    first = order[opens]  # lexsort is stable
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    number = np.empty(len(masks), dtype=np.intp)
    number[order] = rank[np.cumsum(opens) - 1]
    return number, np.sort(first)


def union_by(number: Numbers, masks: Words, count: int) -> Words:
    """For each of `count` numbers the union of the masks that have it (each has one)."""
    if not count:
        return masks[:0]
    order = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[order], np.arange(count))
    return np.bitwise_or.reduceat(masks[order], starts, axis=0)


def pack(inside: NDArray[np.bool_]) -> Words:
    """Rows of flags as words."""
    return as_words(np.packbits(inside, axis=1, bitorder="little"))


def words_for(m: int) -> int:
    """How many words a set of m elements needs."""
    return (m + 63) // 64


def as_words(packed: Bytes) -> Words:
    """Rows of bytes as words, with zeros at the end."""
    padded = np.zeros((len(packed), 8 * words_for(8 * packed.shape[1])), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64, copy=False)


def as_bytes(words: Words) -> Bytes:
    """The bytes of each row, those of the lowest elements first."""
    return np.ascontiguousarray(words.astype("<u8", copy=False)).view(np.uint8)


def symmetric_sums(sets: Bytes, parts: Bytes) -> Bytes:
    """For each set the exclusive or of the parts of its elements (the union, if they are disjoint).

    Bit i (little-endian) of byte b of a set is element 8 b + i; eight elements at a time, by table.
    """
    out = np.zeros((len(sets), parts.shape[1]), dtype=np.uint8)
    for start in range(0, len(parts), 8):
        table = np.zeros((256, parts.shape[1]), dtype=np.uint8)
        for i, part in enumerate(parts[start : start + 8]):
            table[1 << i : 2 << i] = table[: 1 << i] ^ part
        out ^= table[sets[:, start >> 3]]
    return out


def covered_by(sets: Words, patterns: Words) -> NDArray[np.bool_]:
    """Whether pattern j has all of set i, for every i and j."""
    out = np.ones((len(sets), len(patterns)), dtype=np.bool_)
    for w in range(sets.shape[1]):
        out &= (sets[:, w, None] & ~patterns[None, :, w]) == 0
    return out
