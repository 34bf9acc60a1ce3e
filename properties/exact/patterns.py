"""D_Z = {1(Zu >= 0) : u} for small Z, by composition of cocircuits.

The sign vectors of Zu over all u are the covectors of an oriented matroid: those of the lines in which hyperplanes
meet (the cocircuits), closed under composition (X o Y is X where X is not zero, else Y). Nothing is shared with an
enumeration by cells. A covector is a pair of bit masks; each keeps a witness u.

>>> sorted(patterns(mat([[1], [-1]])).all)
[(False, True), (True, False), (True, True)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import lcm

from properties.exact.cone import feasible
from properties.exact.linalg import Matrix, Vector, dot, mat, null_space, rref
from properties.exact.problem import CGL, Block

Pattern = tuple[bool, ...]
Covector = tuple[int, int]
Integers = tuple[int, ...]


@dataclass(frozen=True)
class PatternList:
    """All of D_Z, sorted; which patterns belong to open cells; a witness u for each."""

    all: tuple[Pattern, ...]
    open: tuple[Pattern, ...]
    witness: tuple[Vector, ...]


def pattern_of(Z: Matrix, u: Vector) -> Pattern:
    """1(Zu >= 0)"""
    return tuple(dot(z, u) >= 0 for z in Z)


def _sign(rows: Sequence[Integers], u: Integers) -> Covector:
    plus = minus = 0
    for k, z in enumerate(rows):
        s = sum(a * b for a, b in zip(z, u, strict=True))
        if s > 0:
            plus |= 1 << k
        elif s < 0:
            minus |= 1 << k
    return plus, minus


def _integers(u: Vector) -> Integers:
    """A positive multiple of u with integer entries."""
    q = lcm(*(x.denominator for x in u))
    return tuple(int(x * q) for x in u)


def _cocircuits(rows: Sequence[Integers], r: int) -> dict[Covector, Integers]:
    found: dict[Covector, Integers] = {}
    for chosen in combinations(range(len(rows)), r - 1):
        basis = null_space(mat(rows[k] for k in chosen)) if chosen else ((Fraction(1),),)
        if len(basis) == 1:
            u = _integers(basis[0])
            for signed in (u, tuple(-x for x in u)):
                found.setdefault(_sign(rows, signed), signed)
    return found


def _compose(rows: Sequence[Integers], u: Integers, v: Integers) -> Integers:
    """A witness N u + v of the composition: N is large enough to keep every sign of Zu."""
    su = [abs(sum(a * b for a, b in zip(z, u, strict=True))) for z in rows]
    sv = [abs(sum(a * b for a, b in zip(z, v, strict=True))) for z in rows]
    n = max((b // a + 1 for a, b in zip(su, sv, strict=True) if a), default=1)
    return tuple(n * a + b for a, b in zip(u, v, strict=True))


def _covectors(rows: Sequence[Integers], r: int) -> dict[Covector, Integers]:
    zero = (0,) * r
    found = {(0, 0): zero}
    if r == 0:
        return found
    cocircuits = _cocircuits(rows, r)
    frontier = [(0, 0)]
    while frontier:
        fresh = []
        for plus, minus in frontier:
            used = plus | minus
            for (p, m), v in cocircuits.items():
                covector = (plus | (p & ~used), minus | (m & ~used))
                if covector not in found:
                    found[covector] = _compose(rows, found[plus, minus], v)
                    fresh.append(covector)
        frontier = fresh
    return found


@lru_cache(maxsize=256)
def patterns(Z: Matrix) -> PatternList:
    """D_Z with its open cells and witnesses."""
    n, d = len(Z), len(Z[0])
    _, columns = rref(Z)
    rows = tuple(_integers(tuple(z[j] for j in columns)) for z in Z)
    nonzero = sum(1 << k for k, z in enumerate(Z) if any(z))
    chosen: dict[Pattern, Integers] = {}
    open_cells = set()
    for (plus, minus), u in _covectors(rows, len(columns)).items():
        pattern = tuple(not minus >> k & 1 for k in range(n))
        chosen.setdefault(pattern, u)
        if plus | minus == nonzero:
            open_cells.add(pattern)
            chosen[pattern] = u
    every = tuple(sorted(chosen))
    witness = tuple(_embed(chosen[p], columns, d) for p in every)
    return PatternList(every, tuple(sorted(open_cells)), witness)


def _embed(u: Integers, columns: tuple[int, ...], d: int) -> Vector:
    out = [Fraction(0)] * d
    for j, x in zip(columns, u, strict=True):
        out[j] = Fraction(x)
    return tuple(out)


def has_pattern(Z: Sequence[Vector], pattern: Sequence[bool]) -> bool:
    """Some u has z_k.u >= 0 where the pattern is on and z_k.u < 0 where it is off.

    By Farkas it has not iff mu >= 0, nu >= 0 with sum nu = 1 have sum_on mu_k z_k = sum_off nu_k z_k.
    """
    columns = [(*z, Fraction(0)) if on else (*(-x for x in z), Fraction(1)) for z, on in zip(Z, pattern, strict=True)]
    return feasible(columns, (*(Fraction(0),) * len(Z[0]), Fraction(1))) is None


def count_patterns(Z: Matrix) -> int:
    """|D_Z|, row by row: the patterns of the first k rows are those that some u has. Any number of features.

    >>> count_patterns(mat([[1], [-1]]))
    3
    """
    found: list[Pattern] = [()]
    for k in range(len(Z)):
        longer = [(*p, on) for p in found for on in (True, False)]
        found = [p for p in longer if has_pattern(Z[: k + 1], p)]
    return len(found)


def relu_block(Z: Matrix, pattern: Pattern, xi: int) -> Block:
    """X_b = xi D Z with the cone (2D - I) Z u >= 0, that is K_b = -Z'(2D - I)."""
    X = tuple(tuple(xi * x if on else Fraction(0) for x in z) for on, z in zip(pattern, Z, strict=True))
    K = tuple(tuple(-x if on else x for x in z) for on, z in zip(pattern, Z, strict=True))
    return Block(X, K)


def relu_problem(Z: Matrix, chosen: tuple[Pattern, ...], y: Vector, lam2: Fraction) -> CGL:
    """The convex reformulation (eq:convex-relu-mlp): xi = +1 then xi = -1 for every pattern."""
    return CGL(tuple(relu_block(Z, p, xi) for p in chosen for xi in (1, -1)), y, lam2)


def gated_problem(Z: Matrix, chosen: tuple[Pattern, ...], y: Vector, lam2: Fraction) -> CGL:
    """The gated reformulation (eq:convex-gated-relu-mlp): X_b = D Z without a cone."""
    return CGL(tuple(Block(relu_block(Z, p, 1).X) for p in chosen), y, lam2)
