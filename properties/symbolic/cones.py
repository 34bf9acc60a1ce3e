"""The projection on a cone {w : K'w <= 0}, by its definition: every set of tight constraints is tried."""

from __future__ import annotations

from itertools import combinations

from sympy.polys.matrices import DomainMatrix

from properties.symbolic.numbers import Number, Reals, beside, column, entries, matrix, solve


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


def level_dual(K: DomainMatrix, c: DomainMatrix, reals: Reals) -> tuple[DomainMatrix, list[Number], DomainMatrix]:
    """v, rho and w where the norm leaves out the last entry of w, its bias: |w|_S = |Sw|, S = I - ee'.

    w = argmax {c.w - 1/2 |Sw|^2 : K'w <= 0} and v = Sw, by the conditions c - K rho = Sw, K'w <= 0, rho >= 0, rho.(K'w)
    = 0: then c.u <= |v| |Su| for all u of the cone. Every constraint has a bias in it, so that w is the only solution
    for a set of tight ones; without any, c has no bias, and the bias of w is any with K'w <= 0.
    """
    size, a = K.shape
    S = without_last(size, reals)
    for count in range(min(size, a) + 1):
        for tight in combinations(range(a), count):
            if not count:
                if entries(c)[-1]:
                    continue
                ends = biases(K, c, reals)
                if ends is None:
                    continue
                some = next((end for end in ends if end is not None), reals.domain.zero)
                return c, [reals.domain.zero] * a, with_bias(c, some, reals)
            F = beside([K[:, j] for j in tight], size, reals)
            zero = DomainMatrix.zeros((count, count), reals.domain).to_dense()
            system = S.hstack(F).vstack(F.transpose().hstack(zero))
            found = solve(system, c.vstack(DomainMatrix.zeros((count, 1), reals.domain).to_dense()))
            if found is None:
                continue
            w, rho = found[:size, :], entries(found[size:, :])
            if all(reals.sign(m) >= 0 for m in rho) and in_cone(K, w, reals):
                full = [reals.domain.zero] * a
                for j, value in zip(tight, rho, strict=True):
                    full[j] = value
                return S * w, full, w
    raise ArithmeticError("the biases can make c.w as large as one likes: B'r is not 0")


def without_last(size: int, reals: Reals) -> DomainMatrix:
    """S = I - ee', e the last unit vector."""
    return matrix([[int(i == j < size - 1) for j in range(size)] for i in range(size)], size, reals)


def with_bias(v: DomainMatrix, bias: Number, reals: Reals) -> DomainMatrix:
    """v with another last entry."""
    return column([*entries(v)[:-1], bias], reals)


def biases(K: DomainMatrix, v: DomainMatrix, reals: Reals) -> tuple[Number | None, Number | None] | None:
    """The interval of b with K'(v, b) <= 0, an end None where there is none; None if it is empty."""
    lo, hi = None, None
    for j in range(K.shape[1]):
        *k, last = entries(K[:, j])
        end = -sum((a * x for a, x in zip(k, entries(v)[:-1], strict=True)), reals.domain.zero) / last
        if reals.sign(last) > 0 and (hi is None or reals.sign(end - hi) < 0):
            hi = end
        if reals.sign(last) < 0 and (lo is None or reals.sign(end - lo) > 0):
            lo = end
    return None if lo is not None and hi is not None and reals.sign(hi - lo) < 0 else (lo, hi)


def in_cone(K: DomainMatrix, w: DomainMatrix, reals: Reals) -> bool:
    """K'w <= 0"""
    return all(reals.sign(h) <= 0 for h in entries(K.transpose() * w))
