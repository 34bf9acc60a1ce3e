"""Broken circuits that prove a count.

Subsets of {1 ... m-1} of size < r that contain no listed broken circuit are at least as many as the cells on one side
of hyperplane 0, whatever was left out of the list. The inclusion-minimal broken circuits are exactly enough, and each
of them is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

from relu_cert.patterns.walk import bits_of


def minimal(broken: Mapping[int, int]) -> list[tuple[int, tuple[int, ...]]]:
    """The inclusion-minimal broken circuits b_1 < b_2 < ... with the hyperplane c < b_1 that each spans, sorted."""
    chosen: list[tuple[int, tuple[int, ...]]] = []
    kept: dict[int, list[int]] = {}  # by largest member
    for mask in sorted(broken, key=lambda s: (s.bit_count(), s)):
        members = bits_of(mask)
        if any(other & mask == other for j in members for other in kept.get(j, ())):
            continue
        kept.setdefault(members[-1], []).append(mask)
        chosen.append((broken[mask], tuple(members)))
    return sorted(chosen)


def cover_bound(m: int, r: int) -> int:
    """Cover's number of cells of m hyperplanes through 0 in general position: 2 sum_{k < r} C(m-1, k)."""
    return 2 * sum(comb(m - 1, k) for k in range(r)) if m else 1
