"""A coalition wins on every cone of a subdivision of the null space (branch and bound, exact at every leaf)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import isqrt

from relu_cert.prove.ggp.answers import BlockVector, ConeWin, Cut

BITS = 64
MOST_DIMENSIONS = 8

Cone = tuple[BlockVector, ...]


def cone_win(blocks: Sequence[int], basis: tuple[BlockVector, ...], P: Sequence[int], most_cuts: int) -> ConeWin | None:
    """Cuts that prove that P wins, or None where more than `most_cuts` nodes would be needed."""
    if len(basis) > MOST_DIMENSIONS:
        return None
    M = [b for b in range(len(blocks)) if b not in P]
    cuts: list[Cut | None] = []
    pending = first_cones(basis)[::-1]
    while pending:
        if len(cuts) + len(pending) > most_cuts:
            return None
        cone = pending.pop()
        if bound_holds(cone, P, M):
            cuts.append(None)
            continue
        cut = longest_edge(cone)
        cuts.append(cut)
        first, second = split_cone(cone, cut)
        pending += [second, first]
    return ConeWin(tuple(blocks[b] for b in P), tuple(cuts))


def first_cones(basis: tuple[BlockVector, ...]) -> list[Cone]:
    """Cones spanned by +-(the basis): with their negatives they cover its span."""
    return [
        (basis[0], *(_combined(u, -1 if code >> i & 1 else 1, u, 0) for i, u in enumerate(basis[1:])))
        for code in range(2 ** (len(basis) - 1))
    ]


def split_cone(cone: Cone, cut: Cut) -> tuple[Cone, Cone]:
    """The two cones with h = p g_i + q g_j in the place of g_i, and of g_j."""
    i, j, p, q = cut
    h = _combined(cone[i], p, cone[j], q)
    return (*cone[:i], h, *cone[i + 1 :]), (*cone[:j], h, *cone[j + 1 :])


def bound_holds(cone: Cone, P: Sequence[int], M: Sequence[int]) -> bool:
    """sum_P g_b.w_b / |w_b| - sum_M |g_b| > 0 at every generator g, w their sum; square roots rounded against it."""
    w = tuple(tuple(map(sum, zip(*parts, strict=True))) for parts in zip(*cone, strict=True))
    squares = [sum(x * x for x in part) for part in w]
    for g in cone:
        low = 0
        for b in P:
            a = sum(x * y for x, y in zip(g[b], w[b], strict=True))
            if a:
                root = isqrt((a * a << 2 * BITS) // squares[b])
                low += root if a > 0 else -root - 1
        for b in M:
            low -= _root_above(sum(x * x for x in g[b]))
        if low <= 0:
            return False
    return True


@lru_cache(maxsize=4096)
def _root_above(r: int) -> int:
    """An integer >= 2^BITS sqrt(r)."""
    return isqrt((r << 2 * BITS) - 1) + 1 if r else 0


def longest_edge(cone: Cone) -> Cut:
    """The two generators with the widest angle, weighted to about the same length."""
    flat = [[x for part in g for x in part] for g in cone]
    lengths = [max(1, isqrt(sum(x * x for x in g))) for g in flat]

    def cosine(pair: tuple[int, int]) -> float:
        i, j = pair
        scale = lengths[i] * lengths[j]
        return (sum(x * y for x, y in zip(flat[i], flat[j], strict=True)) << 30) // scale / 2**30

    i, j = min(combinations(range(len(cone)), 2), key=cosine)
    return (
        i,
        j,
        max(1, (2 * lengths[j] + lengths[i]) // (2 * lengths[i])),
        max(1, (2 * lengths[i] + lengths[j]) // (2 * lengths[j])),
    )


def _combined(u: BlockVector, p: int, v: BlockVector, q: int) -> BlockVector:
    return tuple(tuple(p * x + q * y for x, y in zip(a, b, strict=True)) for a, b in zip(u, v, strict=True))
