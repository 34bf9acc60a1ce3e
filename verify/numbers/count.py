"""Counting sets that contain none of some listed sets, without visiting those that can be counted together."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb


@dataclass
class Prefix:
    """First elements of some listed sets: `last` are the elements that complete one, `next` those that lead on."""

    last: int = 0
    next: int = 0
    children: dict[int, Prefix] = field(default_factory=dict)


def prefixes(listed: list[tuple[int, ...]]) -> Prefix:
    """The tree of all first parts of the listed sets (each ascending)."""
    root = Prefix()
    for elements in listed:
        node = root
        for e in elements[:-1]:
            node.next |= 1 << e
            node = node.children.setdefault(e, Prefix())
        node.last |= 1 << elements[-1]
    return root


def count_sets(elements: int, size: int, listed: list[tuple[int, ...]], limit: int) -> int:
    """The number of subsets of range(elements) with at most `size` elements that contain no listed set.

    Elements are added in ascending order. A set S carries the prefixes that it contains and the elements that it may
    not take (they would complete a listed set). Where no prefix can grow any more, the rest is a sum of binomial
    coefficients. Stops with some number above `limit` as soon as the count is above it.
    """
    root = prefixes(listed)
    everything = (1 << elements) - 1
    pending = [(0, size, [root], root.last)]
    count = 0
    while pending and count <= limit:
        first, left, active, banned = pending.pop()
        free = everything >> first << first & ~banned
        if left <= 1 or not any(node.next & free for node in active):
            count += sum(comb(free.bit_count(), k) for k in range(min(left, free.bit_count()) + 1))
            continue
        count += 1
        for e in range(first, elements):
            if free >> e & 1:
                grown = [node.children[e] for node in active if node.next >> e & 1]
                stop = banned
                for node in grown:
                    stop |= node.last
                pending.append((e + 1, left - 1, active + grown, stop))
    return count
