"""Projections onto the cones of many ReLU blocks, compiled: the method of Lawson and Hanson, from the last answer.

The cone of pattern D is {u : g_k.u >= 0}, g_k = (2D - I)_kk z_k, and Proj(c) = c + sum_k x_k g_k with the shortest such
vector, x >= 0. The rows with x_k > 0 are the kinks. An orthonormal basis Q of their span, G = L Q with L lower
triangular, grows and shrinks with them: nearly dependent rows, which rounded data have, cost no accuracy.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_DEPENDENT = 1e-11  # a unit row nearer than this to the span of the kinks is in it


@njit(cache=True, nogil=True, error_model="numpy")
def project(c, pattern, unit, sign, enough, violated, v, kinks, x, exact):  # type: ignore[no-untyped-def]
    """Project row i of c (p x d) onto the cone of pattern[i], for all i. `unit` (d x n) are the unit rows of Z, `sign`
    (patterns x n) their signs. `kinks` (p x d, -1: none) and `x` are a start, and the answer.

    v (p x d) is the projection where `exact`; elsewhere it is some c + sum x_k g_k, of length at most `enough` unless
    the numbers break down."""
    p, d = c.shape
    n = unit.shape[1]
    L, Q, target, slack = np.empty((d, d)), np.empty((d, d)), np.empty(d), np.empty(n)
    depends, now = np.zeros(n, dtype=np.int64), 0  # rows that depend on the kinks of now
    for i in range(p):
        g, K, X = sign[pattern[i]], kinks[i], x[i]
        size = length2(c[i])
        least = violated * np.sqrt(size)
        m = 0
        while m < d and K[m] >= 0:
            m += 1
        combine(c[i], unit, g, K, X, m, v[i])
        if size == 0.0 or length2(v[i]) <= enough * enough:
            exact[i] = size == 0.0
            continue
        now += 1
        m = factor(unit, g, K, X, m, L, Q)
        pending = m > 0
        if not pending:
            combine(c[i], unit, g, K, X, m, v[i])
        for _ in range(4 * n + 12 * d + 40):
            if not pending:
                bound = length2(v[i])
                if bound <= enough * enough or bound <= 1e-4 * least * least:
                    break
                k = most_violated(unit, g, v[i], K, m, -least, slack, depends, now)
                if k < 0 or m == d:
                    exact[i] = True
                    break
                if not append(unit, g, K, m, k, L, Q, _DEPENDENT):
                    depends[k] = now  # g_k.v is rounding
                    continue
                X[m] = 0.0
                m += 1
            solve_kinks(c[i], m, L, Q, target)
            block = step(X, m, target)
            pending = block >= 0
            if pending:
                m = remove(K, X, m, block, L, Q)
                now += 1
            if m == 0:
                pending = False
            if not pending:
                away(c[i], m, Q, v[i])
        if pending:
            combine(c[i], unit, g, K, X, m, v[i])


@njit(cache=True, nogil=True, error_model="numpy")
def bases(unit, kinks):  # type: ignore[no-untyped-def]
    """For every row of kinks an orthonormal basis (p x d x d): first of the span of these rows of Z, then, unless the
    span has less than half the dimension, of its complement (else zeros); and the dimension of the span (p)."""
    p, d = kinks.shape
    Q, span = np.zeros((p, d, d)), np.zeros(p, dtype=np.int64)
    L, K, ones, eye = np.empty((d, d)), np.empty(d, dtype=kinks.dtype), np.ones(max(d, unit.shape[1])), np.eye(d)
    for i in range(p):
        m = 0
        for k in kinks[i]:
            if k >= 0 and append(unit, ones, K, m, k, L, Q[i], _DEPENDENT):
                m += 1
        span[i] = m
        if 2 * m < d:
            continue
        for least in (0.5, 0.5 / d, 0.0):  # coordinates that are far from the span so far go first
            for t in range(d):
                if m < d and append(eye, ones, K, m, t, L, Q[i], least):
                    m += 1
    return Q, span


@njit(cache=True, nogil=True, error_model="numpy")
def length2(v):  # type: ignore[no-untyped-def]
    """|v|^2"""
    s = 0.0
    for t in range(len(v)):
        s += v[t] * v[t]
    return s


@njit(cache=True, nogil=True, error_model="numpy")
def combine(c, unit, g, K, X, m, v):  # type: ignore[no-untyped-def]
    """v = c + sum_j x_j g_j over the m kinks."""
    for t in range(len(c)):
        s = c[t]
        for j in range(m):
            s += X[j] * g[K[j]] * unit[t, K[j]]
        v[t] = s


@njit(cache=True, nogil=True, error_model="numpy")
def away(c, m, Q, v):  # type: ignore[no-untyped-def]
    """v = c - Q'Q c, twice: the part of c that is orthogonal to the kinks, as accurate as its own size."""
    v[:] = c
    for _ in range(2):
        for j in range(m):
            s = 0.0
            for t in range(len(c)):
                s += Q[j, t] * v[t]
            for t in range(len(c)):
                v[t] -= s * Q[j, t]


