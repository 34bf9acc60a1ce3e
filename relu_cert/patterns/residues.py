"""Exact minors modulo primes, compiled: what decides where floats do not.

A `Residues` state is four arrays (few arrays, because passing many makes compilation slow):

    R      (primes, m, r)   the integer normals modulo each prime
    P      (1 + primes, primes)   row 0 the primes, then P[1 + i, j] = p_i^-1 modulo p_j
    V      (6 + primes, width)   row 0 the basis' hyperplanes, 1 its columns, 2 determinants, 3 which primes are in use,
           4 residues of a number, 5 its mixed-radix digits, then the weights of a hyperplane modulo each prime
    B      (primes + 1, r + 1, r + 1)   inverses of the basis modulo each prime, and room to compute

and `need`, how many primes prove a sign: the product of all but one of them is above twice every minor.
"""

from __future__ import annotations

import numpy as np

from relu_cert.patterns.jit import compile_, compile_allocating

ROWS, COLS, DETS, USED, NUMBER, DIGITS, WEIGHTS = range(7)


@compile_
def inverse_mod(a, p):  # type: ignore[no-untyped-def]
    """a^-1 modulo a prime p, 0 < a < p."""
    r0, r1, s0, s1 = p, a, 0, 1
    while r1:
        q = r0 // r1
        r0, r1 = r1, r0 - q * r1
        s0, s1 = s1, s0 - q * s1
    return s0 % p


@compile_
def invert_basis(R, V, B, i, p, s, target):  # type: ignore[no-untyped-def]
    """B[target] = the inverse modulo p of the s x s matrix R[i, rows, cols]; returns its determinant (0: singular)."""
    work = len(B) - 1
    for a in range(s):
        for b in range(s):
            B[work, a, b] = R[i, V[ROWS, a], V[COLS, b]]
            B[target, a, b] = 1 if a == b else 0
    det = 1
    for c in range(s):
        a = c
        while a < s and B[work, a, c] == 0:
            a += 1
        if a == s:
            return 0
        if a != c:
            det = p - det
            for b in range(s):
                B[work, a, b], B[work, c, b] = B[work, c, b], B[work, a, b]
                B[target, a, b], B[target, c, b] = B[target, c, b], B[target, a, b]
        det = det * B[work, c, c] % p
        inverse = inverse_mod(B[work, c, c], p)
        for b in range(s):
            B[work, c, b] = B[work, c, b] * inverse % p
            B[target, c, b] = B[target, c, b] * inverse % p
        for a in range(s):
            f = B[work, a, c]
            if a != c and f:
                f = p - f
                for b in range(s):
                    B[work, a, b] = (B[work, a, b] + f * B[work, c, b]) % p
                    B[target, a, b] = (B[target, a, b] + f * B[target, c, b]) % p
    return det


@compile_
def prepare(R, P, V, B, need, k):  # type: ignore[no-untyped-def]
    """Invert the basis (k + 1 rows and columns in V) modulo `need` primes. False: too many divide its determinant."""
    found = 0
    for i in range(len(R)):
        det = invert_basis(R, V, B, i, P[0, i], k + 1, found)
        if det:
            V[DETS, found] = det
            V[USED, found] = i
            found += 1
            if found == need:
                return True
    return False


@compile_
def weigh(R, P, V, B, need, k, j):  # type: ignore[no-untyped-def]
    """V[WEIGHTS + i, t] = the coefficient of z_j at basis row t, modulo the i-th prime in use."""
    for i in range(need):
        p = P[0, V[USED, i]]
        for t in range(k + 1):
            total = 0
            for s in range(k + 1):
                total = (total + R[V[USED, i], j, V[COLS, s]] * B[i, s, t]) % p
            V[WEIGHTS + i, t] = total


@compile_
def at_free(R, P, V, k, i, j, l):  # type: ignore[no-untyped-def]
    """The coefficient of z_j at the free coordinate l, modulo the i-th prime in use (after `weigh`)."""
    p = P[0, V[USED, i]]
    total = R[V[USED, i], j, l]
    for t in range(k + 1):
        total = (total + (p - V[WEIGHTS + i, t]) * R[V[USED, i], V[ROWS, t], l]) % p
    return total


@compile_
def number(P, V, need):  # type: ignore[no-untyped-def]
    """det times the number with the residues V[NUMBER], a float with a relative error below 2^-40; 0.0 only for zero.

    That integer is below half the product of all but the last prime in use; so its last mixed-radix digit is 0 if it is
    positive and p - 1 if it is negative.
    """
    for i in range(need):
        V[NUMBER, i] = V[NUMBER, i] * V[DETS, i] % P[0, V[USED, i]]
    sign = 1.0
    for _ in range(2):
        for i in range(need):
            p = P[0, V[USED, i]]
            t = V[NUMBER, i] % p
            for j in range(i):
                t = (t - V[DIGITS, j] % p + p) * P[1 + V[USED, j], V[USED, i]] % p
            V[DIGITS, i] = t
        if V[DIGITS, need - 1] == 0:
            break
        sign = -1.0
        for i in range(need):
            V[NUMBER, i] = P[0, V[USED, i]] - V[NUMBER, i]
    value = 0.0
    for i in range(need - 1, -1, -1):
        value = value * P[0, V[USED, i]] + V[DIGITS, i]
    return sign * value


