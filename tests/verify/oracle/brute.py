"""Small arrangements, cones and projections by brute force, in plain Fractions: slow, short, and nothing shared.

Everything here starts from definitions: all faces of an arrangement as compositions of its rays, all sets
by itertools, all faces of a box by trying each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import lcm
from operator import mul

Vec = tuple[Fraction, ...]
Mat = tuple[Vec, ...]
SignVector = tuple[int, ...]


def vec(*entries: int | str | Fraction) -> Vec:
    """A vector of Fractions."""
    return tuple(Fraction(x) for x in entries)


def mat(rows: Sequence[Sequence[int | str | Fraction]]) -> Mat:
    """A matrix of Fractions."""
    return tuple(vec(*row) for row in rows)


def dot(u: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    """u.v"""
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def echelon(rows: Sequence[Sequence[Fraction]]) -> tuple[list[list[Fraction]], list[int]]:
    """The reduced row echelon form without zero rows, and its pivot columns."""
    A = [list(row) for row in rows]
    pivots: list[int] = []
    for j in range(len(A[0]) if A else 0):
        i = next((i for i in range(len(pivots), len(A)) if A[i][j]), None)
        if i is None:
            continue
        k = len(pivots)
        A[k], A[i] = A[i], A[k]
        A[k] = [x / A[k][j] for x in A[k]]
        for other in range(len(A)):
            if other != k and A[other][j]:
                A[other] = [x - A[other][j] * p for x, p in zip(A[other], A[k], strict=True)]
        pivots.append(j)
    return A[: len(pivots)], pivots


def rank(rows: Sequence[Sequence[Fraction]]) -> int:
    """The rank."""
    return len(echelon(rows)[1])


def kernel(rows: Sequence[Sequence[Fraction]], d: int) -> list[Vec]:
    """A basis of {u in R^d : row.u = 0 for all rows}."""
    A, pivots = echelon(rows)
    basis = []
    for free in (j for j in range(d) if j not in pivots):
        u = [Fraction(0)] * d
        u[free] = Fraction(1)
        for row, p in zip(A, pivots, strict=True):
            u[p] = -row[free]
        basis.append(tuple(u))
    return basis


def solve(A: Sequence[Sequence[Fraction]], b: Sequence[Fraction]) -> Vec:
    """The solution of a regular square system."""
    reduced, pivots = echelon([[*row, x] for row, x in zip(A, b, strict=True)])
    if pivots != list(range(len(A))):
        raise ValueError("singular")
    return tuple(row[-1] for row in reduced)


def times(A: Mat, u: Vec) -> Vec:
    """Au"""
    return tuple(dot(row, u) for row in A)


def combine(Z: Mat, m: Sequence[Fraction]) -> Vec:
    """Z'm"""
    return tuple(dot(column, m) for column in zip(*Z, strict=True))


def whole(u: Vec) -> Vec:
    """A positive multiple of u with integer entries."""
    q = lcm(*(x.denominator for x in u))
    return tuple(x * q for x in u)


def sign_vector(entries: Sequence[Fraction | int]) -> SignVector:
    """The signs of the entries."""
    return tuple((x > 0) - (x < 0) for x in entries)


def signs(Z: Mat, u: Vec) -> SignVector:
    """The signs of Zu."""
    return sign_vector(times(Z, u))


def covectors(Z: Mat) -> dict[SignVector, Vec]:
    """Every sign vector of Zu with one integer u: all compositions of the rays of the arrangement."""
    d, r = len(Z[0]), rank(Z)
    rows = [tuple(map(int, whole(row))) for row in Z]
    rays: dict[SignVector, tuple[tuple[int, ...], int]] = {}
    for chosen in combinations(Z, r - 1) if r else ():
        if rank(chosen) == r - 1:
            inside = whole(next(u for u in kernel(chosen, d) if any(times(Z, u))))
            for v in (tuple(int(x) for x in inside), tuple(-int(x) for x in inside)):
                products = [sum(map(mul, row, v)) for row in rows]
                # Far enough along any integer u that v decides only where u vanishes.
                rays[sign_vector(products)] = v, 1 + max(map(abs, products))
    zero = (0,) * d
    found = {(0,) * len(Z): zero}
    pending = [zero]
    while pending:
        u = pending.pop()
        for v, far in rays.values():
            new = tuple(far * a + b for a, b in zip(u, v, strict=True))
            s = sign_vector([sum(map(mul, row, new)) for row in rows])
            if s not in found:
                found[s] = new
                pending.append(new)
    return {s: vec(*u) for s, u in found.items()}


def ones(s: SignVector) -> str:
    """The pattern 1(Zu >= 0) of a sign vector, as text."""
    return "".join("1" if x >= 0 else "0" for x in s)


def zeros(s: SignVector) -> frozenset[int]:
    """The rows on which u vanishes."""
    return frozenset(k for k, x in enumerate(s) if x == 0)


