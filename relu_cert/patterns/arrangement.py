"""From rational data to a small integer arrangement with the same patterns.

A row may be scaled by a positive number and a column by a positive number (the witness takes the inverse factor),
so everything becomes small integers; dependent columns are left out; rows parallel up to sign are one hyperplane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import gcd, lcm
from operator import attrgetter, mul, neg
from typing import Any

import flint

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
