"""The active-set loop of `shortest`, compiled: one problem after the other. For large numbers of problems only, because
compiling takes some seconds the first time (the result is kept in __pycache__)."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def iterate(c, unit, sign, upper, least, enough, steps, v, kinks, x, exact):  # type: ignore[no-untyped-def]
    """Solve all problems in place: c (p x d) and sign (p x a) change where rows are flipped; v, kinks (-1: none), x and
    exact are the answer. `unit` (a x d) are unit rows, `least` (p) is what counts as a violation."""
    p, d = c.shape
    H = np.empty((d, d))
    target = np.empty(d)
    for i in range(p):
        for t in range(d):
            v[i, t] = c[i, t]
        m = 0
        pending = False
        for _ in range(steps):
            bound = 0.0
            for t in range(d):
                bound += v[i, t] * v[i, t]
            if bound <= 1e-4 * least[i] * least[i] or (bound <= enough * enough and not pending):
                break
            if not pending:
                worst = most_violated(unit, sign, v, kinks, i, m, -least[i])
                if worst < 0 or m == d:
                    exact[i] = True
                    break
                kinks[i, m] = worst
                x[i, m] = 0.0
                m += 1
            if not solve_kinks(unit, sign, c, kinks, i, m, H, target):
                m -= 1
                kinks[i, m] = -1
                x[i, m] = 0.0
                break
            m, pending = move(unit, sign, upper, c, kinks, x, v, i, m, target)


@njit(cache=True, nogil=True, error_model="numpy")
def most_violated(unit, sign, v, kinks, i, m, least):  # type: ignore[no-untyped-def]
    """The row with the smallest g_k.v below `least` (negative), or -1."""
    a, d = unit.shape
    worst = -1
    for k in range(a):
        s = 0.0
        for t in range(d):
            s += unit[k, t] * v[i, t]
        s *= sign[i, k]
        if s < least:
            inside = False
            for j in range(m):
                inside = inside or kinks[i, j] == k
            if not inside:
                least = s
                worst = k
    return worst


@njit(cache=True, nogil=True, error_model="numpy")
def solve_kinks(unit, sign, c, kinks, i, m, H, target):  # type: ignore[no-untyped-def]
    """target = argmin |c + sum_j target_j g_j| over the m kinks, by Cholesky; False if they are dependent."""
    d = unit.shape[1]
    for j in range(m):
        k = kinks[i, j]
        s = 0.0
        for t in range(d):
            s -= unit[k, t] * c[i, t]
        target[j] = s * sign[i, k]
        for l in range(j + 1):
            s = 0.0
            for t in range(d):
                s += unit[k, t] * unit[kinks[i, l], t]
            H[j, l] = s * sign[i, k] * sign[i, kinks[i, l]]
    for j in range(m):
        for l in range(j + 1):
            s = H[j, l]
            for t in range(l):
                s -= H[j, t] * H[l, t]
            if j == l:
                if s <= 1e-14:
                    return False
                H[j, j] = np.sqrt(s)
            else:
                H[j, l] = s / H[l, l]
        for t in range(j):
            target[j] -= H[j, t] * target[t]
        target[j] /= H[j, j]
    for j in range(m - 1, -1, -1):
        for t in range(j + 1, m):
            target[j] -= H[t, j] * target[t]
        target[j] /= H[j, j]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def move(unit, sign, upper, c, kinks, x, v, i, m, target):  # type: ignore[no-untyped-def]
    """x goes towards the target until a bound stops it; that row leaves, flipped if it was at its upper bound."""
    d = unit.shape[1]
    room = 1.0
    block = -1
    for j in range(m):
        limit = upper[i, kinks[i, j]]
        if target[j] <= 0.0:
            gap = x[i, j] - target[j]
            way = x[i, j] / gap if gap > 0.0 else 0.0
        elif target[j] > limit:
            way = (limit - x[i, j]) / (target[j] - x[i, j])
        else:
            continue
        if block < 0 or way < room:
            room = way
            block = j
    for j in range(m):
        x[i, j] += room * (target[j] - x[i, j])
    if block >= 0:
        k = kinks[i, block]
        if target[block] > 0.0:
            for t in range(d):
                c[i, t] += upper[i, k] * sign[i, k] * unit[k, t]
            sign[i, k] = -sign[i, k]
        m -= 1
        for j in range(block, m):
            kinks[i, j] = kinks[i, j + 1]
            x[i, j] = x[i, j + 1]
        kinks[i, m] = -1
        x[i, m] = 0.0
    for t in range(d):
        s = c[i, t]
        for j in range(m):
            s += x[i, j] * sign[i, kinks[i, j]] * unit[kinks[i, j], t]
        v[i, t] = s
    return m, block >= 0 and m > 0
