"""D_Z = {diag(1(Zu >= 0)) : u} and the cones K_i = {u : (2 D_i - I) Z u >= 0} (sec:convex-reformulations).

The signs of Zu, u in R^d, are the covectors of the rows of Z: 0, the cocircuits +-sign(Zu) of the lines {u} that rows
cut out, and all compositions s o t (s where it is not 0, else t) of these: sign(Z(u + epsilon w)) for small epsilon >
0.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from properties.symbolic.numbers import Number, entries, matrix

Signs = tuple[int, ...]
Pattern = tuple[int, ...]


def rays(Z: DomainMatrix) -> Iterator[list[Number]]:
    """Both directions u of every line that rows of Z cut out of the span of the rows."""
    independent = Z.transpose().rref()[1]  # rows of Z that span all of them
    basis = matrix([Z.to_dense().to_list()[k] for k in independent], Z.shape[1])
    inside = Z * basis.transpose()  # Z u for u = basis' c
    r = len(independent)
    for chosen in combinations(range(Z.shape[0]), r - 1) if r else ():
        rows = matrix([inside.to_dense().to_list()[k] for k in chosen], r)
        null = rows.to_field().nullspace() if chosen else matrix([[QQ(1)] * r], r)
        if null.shape[0] == 1:
            u = entries(null * basis)
            yield u
            yield [-a for a in u]


def signs_of(Z: DomainMatrix, u: list[Number]) -> Signs:
    """sign(Zu)"""
    heights = (sum((z * a for z, a in zip(row, u, strict=True)), QQ(0)) for row in Z.to_dense().to_list())
    return tuple((h > 0) - (h < 0) for h in heights)


def covectors(Z: DomainMatrix) -> set[Signs]:
    """{sign(Zu) : u in R^d}"""
    cocircuits = {signs_of(Z, u) for u in rays(Z)}
    found = {(0,) * Z.shape[0]}
    fresh = set(found)
    while fresh:
        composed = {tuple(a or b for a, b in zip(s, t, strict=True)) for s in fresh for t in cocircuits}
        fresh = composed - found
        found |= fresh
    return found


def activation_patterns(Z: DomainMatrix) -> list[Pattern]:
    """D_Z: a 1 where z_k.u >= 0."""
    return sorted({tuple(int(s >= 0) for s in signs) for signs in covectors(Z)}, reverse=True)


def masked(Z: DomainMatrix, D: Pattern) -> DomainMatrix:
    """D Z"""
    rows = [[a if on else QQ(0) for a in row] for row, on in zip(Z.to_dense().to_list(), D, strict=True)]
    return matrix(rows, Z.shape[1])


def cone(Z: DomainMatrix, D: Pattern) -> DomainMatrix:
    """K_i = -Z'(2 D_i - I), so that u is in the cone iff K_i'u <= 0."""
    rows = [[-a if on else a for a in row] for row, on in zip(Z.to_dense().to_list(), D, strict=True)]
    return matrix(rows, Z.shape[1]).transpose()
