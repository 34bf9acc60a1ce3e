"""Branch and bound over cones, compiled: a tree whose leaves prove |F(u)| <= |u|, F(u) = L0'u + sum th_k (z_k.u)_+.

A cone is a leaf if, for some shares of its crossing lines, GG' - B is a nonnegative matrix plus a positive semidefinite
one (`bound`). Near a tie (a neuron of the optimum) its own shares are tried first: with them the form vanishes at
the tie and nowhere near, so that a whole neighbourhood is one leaf. Elsewhere shares start from the signs at
the middle, or from the parent's, and move towards those at the point where the bound is worst. What is not proved is
bisected on the edge with the most kink mass of lines that still count, in deep cones every third time on the longest.

Generators are integers from the start; nothing here is trusted: every leaf is checked in exact arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relu_cert.outputs.bound import bound, definite, least
from relu_cert.outputs.jit import compile_

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DONE, FULL, DEEP, WIDE, VIOLATED = range(5)
STEPS, MANY, FEW_STEPS = 40, 100, 2  # for the shares; fewer where many lines cross
WARM, LONG = 12, 24  # depths from which shares start from the parent's, and from which long edges are split
SMALLEST_STEP = 0.005
CROSSING, SURE = 1e-13, 1e-13
MOST_BITS = 50
GIVE_UP = 8  # the depth from which a cone with a violator is left alone
AHEAD, AHEAD_STEPS, FEW_LINES = 16, 3, 180  # the depth and lines up to which halves of a cone are looked at
MUCH, WIDE_ENOUGH = 0.1, 0.25  # of the largest kink mass, of the longest edge (1 - cosine): edges that are tried


class Grown(NamedTuple):
    """What a walk writes: a code for each node (an edge; 200 a leaf, 201 + i a leaf of tie i), the multiplier of each
    split; the generators of each leaf, and where its crossing lines and their shares begin; violators."""

    status: int
    nodes: int
    codes: Integers
    multipliers: Integers
    cones: Integers
    starts: Integers
    lines: Integers
    shares: Floats
    violators: Floats


@compile_
def common(g):  # type: ignore[no-untyped-def]
    """The greatest common divisor of the entries."""
    a = 0
    for x in g:
        b = abs(x)
        while b:
            a, b = b, a % b
    return a


@compile_
def doubled(a):  # type: ignore[no-untyped-def]
    """The same numbers with as much room again."""
    found = np.empty((2 * a.shape[0], *a.shape[1:]), a.dtype)
    found[: a.shape[0]] = a
    return found


@compile_
def multiplier(ratio):  # type: ignore[no-untyped-def]
    """The code and the value of the m = 2^s or 3 2^(s-1) nearest to `ratio` >= 1."""
    s = int(np.floor(np.log2(ratio)))
    rest = ratio / 2.0**s
    if s > 0 and 1.2247 <= rest < 1.7321:
        return 2 * s + 1, 3 << s >> 1
    if rest >= 1.5:
        s += 1
    return 2 * s, 1 << s


@compile_
def grow(Z, th, L0, roots, eps, ties, tied, most_nodes, most_depth, most_violators, biased):  # type: ignore[no-untyped-def]
    """The tree below the root cones (integers): proves |F(u)| <= (1 + eps)|u|, or tells where it is more.

    `ties` are directions, `tied` their shares (a row of n each, NaN where a line has none). Where it is `biased` |u|
    does not see the last entry of u.
    """
    n, D = Z.shape
    E = D - 1 if biased else D
    R = metric(Z) if biased else np.eye(D)
    Y, G = np.zeros((roots.shape[1], D)), np.zeros((roots.shape[1], roots.shape[1]))
    places = np.zeros((len(ties), D))
    for a in range(len(ties)):
        lengthened(R, ties[a], places[a])
    C, d, K = th.shape[1], roots.shape[1], len(ties)
    room = most_depth + 4
    VV, II, SS = np.empty((room, d, n)), np.empty((room, n), np.int64), np.zeros((room, n))
    LIN, GI, LEN = np.zeros((room, d, C)), np.zeros((room, d, D), np.int64), np.zeros((room, d))
    COUNT, DEPTH = np.zeros(room, np.int64), np.zeros(room, np.int64)
    lengths = np.sqrt((th * th).sum(axis=1))
    s, sb, sn = np.empty(n), np.empty(n), np.empty(n)
    Lg, Dk, T, B = np.empty((d, C)), np.empty((n, d)), np.empty((n, d)), np.empty((d, d))
    t, tb, x, mid, ones, f = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.ones(d), np.empty(C)
    A, P, Q, Qc, M = np.empty((d, d)), np.empty((d, d)), np.empty((d, d)), np.empty((d, d)), np.empty((d, d))
    free, index, u, g = np.empty(d, np.int64), np.empty(d, np.int64), np.empty(D), np.empty(D, np.int64)
    edge = np.zeros((d, d), np.int64)
    e = 0
    for i in range(d):
        for j in range(i + 1, d):
            edge[i, j] = e
            e += 1
    codes, multipliers = np.empty(1024, np.int64), np.empty(1024, np.int64)
    cones, starts = np.empty((1024, d, D), np.int64), np.zeros(1025, np.int64)
    lines, shares = np.empty(8192, np.int64), np.empty(8192)
    violators = np.zeros((most_violators + 1, D))
    nodes = splits = leaves = used = found = 0
    level = (1 + eps) ** 2
    status = DONE
    for root in range(len(roots)):
        for i in range(d):
            q = 0.0
            for l in range(D):
                GI[0, i, l] = roots[root, i, l]
            for l in range(E):
                q += float(GI[0, i, l]) ** 2
            LEN[0, i] = np.sqrt(q)
            for c in range(C):
                q = 0.0
                for l in range(D):
                    q += GI[0, i, l] * L0[l, c]
                LIN[0, i, c] = q / LEN[0, i]
        m = 0
        for k in range(n):
            low, high = 1e300, -1e300
            for i in range(d):
                q = 0.0
                for l in range(D):
                    q += Z[k, l] * GI[0, i, l]
                x[i] = q / LEN[0, i]
                low, high = min(low, x[i]), max(high, x[i])
            if low < -CROSSING and high > CROSSING:
                for i in range(d):
                    VV[0, i, m] = x[i]
                II[0, m] = k
                m += 1
            elif high > CROSSING:
                for i in range(d):
                    for c in range(C):
                        LIN[0, i, c] += x[i] * th[k, c]
        COUNT[0], DEPTH[0] = m, 0
        top = 1
        while top > 0:
            if nodes >= most_nodes:
                status = FULL
                break
            if nodes + 2 >= len(codes):
                codes, multipliers = doubled(codes), doubled(multipliers)
            cur = top - 1
            m, depth = COUNT[cur], DEPTH[cur]
            V, idx, lin = VV[cur], II[cur], LIN[cur]
            for i in range(d):
                for j in range(d):
                    q = 0.0
                    for l in range(E):
                        q += float(GI[cur, i, l]) * float(GI[cur, j, l])
                    M[i, j] = q / (LEN[cur, i] * LEN[cur, j])
            for i in range(d):  # the middle of a cone as certificates have it: generators times powers of two
                q = 1.0
                for l in range(D):
                    while q <= abs(GI[cur, i, l]):
                        q *= 2
                mid[i] = LEN[cur, i] / q
            how, tie = 0, -1
            if biased:
                for i in range(d):
                    for l in range(D):
                        u[l] = GI[cur, i, l] / LEN[cur, i]
                    lengthened(R, u, Y[i])
                for i in range(d):
                    for j in range(d):
                        G[i, j] = (Y[i] * Y[j]).sum()
            else:
                for i in range(d):
                    for l in range(D):
                        Y[i, l] = GI[cur, i, l] / LEN[cur, i]
                    for j in range(d):
                        G[i, j] = M[i, j]
            for a in range(K):
                if not near(Y, G, places[a], u):
                    continue
                for k in range(m):
                    q = tied[a, idx[k]]
                    if np.isnan(q):
                        q = 0.0
                        for i in range(d):
                            q += mid[i] * V[i, k]
                        q = 1.0 if q > 0 else 0.0
                    s[k] = q
                bound(V, m, lin, th, lengths, idx, s, Lg, Dk, T, B)
                for i in range(d):
                    for j in range(d):
                        Q[i, j] = M[i, j] - B[i, j] + 1e-11 * M[i, j]
                if definite(Q, A, 0.0):
                    how, tie = 1, a
                    break
            best, step, mu = 1e300, 0.5, 0.0
            violated = False
            if how == 0:
                for k in range(m):
                    q = 0.0
                    for i in range(d):
                        q += V[i, k]
                    s[k] = SS[cur, k] if depth > WARM else (1.0 if q > 0 else 0.0)
                for i in range(d):
                    t[i] = 1.0 / d
            for it in range(0 if how else (STEPS if m <= MANY else FEW_STEPS)):
                bound(V, m, lin, th, lengths, idx, s, Lg, Dk, T, B)
                how = 1
                for i in range(d):
                    for j in range(d):
                        Q[i, j] = level * M[i, j] - B[i, j]
                        if Q[i, j] < SURE * SURE:
                            how = 0
                if how:
                    break
                mu = -least(Q, t, Qc, P, A, x, free, index, ones)
                if mu < -SURE:
                    how = 1
                    break
                for c in range(C):
                    f[c] = 0.0
                    for i in range(d):
                        f[c] += t[i] * lin[i, c]
                for k in range(m):
                    q = 0.0
                    for i in range(d):
                        q += t[i] * V[i, k]
                    sn[k] = 1.0 if q > 0 else 0.0
                    if q > 0:
                        for c in range(C):
                            f[c] += q * th[idx[k], c]
                value = size = 0.0
                for c in range(C):
                    value += f[c] * f[c]
                for i in range(d):
                    for j in range(d):
                        size += t[i] * M[i, j] * t[j]
                if size > 1e-12:
                    value = np.sqrt(value / size)
                    if value > 1 + eps + SURE:
                        violated = True
                        if found <= most_violators:
                            for l in range(D):
                                q = 0.0
                                for i in range(d):
                                    q += t[i] * GI[cur, i, l] / LEN[cur, i]
                                violators[found, l] = q / np.sqrt(size)
                            found += 1
                        break
                if m == 0:
                    break
                if it == 0 or mu < best:
                    best, step = mu, min(1.0, 2 * step) if it else 0.5
                    for k in range(m):
                        sb[k] = s[k]
                    for i in range(d):
                        tb[i] = t[i]
                else:
                    step *= 0.5
                    for k in range(m):
                        s[k] = sb[k]
                    for i in range(d):
                        t[i] = tb[i]
                    if step < SMALLEST_STEP:
                        break
                    for k in range(m):
                        q = 0.0
                        for i in range(d):
                            q += t[i] * V[i, k]
                        sn[k] = 1.0 if q > 0 else 0.0
                moved = 0.0
                for k in range(m):
                    q = 0.0
                    for j in range(d):
                        q += T[k, j] * t[j]
                    if q < 0:
                        moved += abs(sn[k] - s[k])
                        s[k] = (1 - step) * s[k] + step * sn[k]
                if moved == 0.0:
                    break
            if found > most_violators:
                status = VIOLATED
                break
            if violated and depth >= GIVE_UP:
                status = VIOLATED
                top -= 1
                continue
            if how:
                codes[nodes] = 201 + tie if tie >= 0 else 200
                nodes += 1
                if leaves + 2 >= len(cones):
                    starts, cones = doubled(starts), doubled(cones)
                while used + m >= len(lines):
                    lines, shares = doubled(lines), doubled(shares)
                for i in range(d):
                    for l in range(D):
                        cones[leaves, i, l] = GI[cur, i, l]
                for k in range(m):
                    lines[used + k], shares[used + k] = idx[k], s[k]
                used += m
                leaves += 1
                starts[leaves] = used
                top -= 1
                continue
            if depth >= most_depth:
                status = DEEP
                break
            if best > 1e299:
                for k in range(m):
                    sb[k] = s[k]
            for i in range(d):
                t[i] = max(t[i], 1e-3)
            bi, bj = chosen_edge(V, m, lin, th, lengths, idx, sb, M, G, T, t, level, depth, biased)
            ratio = LEN[cur, bj] / LEN[cur, bi]
            if ratio >= 1:
                code, mi = multiplier(ratio)
                mj = 1
            else:
                code, mj = multiplier(1 / ratio)
                mi = 1
                code += 128
            largest = 0.0
            for l in range(D):
                largest = max(largest, abs(float(mi) * GI[cur, bi, l]) + abs(float(mj) * GI[cur, bj, l]))
            if largest >= 2.0**MOST_BITS or mi <= 0 or mj <= 0:
                status = WIDE
                break
            for l in range(D):
                g[l] = mi * GI[cur, bi, l] + mj * GI[cur, bj, l]
            divisor = common(g)
            if divisor == 0:
                status = WIDE
                break
            q = 0.0
            for l in range(D):
                g[l] //= divisor
                if l < E:
                    q += float(g[l]) ** 2
            length = np.sqrt(q)
            ai, aj = mi * LEN[cur, bi] / (divisor * length), mj * LEN[cur, bj] / (divisor * length)
            codes[nodes] = edge[bi, bj]
            multipliers[splits] = code
            nodes += 1
            splits += 1
            for k in range(m):
                sn[k] = ai * V[bi, k] + aj * V[bj, k]
            for c in range(C):
                f[c] = ai * lin[bi, c] + aj * lin[bj, c]
            child(VV, II, SS, LIN, GI, LEN, COUNT, cur, cur + 1, bj, g, length, sn, f, sb, m, th)
            child(VV, II, SS, LIN, GI, LEN, COUNT, cur, cur, bi, g, length, sn, f, sb, m, th)
            DEPTH[cur + 1] = DEPTH[cur] = depth + 1
            top += 1
        if status in (FULL, DEEP, WIDE) or (status == VIOLATED and found > most_violators):
            break
    if found and status == DONE:
        status = VIOLATED
    return (
        status,
        nodes,
        codes[:nodes],
        multipliers[:splits],
        cones[:leaves],
        starts[: leaves + 1],
        lines[:used],
        shares[:used],
        violators[: min(found, most_violators)],
    )


@compile_
def chosen_edge(V, m, lin, th, lengths, index, shares, M, G, T, t, level, depth, biased):  # type: ignore[no-untyped-def]
    """The edge to split: that with the most kink mass, or among those with much of it the one whose halves are nearest
    to leaves after a few steps for the shares; the longest (G are cosines) where there is none, and in deep cones
    every third time."""
    d, best, bi, bj, longest = len(M), 1e-14, -1, -1, 0.0
    mass = np.zeros((d, d))
    for i in range(d):
        for j in range(i + 1, d):
            longest = max(longest, 1 - G[i, j])
    if depth <= LONG or depth % 3:
        for k in range(m):
            q = 0.0
            for j in range(d):
                q += T[k, j] * t[j]
            if q > 0.0:
                for i in range(d):
                    for j in range(i + 1, d):
                        mass[i, j] += q * (max(V[i, k], 0.0) + max(V[j, k], 0.0) - max(V[i, k] + V[j, k], 0.0))
        for i in range(d):
            for j in range(i + 1, d):
                mass[i, j] *= np.sqrt(t[i] * t[j])
                if mass[i, j] > best:
                    best, bi, bj = mass[i, j], i, j
    if bi >= 0 and depth <= AHEAD and m <= FEW_LINES and not biased:
        nearest, most = 1e300, best
        for i in range(d):
            for j in range(i + 1, d):
                if mass[i, j] > most * MUCH and 1 - M[i, j] >= longest * WIDE_ENOUGH:
                    q = np.sqrt(2 + 2 * M[i, j])
                    missing = 0.0
                    for place in (i, j):
                        missing += np.sqrt(
                            missed(V, m, lin, th, lengths, index, shares, M, level, depth, i, j, place, q)
                        )
                    if missing < nearest:
                        nearest, bi, bj = missing, i, j
    if bi < 0:
        for i in range(d):
            for j in range(i + 1, d):
                if 1 - G[i, j] == longest:
                    bi, bj = i, j
    return bi, bj


@compile_
def missed(V, m, lin, th, lengths, index, shares, M, level, depth, i, j, place, q):  # type: ignore[no-untyped-def]
    """By how much the half of a cone with the middle (g_i + g_j) / q in one place is no leaf, after a few steps."""
    d, C = lin.shape
    H, L, N, s = V[:, :m].copy(), lin.copy(), M.copy(), shares[:m].copy()
    Lg, D, T, B = np.empty((d, C)), np.empty((m, d)), np.empty((m, d)), np.empty((d, d))
    A, P, Q, Qc = np.empty((d, d)), np.empty((d, d)), np.empty((d, d)), np.empty((d, d))
    t, x, ones, free, places = np.empty(d), np.empty(d), np.ones(d), np.empty(d, np.int64), np.empty(d, np.int64)
    for k in range(m):
        H[place, k] = (V[i, k] + V[j, k]) / q
        low, high, middle = 0.0, 0.0, 0.0
        for a in range(d):
            low, high, middle = min(low, H[a, k]), max(high, H[a, k]), middle + H[a, k]
        if low >= -CROSSING or high <= CROSSING or depth < WARM:
            s[k] = 1.0 if middle > 0 else 0.0
    for c in range(C):
        L[place, c] = (lin[i, c] + lin[j, c]) / q
    for a in range(d):
        N[place, a] = N[a, place] = (M[i, a] + M[j, a]) / q
    N[place, place] = 1.0
    best = 1e300
    for step in range(AHEAD_STEPS):
        bound(H, m, L, th, lengths, index, s, Lg, D, T, B)
        for a in range(d):
            for b in range(d):
                Q[a, b] = level * N[a, b] - B[a, b]
        best = min(best, -least(Q, t, Qc, P, A, x, free, places, ones))
        if best <= 0.0 or step == AHEAD_STEPS - 1:
            break
        for k in range(m):
            falls = height = 0.0
            for a in range(d):
                falls += T[k, a] * t[a]
                height += H[a, k] * t[a]
            if falls < 0.0:
                s[k] = 0.5 * (s[k] + (1.0 if height > 0 else 0.0))
    return max(best, 0.0)


@compile_
def metric(Z):  # type: ignore[no-untyped-def]
    """R, |Ru| a length that sees biases: by the weights, and by the heights at unit lines."""
    n, D = Z.shape
    A = np.zeros((D, D))
    for k in range(n):
        for i in range(D):
            for j in range(D):
                A[i, j] += Z[k, i] * Z[k, j] / n
    for i in range(D - 1):
        A[i, i] += 1.0 / D
    A[D - 1, D - 1] += 1e-12
    return np.ascontiguousarray(np.linalg.cholesky(A).T)


@compile_
def lengthened(R, u, to):  # type: ignore[no-untyped-def]
    """Ru / |Ru|, written into `to`."""
    D = len(u)
    size = 0.0
    for i in range(D):
        to[i] = 0.0
        for l in range(D):
            to[i] += R[i, l] * u[l]
        size += to[i] * to[i]
    for i in range(D):
        to[i] /= max(np.sqrt(size), 1e-300)


@compile_
def near(Y, M, tie, middle):  # type: ignore[no-untyped-def]
    """Whether a tie is about as near to the middle of the cone as its generators Y are, M = YY'."""
    d, D = Y.shape
    size = 0.0
    for l in range(D):
        q = 0.0
        for i in range(d):
            q += Y[i, l]
        middle[l] = q
        size += q * q
    size = np.sqrt(size)
    if size < 1e-9:
        return False
    widest, at = 1.0, 0.0
    for i in range(d):
        q = 0.0
        for j in range(d):
            q += M[i, j]
        widest = min(widest, q / size)
    for l in range(D):
        at += tie[l] * middle[l] / size
    return 1 - at <= 1.5 * (1 - widest)


