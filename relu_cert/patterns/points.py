"""A point in each cell, compiled: only proposed, in floats; its signs are proved later.

The least or the largest of many floats is found among integers that are in the same order, because only these
reductions become vectors: the bits of a float, all but the sign turned over if it is negative.
"""

from __future__ import annotations

import numpy as np

from relu_cert.patterns.jit import compile_, copy_bits, lowest, propose_

BELOW_SIGN = np.int64(2**63 - 1)
INFINITY = np.int64(0x7FF0000000000000)  # the bits of it


@propose_
def member_size(X, I, M, k, m, det, sizes):  # type: ignore[no-untyped-def]
    """How far to step off the hyperplane of the last of k members: it must overrule earlier ones on its followers.

    In units of z, where the coefficients of followers are the same at all deeper levels; so this is done once.
    """
    t = k - 1
    column = X[k, I[0, 1, t]]
    total = 0.0
    for j in range(m):
        total += abs(column[j])
    sizes[t] = abs(det) / total
    for w in range(M.shape[2]):
        followers = M[1, t, w] | M[2, t, w]
        if w == I[0, 0, t] >> 6 and followers & (followers - np.uint64(1)) == 0:  # the member alone
            continue
        while followers:
            j = 64 * w + lowest(followers)
            followers &= followers - np.uint64(1)
            total = 0.0
            for s in range(t):
                total += abs(X[k, I[0, 1, s], j]) * sizes[s]
            sizes[t] = max(sizes[t], 2.0 * total / abs(column[j]))


@propose_
def overrule(value, column, m):  # type: ignore[no-untyped-def]
    """Add a multiple of the column that decides the signs of all of the first m rows where it is not zero."""
    total = 0.0
    length = 0.0
    need = np.int64(0)
    for j in range(m):
        x, y = value[j], column[j]
        total += abs(x)
        length += abs(y)
        clash = np.float64(-x / y).view(np.int64)
        need = max(need, clash if y != 0.0 else np.int64(0))
    size = max(2.0 * np.int64(need).view(np.float64), total / length)
    for j in range(len(value)):
        value[j] += size * column[j]


@propose_
def usual_size(low):  # type: ignore[no-untyped-def]
    """The mean absolute value of the points of a line (1 if all are 0)."""
    total, count = 0.0, 0.0
    for j in range(len(low)):
        x = abs(low[j])
        total += x if x < np.inf else 0.0
        count += 1.0 if x < np.inf else 0.0
    return total / count if total > 0.0 else 1.0


@propose_
def least_beyond(low, here):  # type: ignore[no-untyped-def]
    """The least point of a line beyond `here`, or infinity."""
    bits = np.float64(here).view(np.int64)
    start = bits ^ ((bits >> 63) & BELOW_SIGN)
    least = INFINITY
    for j in range(len(low)):
        bits = np.float64(low[j]).view(np.int64)
        key = bits ^ ((bits >> 63) & BELOW_SIGN)
        least = min(least, key if key > start else INFINITY)
    return np.int64(least ^ ((least >> 63) & BELOW_SIGN)).view(np.float64)


@compile_
def write_point(X, I, M, S, k, T, m, sign, closures, points, at):  # type: ignore[no-untyped-def]
    """The coordinates of the point S[1], zero on the closure of level k, and of a direction to the sides T of it."""
    value, sizes = S[1, m:], S[3]
    point, direction = points[at, 0], points[at, 1]
    copy_bits(M[0, k], closures[at])
    for l in range(len(point)):
        point[l] = sign * value[l]
        direction[l] = 0.0
    for t in range(k):
        f = sign * T[t] * sizes[t]
        column = X[k, I[0, 1, t], m:]
        for l in range(len(point)):
            direction[l] += f * column[l]


@compile_
def write_on_line(X, I, M, S, k, c, base, middle, T, m, sign, closures, points, at):  # type: ignore[no-untyped-def]
    """The same at the point `middle` of a line: b - middle y."""
    value, y, b = S[1, m:], X[k, c, m:], X[k, base, m:]
    for l in range(len(value)):
        value[l] = b[l] - middle * y[l]
    write_point(X, I, M, S, k, T, m, sign, closures, points, at)
