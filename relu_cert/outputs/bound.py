"""The quadratic bound of a cone in floats, compiled: B with |F(u)|^2 <= c'Bc for u = sum c_i g_i, c >= 0.

F(u) = L0'u + sum_k th_k (z_k.u)_+. Lines that do not cross the cone are in `lin`; one that does is split by its share
s_k into s_k z_k.u and delta_k(u) = (z_k.u)_+ - s_k z_k.u >= 0 (verify/FORMAT.md has the lemma).
"""

from __future__ import annotations

import numpy as np

from relu_cert.outputs.jit import compile_, project

PAIRS = 24  # crossing lines up to which (th_k.th_l)_+ counts, beyond that |th_k||th_l|
TINY = 1e-300


@compile_
def bound(V, m, lin, th, lengths, index, s, Lg, D, T, B):  # type: ignore[no-untyped-def]
    """B of the cone whose m crossing lines have the values V (d x m) at the generators; T_k.c is at least the bracket
    that delta_k is multiplied with."""
    d, C = lin.shape
    for i in range(d):
        for c in range(C):
            Lg[i, c] = lin[i, c]
    for k in range(m):
        for i in range(d):
            x = V[i, k]
            D[k, i] = max(x, 0.0) - s[k] * x
            for c in range(C):
                Lg[i, c] += s[k] * x * th[index[k], c]
    for i in range(d):
        for j in range(d):
            q = 0.0
            for c in range(C):
                q += Lg[i, c] * Lg[j, c]
            B[i, j] = q
    for k in range(m):
        kk = index[k]
        for j in range(d):
            q = 0.0
            for c in range(C):
                q += th[kk, c] * Lg[j, c]
            T[k, j] = 2 * q
    if m <= PAIRS:
        for k in range(m):
            for l in range(m):
                w = 0.0
                for c in range(C):
                    w += th[index[k], c] * th[index[l], c]
                if w > 0.0:
                    for j in range(d):
                        T[k, j] += w * D[l, j]
    else:
        for j in range(d):
            r = 0.0
            for l in range(m):
                r += lengths[index[l]] * D[l, j]
            for k in range(m):
                T[k, j] += lengths[index[k]] * r
    for k in range(m):
        widest = 0.0
        for j in range(d):
            if T[k, j] > 0.0:
                widest = -1.0
                break
            widest = max(widest, abs(V[j, k]) / max(-T[k, j], TINY))
        if widest < 0.0:
            for j in range(d):
                if T[k, j] > 0.0:
                    for i in range(d):
                        q = 0.5 * D[k, i] * T[k, j]
                        B[i, j] += q
                        B[j, i] += q
        elif 0.0 < s[k] < 1.0:
            kappa = min(s[k], 1 - s[k]) / widest
            for i in range(d):
                for j in range(d):
                    B[i, j] -= kappa * V[i, k] * V[j, k]


@compile_
def definite(Q, A, shift):  # type: ignore[no-untyped-def]
    """Whether Q + shift I has a Cholesky factor."""
    d = len(Q)
    for i in range(d):
        for j in range(d):
            A[i, j] = Q[i, j]
        A[i, i] += shift
    for j in range(d):
        s = A[j, j]
        for k in range(j):
            s -= A[j, k] * A[j, k]
        if s <= 0.0:
            return False
        s = np.sqrt(s)
        A[j, j] = s
        for i in range(j + 1, d):
            q = A[i, j]
            for k in range(j):
                q -= A[i, k] * A[j, k]
            A[i, j] = q / s
    return True


@compile_
def least(Q, t, Qc, P, A, x, free, index, ones):  # type: ignore[no-untyped-def]
    """A lower bound of c'Qc over c >= 0, sum c = 1, and the point t at which it is about reached.

    Where Q curves down on sum c = 0, it is replaced by its linear interpolation (an N >= 0 less: sum c_i w_i^2 -
    (w.c)^2 = 1/2 sum c_i c_j (w_i - w_j)^2); what is left, Qc, is convex there.
    """
    d = len(Q)
    size = total = 0.0
    for i in range(d):
        x[i] = 0.0
        for j in range(d):
            x[i] += Q[i, j]
        total += x[i]
        size = max(size, abs(Q[i, i]))
    for i in range(d):
        for j in range(d):
            P[i, j] = Q[i, j] - (x[i] + x[j]) / d + total / (d * d)
            Qc[i, j] = Q[i, j]
    values, E = np.linalg.eigh(P)
    largest = max(abs(values[0]), abs(values[d - 1]))
    for a in range(d):
        if values[a] < -1e-14 * largest:
            for i in range(d):
                for j in range(d):
                    Qc[i, j] -= values[a] * (E[i, a] * E[j, a] - 0.5 * (E[i, a] ** 2 + E[j, a] ** 2))
    lift = 0.0
    for i in range(d):
        q = 0.0
        for j in range(d):
            q += Qc[i, j]
        lift = max(lift, abs(q))
    lift = 2 * lift + TINY
    while lift <= 1e12 * (size + TINY):
        for i in range(d):
            for j in range(d):
                P[i, j] = Qc[i, j] + lift
            P[i, i] += 1e-13 * lift
        if definite(P, A, 0.0):
            break
        lift *= 4
    project(P, ones, d, t, A, x, free, index)
    q = 0.0
    for i in range(d):
        q += t[i]
    if q <= 0.0:
        return -1e300
    value, low = 0.0, 1e300
    for i in range(d):
        t[i] /= q
    for i in range(d):
        q = 0.0
        for j in range(d):
            q += Qc[i, j] * t[j]
        value += q * t[i]
        low = min(low, q)
    return value - 2 * max(value - low, 0.0)
