"""The cells of a central arrangement, one for each no-broken-circuit set, in plain Python integers.

Number the hyperplanes 0 ... m-1 (rank r). The cells that are + on hyperplane 0 are as many as the subsets I of
{1 ... m-1} that contain no broken circuit (Whitney 1932, Zaslavsky 1975). The walk visits these sets depth first,
e_1 > e_2 > ..., with the fraction-free tableau

    det * z_j = sum_t A_jt z_{e_t} + sum_l X_jl y_l + X_j0 z_0

whose entries are minors of the data, and each set emits the cell in which z_j has the sign of its first non-zero
coefficient in the order: free coordinates y_l ascending, z_0, T_k z_{e_k}, ..., T_1 z_{e_1}. The signs T say on which
side of hyperplane e_t the cell lies as seen from a point that is lexicographically far away in y.

When one free coordinate is left, the flat is a line: its points, sorted, give all remaining sets at once, and the cell
of a point is the segment that follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Node:
    """A no-broken-circuit set: the hyperplanes e_t, the signs T_t, and the coordinates that are still free."""

    members: tuple[int, ...]
    signs: tuple[int, ...]
    free: tuple[int, ...]


@dataclass
class Walk:
    """What a walk found: `cells[i]` is a bit mask (bit j: cell i is + on hyperplane j), `nodes[i]` its set.

    All cells are + on hyperplane 0 (taken with the sign `orientation`); their negatives are the other half.
    `broken` maps broken circuits (bit masks) to the smaller hyperplane that they span; every subset of
    {1 ... m-1} of size < r that contains a broken circuit contains one of these.
    """

    orientation: int = 1
    cells: list[int] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    broken: dict[int, int] = field(default_factory=dict)


class LimitReached(Exception):
    """The walk was told to stop at a number of cells, and has reached it."""


def walk(normals: Sequence[Sequence[int]], limit: int | None = None, tick: Callable[[int], None] | None = None) -> Walk:
    """Walk all no-broken-circuit sets of pairwise non-parallel integer normals of full rank r >= 1.

    Raises LimitReached as soon as more than `limit` cells (+ on hyperplane 0) are known to exist.
    """
    return _Walker(normals, limit, tick).run()


def pivot_coordinate(first: Sequence[int]) -> tuple[int, int]:
    """The coordinate that z_0 replaces (the last one with the smallest non-zero entry) and the sign of that entry."""
    base = min((l for l in range(len(first)) if first[l]), key=lambda l: (abs(first[l]), -l))
    return base, 1 if first[base] > 0 else -1


Column = list[int]


class _Walker:
    def __init__(self, normals: Sequence[Sequence[int]], limit: int | None, tick: Callable[[int], None] | None) -> None:
        self.m, self.r = len(normals), len(normals[0])
        self.out = Walk()
        self.limit, self.tick = limit, tick
        self.base, self.out.orientation = pivot_coordinate(normals[0])
        rows = [[self.out.orientation * x for x in normals[0]], *normals[1:]]
        columns = [list(column) for column in zip(*rows, strict=True)]
        self.start = _pivot(columns, self.base, 0, 1)
        self.det = self.start[self.base][0]

    def run(self) -> Walk:
        free = tuple(l for l in range(self.r) if l != self.base)
        self._visit(self.start, self.det, free, (), (), (), (), 0, self.m)
        return self.out

    def _visit(
        self,
        columns: list[Column],
        det: int,
        free: tuple[int, ...],
        members: tuple[int, ...],
        places: tuple[int, ...],  # the column that belongs to each member
        signs: tuple[int, ...],
        decided: tuple[int, ...],  # the column that decided each sign
        closure: int,
        last: int,
        followers: tuple[tuple[int, int], ...] = (),  # for each member the hyperplanes that have its sign, the opposite
    ) -> None:
        """Emit the cell of one set and visit the sets that continue it."""
        far = self._far(columns, det, free, closure)
        self._emit(far | _closure_bits(followers, signs), Node(members, signs, free))
        if self.tick is not None:
            self.tick(len(self.out.cells))
        if len(free) == 1:
            self._line(columns, det, free[0], members, places, signs, decided, closure, last, followers, far)
            return
        for e in range(last - 1, 0, -1):
            c = next((l for l in free if columns[l][e]), None) if free else None
            if c is None:
                if free:
                    self._log(0, _support(members, places, columns, e) | 1 << e)
                continue
            new = _pivot(columns, c, e, det)
            p = columns[c][e]
            rest = tuple(l for l in free if l != c)
            joined = self._joined(new, rest, closure)
            smallest = joined & -joined
            if smallest < 1 << e:
                j = smallest.bit_length() - 1
                self._log(j, _support(members, places, new, j) | 1 << e)
                continue
            plus = minus = 0
            pivot_column = columns[c]
            for j in bits_of(joined):
                if (pivot_column[j] > 0) == (p > 0):
                    plus |= 1 << j
                else:
                    minus |= 1 << j
            turned, by = _turn(columns, e, c, p, places, signs, decided)
            self._visit(
                new,
                p,
                rest,
                (*members, e),
                (*places, c),
                (*turned, -1 if (p > 0) == (det > 0) else 1),
                (*by, c),
                closure | joined,
                e,
                (*followers, (plus, minus)),
            )

    def _far(self, columns: list[Column], det: int, free: tuple[int, ...], closure: int) -> int:
        """Bits of the hyperplanes outside the closure at a point of the flat that is lexicographically far away."""
        order = [columns[l] for l in free] + [columns[self.base]]
        bits = 0
        for j, entries in enumerate(zip(*order, strict=True)):
            for x in entries:
                if x:
                    if (x > 0) == (det > 0):
                        bits |= 1 << j
                    break
        return bits & ~closure

    def _joined(self, columns: list[Column], free: tuple[int, ...], closure: int) -> int:
        """Hyperplanes that are zero outside the members' columns and were not so before."""
        rows = [j for j, x in enumerate(columns[self.base]) if not x]
        for l in free:
            column = columns[l]
            rows = [j for j in rows if not column[j]]
        return sum(1 << j for j in rows) & ~closure

    def _line(
        self,
        columns: list[Column],
        det: int,
        c: int,
        members: tuple[int, ...],
        places: tuple[int, ...],
        signs: tuple[int, ...],
        decided: tuple[int, ...],
        closure: int,
        last: int,
        followers: tuple[tuple[int, int], ...],
        far: int,
    ) -> None:
        """All sets that add one hyperplane to a flat that is a line: the points of the line from far to near."""
        if last <= 1:
            return
        y, b = columns[c], columns[self.base]
        for e in range(1, last):
            if not y[e]:
                self._log(0, _support(members, places, columns, e) | 1 << e)
        # -b/y descending; two of these rationals differ by at least 1/max|y|^2
        shift = 2 * max(map(abs, y)).bit_length()
        points: dict[int, list[int]] = {}
        for j, slope in enumerate(y):
            if slope:
                points.setdefault((b[j] << shift) // slope, []).append(j)
        stays = [i for i, by in enumerate(decided) if by > c]
        fixed = _closure_bits([followers[i] for i in stays], [signs[i] for i in stays])
        moves = [(columns[places[i]], *followers[i], signs[i]) for i, by in enumerate(decided) if by < c]
        T = list(signs)
        moving = [i for i, by in enumerate(decided) if by < c]
        bits = far
        for key in sorted(points):
            group = points[key]
            for j in group:
                bits ^= 1 << j
            e = group[0]
            if e >= last:
                continue
            p = y[e]
            leaf = bits | fixed
            for i, (column, plus, minus, sign) in zip(moving, moves, strict=True):
                a = column[e]
                T[i] = sign if not a else 1 if (a > 0) == (p > 0) else -1
                leaf |= plus if T[i] > 0 else minus
            self._emit(leaf, Node((*members, e), (*T, -1 if (p > 0) == (det > 0) else 1), ()))
            for other in group[1:]:
                if other >= last:
                    break
                q = y[other]
                span = 1 << other
                for member, place in zip(members, places, strict=True):
                    column = columns[place]
                    if column[e] * q != p * column[other]:
                        span |= 1 << member
                self._log(e, span)

    def _emit(self, bits: int, node: Node) -> None:
        self.out.cells.append(bits)
        self.out.nodes.append(node)
        if self.limit is not None and len(self.out.cells) > self.limit:
            raise LimitReached

    def _log(self, j: int, broken: int) -> None:
        self.out.broken.setdefault(broken, j)


def _pivot(columns: list[Column], c: int, e: int, det: int) -> list[Column]:
    """z_e takes the place of the variable of column c: det' = X_ec, X'_jl = (X_jl X_ec - X_jc X_el) / det."""
    entering = columns[c]
    p = entering[e]
    new = []
    for l, column in enumerate(columns):
        q = column[e]
        if l == c:
            new.append(column)
        elif q:
            new.append([(x * p - w * q) // det for x, w in zip(column, entering, strict=True)])
        else:
            new.append([x * p // det for x in column])
    return new


def _turn(
    columns: list[Column],
    e: int,
    c: int,
    p: int,
    places: tuple[int, ...],
    signs: tuple[int, ...],
    decided: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The signs T_t after e was added in column c: a later column overrules an earlier one."""
    turned, by = list(signs), list(decided)
    for i, place in enumerate(places):
        if c > decided[i] and (a := columns[place][e]):
            turned[i] = 1 if (a > 0) == (p > 0) else -1
            by[i] = c
    return tuple(turned), tuple(by)


def _support(members: tuple[int, ...], places: tuple[int, ...], columns: list[Column], j: int) -> int:
    """The members that z_j depends on, as a bit mask."""
    return sum(1 << e for e, place in zip(members, places, strict=True) if columns[place][j])


def _closure_bits(followers: Sequence[tuple[int, int]], signs: Sequence[int]) -> int:
    bits = 0
    for (plus, minus), sign in zip(followers, signs, strict=True):
        bits |= plus if sign > 0 else minus
    return bits


def bits_of(mask: int) -> list[int]:
    """The positions of the ones, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
