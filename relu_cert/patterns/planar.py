"""Cells on a line and in a plane, where no search is needed: rays sorted by angle, a sector between two neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import primitive
from relu_cert.patterns.flats import Array, products, vanishing

Pair = tuple[int, int]

REACH = 2**31  # cross products of smaller integers fit int64


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


Halves = tuple[NDArray[np.intp], NDArray[np.bool_], Array]
"""Half the cells on many subspaces: how many on each, the normals that are positive there, an integer point of each."""


def half_lines(normals: Array, bases: Array) -> Halves:
    """One half of each of many lines."""
    positive = products(normals, bases)[:, :, 0] > 0
    return np.ones(len(bases), dtype=np.intp), positive, np.ones((len(bases), 1), dtype=np.int64)


def half_planes(normals: Array, bases: Array) -> Halves | None:
    """Half the sectors of each of many planes, as `plane_cells` has them, but also for normals that are parallel there.

    Turned so that its ray (-b, a) has an angle in [0, pi), a normal (a, b) is positive in the sectors before its ray
    and negative in those after it. Rays are sorted by floats, and then every neighbour is proved to be one: None where
    that fails or where numbers are too long for it.
    """
    V = products(normals, bases)
    if V.dtype == object:
        return None
    g = np.gcd.reduce(V, axis=2, keepdims=True)
    V //= np.where(g == 0, 1, g)
    a, b = V[:, :, 0], V[:, :, 1]
    turned = (a < 0) | ((a == 0) & (b > 0))
    V[turned] *= -1
    if max(V.max(initial=0), -V.min(initial=0)) >= REACH:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(b / a, axis=1, kind="stable")  # (0, -1) first, where the plane vanishes (nan) last
    V = np.take_along_axis(V, order[:, :, None], axis=1)
    a, b = V[:, :, 0], V[:, :, 1]
    cross = a[:, :-1] * b[:, 1:] - b[:, :-1] * a[:, 1:]
    zero = vanishing(V)
    differs = (V[:, 1:] != V[:, :-1]).any(axis=2) & ~zero[:, 1:]
    if (zero[:, :-1] & ~zero[:, 1:]).any() or (cross[differs] <= 0).any():
        return None
    opens = ~zero
    opens[:, 1:] = differs
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.cumsum(opens, axis=1) - 1, axis=1)
    count = opens.sum(axis=1)
    rays = np.stack([-b[opens], a[opens]], axis=1)
    last = np.cumsum(count) - 1
    following = np.empty_like(rays)
    following[:-1] = rays[1:]
    following[last] = -rays[last + 1 - count]
    points = rays + following
    points //= np.gcd.reduce(points, axis=1, keepdims=True)
    sector = np.arange(len(rays)) - np.repeat(last + 1 - count, count)
    positive = (np.repeat(place, count, axis=0) > sector[:, None]) ^ np.repeat(turned, count, axis=0)
    return count, positive, points


def shorten(bases: Array) -> Array:
    """Bases of the same lattices in the plane, with short vectors (Lagrange): witnesses stay small. Lines stay."""
    if bases.shape[1] == 1 or bases.dtype == object or not len(bases) or np.abs(bases).max() >= REACH:
        return bases
    short, long = bases[:, 0], bases[:, 1]
    for _ in range(64):
        swap = (short.astype(np.float64) ** 2).sum(axis=1) > (long.astype(np.float64) ** 2).sum(axis=1)
        short, long = np.where(swap[:, None], long, short), np.where(swap[:, None], short, long)
        a = short.astype(np.float64)
        times = np.rint((a * long).sum(axis=1) / (a * a).sum(axis=1)).astype(np.int64)
        if not times.any():
            break
        long = long - times[:, None] * short
    return np.stack([short, long], axis=1)
