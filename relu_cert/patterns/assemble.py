"""Compiled: packed patterns of all cells from the bits of half of them, and which broken circuits are minimal."""

from __future__ import annotations

import numpy as np

from relu_cert.patterns.jit import compile_, lowest

ODD, PAIRS, HALVES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)


@compile_
def toggle_rows(half, toggles, start, nonzero, table, out):  # type: ignore[no-untyped-def]
    """out[i] = start with the toggles of the ones of half[i], and after all of these the same without `nonzero` rows.

    toggles[8 b + i] belongs to bit i of byte b of a row of half; all rows of bytes come in 64-bit words but half and
    out. table has room for 256 words.
    """
    size = len(half)
    words = toggles.shape[1]
    width = out.shape[1]
    for w in range(words):
        first, stop = 8 * w, min(8 * w + 8, width)
        for b in range(half.shape[1]):
            table[b, 0] = np.uint64(0)
            for i in range(8):
                toggle = toggles[8 * b + i, w] if 8 * b + i < len(toggles) else np.uint64(0)
                for x in range(1 << i):
                    table[b, (1 << i) + x] = table[b, x] ^ toggle
        for n in range(size):
            word = start[w]
            for b in range(half.shape[1]):
                word ^= table[b, half[n, b]]
            other = word ^ nonzero[w]
            for at in range(first, stop):
                out[n, at] = np.uint8(word & np.uint64(255))
                out[size + n, at] = np.uint8(other & np.uint64(255))
                word >>= np.uint64(8)
                other >>= np.uint64(8)


@compile_
def reverse_bytes(words, out):  # type: ignore[no-untyped-def]
    """out = words with the bits of each byte in reverse order."""
    for n in range(len(words)):
        x = words[n]
        x = ((x >> np.uint64(1)) & ODD) | ((x & ODD) << np.uint64(1))
        x = ((x >> np.uint64(2)) & PAIRS) | ((x & PAIRS) << np.uint64(2))
        out[n] = ((x >> np.uint64(4)) & HALVES) | ((x & HALVES) << np.uint64(4))


@compile_
def find(table, mask):  # type: ignore[no-untyped-def]
    """The place of a mask in a hash table (its size a power of two, 0 for empty), or where it would be put."""
    last = np.uint64(len(table) - 1)
    h = mask * np.uint64(0x9E3779B97F4A7C15)
    at = (h ^ (h >> np.uint64(32))) & last
    while table[at] != np.uint64(0) and table[at] != mask:
        at = (at + np.uint64(1)) & last
    return at


@compile_
def minimal_masks(masks, table, members, key, kept):  # type: ignore[no-untyped-def]
    """kept[n]: no part of masks[n] with the same lowest one is a mask too; members[n] its ones, then -1.

    key[n] puts masks, none of which begins another, in the order of their ones, ascending.
    """
    for n in range(len(masks)):
        table[find(table, masks[n])] = masks[n]
    for n in range(len(masks)):
        low = masks[n] & (~masks[n] + np.uint64(1))
        rest = masks[n] ^ low
        part = (rest - np.uint64(1)) & rest
        while part and table[find(table, part | low)] == np.uint64(0):
            part = (part - np.uint64(1)) & rest
        kept[n] = part == np.uint64(0)
        word = masks[n]
        key[n] = ~np.uint64(0)
        for i in range(members.shape[1]):
            members[n, i] = lowest(word) if word else -1
            key[n] ^= np.uint64(1) << np.uint64(63 - members[n, i]) if word else np.uint64(0)
            word &= word - np.uint64(1)
