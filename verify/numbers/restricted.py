"""The rows of Z on the subspaces L = {u : z_k.u = 0, k in F}: which are parallel there, and which vanish.

Sets of rows are bit masks: bit k belongs to row k.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from flint import fmpz_mat

Rows = list[list[int]]

ROOM = 2**18  # classes of rows, in all subspaces that are kept for later use


@dataclass(frozen=True)
class Restricted:
    """The rows of Z on L.

    `flat` are the rows that vanish on L, `classes` the sets of rows that are parallel on L (up to sign and scale) by
    name, the smallest row of each, ascending, and `rank` is the rank of all rows on L. `lines` has the row of each name
    in coordinates of L, all times one number that is not zero. `pivot` is the last one that was divided by.
    """

    lines: dict[int, list[int]]
    flat: int
    classes: dict[int, int]
    rank: int
    pivot: int


class Subspaces:
    """All of these for one Z. `antipodal` are the classes of Z with rows on both sides: z_j = -s z_k, s > 0."""

    def __init__(self, Z: Rows) -> None:
        self.n = len(Z)
        rows = {k: primitive(row) for k, row in enumerate(independent_columns(Z))}
        self.whole = merged(rows, {k: 1 << k for k in rows}, 0, len(rows[0]), 1)
        listed = set(map(tuple, rows.values()))
        self.antipodal = [name for name in self.whole.classes if tuple(-x for x in rows[name]) in listed]
        self.kept: dict[int, Restricted] = {}
        self.room = ROOM

    def on(self, rows: int) -> Restricted:
        """The rows of Z on the common kernel of some of them."""
        space = self.whole
        while True:
            name = next((name for name, members in space.classes.items() if members & rows), None)
            if name is None:
                return space
            space = self.cut(space, name)

    def cut(self, space: Restricted, name: int) -> Restricted:
        """On the part of L where the rows of one class vanish, too."""
        flat = space.flat | space.classes[name]
        found = self.kept.get(flat)
        if found is None:
            found = cut(space, name)
            if len(found.classes) <= self.room:
                self.room -= len(found.classes)
                self.kept[flat] = found
        return found


def cut(space: Restricted, name: int) -> Restricted:
    """With v = (v_i) the row of the class and v_p not zero, the vectors v_p e_i - v_i e_p, i != p, are a basis of the
    kernel: a row x is (v_p x_i - v_i x_p) there. All of these are divisible by the pivot before (Bareiss): they are
    minors of Z. The rank is one less, for v is one of the rows."""
    v = space.lines[name]
    p = next(i for i, x in enumerate(v) if x)
    pivot, before = v[p], space.pivot
    rest = [(i, x) for i, x in enumerate(v) if i != p]
    lines = {
        other: [(pivot * row[i] - x * row[p]) // before for i, x in rest]
        for other, row in space.lines.items()
        if other != name
    }
    return merged(lines, space.classes, space.flat | space.classes[name], space.rank - 1, pivot)


def merged(lines: dict[int, list[int]], masks: dict[int, int], flat: int, rank: int, pivot: int) -> Restricted:
    """Rows (by name, ascending) merged into classes of parallel ones; those that vanish join the flat."""
    names: dict[tuple[int, ...], int] = {}
    kept: dict[int, list[int]] = {}
    classes: dict[int, int] = {}
    for name, row in lines.items():
        divisor = gcd(*row)
        if not divisor:
            flat |= masks[name]
            continue
        if next(filter(None, row)) < 0:
            divisor = -divisor
        first = names.setdefault(tuple(row) if divisor == 1 else tuple([x // divisor for x in row]), name)
        if first == name:
            kept[name], classes[name] = row, masks[name]
        else:
            classes[first] |= masks[name]
    return Restricted(kept, flat, classes, rank, pivot)


def independent_columns(Z: Rows) -> Rows:
    """Z on as many independent columns as its rank: rows are as dependent there as in Z."""
    reduced, _, rank = fmpz_mat(Z).rref()
    pivots = [next(j for j in range(len(Z[0])) if reduced[i, j] != 0) for i in range(rank)]
    return [[row[j] for j in pivots] for row in Z]


def rank(rows: Rows) -> int:
    """The exact rank of some rows."""
    return int(fmpz_mat(rows).rank())


def primitive(row: list[int]) -> list[int]:
    """The row over the greatest common divisor of its entries: the same signs, the same span."""
    divisor = gcd(*row)
    return [x // divisor for x in row] if divisor > 1 else row
