"""D_Z and its certificate by other means: cocircuits and their compositions, plain Fractions, all subsets.

Nothing here is taken from the package, and nothing here is fast: rows are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Row = Sequence[Fraction]


def echelon(rows: Sequence[Row]) -> tuple[list[list[Fraction]], list[int]]:
    """Reduced row echelon form and its pivot columns."""
    work = [[Fraction(x) for x in row] for row in rows]
    pivots: list[int] = []
    for c in range(len(work[0]) if work else 0):
        top = len(pivots)
        found = next((i for i in range(top, len(work)) if work[i][c]), None)
        if found is None:
            continue
        work[top], work[found] = work[found], work[top]
        work[top] = [x / work[top][c] for x in work[top]]
        for i in range(len(work)):
            if i != top and work[i][c]:
                factor = work[i][c]
                work[i] = [x - factor * y for x, y in zip(work[i], work[top], strict=True)]
        pivots.append(c)
    return work[: len(pivots)], pivots


def rank(rows: Sequence[Row]) -> int:
    """The rank of a list of rows."""
    return len(echelon(rows)[1])


def null_basis(rows: Sequence[Row], d: int) -> list[list[Fraction]]:
    """A basis of {u : rows u = 0}."""
    reduced, pivots = echelon(rows)
    basis = []
    for c in range(d):
        if c in pivots:
            continue
        u = [Fraction(0)] * d
        u[c] = Fraction(1)
        for row, p in zip(reduced, pivots, strict=True):
            u[p] = -row[c]
        basis.append(u)
    return basis


def dot(a: Row, b: Row) -> Fraction:
    """a.b"""
    return sum((Fraction(x) * y for x, y in zip(a, b, strict=True)), Fraction(0))


def covectors(Z: Sequence[Row]) -> set[tuple[int, int]]:
    """All sign vectors of Zu as (positive rows, negative rows), by composition of cocircuits.

    A cocircuit is the sign vector of a point that is unique, up to a factor, among the points orthogonal to some
    rows of rank r - 1; every sign vector is a composition of cocircuits.
    """
    _, columns = echelon(Z)
    rows = [[row[c] for c in columns] for row in Z]
    r = len(columns)
    cocircuits = set()
    for chosen in combinations(rows, r - 1) if r else ():
        basis = null_basis(chosen, r)
        if len(basis) == 1:
            values = [dot(row, basis[0]) for row in rows]
            plus = sum(1 << k for k, v in enumerate(values) if v > 0)
            minus = sum(1 << k for k, v in enumerate(values) if v < 0)
            cocircuits |= {(plus, minus), (minus, plus)}
    found = {(0, 0)}
    todo = [(0, 0)]
    while todo:
        plus, minus = todo.pop()
        for p, q in cocircuits:
            new = (plus | p & ~minus, minus | q & ~plus)
            if new not in found:
                found.add(new)
                todo.append(new)
    return found


def patterns(Z: Sequence[Row]) -> tuple[set[tuple[bool, ...]], set[tuple[bool, ...]]]:
    """D_Z and the patterns of the open cells."""
    n = len(Z)
    zero = sum(1 << k for k, row in enumerate(Z) if not any(row))
    everything, cells = set(), set()
    for plus, minus in covectors(Z):
        pattern = tuple(not minus >> k & 1 for k in range(n))
        everything.add(pattern)
        if plus | minus | zero == (1 << n) - 1:
            cells.add(pattern)
    return everything, cells


def flats(Z: Sequence[Row]) -> set[frozenset[int]]:
    """All flats, as sets of rows: closures of all subsets."""
    n, d = len(Z), len(Z[0])
    r = rank(Z)
    closed = set()
    for size in range(r + 1):
        for subset in combinations(range(n), size):
            basis = null_basis([Z[k] for k in subset], d)
            closed.add(frozenset(k for k in range(n) if not any(dot(Z[k], u) for u in basis)))
    return closed


def directions(Z: Sequence[Row], rows: frozenset[int]) -> int:
    """How many different directions (rows up to positive factors) there are."""
    seen = set()
    for k in rows:
        first = next((abs(x) for x in Z[k] if x), None)
        if first is not None:
            seen.add(tuple(x / first for x in Z[k]))
    return len(seen)


def check_group(
    Z: Sequence[Row], flat: Sequence[int], circuits: Sequence[Sequence[int]], witnesses: Sequence[Row]
) -> list[tuple[bool, ...]]:
    """The patterns of a group, after checking all that the certificate page demands of it."""
    n, d = len(Z), len(Z[0])
    inside = set(flat)
    listed = []
    for u in witnesses:
        values = [dot(row, u) for row in Z]
        assert {k for k, v in enumerate(values) if v == 0} == inside
        listed.append(tuple(v >= 0 for v in values))
    assert len(set(listed)) == len(listed)
    basis = null_basis([Z[k] for k in flat], d)
    on_L = [[dot(row, u) for u in basis] for row in Z]
    names: list[int] = []
    for k in range(n):
        if any(on_L[k]) and all(rank([on_L[k], on_L[j]]) == 2 for j in names):
            names.append(k)
    r = rank([on_L[k] for k in names]) if names else 0
    broken = []
    for c, *bs in circuits:
        assert c < bs[0] and bs == sorted(set(bs)) and {c, *bs} <= set(names)
        span = [on_L[b] for b in bs]
        assert rank(span) == rank([*span, on_L[c]])
        broken.append(frozenset(bs))
    bound = 1
    if names:
        bound = 2 * sum(
            1
            for size in range(r)
            for subset in combinations(names[1:], size)
            if not any(b <= set(subset) for b in broken)
        )
    assert bound == len(listed)
    return listed


def check_covers(
    Z: Sequence[Row], groups: Sequence[tuple[Sequence[int], Sequence[tuple[bool, ...]]]], covers: Sequence[int]
) -> None:
    """Every dependent flat has a cover that is 1 on it and vanishes only on rows in it."""
    numbered = [(frozenset(flat), pattern) for flat, listed in groups for pattern in listed]
    chosen = [numbered[i] for i in covers]
    if any(all(pattern) and flat == frozenset(groups[0][0]) for flat, pattern in chosen):
        return
    for X in flats(Z):
        if directions(Z, X) > rank([Z[k] for k in X] or [[Fraction(0)]]):
            assert any(flat <= X and all(pattern[k] for k in X) for flat, pattern in chosen)