@njit(cache=True, nogil=True, error_model="numpy")
def most_violated(unit, g, v, K, m, least, slack, depends, now):  # type: ignore[no-untyped-def]
    """The row with the smallest g_k.v below `least` (negative) that does not depend on the kinks, or -1."""
    d, n = unit.shape
    for k in range(n):
        slack[k] = unit[0, k] * v[0]
    for t in range(1, d):
        for k in range(n):
            slack[k] += unit[t, k] * v[t]
    for j in range(m):
        slack[K[j]] = 0.0
    worst = -1
    for k in range(n):
        s = slack[k] * g[k]
        if s < least and depends[k] != now:
            least = s
            worst = k
    return worst


@njit(cache=True, nogil=True, error_model="numpy")
def append(unit, g, K, m, k, L, Q, least):  # type: ignore[no-untyped-def]
    """Row k becomes kink m: one more row of L and Q. False (and no kink) if it is nearer than `least` to the span."""
    d = unit.shape[0]
    if m == d:
        return False
    for t in range(d):
        Q[m, t] = g[k] * unit[t, k]
    for j in range(m):
        L[m, j] = 0.0
    for _ in range(2):
        for j in range(m):
            s = 0.0
            for t in range(d):
                s += Q[j, t] * Q[m, t]
            L[m, j] += s
            for t in range(d):
                Q[m, t] -= s * Q[j, t]
    size = np.sqrt(length2(Q[m]))
    if size <= least:
        return False
    for t in range(d):
        Q[m, t] /= size
    L[m, m] = size
    K[m] = k
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def factor(unit, g, K, X, m, L, Q):  # type: ignore[no-untyped-def]
    """L and Q of the first m kinks, without those that depend on others; how many are left."""
    kept = 0
    for j in range(m):
        k, a = K[j], X[j]
        K[j] = -1
        X[j] = 0.0
        if append(unit, g, K, kept, k, L, Q, _DEPENDENT):
            X[kept] = a
            kept += 1
    return kept


@njit(cache=True, nogil=True, error_model="numpy")
def solve_kinks(c, m, L, Q, target):  # type: ignore[no-untyped-def]
    """target = argmin |c + sum_j target_j g_j| over the m kinks: L' target = -Q c."""
    for j in range(m - 1, -1, -1):
        s = 0.0
        for t in range(len(c)):
            s -= Q[j, t] * c[t]
        for l in range(j + 1, m):
            s -= L[l, j] * target[l]
        target[j] = s / L[j, j]


@njit(cache=True, nogil=True, error_model="numpy")
def step(X, m, target):  # type: ignore[no-untyped-def]
    """x goes towards the target until the first x_j is 0: that j, or -1."""
    room = 1.0
    block = -1
    for j in range(m):
        if target[j] <= 0.0:
            gap = X[j] - target[j]
            way = X[j] / gap if gap > 0.0 else 0.0
            if block < 0 or way < room:
                room = way
                block = j
    for j in range(m):
        X[j] += room * (target[j] - X[j])
    return block


@njit(cache=True, nogil=True, error_model="numpy")
def remove(K, X, m, block, L, Q):  # type: ignore[no-untyped-def]
    """Kink `block` leaves; rotations make L triangular again. How many are left."""
    m -= 1
    for j in range(block, m):
        K[j] = K[j + 1]
        X[j] = X[j + 1]
        for l in range(j + 2):
            L[j, l] = L[j + 1, l]
        h = np.hypot(L[j, j], L[j, j + 1])
        cos, sin = L[j, j] / h, L[j, j + 1] / h
        L[j, j] = h
        for i in range(j + 2, m + 1):
            a, b = L[i, j], L[i, j + 1]
            L[i, j] = cos * a + sin * b
            L[i, j + 1] = cos * b - sin * a
        for t in range(Q.shape[1]):
            a, b = Q[j, t], Q[j + 1, t]
            Q[j, t] = cos * a + sin * b
            Q[j + 1, t] = cos * b - sin * a
    K[m] = -1
    X[m] = 0.0
    return m
