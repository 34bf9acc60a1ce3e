"""The flats that may hold patterns of lower faces: every dependent flat, from the circuits upwards, rank by rank.

A flat X is a set of hyperplanes: all that contain a subspace L_X. A flat with independent directions is acyclic (some u
is positive on all of it); so only dependent flats can be totally cyclic. Each of them contains a circuit, or a
hyperplane that has rows on both sides, and is reached from the closure of one of these by covering steps. With an
integer basis of L_X the flats that cover X are the parallel classes of the normals restricted to L_X.

All flats of one rank are treated at once. Sets of hyperplanes are rows of 64-bit words; integers are int64 where no
product can overflow, Python integers in object arrays elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import primitive
from relu_cert.patterns.arrangement import Numbers, Words, distinct, pack, union_by, words_for
from relu_cert.patterns.cells import small

Array = NDArray[Any]
"""Integers: int64, or Python integers."""

CHUNK = 1 << 20  # entries of the largest temporary array
SAFE = 2**62
_BIT = np.uint64(1) << np.arange(64, dtype=np.uint64)


@dataclass(frozen=True)
class Flats:
    """Flats of one rank.

    `members`  the hyperplanes of each, one row of words: bit j of word i is hyperplane 64 i + j.
    `bases`    an integer basis of each L_X: (flats, dimension of L_X, r).
    `below`    hyperplanes, one row of words each: the union of what is known of the flats that it covers.
    """

    members: Words
    bases: Array
    below: Words

    def __len__(self) -> int:
        return len(self.members)

    @property
    def dimension(self) -> int:
        """The dimension of every L_X."""
        return int(self.bases.shape[1])


def seeds(normals: Array, circuits: Sequence[Sequence[int]]) -> list[Flats]:
    """The closures of independent sets of hyperplanes, each once, by rank: entry k has those of rank k, k < r."""
    r = normals.shape[1]
    found = [_none(normals, r - rank) for rank in range(r)]
    for rank, same_size in groupby(sorted(circuits, key=len), key=len):
        if rank >= r:
            break
        sets = np.array(list(same_size), dtype=np.intp)
        bases = np.broadcast_to(np.eye(r, dtype=normals.dtype), (len(sets), r, r))
        for j in range(rank):
            bases = restrict(bases, normals[sets[:, j]])
        members = np.concatenate([pack(vanishing(products(normals, part))) for part in _parts(bases, len(normals))])
        _, first = distinct(members)
        found[rank] = Flats(members[first], bases[first], np.zeros_like(members[first]))
    return found


def climb(normals: Array, flats: Flats, known: Words, more: Flats) -> Flats:
    """The flats that cover one of `flats`, and `more` of their rank. `below` is the union of the `known` of those.

    In the order in which they are met: first `more`, then by the flat that is covered and the smallest new hyperplane.
    """
    covered, new, members = covering(normals, flats)
    number, first = distinct(np.concatenate([more.members, members]))
    below = union_by(number, np.concatenate([more.below, known[covered]]), len(first))
    step = first[first >= len(more)] - len(more)
    bases = restrict(flats.bases[covered[step]], normals[new[step]])
    old = more.bases[first[first < len(more)]]  # first comes ascending
    return Flats(np.concatenate([more.members, members])[first], np.concatenate([old, bases]), below)


def covering(normals: Array, flats: Flats) -> tuple[Numbers, Numbers, Words]:
    """All pairs of a flat and one that covers it: the number of the flat, the smallest new hyperplane, all members."""
    found = []
    start = 0
    for part in _parts(flats.bases, len(normals)):
        covered, new, added = parallel_classes(directions(products(normals, part)))
        covered += start
        found.append((covered, new, added | flats.members[covered]))
        start += len(part)
    if not found:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), flats.members[:0]
    covered, new, members = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return covered, new, members


def parallel_classes(V: Array) -> tuple[Numbers, Numbers, Words]:
    """The classes of equal non-zero vectors V[i, j] among those of one i: i, the smallest j, and all j as words.

    Ordered by i, then j. Vectors are compared by a hash; that equal hashes are equal vectors is checked.
    """
    zero = vanishing(V)
    rng = np.random.default_rng(0)
    while True:
        h = _hash(V, rng)
        h[zero] = np.uint64(2**64 - 1)
        order = np.argsort(h, axis=1, kind="stable")
        h = np.take_along_axis(h, order, axis=1)
        opens = np.ones(h.shape, dtype=np.bool_)
        opens[:, 1:] = h[:, 1:] != h[:, :-1]
        i, at = np.nonzero(~opens)
        if np.array_equal(V[i, order[i, at]], V[i, order[i, at - 1]]):
            break
    i, at = np.nonzero(~np.take_along_axis(zero, order, axis=1))
    j = order[i, at]
    starts = np.flatnonzero(opens[i, at])
    words = np.zeros((len(j), words_for(V.shape[1])), dtype=np.uint64)
    words[np.arange(len(j)), j >> 6] = _BIT[j & 63]
    members = np.bitwise_or.reduceat(words, starts, axis=0) if len(starts) else words
    smallest = np.lexsort((j[starts], i[starts]))
    return i[starts][smallest], j[starts][smallest], members[smallest]


def products(normals: Array, bases: Array) -> Array:
    """The normals on each subspace, in the coordinates of its basis: (subspaces, hyperplanes, dimension)."""
    N, B = fitting(normals.shape[1], normals, bases)
    return np.asarray(N @ B.swapaxes(1, 2))


def vanishing(V: Array) -> NDArray[np.bool_]:
    """Which vectors are zero."""
    return np.asarray((V == 0).all(axis=-1))


def directions(V: Array) -> Array:
    """The same for parallel vectors: primitive, first non-zero entry positive (zero stays zero)."""
    g = np.gcd.reduce(V, axis=-1, keepdims=True)
    first = np.take_along_axis(V, (V != 0).argmax(axis=-1)[..., None], axis=-1)
    g = np.where(first < 0, -g, g)
    return small_or_same(V // np.where(g == 0, 1, g))


def restrict(bases: Array, z: Array) -> Array:
    """Bases of {u in span(basis) : z.u = 0}; no z may vanish on its subspace."""
    B, Z = fitting(z.shape[1], bases, z)
    values = (B * Z[:, None]).sum(axis=2)
    size = np.abs(values)
    largest = size.max(initial=0)
    everyone = np.arange(len(B))
    p = np.where(size == 0, largest + 1, size).argmin(axis=1)
    values, B = fitting(2, values, B)
    pivot, v = B[everyone, p], values[everyone, p]
    turned = v[:, None, None] * B - values[:, :, None] * pivot[:, None]
    rest = np.arange(B.shape[1]) != p[:, None]
    out = turned[rest].reshape(len(B), B.shape[1] - 1, B.shape[2])
    g = np.gcd.reduce(out, axis=2, keepdims=True)
    return small_or_same(out // np.where(g == 0, 1, g))


def fitting(terms: int, a: Array, b: Array) -> tuple[Array, Array]:
    """Both as they are where sums of so many products fit int64, else as Python integers."""
    if object not in (a.dtype, b.dtype) and terms * _largest(a) * _largest(b) < SAFE:
        return a, b
    return a.astype(object), b.astype(object)


def small_or_same(V: Array) -> Array:
    """As int64 where every entry fits."""
    return small(V) if V.dtype == object else V


def _largest(a: Array) -> int:
    return max(int(a.max(initial=0)), -int(a.min(initial=0)))


def _hash(V: Array, rng: np.random.Generator) -> Words:
    """A random linear form of each vector modulo 2^64; of long integers, of what is left modulo a random number."""
    residues = (V % int(rng.integers(2**61, 2**62))).astype(np.int64) if V.dtype == object else V
    factors = rng.integers(0, 2**64, size=V.shape[2], dtype=np.uint64) | np.uint64(1)
    out: Words = (residues.view(np.uint64) * factors).sum(axis=2, dtype=np.uint64)
    return out


def _parts(bases: Array, m: int) -> Iterator[Array]:
    """The bases, so many at a time that the products with m normals are no large array."""
    size = max(1, CHUNK // (m * bases.shape[1]))
    for start in range(0, len(bases), size):
        yield bases[start : start + size]


def _none(normals: Array, dimension: int) -> Flats:
    empty = np.zeros((0, words_for(len(normals))), dtype=np.uint64)
    return Flats(empty, np.zeros((0, dimension, normals.shape[1]), dtype=np.int64), empty)


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