def restricted(Z: Mat, flat: Sequence[int]) -> Mat:
    """The rows of Z in coordinates of L = {u : z_k.u = 0, k in flat}."""
    basis = kernel([Z[k] for k in flat], len(Z[0]))
    return tuple(tuple(dot(row, u) for u in basis) for row in Z)


def class_names(rows: Mat) -> list[int]:
    """The smallest row of each class of parallel, non-zero rows."""
    names: list[int] = []
    for k, row in enumerate(rows):
        if any(row) and all(rank([rows[name], row]) == 2 for name in names):
            names.append(k)
    return names


def in_span(rows: Mat, c: int, others: Sequence[int]) -> bool:
    """Whether row c is in the span of the others."""
    chosen = [rows[b] for b in others]
    return rank([*chosen, rows[c]]) == rank(chosen)


def broken_circuits(rows: Mat) -> list[list[int]]:
    """[c, b1, b2, ...] for every minimal broken circuit of at most rank - 1 classes."""
    names = class_names(rows)
    found: list[list[int]] = []
    for size in range(2, rank(rows)):
        for B in combinations(names, size):
            if any(set(known[1:]) <= set(B) for known in found):
                continue
            c = next((c for c in names if c < B[0] and in_span(rows, c, B)), None)
            if c is not None:
                found.append([c, *B])
    return found


def cell_bound(rows: Mat, circuits: Sequence[Sequence[int]]) -> int:
    """Twice the number of sets of at most r - 1 classes without the first that contain no listed broken circuit."""
    names = class_names(rows)
    if not names:
        return 1
    broken = [set(circuit[1:]) for circuit in circuits]
    sets = (set(S) for size in range(rank(rows)) for S in combinations(names[1:], size))
    return 2 * sum(1 for S in sets if not any(B <= S for B in broken))


def is_dependent(Z: Mat, flat: frozenset[int]) -> bool:
    """More classes than rank, or two rows that point in opposite directions."""
    rows = [Z[k] for k in sorted(flat)]
    if not rows or not any(map(any, rows)):
        return False
    antipodal = any(rank([a, b]) == 1 and dot(a, b) < 0 for a, b in combinations(rows, 2))
    return antipodal or len(class_names(tuple(rows))) > rank(rows)


def dependent_flats(Z: Mat) -> list[frozenset[int]]:
    """Every dependent flat: the zero sets of the covectors are all flats."""
    flats = sorted({zeros(s) for s in covectors(Z)}, key=sorted)
    return [flat for flat in flats if is_dependent(Z, flat)]


def box(t: Vec, base: str) -> list[tuple[Fraction | None, Fraction | None]]:
    """The interval of every m_k on a piece (None: unbounded)."""
    zero = Fraction(0)
    intervals: list[tuple[Fraction | None, Fraction | None]] = []
    for t_k, on in zip(t, base, strict=True):
        if t_k > 0:
            intervals.append((t_k, None) if on == "1" else (None, zero))
        else:
            intervals.append((t_k, zero))
    return intervals


def shortest(Z: Mat, intervals: Sequence[tuple[Fraction | None, Fraction | None]]) -> Vec:
    """An m in the box with the least |Z'm|, exactly: the first choice of bounds and free rows that meets KKT."""
    n = len(Z)
    for free_size in range(rank(Z) + 1):
        for free in combinations(range(n), free_size):
            if rank([Z[k] for k in free]) < free_size:
                continue
            fixed = [k for k in range(n) if k not in free]
            choices = [sorted({x for x in intervals[k] if x is not None}) for k in fixed]
            for bounds in product(*choices):
                m = [Fraction(0)] * n
                for k, x in zip(fixed, bounds, strict=True):
                    m[k] = x
                if free:
                    c = combine(Z, m)
                    gram = [[dot(Z[i], Z[j]) for j in free] for i in free]
                    for k, x in zip(free, solve(gram, [-dot(Z[k], c) for k in free]), strict=True):
                        m[k] = x
                if meets_kkt(Z, m, intervals):
                    return tuple(m)
    raise ValueError("no minimum found")


def meets_kkt(Z: Mat, m: Sequence[Fraction], intervals: Sequence[tuple[Fraction | None, Fraction | None]]) -> bool:
    """Whether m is in the box and minimises |Z'm| there: slope >= 0 at lower bounds, <= 0 at upper ones, else 0."""
    v = combine(Z, m)
    for z, m_k, (low, high) in zip(Z, m, intervals, strict=True):
        slope = dot(z, v)
        if (low is not None and m_k < low) or (high is not None and m_k > high):
            return False
        if (slope > 0 and m_k != low) or (slope < 0 and m_k != high):
            return False
    return True


def piece_bases(patterns: Sequence[str], t: Vec) -> Iterator[str]:
    """One pattern of the list for each restriction to {k : t_k > 0}."""
    seen = set()
    for pattern in patterns:
        piece = tuple(c for c, t_k in zip(pattern, t, strict=True) if t_k > 0)
        if piece not in seen:
            seen.add(piece)
            yield pattern