@compile_
def set_basis(I, V, base, k):  # type: ignore[no-untyped-def]
    """The basis of level k, for the residues: hyperplanes 0, e_1 ... e_k; columns base, c_1 ... c_k."""
    V[ROWS, 0] = 0
    V[COLS, 0] = base
    for t in range(k):
        V[ROWS, t + 1] = I[0, 0, t]
        V[COLS, t + 1] = I[0, 1, t]


@compile_
def resolve(X, E, I, k, m, base, exponents, rounding, R, P, V, B, need):  # type: ignore[no-untyped-def]
    """Replace every undecided entry of level k by its exact sign and an accurate value. False: not enough primes."""
    set_basis(I, V, base, k)
    if not prepare(R, P, V, B, need, k):
        return False
    for j in range(m):
        known = False
        for l in range(X.shape[1]):
            if not (E[k, l, j] > 0.0 and abs(X[k, l, j]) <= E[k, l, j]):
                continue
            if not known:
                weigh(R, P, V, B, need, k, j)
                known = True
            slot = -1
            shift = exponents[j]
            for t in range(k + 1):
                shift += exponents[V[ROWS, t]]
                if V[COLS, t] == l:
                    slot = t
            if slot >= 0:  # hyperplane j in the place of that basis row
                shift -= exponents[V[ROWS, slot]]
            for i in range(need):
                V[NUMBER, i] = V[WEIGHTS + i, slot] if slot >= 0 else at_free(R, P, V, k, i, j, l)
            value = number(P, V, need)
            X[k, l, j] = value / 2.0**shift
            E[k, l, j] = 0.0 if rounding and abs(value) < 2.0**52 else abs(X[k, l, j]) * 2.0**-40
    return True


@compile_
def beyond(pairs, s, t, small, det, P, V, need):  # type: ignore[no-untyped-def]
    """The sign of b_s/y_s - b_t/y_t: of b_s y_t - b_t y_s, which is det times a minor, and of y_s y_t."""
    if small:
        cross = pairs[s, 0, 0] * pairs[t, 1, 0] - pairs[t, 0, 0] * pairs[s, 1, 0]
        sign = 1 if cross > 0 else -1 if cross < 0 else 0
    else:
        for a in range(need):
            p = P[0, V[USED, a]]
            x = pairs[s, 0, a] * pairs[t, 1, a] % p
            V[NUMBER, a] = (x + (p - pairs[t, 0, a]) * pairs[s, 1, a]) % p
        value = number(P, V, need)
        sign = 1 if value > 0.0 else -1 if value < 0.0 else 0
        if det < 0.0:
            sign = -sign
    return sign if (pairs[s, 2, 0] > 0) == (pairs[t, 2, 0] > 0) else -sign


@compile_allocating
def order_exactly(X, E, F, I, S, J, k, base, count, R, P, V, B, need):  # type: ignore[no-untyped-def]
    """Sort the points that `order_points` left undecided, by point and then by number, and set J[1] where they differ.

    False: not enough primes.
    """
    c = 0
    while not I[3, k, c]:
        c += 1
    y, b, det = X[k, c], X[k, base], F[0, k]
    ready = False
    stop = 0
    while stop < count:
        start = stop
        stop += 1
        small = True
        while stop < count and J[1, stop] == 0:
            stop += 1
        n = stop - start
        if n == 1:
            continue
        for i in range(start, stop):
            j = J[0, i]
            small &= E[k, c, j] == 0.0 and E[k, base, j] == 0.0 and abs(y[j]) < 2.0**31 and abs(b[j]) < 2.0**31
        if not small and not ready:
            set_basis(I, V, base, k)
            if not prepare(R, P, V, B, need, k):
                return False
            ready = True
        pairs = np.empty((n, 3, need), dtype=np.int64)  # b, y modulo primes (or themselves), the sign of y
        for s in range(n):
            j = J[0, start + s]
            pairs[s, 2, 0] = 1 if y[j] > 0.0 else -1
            if small:
                pairs[s, 0, 0] = np.int64(b[j])
                pairs[s, 1, 0] = np.int64(y[j])
                continue
            weigh(R, P, V, B, need, k, j)
            for a in range(need):
                pairs[s, 0, a] = V[WEIGHTS + a, 0]
                pairs[s, 1, a] = at_free(R, P, V, k, a, j, c)
        local = np.empty(n, dtype=np.int64)
        for i in range(n):
            s = i
            at = i
            while at > 0:
                t = local[at - 1]
                sign = beyond(pairs, s, t, small, det, P, V, need)
                if sign > 0 or (sign == 0 and J[0, start + s] > J[0, start + t]):
                    break
                local[at] = t
                at -= 1
            local[at] = s
        for i in range(1, n):
            J[1, start + i] = beyond(pairs, local[i], local[i - 1], small, det, P, V, need)
        for i in range(n):
            local[i] = J[0, start + local[i]]
        for i in range(n):
            J[0, start + i] = local[i]
            S[0, start + i] = b[local[i]] / y[local[i]]
    return True