@compile_
def child(VV, II, SS, LIN, GI, LEN, COUNT, cur, to, place, g, length, values, lin, s, m, th):  # type: ignore[no-untyped-def]
    """The cone with the generator g in one place; lines that no longer cross go into the linear part."""
    d, C = LIN.shape[1:]
    if to != cur:
        for i in range(d):
            LEN[to, i] = LEN[cur, i]
            for l in range(GI.shape[2]):
                GI[to, i, l] = GI[cur, i, l]
            for c in range(C):
                LIN[to, i, c] = LIN[cur, i, c]
    LEN[to, place] = length
    for l in range(GI.shape[2]):
        GI[to, place, l] = g[l]
    for c in range(C):
        LIN[to, place, c] = lin[c]
    kept = 0
    for k in range(m):
        low = high = values[k]
        for i in range(d):
            if i != place:
                low, high = min(low, VV[cur, i, k]), max(high, VV[cur, i, k])
        line = II[cur, k]
        if low < -CROSSING and high > CROSSING:
            for i in range(d):
                VV[to, i, kept] = values[k] if i == place else VV[cur, i, k]
            II[to, kept], SS[to, kept] = line, s[k]
            kept += 1
        elif high > CROSSING:
            for i in range(d):
                q = values[k] if i == place else VV[cur, i, k]
                for c in range(C):
                    LIN[to, i, c] += q * th[line, c]
    COUNT[to] = kept


def grown(
    Z: Floats,
    th: Floats,
    L0: Floats,
    roots: Integers,
    eps: float,
    ties: Floats,
    tied: Floats,
    most_nodes: int = 10**6,
    most_depth: int = 150,
    most_violators: int = 30,
    biased: bool = False,
) -> Grown:
    """`grow`, with names for what it finds; lambda = 1."""
    return Grown(*grow(Z, th, L0, roots, eps, ties, tied, most_nodes, most_depth, most_violators, biased))
