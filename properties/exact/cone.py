"""Exact projections onto polyhedral cones.

By Moreau, c = v + K rho with v = Proj_C(c), C = {w : K'w <= 0}, rho >= 0 and v.K rho = 0, where rho solves the
non-negative regression min |K rho - c|^2 (eq:non-negative-regression). In exact arithmetic the active-set method of
Lawson and Hanson ends after finitely many steps: every step lowers the residual strictly.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from properties.exact.linalg import Vector, combine, dot, solve, sub


def nnls(columns: Sequence[Vector], b: Vector) -> Vector:
    """One rho >= 0 that minimises |sum_j rho_j columns_j - b|^2; its positive columns are independent."""
    rho = [Fraction(0)] * len(columns)
    passive: list[int] = []
    while True:
        residual = sub(b, combine(rho, columns, len(b)))
        gradient = {j: dot(columns[j], residual) for j in range(len(columns)) if j not in passive}
        entering = max(gradient, key=lambda j: (gradient[j], -j), default=None)
        if entering is None or gradient[entering] <= 0:
            return tuple(rho)
        passive.append(entering)
        while True:
            s = _unconstrained(columns, passive, b)
            blocked = [j for j in passive if s[j] <= 0]
            if not blocked:
                break
            step = min(rho[j] / (rho[j] - s[j]) for j in blocked)
            for j in passive:
                rho[j] += step * (s[j] - rho[j])
            passive = [j for j in passive if rho[j] > 0]
        for j in passive:
            rho[j] = s[j]


def _unconstrained(columns: Sequence[Vector], passive: Sequence[int], b: Vector) -> dict[int, Fraction]:
    gram = tuple(tuple(dot(columns[i], columns[j]) for j in passive) for i in passive)
    s = solve(gram, tuple(dot(columns[i], b) for i in passive))
    if s is None:
        raise ArithmeticError("passive columns are independent")
    return dict(zip(passive, s, strict=True))


def project(K: Sequence[Vector], c: Vector) -> Vector:
    """Proj of c onto {w : k.w <= 0 for every column k of K}."""
    return sub(c, combine(nnls(K, c), K, len(c)))


def in_cone(K: Sequence[Vector], w: Vector) -> bool:
    """K'w <= 0"""
    return all(dot(k, w) <= 0 for k in K)


def project_by_enumeration(K: Sequence[Vector], c: Vector) -> Vector:
    """The same projection by trying every set of active columns: slow, and obviously right."""
    for size in range(min(len(K), len(c)) + 1):
        for active in combinations(range(len(K)), size):
            columns = [K[j] for j in active]
            gram = tuple(tuple(dot(a, k) for k in columns) for a in columns)
            rho = solve(gram, tuple(dot(a, c) for a in columns)) if columns else ()
            if rho is None or any(x < 0 for x in rho):
                continue
            v = sub(c, combine(rho, columns, len(c)))
            if in_cone(K, v) and all(dot(k, v) == 0 for k in columns):
                return v
    raise ArithmeticError("a projection exists")


def feasible(columns: Sequence[Vector], b: Vector) -> Vector | None:
    """One x >= 0 with sum_j x_j columns_j = b, or None: the nearest point of the cone decides."""
    x = nnls(columns, b)
    return x if combine(x, columns, len(b)) == b else None
