"""Broken circuits that prove a count.

Subsets of {1 ... m-1} of size < r that contain no listed broken circuit are at least as many as the cells on one side
of hyperplane 0, whatever was left out of the list. The inclusion-minimal broken circuits are exactly enough, and each
of them is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import comb

import numpy as np

from relu_cert.patterns.walk import bits_of

Circuits = list[tuple[int, tuple[int, ...]]]

LARGEST = 12  # members of a circuit whose parts are all looked up


def minimal(broken: Mapping[int, int], *, compiled: bool = False) -> Circuits:
    """The inclusion-minimal broken circuits b_1 < b_2 < ... with the hyperplane c < b_1 that each spans, sorted.

    The walk has logged each when it met its smallest member; the others contain no broken circuit. So a smaller broken
    circuit in it has that member, and, if it is minimal, was logged too.
    """
    if compiled and broken and max(broken) < 1 << 64 and (size := max(map(int.bit_count, broken))) <= LARGEST:
        return _compiled(broken, size)
    kept: list[int] = []
    for mask in sorted(broken, key=int.bit_count):
        low = mask & -mask
        rest = mask ^ low
        if rest.bit_count() <= 10 and 1 << rest.bit_count() < 2 * len(kept):
            part = (rest - 1) & rest
            while part and part | low not in broken:
                part = (part - 1) & rest
            if part:
                continue
        elif any(other & mask == other for other in kept):
            continue
        kept.append(mask)
    return sorted((broken[mask], tuple(bits_of(mask))) for mask in kept)


def _compiled(broken: Mapping[int, int], size: int) -> Circuits:
    """The same for masks of one word and at most `size` members."""
    from relu_cert.patterns.assemble import minimal_masks

    masks = np.fromiter(broken, dtype=np.uint64, count=len(broken))
    members = np.empty((len(masks), size), dtype=np.int64)
    kept = np.empty(len(masks), dtype=np.bool_)
    key = np.empty_like(masks)
    minimal_masks(masks, np.zeros(2 << len(masks).bit_length(), dtype=np.uint64), members, key, kept)
    spanned = np.fromiter(broken.values(), dtype=np.int64, count=len(broken))
    order = np.lexsort((key, spanned))
    order = order[kept[order]]
    rows = zip(spanned[order].tolist(), members[order].tolist(), strict=True)
    return [(c, tuple(row if row[-1] >= 0 else row[: row.index(-1)])) for c, row in rows]


@cache
def cover_bound(m: int, r: int) -> int:
    """Cover's number of cells of m hyperplanes through 0 in general position: 2 sum_{k < r} C(m-1, k)."""
    return 2 * sum(comb(m - 1, k) for k in range(r)) if m else 1
