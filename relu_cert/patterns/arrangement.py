"""From rational data to a small integer arrangement with the same patterns.

A row may be scaled by a positive number and a column by a positive number (the witness takes the inverse factor),
so everything becomes small integers; dependent columns are left out; rows parallel up to sign are one hyperplane.

Many sets at once, packed: rows of 64-bit words, bit j of word i for element 64 i + j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import gcd, lcm
from operator import attrgetter, mul, neg
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from relu_cert.exact import Matrix, primitive

IntVector = tuple[int, ...]
PRIME = 2**61 - 1


@dataclass(frozen=True)
class Arrangement:
    """The rows of Z as integers on r independent columns: sign(z_k.u) = sign(rows[k].w) for u = w * scale.

    `columns`   the r columns of Z that are kept.
    `scale`     positive integers, one for each kept column.
    `rows`      n integer rows of length r, each primitive.
    """

    n: int
    d: int
    columns: tuple[int, ...]
    scale: tuple[int, ...]
    rows: tuple[IntVector, ...]

    @property
    def rank(self) -> int:
        """r = rank Z."""
        return len(self.columns)


@dataclass(frozen=True)
class Hyperplanes:
    """Rows merged into classes: `normals[j]` is the smallest row of class j, oriented as that row.

    `names[j]` is the number of that row; `same[j]` and `opposite[j]` are bit masks of the rows that are positive and
    negative multiples of it; `zero` is the mask of the rows that vanish (on the subspace at hand).
    """

    normals: tuple[IntVector, ...]
    names: tuple[int, ...]
    same: tuple[int, ...]
    opposite: tuple[int, ...]
    zero: int

    def __len__(self) -> int:
        return len(self.names)


def arrangement(Z: Matrix) -> Arrangement:
    """The integer arrangement of Z. Columns with small entries are preferred: they keep the minors small."""
    n, d = len(Z), len(Z[0]) if Z else 0
    rows = _integer_rows(Z)
    columns = independent_columns(rows, d)
    if len(columns) < d:
        rows = [primitive([row[c] for c in columns]) for row in rows]
    factors = [1] * len(columns)
    while True:  # dividing a column may make a row divisible and the other way round
        g = [gcd(*column) for column in zip(*rows, strict=True)] if rows else []
        if all(x == 1 for x in g):
            break
        factors = [f * x for f, x in zip(factors, g, strict=True)]
        rows = [primitive([x // y for x, y in zip(row, g, strict=True)]) for row in rows]
    common = lcm(*factors)
    return Arrangement(n, d, columns, tuple(common // f for f in factors), tuple(rows))


_numerator, _denominator = attrgetter("numerator"), attrgetter("denominator")


def _integer_rows(Z: Matrix) -> list[IntVector]:
    """The primitive integer rows in the directions of rational ones."""
    entries = list(chain.from_iterable(Z))
    if set(map(_denominator, entries)) <= {1}:  # all at once
        numerators = map(_numerator, entries)
        return [primitive(tuple(islice(numerators, len(row)))) for row in Z]
    rows = []
    for row in Z:
        q = lcm(*map(_denominator, row))
        rows.append(primitive([x.numerator * (q // x.denominator) for x in row]))
    return rows


def independent_columns(rows: Sequence[Sequence[int]], d: int) -> tuple[int, ...]:
    """A largest set of independent columns, ascending, chosen greedily from the column with the smallest entries."""
    if not rows or not d:
        return ()
    n = len(rows)
    if n >= d and (flint.fmpz_mat(rows[: 2 * d]).rank() == d or flint.fmpz_mat(rows).rank() == d):  # few show it mostly
        return tuple(range(d))
    columns = list(zip(*rows, strict=True))
    order = sorted(range(d), key=[max(map(abs, column)) for column in columns].__getitem__)
    ordered = flint.fmpz_mat([[row[c] for c in order] for row in rows])
    reduced: Any
    reduced, rank = flint.nmod_mat(ordered, PRIME).rref()  # independent modulo a prime is independent
    if rank < min(n, d) and rank < ordered.transpose().rank():
        reduced, _, rank = ordered.rref()
    pivots, c = [], 0
    for i in range(rank):
        while reduced[i, c] == 0:
            c += 1
        pivots.append(order[c])
    return tuple(sorted(pivots))


def restrict_planes(planes: Hyperplanes, members: int, basis: Sequence[IntVector]) -> Hyperplanes:
    """The hyperplanes on the span of `basis`, in its coordinates; `members` are those that contain it."""
    index: dict[IntVector, int] = {}
    normals: list[IntVector] = []
    names: list[int] = []
    same: list[int] = []
    opposite: list[int] = []
    zero = planes.zero
    for j, z in enumerate(planes.normals):
        if members >> j & 1:
            zero |= planes.same[j] | planes.opposite[j]
            continue
        v = primitive([sum(map(mul, z, b)) for b in basis])
        if (i := index.get(v)) is not None:
            same[i] |= planes.same[j]
            opposite[i] |= planes.opposite[j]
        elif (i := index.get(tuple(map(neg, v)))) is not None:
            same[i] |= planes.opposite[j]
            opposite[i] |= planes.same[j]
        else:
            index[v] = len(names)
            normals.append(v)
            names.append(planes.names[j])
            same.append(planes.same[j])
            opposite.append(planes.opposite[j])
    return Hyperplanes(tuple(normals), tuple(names), tuple(same), tuple(opposite), zero)


def hyperplanes(rows: Sequence[Sequence[int]]) -> Hyperplanes:
    """Merge rows that are parallel up to sign. Classes are ordered by their smallest row."""
    index: dict[IntVector, int] = {}  # by the one of z and -z whose first entry that is not 0 is positive
    normals: list[IntVector] = []
    names: list[int] = []
    upward: list[bool] = []
    same: list[int] = []
    opposite: list[int] = []
    zero = 0
    origin = (0,) * len(rows[0]) if rows else ()
    for k, row in enumerate(rows):
        z = primitive(row)
        up = z > origin
        key = z if up else tuple(map(neg, z))
        if (j := index.get(key)) is not None:
            if up == upward[j]:
                same[j] |= 1 << k
            else:
                opposite[j] |= 1 << k
        elif z == origin:
            zero |= 1 << k
        else:
            index[key] = len(names)
            normals.append(z)
            names.append(k)
            upward.append(up)
            same.append(1 << k)
            opposite.append(0)
    return Hyperplanes(tuple(normals), tuple(names), tuple(same), tuple(opposite), zero)


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


def both_halves(half: Packed, planes: Hyperplanes, n: int, *, compiled: bool = False) -> Packed:
    """Packed patterns of all rows from the bits of half the cells: these, then their negatives.

    Each hyperplane on whose positive side a cell lies toggles its rows in the pattern that is on no positive side;
    eight hyperplanes at a time, by table.
    """
    out: Packed
    if len(planes) == n and not any(planes.opposite):  # each row is a hyperplane of its own
        out = np.empty((2 * len(half), half.shape[1]), dtype=np.uint8)
        _reverse(half.reshape(-1), out.reshape(-1)[: half.size], compiled)
        others = np.invert(out[: len(half)], out=out[len(half) :])
        if n % 8:  # bits that belong to no row
            others[:, -1] &= 255 << -n % 8 & 255
        return out
    toggles = pack_masks([a | b for a, b in zip(planes.same, planes.opposite, strict=True)], n)
    start, nonzero = pack_masks([_negative(planes), ((1 << n) - 1) & ~planes.zero], n)
    width = len(start)
    if compiled:
        from relu_cert.patterns.finish import toggle_rows

        out = np.empty((2 * len(half), width), dtype=np.uint8)
        table = np.empty((half.shape[1], 256), dtype=np.uint64)
        toggle_rows(half, _words(toggles), *_words(np.stack([start, nonzero])), table, out)
        return out
    out = np.repeat(start[None], len(half), axis=0)
    for byte in range(half.shape[1]):
        table = np.zeros((256, width), dtype=np.uint8)
        for i, toggle in enumerate(toggles[8 * byte : 8 * byte + 8]):
            table[1 << i : 2 << i] = table[: 1 << i] ^ toggle
        out ^= table[half[:, byte]]
    return np.concatenate([out, out ^ nonzero])


def _reverse(source: Packed, target: Packed, compiled: bool) -> None:
    """target = source with the bits of each byte in reverse order."""
    whole = 0
    if compiled:
        from relu_cert.patterns.finish import reverse_bytes

        whole = len(source) // 8 * 8
        reverse_bytes(source[:whole].view(np.uint64), target[:whole].view(np.uint64))
    target[whole:] = _REVERSED[source[whole:]]


def _words(packed: Packed) -> NDArray[np.uint64]:
    """Rows of bytes as 64-bit words, with zeros at the end."""
    padded = np.zeros((len(packed), (packed.shape[1] + 7) // 8 * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8")


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
