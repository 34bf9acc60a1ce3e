"""Small dense problems inside the engine: linear systems and projections of the size of a cone.

Nothing here is trusted: what is found is written down in integers and checked.
"""

from __future__ import annotations

import numpy as np

NOISE = 1e-14  # of a unit vector in floats, and some more


def cholesky_solve(A, x, m):
    """x <- A^-1 x for the leading m x m part of a positive semidefinite A, in place."""
    for j in range(m):
        s = A[j, j]
        for k in range(j):
            s -= A[j, k] * A[j, k]
        s = np.sqrt(max(s, 1e-15))
        A[j, j] = s
        for i in range(j + 1, m):
            q = A[i, j]
            for k in range(j):
                q -= A[i, k] * A[j, k]
            A[i, j] = q / s
    for i in range(m):
        q = x[i]
        for k in range(i):
            q -= A[i, k] * x[k]
        x[i] = q / A[i, i]
    for i in range(m - 1, -1, -1):
        q = x[i]
        for k in range(i + 1, m):
            q -= A[k, i] * x[k]
        x[i] = q / A[i, i]


def project(M, r, d, t, A, x, free, index):
    """t >= 0 with the least 1/2 t'Mt - r.t: sum t_i g_i is the projection on the cone of the vector with products r.

    Returns its squared length r.t. M is the Gram matrix of the generators; A, x, free and index are room to work in.
    """
    for i in range(d):
        free[i] = 1
        t[i] = 0.0
    v = 0.0
    for _ in range(4 * d + 4):
        m = np.int64(0)
        for i in range(d):
            if free[i] == 1:
                index[m] = i
                m += 1
        if m == 0:
            best = 0
            for i in range(d):
                t[i] = 0.0
                if r[i] > r[best]:
                    best = i
            if r[best] <= 0.0:
                return 0.0
            free[best] = 1
            continue
        for a in range(m):
            for b in range(m):
                A[a, b] = M[index[a], index[b]]
            x[a] = r[index[a]]
        cholesky_solve(A, x, m)
        negative = False
        for a in range(m):
            if x[a] < 0.0:
                free[index[a]] = 0
                negative = True
        if negative:
            continue
        for i in range(d):
            t[i] = 0.0
        v = 0.0
        for a in range(m):
            t[index[a]] = x[a]
            v += x[a] * r[index[a]]
        worst = 1e-12 * np.sqrt(max(v, 0.0))
        enters = -1
        for i in range(d):
            if free[i] == 0:
                s = r[i]
                for j in range(d):
                    s -= M[i, j] * t[j]
                if s > worst:
                    worst = s
                    enters = i
        if enters < 0:
            return v
        free[enters] = 1
    return v


def coordinates(G, u, d, found, A):
    """sum_i found_i G_i = u; False where the generators are dependent. A (d x d+1) is room to work in."""
    for l in range(d):
        for i in range(d):
            A[l, i] = G[i, l]
        A[l, d] = u[l]
    for c in range(d):
        p = c
        for r in range(c + 1, d):
            if abs(A[r, c]) > abs(A[p, c]):
                p = r
        if abs(A[p, c]) < 1e-14:
            return False
        for k in range(d + 1):
            q = A[c, k]
            A[c, k] = A[p, k]
            A[p, k] = q
        for r in range(d):
            if r != c:
                f = A[r, c] / A[c, c]
                for k in range(c, d + 1):
                    A[r, k] -= f * A[c, k]
    for i in range(d):
        found[i] = A[i, d] / A[i, i]
    return True


def reaches(G, d, axis, x, reach, A):
    """1 / the distance of every generator from the span of the others: by so much more their rounding moves the
    coordinates of a vector. False where they are dependent."""
    for i in range(d):
        reach[i] = 0.0
    for l in range(d):
        for k in range(d):
            axis[k] = 1.0 if k == l else 0.0
        if not coordinates(G, axis, d, x, A):
            return False
        for i in range(d):
            reach[i] += x[i] * x[i]
    for i in range(d):
        reach[i] = np.sqrt(reach[i])
    return True


def without_noise(x, reach, d):
    """Put 0 for coordinates that are no more than rounding."""
    total = 0.0
    for i in range(d):
        total += abs(x[i])
    for i in range(d):
        if abs(x[i]) < max(1e-11, NOISE * reach[i] * total):
            x[i] = 0.0


def positive_sum(v, n):
    """sum_k (v_k)_+"""
    s = 0.0
    for k in range(n):
        s += max(v[k], 0.0)
    return s
