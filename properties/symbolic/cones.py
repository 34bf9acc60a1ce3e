"""The projection on a cone {w : K'w <= 0}, by its definition: every set of tight constraints is tried."""

from __future__ import annotations

from itertools import combinations

from sympy.polys.matrices import DomainMatrix

from properties.symbolic.numbers import Number, Reals, beside, entries, solve


def canonical_dual(K: DomainMatrix, c: DomainMatrix, reals: Reals) -> tuple[DomainMatrix, list[Number]]:
    """v = c - K rho with rho = argmin {|K rho - c|^2 : rho >= 0} (eq:non-negative-regression): v = Proj_C(c).

    The optimality conditions of the regression: K'v <= 0, rho >= 0, rho.(K'v) = 0. Some rho has independent columns
    where it is positive.
    """
    size, a = K.shape
    columns = [K[:, j] for j in range(a) if any(entries(K[:, j]))]
    names = [j for j in range(a) if any(entries(K[:, j]))]
    for count in range(min(size, len(columns)) + 1):
        for tight in combinations(range(len(columns)), count):
            F = beside([columns[j] for j in tight], size, reals)
            rho = solve(F.transpose() * F, F.transpose() * c)
            if rho is None or any(reals.sign(a) < 0 for a in entries(rho)):
                continue
            v = c - F * rho if count else c
            if all(reals.sign(h) <= 0 for h in entries(K.transpose() * v)):
                full = [reals.domain.zero] * a
                for j, value in zip(tight, entries(rho), strict=True):
                    full[names[j]] = value
                return v, full
    raise ArithmeticError("a closed convex cone has a nearest point")


def in_cone(K: DomainMatrix, w: DomainMatrix, reals: Reals) -> bool:
    """K'w <= 0"""
    return all(reals.sign(h) <= 0 for h in entries(K.transpose() * w))
