"""A point in each cell, compiled: only proposed, in floats; its signs are proved later."""

from __future__ import annotations

import numpy as np

from relu_cert.patterns.jit import compile_, copy_bits, propose_


@propose_
def member_sizes(X, I, M, k, m, sizes):  # type: ignore[no-untyped-def]
    """How far to step off each member's hyperplane: a later member must overrule earlier ones on its followers."""
    for t in range(k):
        column = X[k, I[0, 1, t]]
        total = 0.0
        for j in range(m):
            total += abs(column[j])
        sizes[t] = 1.0 / total
        for w in range(M.shape[2]):
            followers = M[1, t, w] | M[2, t, w]
            if w == I[0, 0, t] >> 6 and followers & (followers - np.uint64(1)) == 0:  # the member alone
                continue
            j = 64 * w
            while followers:
                if followers & np.uint64(1):
                    total = 0.0
                    for s in range(t):
                        total += abs(X[k, I[0, 1, s], j]) * sizes[s]
                    sizes[t] = max(sizes[t], 2.0 * total / abs(column[j]))
                followers >>= np.uint64(1)
                j += 1


@propose_
def overrule(value, column, ratio):  # type: ignore[no-untyped-def]
    """Add a multiple of the column that decides the signs of all rows where it is not zero; ratio is scratch."""
    total = 0.0
    length = 0.0
    for j in range(len(ratio)):
        x, y = value[j], column[j]
        quotient = -x / y
        ratio[j] = quotient if y != 0.0 else 0.0
        total += abs(x)
        length += abs(y)
    need = 0.0
    for j in range(len(ratio)):
        need = max(need, ratio[j])
    size = max(2.0 * need, total / length)
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
def least_beyond(low, here, lanes):  # type: ignore[no-untyped-def]
    """The least point of a line beyond `here`, or infinity. There are a multiple of 32 numbers; lanes is scratch."""
    for i in range(32):
        lanes[i] = np.inf
    for start in range(0, len(low), 32):
        part = low[start : start + 32]
        for i in range(32):
            x, least = part[i], lanes[i]
            x = x if x > here else np.inf
            lanes[i] = x if x < least else least
    for i in range(16):
        x, y = lanes[i], lanes[i + 16]
        lanes[i] = x if x < y else y
    for i in range(8):
        x, y = lanes[i], lanes[i + 8]
        lanes[i] = x if x < y else y
    for i in range(4):
        x, y = lanes[i], lanes[i + 4]
        lanes[i] = x if x < y else y
    return min(lanes[0], lanes[1], lanes[2], lanes[3])


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
