"""A point in each cell, compiled: only proposed, in floats; its signs are proved later."""

from __future__ import annotations

import numpy as np

from relu_cert.patterns.jit import compile_, copy_bits, propose_


@propose_
def member_sizes(X, I, M, k, m, sizes):  # type: ignore[no-untyped-def]
    """How far to step off each member's hyperplane: a later member must overrule earlier ones on its followers."""
    for t in range(k):
        column = X[k, I[0, 1, t]]
        largest = 0.0
        for j in range(m):
            largest = max(largest, abs(column[j]))
        sizes[t] = 1.0 / largest
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
def overrule(value, column, m):  # type: ignore[no-untyped-def]
    """Add a multiple of the column that decides the signs of all rows where it is not zero."""
    need = 0.0
    total = 0.0
    length = 0.0
    for j in range(m):
        total += abs(value[j])
        length += abs(column[j])
        need = max(need, -value[j] / column[j] if column[j] != 0.0 else 0.0)
    size = max(2.0 * need, total / length)
    for j in range(len(value)):
        value[j] += size * column[j]


@propose_
def step_off(X, I, k, T, S, m, sign, out):  # type: ignore[no-untyped-def]
    """A point near S[1] that lies on the side T of the members: S[1] + eps sum_t T_t size_t A_t.

    eps is half of what changes a sign; hyperplanes of the closure have value 0 and take the sign of the step.
    """
    value, step, sizes = S[1], S[2], S[3]
    rows = len(value)
    for j in range(rows):
        step[j] = 0.0
    for t in range(k):
        column = X[k, I[0, 1, t]]
        f = T[t] * sizes[t]
        for j in range(rows):
            step[j] += f * column[j]
    worst = 0.0  # largest -step / value
    total = 0.0
    length = 0.0
    for j in range(m):
        total += abs(value[j])
        length += abs(step[j])
        ratio = -step[j] / value[j] if value[j] != 0.0 else 0.0
        worst = max(worst, ratio)
    eps = 1.0 / max(2.0 * worst, length / total) if length > 0.0 else 0.0
    for l in range(rows - m):
        out[l] = sign * (value[m + l] + eps * step[m + l])


@compile_
def write_point(X, I, M, S, k, T, m, sign, closures, points, at):  # type: ignore[no-untyped-def]
    """The coordinates of the point S[1], zero on the closure of level k, and of a direction to the sides T of it."""
    value, sizes = S[1], S[3]
    copy_bits(M[0, k], closures[at])
    for l in range(points.shape[2]):
        total = 0.0
        for t in range(k):
            total += T[t] * sizes[t] * X[k, I[0, 1, t], m + l]
        points[at, 0, l] = sign * value[m + l]
        points[at, 1, l] = sign * total
