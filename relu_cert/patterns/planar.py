"""Cells on a line and in a plane, where no search is needed: rays sorted by angle, a sector between two neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from itertools import pairwise

from relu_cert.exact import primitive

Pair = tuple[int, int]


def line_cells(normals: Sequence[Sequence[int]]) -> tuple[list[int], list[tuple[int, ...]]]:
    """The half-line w = 1: the mask of the normals that are positive there (and its point)."""
    return [sum(1 << j for j, (z,) in enumerate(normals) if z > 0)], [(1,)]


def plane_cells(normals: Sequence[Sequence[int]]) -> tuple[list[int], list[tuple[int, ...]]]:
    """Half the sectors of m lines through 0 in the plane: a mask of the normals that are positive, and a point of each.

    The rays of the lines in the upper half-plane are sorted by angle; the point between two of them is their sum.
    """
    rays = [_upper(j, *z) for j, z in enumerate(normals)]
    rays.sort(key=cmp_to_key(_turn))
    ends = [ray for _, ray in rays]
    ends.append((-ends[0][0], -ends[0][1]))
    points = [primitive((a + c, b + d)) for (a, b), (c, d) in pairwise(ends)]
    x, y = points[0]
    mask = sum(1 << j for j, (a, b) in enumerate(normals) if a * x + b * y > 0)
    masks = [mask]
    for j, _ in rays[1:]:
        mask ^= 1 << j
        masks.append(mask)
    return masks, points


def _upper(j: int, a: int, b: int) -> tuple[int, Pair]:
    """The ray orthogonal to (a, b) with angle in [0, pi)."""
    return (j, (-b, a)) if a > 0 or (a == 0 and b < 0) else (j, (b, -a))


def _turn(first: tuple[int, Pair], second: tuple[int, Pair]) -> int:
    """Negative if the first ray comes before the second, counterclockwise."""
    (a, b), (c, d) = first[1], second[1]
    return b * c - a * d
